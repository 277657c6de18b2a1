"""Names, codes and roles of a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fonte.text.stop_words import STOP_WORDS
from fonte.text.terms import folded

_CODE = re.compile(
    r"(?<![\w@/])(?:(?=[\w./-]*\d)(?=[\w./-]*[^\W\d_])[^\W_]+(?:[-./_][^\W_]+)*|\d{1,5}/\d{2,4}(?![\d/])"
    r"|[A-Z]{2,6} \d{1,5}(?![\d.,]*\d)|v?\d+(?:\.\d+){2,})"
)
_NO_CODE = re.compile(
    r"\d+(?:[.,'’]\d+)*(?:-|/)?(?:st|nd|rd|th|s|º|ª|[a-zA-Zµμ°²³]{1,3}|[a-z]+)?|[a-z]+-?\d{1,4}s?"
    r"|\d+(?:[.,]\d+)*[-–/][a-z]+(?:-[a-z]+)*|\d+(?:[.,]\d+)*[-–]\d+|[a-z]+-\d+(?:-[a-z]+)*"
)
_UNIT_ENDS: Final = re.compile(
    r"\d[\d.,]*(?:km|kg|cm|mm|ml|mg|g|m|l|h|s|min|kwh|mb|gb|tb|am|pm|eur|€|%)", re.IGNORECASE
)
_AGED = re.compile(r"(?:under|over|above|below|pre|post|sub|mid|sotto|sopra)-?\d{1,4}s?", re.IGNORECASE)
_PROPER = re.compile(r"(?<![\w@])[A-ZÀ-Þ][\w]*(?:[-’'][\w]+)*")
_STARTS = re.compile(r"(?:^|[.!?:;•|\n]|[-–—*#>]\s)[\s\"'“”«»‘’(\[*_#|-]*$")
_ELIDED = re.compile(r"^(?:[dlnsDLNS]|[Dd]ell|[Nn]ell|[Aa]ll|[Ss]ull|[Dd]all|[Uu]n|[Qq]uest|[Qq]uell)['’]")
_SHORT: Final = 2


def _groups(table: str) -> Mapping[str, str]:
    """Every word of a table to the first of its group; groups are parted by a slash or a line end."""
    groups = [group.split() for line in table.strip().splitlines() for group in line.split("/")]
    return {word: group[0] for group in groups for word in group}


EXONYMS: Final = _groups("""
london londra londoner londinese / milan milano milanese milanesi / rome roma roman romano romana romani
turin torino / venice venezia venetian / florence firenze florentine / naples napoli / genoa genova / padua padova
mantua mantova / paris parigi parisian / berlin berlino / vienna wien / munich monaco / lisbon lisbona
athens atene / brussels bruxelles / geneva ginevra / zurich zurigo / warsaw varsavia / moscow mosca
beijing pechino / cologne colonia / edinburgh edimburgo / cairo ilcairo
italy italia italian italiano italiana italiani italiane italians / england inghilterra english inglese inglesi
britain bretagna british britannico britannica britannici / france francia french francese francesi
germany germania german tedesco tedesca tedeschi / spain spagna spanish spagnolo spagnola spagnoli
europe europa european europeo europea europei / netherlands olanda dutch olandese paesi
scotland scozia scottish scozzese / wales galles welsh gallese / ireland irlanda irish irlandese
greece grecia greek greco greca greci / sweden svezia swedish svedese / norway norvegia norwegian norvegese
denmark danimarca danish danese / poland polonia polish polacco polacca / switzerland svizzera swiss svizzero
russia russian russo russa russi / china cina chinese cinese cinesi / japan giappone japanese giapponese
india indian indiano indiana / egypt egitto egyptian egiziano / turkey turchia turkish turco turca turchi
africa african africano africana / america american americano / kingdom regno / united unito uniti / states stati
union unione / university universita / church chiesa / finance finanza amministrazione / museum museo / king re
queen regina / saint san santo santa st / february febbraio / north nord / south sud / east est / west ovest
god dio / bible bibbia / german tedesco / mongol mongolo mongoli mongols mongola / norman normanno normanni normans
austria austrian austriaco austriaca / hungary ungheria / lombardy lombardia / tuscany toscana / thames tamigi
rhine reno / danube danubio / alps alpi / pope papa / act legge / regulation regolamento / world mondo mondiale
war guerra / jesus gesu / christ cristo christian cristiano / paul paolo / john giovanni / peter pietro
charles carlo / henry enrico / william guglielmo / edward edoardo
""")
"""Names that the other language writes otherwise, each to the first of its group; nationalities go with countries."""
_INITIALS: Final[Mapping[str, frozenset[str]]] = {
    "uk": frozenset({"kingdom", "britain", "england"}),
    "gb": frozenset({"kingdom", "britain"}),
    "usa": frozenset({"states", "america"}),
    "us": frozenset({"states", "america"}),
    "eu": frozenset({"union", "europe"}),
    "ue": frozenset({"union", "europe"}),
}
ROLES: Final = _groups("""
manager managers supervisor supervisors boss responsabile responsabili capo superiore caporeparto
director directors direttore direttrice direttori dirigente
employee employees staff worker workers dipendente dipendenti lavoratore lavoratori lavoratrici personale
employee collaboratore collaboratori impiegato impiegati addetto addetti colleague colleagues collega colleghi
customer customers client clients cliente clienti / supplier suppliers vendor fornitore fornitori
president presidente chair chairman chairwoman / board consiglio council / assembly assemblea
member members socio soci socia membro membri / auditor auditors revisore revisori
doctor doctors medico medici physician / visitor visitors visitatore visitatori ospite ospiti guest guests
contractor contractors appaltatore appaltatori / student students studente studenti alunno alunni
teacher teachers insegnante insegnanti docente docenti / driver drivers autista autisti conducente
nurse nurses infermiere infermiera / lawyer lawyers avvocato avvocati / tenant tenants inquilino
landlord landlords locatore / buyer buyers acquirente compratore / seller sellers venditore venditori
technician technicians tecnico tecnici / engineer engineers ingegnere ingegneri / father fathers padre
mother mothers madre / owner owners proprietario proprietari titolare / trainee trainees tirocinante apprendista
minister ministers ministro / king re / queen regina / bishop vescovo / general generale
""")
"""Words for who does something, each to the first of its group."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name or a code as written, and the form by which it is compared."""

    start: int
    end: int
    text: str
    form: str
    sure: bool = True
    """False where only its place may have made its first letter large."""


