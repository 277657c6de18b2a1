"""Text of the Word documents."""

LAVORO_AGILE = {
    "title": "Regolamento sul lavoro agile",
    "intro": [
        "Documento RU-09, revisione 3, in vigore dal 1° marzo 2026. Responsabile: Marta Zanella, Ufficio Risorse umane. "
        "Si applica ai dipendenti delle sedi di Cremona e di Udine.",
        "Il lavoro agile è un modo di organizzarsi, non un premio e non un secondo ufficio. È volontario per chi lo "
        "chiede e per chi lo concede, ed è regolato da un accordo individuale scritto.{fn1}",
    ],
    "body": [
        ("h", "1. Chi può chiederlo"),
        ("p", "Può chiederlo chi ha superato il periodo di prova e svolge almeno in parte un lavoro che non richiede la "
              "presenza. Le attività di banco, l'accettazione dei campioni e i prelievi non si possono svolgere a distanza; "
              "chi le svolge può però concentrare in alcuni giorni la revisione dei dati, la scrittura delle procedure e la "
              "formazione a distanza."),
        ("p", "Hanno la precedenza le persone con disabilità, chi ha figli fino a dodici anni e chi assiste un familiare ai "
              "sensi della legge n. 104/1992."),
        ("h", "2. Quanti giorni"),
        ("table", [
            ["Gruppo", "Giorni al mese", "Preavviso al responsabile"],
            ["Uffici amministrativi e commerciali", "fino a 10 giorni al mese", "una settimana"],
            ["Ufficio Qualità e assistenza informatica", "fino a 8 giorni al mese", "una settimana"],
            ["Tecnici di laboratorio", "fino a 3 giorni al mese", "due settimane"],
            ["Addetti all'accettazione e ai prelievi", "1 giorno al mese, per la formazione", "due settimane"],
        ]),
        ("p", "I giorni non usati non passano al mese successivo. Il responsabile può chiedere di rientrare in sede con "
              "un giorno di preavviso se mancano i colleghi per coprire il servizio, e con due ore di preavviso in caso di "
              "emergenza. Il lunedì e il venerdì insieme non si concedono nella stessa settimana."),
        ("p", "Nell'ultimo mese di gravidanza prima del congedo e nei tre mesi dopo il rientro i limiti della tabella "
              "raddoppiano."),
        ("h", "3. La domanda"),
        ("p", "La domanda si presenta con il modulo MOD-31-L. Il responsabile risponde entro quindici giorni; se dice di no "
              "scrive il motivo, e ci si può rivolgere alla commissione paritetica, che si riunisce l'ultimo mercoledì del "
              "mese. L'accordo dura un anno e ciascuna parte può recedere con trenta giorni di preavviso, novanta se il "
              "lavoratore ha una disabilità."),
        ("h", "4. Orario e diritto alla disconnessione"),
        ("p", "L'orario settimanale resta lo stesso. Nelle fasce di contattabilità, dalle 9.30 alle 12.30 e dalle 14.30 "
              "alle 16.30, si risponde al telefono e ai messaggi in tempi ragionevoli. Fuori da quelle fasce ciascuno si "
              "organizza come crede."),
        ("p", "Dalle 19.00 alle 7.30, il sabato, la domenica e durante le ferie nessuno è tenuto a leggere messaggi. Chi li "
              "scrive in quelle ore usa l'invio programmato. Nei giorni di lavoro agile non si fanno straordinari, salvo i "
              "guasti di priorità P1."),
        ("h", "5. Da dove"),
        ("p", "Si lavora da casa propria o da un altro luogo chiuso, tranquillo e dignitoso, scelto dal lavoratore. Non si "
              "lavora da bar, treni o spiagge quando si trattano risultati di clienti. Dall'estero si può lavorare per un "
              "massimo di quindici giorni l'anno, soltanto nei Paesi dell'Unione europea e nel Regno Unito, dopo il via libera "
              "dell'Ufficio Risorse umane, che controlla previdenza e fisco.{fn2}"),
        ("h", "6. Strumenti e spese"),
        ("p", "La cooperativa fornisce:"),
        ("li", "un computer portatile con disco cifrato;"),
        ("li", "le cuffie e, a richiesta, una tastiera e un mouse;"),
        ("li", "uno schermo esterno per chi lavora a distanza almeno sei giorni al mese."),
        ("p", "Per la connessione e l'energia è riconosciuto un rimborso forfettario di 2,20 euro per ogni giorno di lavoro "
              "agile effettivo, pagato ogni tre mesi. Il buono pasto non spetta."),
        ("h", "7. Sicurezza e infortuni"),
        ("p", "Ogni anno il lavoratore riceve l'informativa sui rischi e firma di averla letta. L'infortunio in lavoro agile è "
              "coperto dall'INAIL anche nel tragitto verso il luogo scelto, se la scelta è ragionevole. Va segnalato lo stesso "
              "giorno, come se fosse avvenuto in sede."),
        ("h", "8. Verifica"),
        ("p", "Il regolamento è riesaminato ogni due anni con le rappresentanze sindacali. Nel 2025 hanno lavorato a distanza "
              "58 persone, per una media di 5,4 giorni al mese; il 91 per cento dei responsabili giudica che la qualità del "
              "lavoro sia rimasta uguale o sia migliorata."),
    ],
    "footnotes": [
        "Artt. 18-24 della legge 22 maggio 2017, n. 81. L'accordo individuale è depositato per via telematica presso il "
        "Ministero del lavoro entro cinque giorni.",
        "Per il Regno Unito serve anche il certificato di distacco A1, che l'INPS rilascia in circa venti giorni.",
    ],
}

