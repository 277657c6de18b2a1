"""Signs that a text gives orders to a machine, in English and Italian: passages are flagged for them, never changed.

A list of rules: it knows the common ways and not the clever ones, and a text about such attacks shows the same signs.
What keeps an answer safe does not rest on it (see docs/security.md); it tells people where to look.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from typing import Final

from fonte.text.order_rules import RULES

_SIGNS: Final = {
    name: [(words, re.compile(pattern, re.IGNORECASE | re.MULTILINE)) for words, pattern in rules]
    for name, rules in RULES.items()
}
_SPACES = re.compile(r"\s+")
_ENCODED = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/]{40,}={0,2}(?![\w+/=-])")
_UNSEEN_ALLOWED = 3
"""Characters of no width that stand in a text by chance: a soft hyphen, a joiner."""
_PRINTABLE = 0.95
_MANY_SPACES = 0.08


def signs(text: str) -> tuple[str, ...]:
    """What a text shows, each once and in a fixed order; nothing for an ordinary one.

    ``override`` (earlier orders are to be forgotten), ``role`` (tags of a chat's frame), ``addressed`` (it speaks to a
    model), ``answering`` (it says how to answer), ``task`` (it asks for what one asks of a model: a poem, a
    translation, code), ``hidden`` (the parser marked words that nobody sees), ``encoded`` (base64 of a text),
    ``unseen`` (characters of no width).
    """
    plain = _SPACES.sub(" ", text.casefold())
    found = [
        name
        for name, rules in _SIGNS.items()
        if any(any(word in plain for word in words) and pattern.search(text) for words, pattern in rules)
    ]
    if any(_is_text(match.group()) for match in _ENCODED.finditer(text)):
        found.append("encoded")
    if not text.isascii() and sum(unicodedata.category(one) == "Cf" for one in text) > _UNSEEN_ALLOWED:
        found.append("unseen")
    return tuple(found)


def _is_text(encoded: str) -> bool:
    """Whether base64 holds words: letters with spaces between them, which hashes and keys do not."""
    try:
        body = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return False
    printable = sum(one.isprintable() or one.isspace() for one in body)
    return printable >= _PRINTABLE * len(body) and body.count(" ") >= _MANY_SPACES * len(body)
