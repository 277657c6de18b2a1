"""Units of quantities, English and Italian, each as what it measures and how much of it one is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final


@dataclass(frozen=True, slots=True)
class Unit:
    """What a unit measures (several where its name does not tell) and how many of the first unit it is."""

    measures: frozenset[str]
    size: Decimal
    name: str


def _entries() -> Iterable[tuple[str, Unit]]:
    for line in _TABLE.strip().splitlines():
        measures, size, names = line.split(maxsplit=2)
        listed = [name.replace("_", " ") for name in names.split()]
        for name in listed:
            yield name, Unit(frozenset(measures.split("|")), Decimal(size), listed[0])


_TABLE: Final = """
percent 1 % per_cento percent per_cent pct
points 1 percentage_points punti_percentuali percentage_point punto_percentuale
permille 1 ‰ per_mille
EUR 1 € euro euros eur
GBP 1 £ pounds_sterling sterline sterlina gbp quid
GBP|mass-pound 1 pounds pound libbre libbra lb lbs
USD 1 $ us$ dollars dollar usd dollari dollaro
CHF 1 chf francs franchi franc franco
JPY 1 ¥ yen jpy
EUR|USD 0.01 cents cent centesimi centesimo
GBP 0.01 pence penny
length 1000000 kilometres kilometre kilometers kilometer km chilometri chilometro
length 1000 metres metre meters meter m metri metro
length 10 centimetres centimetre centimeters centimeter cm centimetri centimetro
length 1 millimetres millimetre millimeters millimeter mm millimetri millimetro
length 0.001 micrometres micrometers µm micron microns micrometri
mile 1 miles mile mi miglia miglio
foot 1 feet foot ft piedi
inch 1 inches inch pollici pollice
yard 1 yards yard iarde
area 1 m² square_metres square_meters m2 mq metri_quadrati metri_quadri sqm
area 1000000 km² square_kilometres square_kilometers km2 chilometri_quadrati
area 10000 hectares hectare ha ettari ettaro
area-mile 1 square_miles square_mile miglia_quadrate
acre 1 acres acre acri acro
mass 1000000 tonnes tonne t tonnellate tonnellata metric_tons tons
mass 1000 kilograms kilogram kilos kilo kg chilogrammi chilogrammo chili chilo
mass 1 grams gram g grammi grammo gr
mass 0.001 milligrams milligram mg milligrammi milligrammo
mass 0.000001 micrograms microgram µg μg microgrammi
volume 1000000 m³ cubic_metres m3 mc metri_cubi
volume 1000 litres litre liters liter l litri litro
volume 1 millilitres millilitre milliliters ml millilitri millilitro
time 0.001 milliseconds ms millisecondi
time 1 seconds second secs sec s secondi secondo
time 60 minutes minute mins min minuti minuto
time 3600 hours hour hrs hr h ore ora
time 86400 days day giorni giorno giornate giornata
time 86400 nights night notti notte
time 604800 weeks week settimane settimana
time 1209600 fortnight fortnights
months 1 months month mesi mese
months 2 bimestre bimestri
months 3 trimestre trimestri
months 6 semestre semestri
months 12 years year yrs anni anno
months 120 decades decade decenni decennio
months 1200 centuries century secoli secolo
temperature 1 °c degrees_celsius gradi_celsius
fahrenheit 1 °f degrees_fahrenheit gradi_fahrenheit
temperature|angle|fahrenheit 1 ° degrees degree
temperature|angle 1 gradi grado
speed 1 km/h kmh kilometres_per_hour chilometri_orari chilometri_all'ora
speed-mile 1 mph miles_per_hour
speed-m 1 m/s metres_per_second metri_al_secondo
speed-m 0.01 cm/s centimetres_per_second centimetri_al_secondo
speed-m 0.001 mm/s millimetri_al_secondo
data 1 kb kilobytes kilobyte
data 1000 mb megabytes megabyte
data 1000000 gb gigabytes gigabyte
data 1000000000 tb terabytes terabyte
energy 1 kwh kilowatt_hours kilowattora
power 1000 kw kilowatts kilowatt
power 1 w watts watt
power 1000000 mw megawatts megawatt
voltage 1 v volts volt
current 1 a amperes ampere
pressure 1 bar bars
pressure-pa 1 pascals pascal pa kpa hpa
frequency 1 hz hertz
frequency 1000000 mhz megahertz
sound 1 db decibels decibel
"""
UNITS: Final[Mapping[str, Unit]] = dict(_entries())
"""By name in small letters."""
SIGNS: Final = ("us$", "€", "£", "$", "¥", "eur", "gbp", "usd", "chf")
"""What may stand before its number."""
LETTERS_ONLY_BY_FIGURES: Final = frozenset("m g t l s h a v w gr mi sec min mc mq ha mb ms pa bar ft lb".split())
"""Short names that are units only right behind figures."""
CAPITALS: Final = frozenset("avw")
"""Letters that are units only where they are large: 8 A, not 8 a mezzogiorno."""
QUALIFIERS: Final = frozenset(
    "working calendar business consecutive full whole further additional more extra other paid unpaid school "
    "successive clear long good solid entire altri altre ulteriori interi intere piu di lavorativi".split()
)
"""Words that may stand between a number and its unit."""
EVERY: Final[Mapping[str, str]] = {
    **dict.fromkeys(("daily", "giornaliero", "giornaliera", "giornalmente", "quotidiano", "quotidianamente"), "days"),
    **dict.fromkeys(("weekly", "settimanale", "settimanali", "settimanalmente"), "weeks"),
    **dict.fromkeys(("monthly", "mensile", "mensili", "mensilmente"), "months"),
    **dict.fromkeys(("yearly", "annual", "annually", "annuale", "annuali", "annualmente", "annuo", "annui"), "years"),
    **dict.fromkeys(("hourly", "orario", "oraria", "orari"), "hours"),
    **dict.fromkeys(("nightly",), "days"),
}
"""Words that say how often, as the unit that they repeat by."""
EACH: Final = frozenset("a an per each every al alla allo all l ogni il the la".split())