def codes(text: str) -> list[Name]:
    """Identifiers: TR-12, 81/2008, HR-21-A, E401, 2.4.1."""
    found = []
    for match in _CODE.finditer(text):
        written = match.group()
        aged = _AGED.fullmatch(written)  # of an age or a time, and no code
        if aged or _NO_CODE.fullmatch(written) or _UNIT_ENDS.fullmatch(written):
            continue
        found.append(Name(match.start(), match.end(), written, code_form(written)))
    return found


def code_form(written: str) -> str:
    """A code without case and marks."""
    return re.sub(r"[\W_]+", "", written).casefold()


def names(text: str, taken: list[tuple[int, int]]) -> list[Name]:
    """Words that begin with a large letter, but for those that only begin a sentence or belong to no name."""
    found = []
    for match in _PROPER.finditer(text):
        written = _ELIDED.sub("", match.group())
        start = match.end() - len(written)
        written = re.sub(r"['’]s?$", "", written)
        form = folded(written)
        if not written[:1].isupper() or any(start < end and low < match.end() for low, end in taken):
            continue
        if form in STOP_WORDS["en"] or form in STOP_WORDS["it"] or len(form) < _SHORT:
            continue
        first = _STARTS.search(text[: match.start()]) is not None and not written[1:2].isupper()
        found.append(Name(start, start + len(written), written, form, not first))
    return found


def name_keys(form: str) -> frozenset[str]:
    """Forms that a name may have elsewhere."""
    known = EXONYMS.get(form, form)
    return frozenset({form, known, form.removesuffix("s")}) | _INITIALS.get(form, frozenset())
