"""Other wordings of a question, to be looked for beside it.

Its subject alone; word by word in the other language; with the other names that its organisation has for things.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from fonte.text.asking.wording import topic
from fonte.text.glossary import OTHER, Glossary
from fonte.text.terms import Analyser, folded
from fonte.types import Language

_WORD = re.compile(r"[^\W_]+(?:[-.'’][^\W_]+)*")


def other_wordings(text: str, languages: Sequence[Language]) -> tuple[str, ...]:
    """The question's subject without what asks for it; and its words in the other language, where it is known."""
    about = topic(text)
    found = [about] if about else []
    if len(languages) == 1 and languages[0] in OTHER:
        source = languages[0]
        words = [next(iter(_glossary().of(word, source)), word) for word in about.split()]
        if words != about.split():
            found.append(" ".join(words))
    return tuple(one for one in dict.fromkeys(found) if one.casefold() != text.casefold())


def with_aliases(text: str, aliases: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The question with each name of the table that it holds in the place of another one for the same thing."""
    plain = folded(text)
    found: list[str] = []
    for name, others in aliases.items():
        group = [name, *others]
        for one in group:
            place = re.search(rf"(?<!\w){re.escape(folded(one))}(?!\w)", plain)
            if place is not None and len(plain) == len(text):
                found += [f"{text[: place.start()]}{other}{text[place.end() :]}" for other in group if other != one]
                break
    return tuple(dict.fromkeys(found))


@cache
def _glossary() -> Glossary:
    return Glossary(folded, Analyser().stem)