PURCHASING = {
    "title": "Purchasing guide",
    "intro": [
        "Document AC-03, valid from 1 July 2025. Owner: Sara Whitlock, purchasing office. This guide applies to all three "
        "sites and to everything we buy, from pipette tips to buildings.",
        "We spend about nine million euros a year on things made by other people. Most faults that reach our customers "
        "begin with something we bought: a medium that does not grow what it should, a gas that is not as pure as its label. "
        "Buying is part of testing.{fn1}",
    ],
    "body": [
        ("h", "1. Who may buy what"),
        ("p", "The amount is the whole amount of the contract, without tax. Splitting an order in order to stay below a limit "
              "is a breach of the code of conduct, and we do look."),
        ("table", [
            ["Amount", "What is needed", "Who signs"],
            ["up to €1,000 (£850)", "one offer, also by e-mail", "head of department"],
            ["up to €10,000 (£8,500)", "two written offers", "site director"],
            ["up to €75,000 (£64,000)", "three written offers and a comparison sheet", "Managing Director"],
            ["above €75,000 (£64,000)", "a tender with published criteria", "board of directors"],
        ]),
        ("p", "If only one supplier exists, as with spare parts for most instruments, the reason is written on form AC-17-S and "
              "is valid for two years."),
        ("h", "2. Critical supplies"),
        ("p", "A supply is critical if a fault in it could change a result. Culture media, reference materials, filters, gases, "
              "calibration services and the software of instruments are critical. They are bought only from suppliers on the "
              "approved list, which the Quality Manager reviews every October."),
        ("li", "Each new batch of culture medium is tested for growth with two strains before it is used."),
        ("li", "Reference materials come with a certificate from a producer accredited to ISO 17034."),
        ("li", "Argon must be at least 99.999 per cent pure; helium for gas chromatography at least 99.9999 per cent."),
        ("li", "Gloves are tested for zinc and for bacteria once a year, since both have spoiled our blanks."),
        ("p", "A supplier is taken off the list after two rejected deliveries in twelve months and may apply again after a year."),
        ("h", "3. Orders and deliveries"),
        ("p", "No order is placed by telephone. The order number, which begins with PO and the year, must be on the delivery note; "
              "goods without it are refused at the gate. The storekeeper checks quantity, batch and expiry date on the day of "
              "arrival and puts chilled goods away within twenty minutes."),
        ("p", "Chemicals that we have never used need the approval of the prevention service before they are ordered (form "
              "MOD-24-Q in Italy, form CH-05-E in Exeter)."),
        ("h", "4. Paying"),
        ("p", "We pay 30 days after the invoice, and small firms with fewer than ten employees after 15 days. Paying late on purpose "
              "is not a way of saving money that we want to use. Advance payments are limited to 30 per cent and need a bank "
              "guarantee if they exceed €20,000."),
        ("h", "5. People and planet"),
        ("p", "In every comparison of offers, price counts for 60 points out of 100, quality and service for 25, and environmental and "
              "social merit for 15. Electric vehicles, refillable solvent drums and recycled paper get the whole 15 points "
              "without further argument."),
        ("p", "Old instruments are offered first to universities and to technical schools, then sold, and scrapped only as the last "
              "resort. Since 2020 we have given away 27 instruments."),
        ("h", "6. Disputes"),
        ("p", "Reject a faulty delivery within eight days of finding the fault, in writing. If the supplier does not agree, the "
              "purchasing office tries mediation before anyone writes to a lawyer. Contracts under Italian law name the court of "
              "Cremona; those under English law name the courts of England and Wales."),
    ],
    "footnotes": [
        "In 2021 a batch of membrane filters with pores twice the stated size cost us 212 repeated analyses and one customer, "
        "who was right to go.",
    ],
}

