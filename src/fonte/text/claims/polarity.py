"""What turns a sentence round: negations, exceptions, limits, and words that stand against each other."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fonte.text.terms import folded
from fonte.types import Language

_WORD = re.compile(r"[^\W\d_]+(?:['’]t\b)?")

_NOT: Final[Mapping[Language, frozenset[str]]] = {
    "en": frozenset("not never no nobody none nothing neither nor cannot nowhere without except unless hardly".split()),
    "it": frozenset(
        "non mai nessun nessuno nessuna niente nulla ne neppure nemmeno neanche senza tranne salvo eccetto "
        "fuorche no".split()
    ),
}
_EXCEPT: Final = frozenset("except unless tranne salvo eccetto fuorche".split())
_CONCORD: Final = frozenset("mai nessun nessuno nessuna niente nulla ne neppure nemmeno neanche".split())
"""Words that repeat an Italian ``non`` and add no negation of their own."""
_PHRASES: Final[Sequence[tuple[str, str]]] = (
    # What is written like a negation and is none, or is a limit.
    (r"not only|non solo|non soltanto|non appena|whether or not|finche non|no matter|not least|not just", ""),
    (r"nonetheless|nothing but|nient altro che", ""),
    (
        r"(?:no|not) (?:more|later|longer|higher|greater|further) than|no (?:longer|more) than|not (?:to )?exceed\w*|"
        r"(?:can ?not|must not|may not|does not|do not|never) exceeds?|never (?:above|more than|over)|"
        r"non oltre|non piu di|non piu tardi di|non (?:puo|deve|possono|devono) (?:\w+ )?superare|non super\w+|mai oltre|"
        r"mai piu di|at most|up to|maximum(?: of)?|max|al massimo|fino a|massimo|massima|upper limit",
        "most",
    ),
    (
        r"(?:no|not) (?:less|fewer|earlier|lower|sooner) than|(?:must|may|can) ?not (?:fall|drop|go) below|never (?:below|less than)|"
        r"non meno di|non prima di|non (?:deve|puo|devono) (?:mai )?scendere sotto|mai meno di|at least|minimum(?: of)?|"
        r"almeno|minimo|minima|lower limit|non inferiore a",
        "least",
    ),
)
_COMPILED: Final = tuple((re.compile(rf"\b(?:{pattern})\b"), kind) for pattern, kind in _PHRASES)

SOFT: Final = frozenset(
    (
        "forbidden prohibited banned excluded exclude excludes unpaid unnecessary needless impossible unable refuse "
        "refuses refused reject rejects rejected lack lacks lacking fail fails failed absent free avoid avoids instead "
        "rather optional exempt exempted exception exceptions only solely seldom rarely little few deny denied denies "
        "decline declines declined ineligible invalid unavailable barred stop stops stopped cease ceases ceased lose "
        "loses missing outside unlimited other apart excluding unused unsupervised unaccompanied alone abolished "
        "abolish less illegal unlawful unlike void ends ended end "
        "vietato vietata vietati vietate proibito proibita escluso esclusa esclusi escluse esclude gratuito gratuita "
        "gratuiti gratuitamente gratis inutile impossibile privo priva privi manca mancano rifiuta rifiutato "
        "facoltativo facoltativa esente esenti eccezione eccezioni solo soltanto solamente esclusivamente raramente "
        "evitare anziche invece negato nega perde decade cessa cessano abolito abolita illimitato invalido nullo "
        "divieto vieta spento spenta meno fuori altrimenti purche"
    ).split()
)
"""Words that may say what a negation says; they need no counterpart and may be one."""

_OPPOSITES: Final = (
    (
        "obligation",
        "must shall required requires require obliged mandatory compulsory obligatory need needs needed necessary deve "
        "devono dovete devi dovra dovranno obbligatorio obbligatoria obbligatori obbligatorie obbligo obbligato occorre "
        "bisogna necessario necessaria necessari",
        "may can optional voluntary could might puo possono potete puoi potra facoltativo facoltativa facoltativi "
        "volontario volontaria",
    ),
    (
        "permission",
        "allowed permitted allow allows permits permit authorised authorized consentito consentita consentiti consente "
        "permesso permessa ammesso ammessa ammessi autorizzato autorizzata",
        "forbidden prohibited banned forbids prohibits disallowed vietato vietata vietati vietate proibito proibita "
        "proibiti vieta",
    ),
    ("order", "before prior prima precedente precedenti", "after following afterwards dopo successivo successiva successivi"),
    ("side", "above over more exceeding oltre sopra superiore superiori piu maggiore maggiori higher greater longer",
     "below under less fewer sotto inferiore inferiori meno minore minori lower shorter"),
    ("limit", "maximum max most massimo massima massimi massime", "minimum min least minimo minima minimi minime"),
    ("change", "increase increases increased rise rises rose risen grow grows grew raise raised raises aumenta aumentano "
     "aumento aumentato aumentata cresce crescita crescono sale salire",
     "decrease decreases decreased reduce reduces reduced fall falls fell drop drops dropped cut decline declines declined "
     "diminuisce diminuiscono diminuzione diminuito riduce riducono ridotto ridotta riduzione cala calo scende scendere"),
    ("edge", "start starts started begin begins began beginning opens open inizio inizia iniziano comincia cominciano "
     "apre aprono", "end ends ended finish finishes close closes closed fine finisce finiscono termina terminano chiude "
     "chiudono chiuso chiusa"),
    ("inside", "include includes included including inside within incluso inclusa inclusi incluse compreso compresa "
     "compresi comprende dentro", "exclude excludes excluded excluding outside except escluso esclusa esclusi escluse "
     "fuori esclude"),
    ("all", "all every each always tutti tutte tutto tutta ogni sempre ciascuno ciascuna",
     "some sometimes few alcuni alcune talvolta qualche pochi poche"),
    ("first", "first earliest primo prima", "last latest ultimo ultima"),
    ("pay", "paid pagato pagata pagati pagate retribuito retribuita retribuiti", "unpaid gratuito gratuita gratuiti"),
    ("accept", "accept accepts accepted approve approves approved accettato accettata accettati accettano approva "
     "approvato approvata accetta", "reject rejects rejected refuse refuses refused rifiuta rifiutato rifiutata "
     "respinto respinta"),
    ("level", "high alto alta alti alte", "low basso bassa bassi basse"),
    ("measure", "hot warm caldo calda", "cold freddo fredda"),
    ("term", "permanent indeterminato", "temporary determinato temporaneo"),
    ("days", "working business lavorativi lavorativo feriali", "calendar calendario solari"),
    ("state", "open aperto aperta aperti", "closed shut chiuso chiusa chiusi"),
)  # fmt: skip
POLES: Final[Mapping[str, Sequence[tuple[str, int]]]] = {
    word: [(what, pole) for what, *sides in _OPPOSITES for pole, side in enumerate(sides) if word in side.split()]
    for _, *both in _OPPOSITES
    for side in both
    for word in side.split()
}
"""Every word that has an opposite: of what, and which side of it."""
BOUND_WORDS: Final = {"most": ("limit", 0), "least": ("limit", 1)}


@dataclass(frozen=True, slots=True)
class Cue:
    """A word that negates or excepts, and from which character on."""

    start: int
    end: int
    text: str
    exception: bool


@dataclass(frozen=True, slots=True)
class Pole:
    """One side of an opposition, as written."""

    start: int
    end: int
    text: str
    what: str
    side: int


@dataclass(frozen=True, slots=True)
class Turns:
    """What turns a text round."""

    cues: tuple[Cue, ...]
    poles: tuple[Pole, ...]
    soft: tuple[Cue, ...]


def turns(text: str, language: Language) -> Turns:
    """Negations, exceptions, opposites of a text; none in another language than English or Italian."""
    if language not in _NOT:
        return Turns((), (), ())
    words = [(match.start(), match.end(), _form(match.group())) for match in _WORD.finditer(text)]
    line = " ".join(form for _, _, form in words)
    starts, at = {}, 0
    for number, (_, _, form) in enumerate(words):
        starts[at] = number
        at += len(form) + 1
    poles: list[Pole] = []
    taken: set[int] = set()
    for pattern, kind in _COMPILED:
        for match in pattern.finditer(line):
            first = starts.get(match.start())
            span = range(first, first + len(match.group().split())) if first is not None else range(0)
            if not span or taken & set(span):
                continue
            taken |= set(span)
            if kind:
                begin, end = words[span[0]][0], words[span[-1]][1]
                poles.append(Pole(begin, end, text[begin:end], *BOUND_WORDS[kind]))
    return _turns(text, words, taken, poles, language)


def _turns(
    text: str, words: Sequence[tuple[int, int, str]], taken: set[int], poles: list[Pole], language: Language
) -> Turns:
    cues: list[Cue] = []
    soft: list[Cue] = []
    for number, (start, end, form) in enumerate(words):
        if number in taken:
            continue
        poles += [Pole(start, end, text[start:end], what, side) for what, side in POLES.get(form, ())]
        if form in SOFT:
            soft.append(Cue(start, end, text[start:end], exception=False))
        if not _negates(text, words, number, language):
            continue
        repeats = language == "it" and form in _CONCORD and cues and cues[-1].text.lower() in {"non", "né", "senza"}
        if repeats and not _parted(text[cues[-1].end : start]):
            continue
        cues.append(Cue(start, end, text[start:end], form in _EXCEPT))
    return Turns(tuple(cues), tuple(poles), tuple(soft))


def _negates(text: str, words: Sequence[tuple[int, int, str]], number: int, language: Language) -> bool:
    start, end, form = words[number]
    before = [word for _, _, word in words[max(0, number - 3) : number]]
    after = words[number + 1][2] if number + 1 < len(words) else ""
    if form in {"n't", "never"} or form.endswith("n't"):
        return True
    if form == "no":  # no. 5, and what answers a question
        return not re.match(r"\.?\s*\d", text[end:]) and not re.match(r"\s*[.,;:]", text[end:])
    if form == "ne":  # ne is a pronoun, né a negation
        return text[start:end].lower() in {"né", "ne'"} or "non" in before
    if form == "salvo":
        return after != "il_vero"
    if before[-2:] == ["a", "meno"] and form == "che":
        return True
    if form == "than" and before[-1:] == ["other"]:
        return True
    return form in _NOT[language]


def _parted(between: str) -> bool:
    """Whether a clause ends in between."""
    return bool(re.search(r"[.;:!?]", between))


def _form(word: str) -> str:
    form = folded(word).replace("’", "'")
    return {"can't": "cannot", "won't": "not"}.get(form, "not" if form.endswith("n't") else form)
