"""Text of quality/sampling-manual.pdf. ("h1"|"h2"|"p"|"li"|"table", content)."""

TITLE = "Sampling manual"
SUBTITLE = "How to take a water sample that is worth analysing"
DOCUMENT = "SM-02, issue 5, 2 February 2026"
RUNNING = "Risorgiva · Sampling manual SM-02, issue 5"

ABSTRACT = (
    "This manual is for everyone who takes samples for Risorgiva, in either country. It follows "
    "ISO 19458:2006 for microbiology and ISO 5667-3 for preservation, and says what we do where "
    "those standards leave a choice. A laboratory can find what is in the bottle; only you can make "
    "sure that what is in the bottle is what was in the tap."
)

BODY = [
    ("h1", "1 Before the round"),
    ("p", "Read the work order the evening before. It lists the points, the purpose of each visit and the "
          "bottles to take. The purpose matters more than anything else: a sample taken to find out what "
          "leaves the treatment works, one taken to find out what reaches the house, and one taken to find "
          "out what a person really drinks are three different samples from the same tap."),
    ("p", "Load one spare set of bottles for every five points. Check the expiry date on the base of the "
          "sterile bottles. Calibrate the pH meter with two buffers and the conductivity meter with one "
          "standard, and write the readings on the round sheet. A meter that is more than 0.1 pH units away "
          "from the second buffer stays at base."),
    ("p", "Wash your hands. If you have a cold sore, a bandaged finger or an upset stomach, say so before "
          "you leave, and somebody else will do the microbiology points."),

    ("h1", "2 Bottles"),
    ("p", "The cap tells you what the bottle is for. Never move a cap from one bottle to another, and never "
          "pour water from one bottle into the next, even if the first one is too full."),
    ("p", "Red, black and yellow bottles must not be rinsed, because rinsing would remove the preservative. "
          "Blue bottles are rinsed three times with the water to be sampled. White and purple bottles are "
          "sterile and are filled once, without rinsing, leaving two centimetres of air so that the sample "
          "can be shaken."),
    ("table", ("Table 1. Bottle types", [
        ["Code", "Cap", "Volume", "Used for", "Contains"],
        ["BT-10-W", "white", "500 mL", "Microbiology", "thiosulfate tablet"],
        ["BT-14-R", "red", "100 mL", "Metals", "nitric acid"],
        ["BT-21-B", "blue", "1 L", "General chemistry", "nothing"],
        ["BT-26-G", "green", "250 mL", "PFAS", "nothing"],
        ["BT-31-K", "black", "40 mL", "Volatile organics", "ascorbic acid"],
        ["BT-35-Y", "yellow", "250 mL", "Cyanide", "sodium hydroxide"],
        ["BT-52-P", "purple", "1 L", "Legionella", "thiosulfate tablet"],
    ])),
    ("p", "The tablet in the white bottle neutralises up to 5 milligrams of chlorine per litre. Where more is "
          "expected, for example after shock chlor\u00adination of a main, use two tablets and write the chlorine "
          "reading on the label."),

    ("h1", "3 Taking the sample"),
    ("h2", "3.1 The tap"),
    ("p", "Choose a tap that is used every day, fed directly from the main, and free of hoses, filters and "
          "mixers. Remove the aerator if there is one. If the tap leaks at the spindle, choose another: water "
          "running down the outside carries bacteria into the bottle."),
    ("h2", "3.2 Water in the main (purpose A)"),
    ("p", "Open the tap fully and let it run for three minutes, or until the temperature has been steady for "
          "thirty seconds. Close it, flame the outlet for at least ten seconds, or, if it is made of plastic, "
          "wipe it with hypochlorite and wait two minutes. Open it again to a smooth flow, let a litre go, "
          "and fill the bottle without touching the rim."),
    ("h2", "3.3 Water as delivered to the tap (purpose B)"),
    ("p", "As for purpose A, but run the water only briefly before disinfecting and then only long enough to "
          "rinse the disinfectant away, about a quarter of a minute."),
    ("h2", "3.4 Water as it is drunk (purpose C)"),
    ("p", "Do not clean, do not flame and do not run the water at all. Take the first water that comes, with "
          "whatever is on the tap. Hospitals ask for this sample when a patient is ill."),
    ("h2", "3.5 Lead, copper and nickel"),
    ("p", "For compliance in Eng\u00adland and Wales we take a random daytime sample: one litre, at an hour the "
          "householder does not know beforehand, without flushing. In Italy the same method is used since "
          "Legislative Decree no. 18/2023. Only an investigation uses stagnation samples, after the water has "
          "stood for thirty minutes in the pipes."),
    ("h2", "3.6 Wells and boreholes"),
    ("p", "Measure the level first. Purge the well until three times the volume of the column has been "
          "removed and pH, conductivity and temperature no longer change, that is, until three readings five "
          "minutes apart agree within 5 per cent. If the well runs dry, let it recover for up to 24 hours and "
          "take the sample from the water that has come in."),
    ("h2", "3.7 Rivers, lakes and bathing water"),
    ("p", "Stand facing the current, with the bottle upstream of you. For bathing water, sample thirty "
          "centimetres below the surface where the water is at least one metre deep. Wear a life jacket "
          "whenever the bank is steep or the water is above your knees, and never work on a river bank "
          "without a second person in sight."),
    ("h2", "3.8 Swimming pools"),
    ("p", "Take the sample where bathers are, away from the inlets, between twenty and forty centimetres below "
          "the surface. Measure free and combined chlorine on the spot with the photometer: what you measure "
          "in the laboratory two hours later is another water."),

    ("h1", "4 Legionella"),
    ("p", "Legionella sampling differs from all the rest, and most of the mistakes in this manual's history "
          "were made here. Every visit needs a purple bottle, a thermometer, gloves and an FFP3 mask. Anyone "
          "whose immune system is weakened does not take these samples."),
    ("p", "At a shower or tap, take the first litre of hot water without flushing, then measure the temperature "
          "after one minute of flow. Hot water should reach 50 °C within that minute (55 °C in health care). "
          "Cold water should be below 20 °C after two minutes. Write both readings on the form even when "
          "they are good."),
    ("p", "In a cooling tower, take the sample from the return pipe, at least seventy-two hours after the last "
          "dose of biocide that is not dosed continuously. Stand upwind. The fan is stopped by the customer, "
          "not by you, and a tower that cannot be stopped is not sampled."),
    ("p", "Purple bottles travel at room temperature, in their own crate, and reach the laboratory within "
          "24 hours. Cold kills part of what we are looking for."),

    ("h1", "5 Measurements in the field"),
    ("p", "Temperature, pH, conductivity, free chlorine and dissolved oxygen are measured at the point. Rinse "
          "the probe with the sample, wait until the reading is steady, and record it with its unit and one "
          "decimal more than you think is needed. Oxygen is measured in flowing water; a probe left in a "
          "bucket consumes the oxygen around itself and reads lower and lower."),
    ("p", "If a reading looks impossible, repeat it with fresh water before you decide that it is the "
          "instru\u00adment. We have found two burst mains and one stolen chlorine pump because someone repeated "
          "an impossible reading and then believed it."),

    ("h1", "6 Labels and forms"),
    ("p", "Write the label before you fill the bottle, with the pencil or the printer, never with a solvent "
          "pen. The label carries the number of the order, the point, the date and time, and your initials. "
          "Time is local time, on the 24-hour clock."),
    ("p", "The sampling record is form SR-08-L on the tablet. Fill in the weather of the last twenty-four hours "
          "for surface water, the state of the tap, who was present and anything odd. If the customer wants "
          "to add a remark, let them, and have them sign it. A record may be corrected until the crate is "
          "handed over; after that, every change is an amendment with a name and a reason."),
    ("h2", "6.1 Chain of custody"),
    ("p", "Samples for a court or an insurance case are sealed in the presence of the parties with numbered "
          "seals. The crate is never left unattended, not even in a locked van. Each handover is signed on form "
          "CC-02-N with the exact time, and a missing signature makes the sample worthless."),

    ("h1", "7 Controls of our own work"),
    ("p", "One point in twenty is sampled twice, with the second set of bottles labelled as if it were another "
          "point. Once a week each sampler fills a field blank with sterile or ultrapure water, opening it at "
          "the most difficult point of the round. The laboratory does not know which bottles are blanks, and it "
          "should not be possible to tell."),
    ("p", "Duplicates for general chemistry should agree within 10 per cent; for bacteria we look at them over a "
          "year and not one at a time. A contaminated blank is discussed with the sampler within three days. "
          "Nobody has ever been disciplined for a contaminated blank; one person has been for a false one."),

    ("h1", "8 When to stop"),
    ("p", "Do not take the sample if the point is unsafe, if you cannot identify it with certainty, or if you "
          "have run out of the right bottle. An empty space on the sheet costs us a second visit. A sample from "
          "the wrong tap may cost a village its water, or, worse, let it go on drinking what it should not. "
          "Ring the coordinator, write down why, and go on to the next point."),
]
