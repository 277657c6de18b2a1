"""A question that only makes sense after another one, to one that stands on its own: by rules, in English and Italian.

Told apart are fragments ("And for part-timers?", "What about Udine?", "E per i consulenti?"), questions whose pronoun
points back ("Who approves it?", "Chi lo approva?"), questions that name no subject ("How long?", "Da quando?") and
ordinals of what the answer listed ("the second one"). Everything else stays as it is: a subject that is put where none
was missing does more harm than one that stays missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fonte.text.asking.nouns import with_noun
from fonte.text.asking.wording import ASKS, content_words, points_back, topic
from fonte.types import Said

MOST_WORDS: Final = 14
"""Words of what was said before that are put to a question; a subject needs no more."""
_LONGEST_FRAGMENT: Final = 8
_LEADING = re.compile(r"^(?:and|but|so|then|also|ok(?:ay)?,?|e|ed|ma|allora|poi|quindi)[,]?\s+", re.IGNORECASE)
_ABOUT = re.compile(
    r"^(?:what about|how about|what if|and if|same for|the same for"
    r"|che (?:mi dici|ne è) (?:di|del(?:la|lo|le)?|dei|degli)"
    r"|e se|se invece|lo stesso (?:vale )?(?=per)|vale (?:lo stesso |anche )?(?=per)|anche)\s*",
    re.IGNORECASE,
)
_TAIL = re.compile(r"[,]?\s*(?:instead|too|as well|then|invece|anche|pure|allora)?\s*[?.!…]*\s*$", re.IGNORECASE)
_PREPOSITION = re.compile(
    r"^(?P<p>for|in|at|on|of|from|to|with|under|by|during|after|before|per|nel(?:la|lo|le)?|nei|negli|a|al(?:la|lo|le)?"
    r"|ai|agli|con|da|dal(?:la)?|di|del(?:la|lo|le)?|dei|degli|su|sul(?:la)?|dopo|prima di|nell['’]|all['’]|dell['’])"
    r"(?:\s|(?<=['’]))",
    re.IGNORECASE,
)
_FAMILIES: Final = (
    frozenset("in at nel nella nello nelle nei negli nell' a al alla allo alle ai agli all'".split()),
    frozenset("di del della dello delle dei degli dell'".split()),
    frozenset("da dal dalla from".split()),
    frozenset("on su sul sulla".split()),
)
_WORD = re.compile(r"(?<![\w'’])\w+['’]?")
_PHRASE_END = re.compile(
    r"\s+(?=(?:for|in|at|on|of|from|to|with|under|by|per|con|di|da|(?:al|dal|del|nel)(?:l[aeo]|l(?=['’]))?"
    r"|and|e|the|an?|il|lo|la|i|gli|le|un[ao]?|is|are|get|gets|have|has|must|may|can|do|does|si|ha|hanno|deve|devono"
    r"|può|possono)\b)|[,;:(]",
    re.IGNORECASE,
)
"""Where the few words behind a preposition end."""
_NAME = re.compile(r"(?:the |il |la |l['’])?[A-Z][\w.-]*(?: [A-Z][\w.-]*)*")
_NAMED = re.compile(r"(?<!\w)(?:in|at|for|from|to|a|ad|di|da|per|of) (?P<name>(?:the )?[A-Z][\w.-]*(?: [A-Z][\w.-]*)*)")
_FEW: Final = 5
_ORDINAL = re.compile(
    r"\bthe (?P<en>first|second|third|fourth|fifth|last|former|latter)(?: one| option| point| case)?"
    r"(?=\s*(?:[?.,!]|$|is|does|do|apply|mean))"
    r"|\b(?:il|la|del|della|al|alla|nel|nella|sul|sulla) "
    r"(?P<it>prim[oa]|second[oa]|terz[oa]|quart[oa]|quint[oa]|ultim[oa])"
    r"(?: caso| punto| opzione)?(?=\s*(?:[?.,!]|$|è|vale|si))",
    re.IGNORECASE,
)
_PLACES: Final = {
    "first": 0, "former": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1, "latter": -1,
    "primo": 0, "prima": 0, "secondo": 1, "seconda": 1, "terzo": 2, "terza": 2, "quarto": 3, "quarta": 3,
    "quinto": 4, "quinta": 4, "ultimo": -1, "ultima": -1,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A question that stands on its own, by which rule, and the documents whose text came into it."""

    text: str
    rule: str
    documents: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    """Words that it asks about now: a passage without any of them speaks of what was asked before."""