BOARD_MINUTES = {
    "title": "Minutes of the board meeting of 17 September 2026",
    "intro": [
        "Confidential to members of the board. Minutes no. 219. Held in Exeter, 14 Tamarisk Way, at 10:00 British time. "
        "English version; the Italian text prevails.",
        "Present: Dott.ssa Ilaria Bonfanti (chair), Sig. Renzo Galli, Dott.ssa Anna Cossutti, Ing. Paolo Dusi, Dott. Luca "
        "Ferrarin, Sig.ra Nadia Pini, Dott. Matteo Zorzi. In attendance: Helen Trevanion, Neil Ashworth (staff observer), "
        "Sara Whitlock for item 3.",
    ],
    "body": [
        ("h", "1. Results for the first half of 2026"),
        ("p", "Revenue for the first six months was €12.9 million, 3.8 per cent above the same period of 2025 and 1.1 per cent below "
              "budget. The shortfall comes from Udine, where two aqueducts delayed their contracts. The UK company is £64,000 "
              "ahead of budget. The board takes note."),
        ("h", "2. Proposed purchase of Tamar Valley Analytical"),
        ("p", "Ms Trevanion reports on talks with the owners of Tamar Valley Analytical Ltd, a laboratory with 19 staff in Launceston. "
              "The owners ask for £1.6 million. The board authorises an offer of up to £1.35 million, subject to due diligence, "
              "with a quarter of the price held back for two years. The project is to be called Heron in all correspondence. "
              "Six votes in favour, one against (Sig. Galli, who considers the price too high)."),
        ("p", "Nobody outside the board and the two advisers may be told before signature. Staff in Launceston are to be told by "
              "their own management, on the same day as ours."),
        ("h", "3. Replacement of the ICP-MS in Cremona"),
        ("p", "Three offers were received in the tender. The board awards the contract to the second bidder, at €248,000 including "
              "five years of service, on 81 points against 77 and 70. Delivery is expected in February 2027. The old instrument is "
              "to be given to the technical school in Crema."),
        ("h", "4. Remuneration"),
        ("p", "On the proposal of the remuneration committee, the board sets the variable pay of the Managing Director for 2026 at a "
              "maximum of €18,000, half of it linked to the time taken to close class A nonconformities. Dott.ssa Bonfanti left the "
              "room for this item. Unanimous."),
        ("h", "5. Staff observer's questions"),
        ("p", "Mr Ashworth asks when staff in Udine will be told about the night shift. The chair replies that the unions were informed "
              "on 8 July and that the plan comes to the board on 19 November."),
        ("table", [
            ["Action", "Owner", "Due"],
            ["Letter of intent for project Heron", "Helen Trevanion", "2 October 2026"],
            ["Contract for the ICP-MS", "Sara Whitlock", "15 October 2026"],
            ["Plan for the Udine night shift", "Anna Cossutti", "5 November 2026"],
            ["English summaries of the minutes since January", "Marta Zanella", "30 October 2026"],
        ]),
        ("p", "The meeting closed at 13:15."),
    ],
    "footnotes": [],
}
