"""What questions are made of, in English and Italian: interrogatives, pronouns, and the words that carry a subject."""

from __future__ import annotations

import re
from typing import Final

from fonte.text.stop_words import STOP_WORDS
from fonte.text.terms import folded

INTERROGATIVE: Final = (
    r"(?:who|whom|whose|what|which|when|where|why|how"
    r"|chi|che cosa|cosa|quale|quali|qual|quando|dove|dov['’]è|perché|perche|come|com['’]è|quant[oaie]|quant['’]è)"
)
"""A word that asks. Italian ``che`` alone is left out: it mostly begins a relative clause."""
PREPOSITION: Final = (
    r"(?:to|by|from|with|for|in|on|at|until|till|within|after|before|under|of|about"
    r"|a|ad|da|di|con|per|in|su|entro|dopo|prima di|fino a|ogni|sotto|secondo|tra|fra|sopra)"
)
_ANYWHERE = INTERROGATIVE.replace("|come|com['’]è", "|com['’]è")
ASKS = re.compile(
    rf"(?<!\w)(?:{_ANYWHERE}(?!\w)|{PREPOSITION} che (?=\w)|^(?:che|come) (?=\w)"
    r"|^(?:is|are|was|were|do|does|did|can|could|may|must|should|will|would|has|have)(?=\s)"
    r"|^(?:tell|explain|list|describe|give|show|dimmi|spiega(?:mi)?|elenca(?:mi)?|indica(?:mi)?|descrivi(?:mi)?)\b"
    r"|^(?:posso|possiamo|si può|si deve|è vero|è possibile)(?=\s))",
    re.IGNORECASE,
)
"""Where a stretch of text asks something."""

_ANAPHOR = re.compile(
    r"(?<![\w'’])(?:it|its|they|them|their|theirs|this|that|these|those|one|ones|he|him|his|she|her"
    r"|esso|essa|essi|esse|loro|lui|lei|questo|questa|questi|queste|quello|quella|quelli|quelle|ciò"
    r"|suo|sua|suoi|sue)(?![\w'’])",
    re.IGNORECASE,
)
"""Pronouns that may stand for something said before. Italian object pronouns look like articles: see ``_CLITIC``."""
_CLITIC = re.compile(
    r"(?<!\w)(?:chi|non|me|te|ce|ve|glie) (?:lo|li|le|la|ne) (?=\w)"
    r"|(?<!\w)(?:come|quando|dove|perché|cosa|quanto) (?:lo|li|ne) (?!s[bcdfgmnpqrtvz]|z|ps|gn)(?=\w)"
    r"|(?<!\w)(?:lo|li|la|le|ne) "
    r"(?=(?:devo|posso|ha|ho|approva|decide|paga|firma|fa|può|deve|vuole|chiede|usa|concede|danno|pagano|fanno)\b)"
    r"|\w{3,}(?:ar|er|ir)(?:lo|la|li|le|ne)(?!\w)",
    re.IGNORECASE,
)
_NO_ANAPHOR = re.compile(
    r"(?:is|was|will|would|does|did|can|may|must) (?:it|there) "
    r"(?=(?:be|take|cost|mean|matter|possible|necessary|allowed|required|true|ok|okay|compulsory)\b)"
    r"|(?<!\w)(?:this|that|these|those|quest[oaie]|quell[oaie]) (?=\w{4,})",
    re.IGNORECASE,
)
"""Pronouns that stand for nothing ("is it possible") or before their own noun ("this form")."""
_APOSTROPHE = re.compile(r"['’]")
_WORD = re.compile(r"[^\W_]+(?:[-./'’][^\W_]+)*")
_EMPTY: Final = (
    STOP_WORDS["en"]
    | STOP_WORDS["it"]
    | frozenset(
        "please tell know want need many long often soon far exactly also instead else thing things way happen happens "
        "vorrei voglio sapere dimmi spiegami serve servono invece anche bisogna deve devo devono possono posso puo "
        "about what's who's it's i'm don't yes si ok okay thanks thank grazie per favore".split()
    )
)


def content_words(text: str) -> list[str]:
    """The words that carry a subject, in order and as they were written; neither function words nor interrogatives."""
    return [word for word in _WORD.findall(text) if not _is_empty(word)]


def _is_empty(word: str) -> bool:
    return all(part in _EMPTY or not part for part in _APOSTROPHE.split(folded(word)))


def topic(text: str) -> str:
    """What a question is about: its words that carry a subject, in order, each once."""
    found: dict[str, str] = {}
    for word in content_words(text):
        found.setdefault(word.casefold(), word)
    return " ".join(found.values())


def points_back(text: str, most_before: int = 1) -> bool:
    """Whether a pronoun of the text stands for something outside it.

    One that comes after more than ``most_before`` words which carry a subject is taken to stand for them.
    """
    blanked = _NO_ANAPHOR.sub(lambda found: " " * len(found.group()), text)
    found = [*_ANAPHOR.finditer(blanked), *_CLITIC.finditer(blanked)]
    return any(len(content_words(text[: one.start()])) <= most_before for one in found)