def rewritten(text: str, history: Sequence[Said]) -> Rewritten | None:
    """The question with what it leaves out, by what was said before (oldest first); None where it lacks nothing.

    ``documents`` also holds those whose text the question before had taken in.
    """
    if not history:
        return None
    last = history[-1]
    ordinal = _ORDINAL.search(text)
    if ordinal is not None:
        return _listed(text, ordinal, last)
    bare = _LEADING.sub("", text.strip())
    fragment = _fragment(bare, led=bare != text.strip())
    if fragment:
        whole = _with_fragment(last.text, fragment)
        return Rewritten(whole, "fragment", last.documents, _new_words(last.text, fragment))
    if points_back(bare) or _lacks_subject(bare, led=bare != text.strip()):
        about = " ".join(topic(last.text).split()[:MOST_WORDS])
        if about:
            rule = "points back" if points_back(bare) else "names no subject"
            return Rewritten(f"{text.strip()} ({about})", rule, last.documents)
    return None


def _listed(text: str, found: re.Match[str], last: Said) -> Rewritten | None:
    """With what the answer listed at the place that the question names; None where it lists nothing there."""
    at = _PLACES[(found["en"] or found["it"]).lower()]
    if not -len(last.sentences) <= at < len(last.sentences):
        return None
    sentence, documents = last.sentences[at]
    about = " ".join(topic(sentence).split()[:MOST_WORDS])
    held = tuple(dict.fromkeys((*last.documents, *documents)))
    return Rewritten(f"{text.strip()} ({about})", "names one of the answer's", held)


def _fragment(bare: str, *, led: bool) -> str:
    """What takes the place of something in the question before; empty where the text asks by itself."""
    about = _ABOUT.match(bare)
    rest = _TAIL.sub("", _ABOUT.sub("", bare))
    words = rest.split()
    if not words or len(words) > _LONGEST_FRAGMENT or ASKS.search(rest):
        return ""
    led = led or about is not None or bool(re.search(r"\b(?:instead|invece)\b", bare, re.IGNORECASE))
    preposed = _PREPOSITION.match(rest) is not None
    short = bare.rstrip().endswith("?") and len(words) <= _LONGEST_FRAGMENT // 2
    return rest if content_words(rest) and (led or preposed or short) else ""


def _new_words(before: str, fragment: str) -> tuple[str, ...]:
    """What a fragment speaks of and the question before does not; all of its words where there is nothing new."""
    words, known = content_words(fragment), {word.casefold() for word in content_words(before)}
    return tuple(word for word in words if word.casefold() not in known) or tuple(words)


def _with_fragment(before: str, fragment: str) -> str:
    """The question before with the fragment in the place of what stands after the same preposition, else behind it.

    A name takes the place of the last name behind a preposition, a noun with its article that of the one noun which
    plays the part that it can play.
    """
    question = before.rstrip("?!. ")
    preposition = _PREPOSITION.match(fragment)
    if preposition is not None:
        family = _family(preposition["p"])
        for place in reversed(list(_WORD.finditer(question))):
            if place.start() and place.group().lower().replace("’", "'") in family:
                end = _PHRASE_END.search(question, place.end() + 1)
                stop = end.start() if end else len(question)
                return f"{question[: place.start()]}{fragment}{question[stop:]}?"
    named = list(_NAMED.finditer(question)) if _NAME.fullmatch(fragment) else []
    if named:
        start, stop = named[-1].span("name")
        return f"{question[:start]}{fragment}{question[stop:]}?"
    return with_noun(question, fragment) or f"{question}, {fragment}?"


def _family(preposition: str) -> frozenset[str]:
    plain = preposition.lower().replace("’", "'")
    return next((one for one in _FAMILIES if plain in one), frozenset({plain}))


def _lacks_subject(text: str, *, led: bool) -> bool:
    """Whether a question names nothing that it could be about."""
    said, words = len(content_words(text)), len(text.split())
    if led:
        return said <= 1 or (said == 2 and words <= _FEW)  # noqa: PLR2004 - a verb and a noun
    return said == 0 or (said == 1 and words < _FEW - 1)
