"""Single changes of a sentence that make it say something else: one function a kind of change.

Each takes a sentence, its language, its passage's other text and a generator of random numbers, and gives the changed
sentence, or None where the sentence has nothing to change. What a change puts in is written out here and shares nothing
with the checks that are measured with it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

MONTHS = {
    "en": "January February March April May June July August September October November December".split(),
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre".split(),
}
WEEKDAYS = {
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
    "it": "lunedì martedì mercoledì giovedì venerdì sabato domenica".split(),
}
NUMBER_WORDS = {
    "en": "two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty sixty".split(),
    "it": "due tre quattro cinque sette otto nove dieci undici dodici quindici venti trenta quaranta sessanta".split(),
}
UNITS: Mapping[str, Sequence[tuple[str, ...]]] = {
    "en": (
        ("seconds", "minutes", "hours", "days", "weeks", "months", "years"),
        ("second", "minute", "hour", "day", "week", "month", "year"),
        ("metres", "kilometres", "centimetres"), ("km", "m", "cm"), ("kg", "g", "mg"), ("litres", "millilitres"),
        ("miles", "kilometres"), ("mile", "kilometre"), ("decades", "centuries"), ("%", "‰"), ("feet", "metres"),
        ("tonnes", "kilograms"), ("degrees Celsius", "degrees Fahrenheit"),
    ),
    "it": (
        ("secondi", "minuti", "ore", "giorni", "settimane", "mesi", "anni"),
        ("minuto", "ora", "giorno", "settimana", "mese", "anno"),
        ("metri", "chilometri", "centimetri"), ("km", "m", "cm"), ("kg", "g", "mg"), ("litri", "millilitri"),
        ("miglia", "chilometri"), ("decenni", "secoli"), ("%", "‰"), ("piedi", "metri"), ("tonnellate", "chili"),
        ("per cento", "per mille"), ("°C", "°F"),
    ),
}  # fmt: skip
MONEY = (
    ("€", "£", "$"), ("£", "$", "€"), ("$", "€", "£"), ("euros", "pounds", "dollars"), ("euro", "sterline", "dollari"),
    ("sterline", "euro", "dollari"), ("pounds", "euros", "dollars"), ("dollars", "euros", "pounds"),
    ("dollari", "euro", "sterline"), ("pence", "cents"), ("cents", "pence"), ("centesimi", "pence"),
)  # fmt: skip
TURNED = {
    "en": (
        ("must not", "may"), ("must", "may"), ("may", "must"), ("always", "sometimes"), ("before", "after"),
        ("after", "before"), ("at least", "at most"), ("at most", "at least"), ("more than", "less than"),
        ("less than", "more than"), ("above", "below"), ("allowed", "forbidden"), ("required", "optional"),
        ("include", "exclude"), ("increased", "decreased"), ("first", "last"), ("up to", "at least"),
        ("minimum", "maximum"), ("maximum", "minimum"), ("open", "closed"), ("fell", "rose"), ("rose", "fell"),
    ),
    "it": (
        ("deve", "può"), ("devono", "possono"), ("può", "deve"), ("possono", "devono"), ("sempre", "talvolta"),
        ("prima", "dopo"), ("dopo", "prima"), ("almeno", "al massimo"), ("al massimo", "almeno"), ("più di", "meno di"),
        ("sopra", "sotto"), ("sotto", "sopra"), ("consentito", "vietato"), ("obbligatorio", "facoltativo"),
        ("massima", "minima"), ("minima", "massima"), ("aumento", "calo"), ("aumenta", "diminuisce"),
        ("fino a", "almeno"), ("inizio", "fine"), ("massimo", "minimo"), ("inferiore", "superiore"),
    ),
}  # fmt: skip
_AUX = {
    "en": r"\b(is|are|was|were|can|may|must|will|should|could|has|have|does|do)\b(?! not| no\b| only|n't|\?)",
    "it": r"\b((?:si )?(?:è|sono|era|erano|può|possono|deve|devono|va|vanno|viene|vengono|ha|hanno|fu|furono|spetta|"
    r"spettano|vale|serve|resta|decide|entra|entrano))\b(?!\?)",
}
_NEGATIVE = {
    "en": r"\b(not|never|no|nobody|none|nothing|neither|nor|without|unless|except|cannot)\b|n't",
    "it": r"\b(non|mai|nessun\w*|niente|nulla|né|senza|tranne|salvo|neppure|nemmeno|neanche)\b",
}
_NON = r"\b{}on (?!solo|soltanto|appena)(?![^.;:]*\b(?:nessun|niente|nulla|né|mai|neppure|nemmeno|neanche))"
"""A negation that is not half of a double one."""
_UNDONE = {
    "en": (
        (r"\bcannot\b", "can"), (r"\b(does|do|did) not ", ""), (r" not\b(?! only)", ""),
        (r"\b(c|C)an['’]t\b", r"\1an"), (r"\b(w|W)on['’]t\b", r"\1ill"),
        (r"(?<!\b[Cc]a)(?<!\b[Ww]o)n['’]t\b", ""),
        (r"\bnever ", ""),
        (r"\bunless\b", "if"), (r"\bwithout\b", "with"), (r"\bexcept\b", "including"), (r"\bNobody\b", "Everybody"),
        (r"\bnobody\b", "everybody"), (r"\b(N|n)o (?!\d|longer|more|later|less|fewer|earlier|sooner|matter|one\b)", ""),
    ),
    "it": (
        (_NON.format("n"), ""),
        (_NON.format("N"), ""),
        (r"\b(tranne|salvo)\b", "compreso"), (r"\bNessun(a|o)?\b ", "Ogni "), (r"\bnessun(a|o)?\b ", "ogni "),
        (r"\bmai ", ""),
    ),
}  # fmt: skip
_WORDY = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_NAME = re.compile(r"(?<=[a-zàèéìòù,;] )(?:[A-ZÀ-Þ][\w’'-]+)(?: [A-ZÀ-Þ][\w’'-]+)*")
_CODE = re.compile(r"\b(?=[A-Z0-9-]*\d)(?=[A-Z0-9-]*[A-Z])[A-Z0-9]+(?:-[A-Z0-9]+)*\b|\b\d{1,4}/\d{4}\b")
_DATE_WORDS = frozenset(word.lower() for names in (*MONTHS.values(), *WEEKDAYS.values()) for word in names)
_FINITE = {
    "en": r"\b(is|are|was|were|can|may|must|will|has|have|had|does|do|did|became|began|gave|made)\b",
    "it": r"\b(è|sono|era|erano|può|possono|deve|devono|va|vanno|viene|vengono|ha|hanno|fu|furono|si)\b",
}


@dataclass(frozen=True, slots=True)
class Around:
    """What a sentence stands in: the whole passage, the next sentence, names and codes of other documents."""

    passage: str
    neighbor: str
    names: Sequence[str]
    codes: Sequence[str]


Change = Callable[[str, str, Around, random.Random], str | None]


def _replaced(text: str, match: re.Match[str], new: str) -> str:
    return text[: match.start()] + new + text[match.end() :]


def _swap_word(text: str, choices: Sequence[tuple[re.Match[str], str]], rng: random.Random) -> str | None:
    if not choices:
        return None
    match, new = rng.choice(list(choices))
    return _replaced(text, match, new)


def _is_dated(text: str, match: re.Match[str]) -> bool:
    """Whether a figure belongs to a date or a code."""
    after = text[match.end() : match.end() + 12].strip().lower()
    before = text[max(0, match.start() - 12) : match.start()].strip().lower()
    months = [one for names in MONTHS.values() for one in map(str.lower, names)]
    return any(after.startswith((one, "of " + one, "° " + one)) for one in months) or any(map(before.endswith, months))


def number(text: str, language: str, around: Around, rng: random.Random) -> str | None:
    """Another number, near it or out of the same passage."""
    choices = []
    for match in re.finditer(r"(?<![\w./-])\d{1,3}(?:[.,]\d+)?(?![\w/-]|[.,]\d|:\d)", text):
        if _is_dated(text, match):
            continue
        value = match.group()
        others = [one for one in re.findall(r"(?<![\w./-])\d{1,3}(?![\w/.-])", around.passage) if one not in text]
        mark = "," if "," in value else "."
        head, _, tail = value.partition(mark)
        near = [str(int(head) + step) for step in (1, 2, 3, 5, 10) if step] + [str(int(head) * 2 + 1)]
        pool = others if others and rng.random() < 0.5 else [f"{one}{mark}{tail}" if tail else one for one in near]  # noqa: PLR2004 - half of them
        choices.append((match, rng.choice([one for one in pool if one != value] or [str(int(head) + 7)])))
    for match in re.finditer(rf"\b({'|'.join(NUMBER_WORDS[language])})\b", text):
        pool = [one for one in NUMBER_WORDS[language] if one != match.group()]
        choices.append((match, rng.choice(pool)))
    return _swap_word(text, choices, rng)


def unit(text: str, language: str, around: Around, rng: random.Random) -> str | None:
    """Another unit behind a number."""
    del around
    digits = r"(?:\d[\d.,]*|" + "|".join(NUMBER_WORDS[language]) + r")(?: (?:working|calendar|full|consecutive))?[ -]?"
    choices = []
    for group in UNITS[language]:
        for name in group:
            tail = r"\b" if name[-1].isalpha() else ""
            for match in re.finditer(rf"({digits})({re.escape(name)}){tail}", text):
                other = rng.choice([one for one in group if one != name])
                choices.append((match, match.group(1) + other))
    return _swap_word(text, choices, rng)


def currency(text: str, language: str, around: Around, rng: random.Random) -> str | None:
    """Another currency."""
    del language, around
    choices = []
    for name, *others in MONEY:
        pattern = re.escape(name) + r"(?=\d)" if not name.isalpha() else rf"\b{name}\b"
        choices += [(match, rng.choice(others)) for match in re.finditer(pattern, text)]
    return _swap_word(text, choices, rng)


def moved_date(text: str, language: str, around: Around, rng: random.Random) -> str | None:
    """Another month, weekday, year, or day of the month."""
    del around
    choices = []
    for names in (MONTHS[language], WEEKDAYS[language]):
        for match in re.finditer(rf"\b({'|'.join(names)})\b", text):
            if match.group() in ("May", "March") and not re.match(r" \d", text[match.end() :]):
                continue
            choices.append((match, rng.choice([one for one in names if one != match.group()])))
    choices += [
        (match, str(int(match.group()) + rng.choice([-10, -3, -1, 1, 2, 10])))
        for match in re.finditer(r"(?<![\w./-])(1[0-9]|20)\d\d(?![\w/.-]\d|\w)", text)
    ]
    months = "|".join(MONTHS[language])
    choices += [
        (match, str(int(match.group()) % 27 + 1))
        for match in re.finditer(rf"\b(\d{{1,2}})(?= (?:of )?(?:{months})\b)", text)
    ]
    return _swap_word(text, choices, rng)


def negation_added(text: str, language: str, around: Around, rng: random.Random) -> str | None:
    """A ``not`` where there was none near."""
    del around
    choices = []
    for match in re.finditer(_AUX[language], text):
        near = text[max(0, match.start() - 45) : match.end() + 25]
        if re.search(_NEGATIVE[language], near, re.IGNORECASE):
            continue
        new = f"{match.group()} not" if language == "en" else f"non {match.group()}"
        choices.append((match, new))
    return _swap_word(text, choices, rng)


def negation_removed(text: str, language: str, around: Around, rng: random.Random) -> str | None:
    """The sentence without one of its negations or exceptions."""
    del around
    choices = [(match, match.expand(new)) for pattern, new in _UNDONE[language] for match in re.finditer(pattern, text)]
    # "non ... mai" denies without its second half too.
    if re.search(r"(?i)\b(finché|a meno che|fino a quando)\b", text):
        return None
    doubled = re.compile(r"(?i)\bnon\b[^.;:]*$")
    choices = [
        (match, new)
        for match, new in choices
        if not match.group().lower().startswith(("mai", "nessun")) or not doubled.search(text[: match.start()])
    ]
    if not choices:
        return None
    match, new = rng.choice(choices)
    changed = _replaced(text, match, new)
    return changed[:1].upper() + changed[1:]


def opposite(text: str, language: str, around: Around, rng: random.Random) -> str | None:
    """May for must, before for after, minimum for maximum."""
    del around
    choices = [(match, new) for old, new in TURNED[language] for match in re.finditer(rf"\b{old}\b", text)]
    return _swap_word(text, choices, rng)


def proper_names(text: str) -> list[re.Match[str]]:
    """Names inside sentences, dates and weekdays left out."""
    return [
        match
        for match in _NAME.finditer(text)
        if len(match.group()) > 3 and match.group().split()[0].lower() not in _DATE_WORDS  # noqa: PLR2004 - no initials
    ]


def entity(text: str, language: str, around: Around, rng: random.Random) -> str | None:
    """Another name, half of them out of the same passage."""
    del language
    choices = []
    for match in proper_names(text):
        own = set(match.group().lower().split())
        here = [one.group() for one in proper_names(around.passage)]
        pool = here if rng.random() < 0.5 else list(around.names)  # noqa: PLR2004 - half of them
        pool = [one for one in pool if not own & set(one.lower().split()) and one not in text]
        if pool:
            choices.append((match, rng.choice(pool)))
    return _swap_word(text, choices, rng)


def codes_in(text: str) -> list[re.Match[str]]:
    """Identifiers of a text."""
    return list(_CODE.finditer(text))


def code(text: str, language: str, around: Around, rng: random.Random) -> str | None:
    """Another identifier, or one sign of it changed."""
    del language
    choices = []
    for match in codes_in(text):
        others = [one.group() for one in codes_in(around.passage) if one.group() not in text] or list(around.codes)
        others = [one for one in others if one not in text]
        if others and rng.random() < 0.5:  # noqa: PLR2004 - half of them
            choices.append((match, rng.choice(others)))
            continue
        digits = [at for at, sign in enumerate(match.group()) if sign.isdigit()]
        at = rng.choice(digits)
        sign = str((int(match.group()[at]) + rng.randint(1, 8)) % 10)
        choices.append((match, match.group()[:at] + sign + match.group()[at + 1 :]))
    return _swap_word(text, choices, rng)


def merged(text: str, language: str, around: Around, rng: random.Random) -> str | None:
    """What the next sentence says of its own subject, joined to this sentence's."""
    del rng
    found = re.search(_FINITE[language], around.neighbor)
    if found is None or found.start() < 4 or not text.rstrip().endswith("."):  # noqa: PLR2004 - it has a subject
        return None
    tail = around.neighbor[found.start() :].rstrip(" .")
    if not 4 <= len(_WORDY.findall(tail)) <= 18:  # noqa: PLR2004 - a clause
        return None
    return f"{text.rstrip(' .')} {'and' if language == 'en' else 'e'} {tail}."


CHANGES: Mapping[str, Change] = {
    "number": number,
    "unit": unit,
    "currency": currency,
    "date": moved_date,
    "negation_added": negation_added,
    "negation_removed": negation_removed,
    "opposite": opposite,
    "entity": entity,
    "code": code,
    "merged": merged,
}
