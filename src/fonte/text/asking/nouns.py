"""A noun with its article in the place of another one in a question: "the oil" for "the seal".

By rules, in English and Italian, and only where one noun alone can be meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_THE = re.compile(
    r"(?<!\w)(?:(?P<bound>of|for|in|at|on|from|to|with|by|under|about|behind|before|after|during|without|until)\s+)?"
    r"(?P<article>the\s+)",
    re.IGNORECASE,
)
_IL = re.compile(
    r"(?<![\w'’])(?:(?P<bound>de|a|da|ne|su)(?:llo|lla|lle|ll['’]|gli|l|i)"
    r"|(?:(?P<apart>per|con|tra|fra|dopo|durante|senza|sotto|sopra|entro|presso)\s+)?(?P<article>il|lo|la|i|gli|le|l['’]))"
    r"(?:\s+|(?<=['’]))",
    re.IGNORECASE,
)
_JOINED: Final = {"il": "l", "lo": "llo", "la": "lla", "l'": "ll'", "i": "i", "gli": "gli", "le": "lle"}
"""What an article becomes behind a preposition: "della" of "la"."""
_ENDS: Final = {
    "en": re.compile(
        r"\s+(?=(?:of|for|in|at|on|from|to|with|under|by|about|behind|per|and|or|every|each|once|when|if|how|before|after"
        r"|during|without|until|is|are|was|were|be|get|gets|have|has|had|must|may|can|should|will|do|does|did)\b)|[,;:(]",
        re.IGNORECASE,
    ),
    "it": re.compile(
        r"\s+(?=(?:di|da|in|a|ad|per|con|su|tra|fra|e|o|ogni|quando|se|dopo|prima|durante|senza|entro|presso|si|viene"
        r"|vengono|va|vanno|è|sono|era|ha|hanno|deve|devono|può|possono|dura|costa"
        r"|(?:de|a|da|ne|su)(?:l|llo|lla|lle|i|gli))\b|(?:de|a|da|ne|su)ll['’])|[,;:(]",
        re.IGNORECASE,
    ),
}
"""Where a noun and what stands before it end."""
_HELPED = re.compile(r"\b(?:do|does|did|can|could|may|must|should|will|would)\s+$", re.IGNORECASE)
_BEING = re.compile(r"\b(?:is|are|was|were|has|have|had|been|be)\s+$", re.IGNORECASE)
_PARTICIPLE = re.compile(
    r"\w+ed|made|done|kept|held|sent|paid|given|taken|written|shown|worn|driven|chosen|built|bought|found|read|cut|put|set"
    r"|shut|sold|run|open|closed|due|allowed",
    re.IGNORECASE,
)
_WHAT_IS = re.compile(
    r"(?:what|which|who)(?: is| are| was| were|['’]s)\b"
    r"|(?:qual|quali|che cosa|cosa|cos['’]|chi|quant['’]) ?(?:è|sono|era|erano)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Noun:
    """A noun with its article: where it begins and ends.

    ``bound`` is the preposition before it, empty for none; ``joined`` the same where it is one word with the article.
    """

    start: int
    stop: int
    bound: str
    joined: str = ""


def with_noun(question: str, fragment: str) -> str | None:
    """The question with the fragment in the place of the one noun that plays its part; None where that is not sure.

    A noun behind a preposition gives way only where there is no other, or where its question asks what the other noun
    of it is: "the price of the pump", but "is the seal of the pump changed". Names ("the UK") stay.
    """
    if _THE.match(fragment):
        nouns = [_english(question, found) for found in _THE.finditer(question)]
    elif (own := _IL.match(fragment)) is not None and own["article"]:
        nouns = [_italian(question, found) for found in _IL.finditer(question)]
    else:
        return None
    chosen = _chosen(question, [one for one in nouns if not _is_name(question, one)])
    if chosen is None:
        return None
    put = _joined(chosen.joined, fragment[:1].lower() + fragment[1:])
    return f"{question[: chosen.start]}{put}{question[chosen.stop :]}?"


def _chosen(question: str, nouns: list[_Noun]) -> _Noun | None:
    free, bound = [one for one in nouns if not one.bound], [one for one in nouns if one.bound]
    of = [one for one in bound if one.bound in {"of", "de"}]
    if _WHAT_IS.match(question) and of:
        return of[-1] if len(of) == 1 else None
    if len(free) == 1:
        return free[0]
    return bound[0] if not free and len(bound) == 1 else None


def _english(question: str, found: re.Match[str]) -> _Noun:
    stop = _stop(question, found.end(), "en")
    words = question[found.end() : stop].split()
    before = question[: found.start("article")]
    verb = _HELPED.search(before) or (_BEING.search(before) and _PARTICIPLE.fullmatch(words[-1] if words else ""))
    if verb and len(words) > 1:
        stop = question.rindex(words[-1], found.end(), stop)
        stop = len(question[:stop].rstrip())
    return _Noun(found.start("article"), stop, (found["bound"] or "").lower())


def _italian(question: str, found: re.Match[str]) -> _Noun:
    joined = (found["bound"] or "").lower()
    start = found.start() if joined else found.start("article")
    return _Noun(start, _stop(question, found.end(), "it"), joined or (found["apart"] or "").lower(), joined)


def _stop(question: str, start: int, language: str) -> int:
    end = _ENDS[language].search(question, start + 1)
    return end.start() if end else len(question)


def _is_name(question: str, noun: _Noun) -> bool:
    return question[: noun.stop].rsplit(maxsplit=1)[-1][:1].isupper()


def _joined(preposition: str, fragment: str) -> str:
    """Behind "de" is "la valvola" "della valvola"; behind nothing it is what it was."""
    article = _IL.match(fragment)
    if not preposition or article is None:
        return fragment
    named = article["article"].lower().replace("’", "'")
    gap = "" if named.endswith("'") else " "
    return f"{preposition}{_JOINED[named]}{gap}{fragment[article.end() :]}"
