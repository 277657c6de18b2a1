"""Markers in what a model wrote: the forms that it meant one by, and what is no text of ours and must not be shown.

A marker is ``[1]``. Models also write ``[1, 2]``, ``[1-3]``, ``[^1]``, ``【1】``, ``[source 2]`` or forget the
bracket's end: what is surely meant becomes ``[1]`` (several of them), the rest is taken out and told to ``removed``, as
it was written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

Removed = Callable[[str], object]

MARKER = re.compile(r"\s?\[(\d{1,4})\]")
"""The one form that is left."""
_LISTED = re.compile(r"\[\s*\^?(\d{1,4}(?:\s*[,;&]\s*\^?\d{1,4})+)\s*\]")
_RANGE = re.compile(r"\[\s*(\d{1,3})\s*[-–—]\s*(\d{1,3})\s*\]")
_NAMED = re.compile(
    r"\[\s*(?:(?:sources?|font[ei]|src|ref|doc|passage|passaggio)\s*[:#]?\s*|\^|\s)\s*(\d{1,4})\s*\]|\[(\d{1,4})\s+\]",
    re.IGNORECASE,
)
_HALF = re.compile(r"\[\s*\^?(\d{1,3})(?=[\s.!?…,;:]*$)")
"""A marker without its end, where the sentence ends."""
_ODD = re.compile(
    r"\s?\[\s*(?:/?(?:sources?|font[ei]|src|ref|doc|passage)\b[^\[\]]*|[\^#+-]*\d[\d,;:.\s-]*(?:[†|][^\[\]]*)?)?\]",
    re.IGNORECASE,
)
"""What is no marker and reads as one (``[1:2]``, ``[1†source]``), our own frame of a source, ``[]``."""
_LONGEST_RANGE = 9
_AFTER_STOP = re.compile(r"([.!?…]+)((?:\s*\[\d{1,4}\])+)")
_ALONE = re.compile(r"(?:(?<=\S)|\A)[^\S\n]*\n\s*((?:\[\d{1,4}\][ \t]*)++)(?=\n|\Z)")
"""Markers that have a line for themselves: they belong to what stands before. Looked for once in a run of spaces."""

LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\s*\)")
_REFERENCE = re.compile(
    r"^[ \t]{0,3}\[[^\[\]\n]{1,80}\]:[ \t]*[^\s./:#]*[./:#]\S+(?:[ \t]+[\"'(].*)?[ \t]*$", re.MULTILINE
)
"""A link's target on a line of its own: ``[1]: http://…``."""
_URL = re.compile(
    r"(?:https?|ftp|file)://\S*|\b(?:(?:https?|ftp|file|javascript|data|mailto|vbscript):\S|www\.)\S*", re.IGNORECASE
)
_SCRIPT = re.compile(r"<(script|style|iframe|svg|object|template)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,500}>")
_TAG_START = re.compile(r"<(?=[a-zA-Z/!?])")

_BRACKETS = str.maketrans("【〔［⟦〖】〕］⟧〗\u2028\u2029\t\v\f", "[[[[[]]]]]\n\n   ")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co"})
_VARIATIONS = (("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef"))


def plain(character: str) -> str:
    """The character as it is read on: brackets of one kind, and nothing that is not seen (empty then)."""
    moved = character.translate(_BRACKETS)
    if moved == "\n" or moved.isascii():
        return moved if moved == "\n" or moved.isprintable() else ""
    if unicodedata.category(moved) in _UNSEEN or any(low <= moved <= high for low, high in _VARIATIONS):
        return ""
    return moved


def unlinked(text: str, removed: Removed) -> str:
    """The text without links, images and HTML; a link's own words stay."""
    found = True
    while found:  # what is taken out may have stood inside another one
        found = False
        for pattern in (_REFERENCE, LINK, _SCRIPT, _COMMENT, _TAG, _URL):
            there = [match.group() for match in pattern.finditer(text)]
            for one in there:
                removed(one)
            found = found or bool(there)
            text = pattern.sub(lambda match: _link_text(match.group(1)) if match.re is LINK else "", text)
    # A tag that never ends becomes text: with a space after its sign no reader takes it for a tag.
    return _TAG_START.sub("< ", text)


def _link_text(text: str) -> str:
    """What stays of a link. A model that links its marker means the marker, which is judged like any other."""
    return f"[{text}]" if re.fullmatch(r"\d{1,4}", text) else text


def normalised(text: str, removed: Removed) -> str:
    """The text with every marker that is surely meant in the one form, before the stop of its sentence."""

    def listed(match: re.Match[str]) -> str:
        return "".join(f"[{number}]" for number in re.findall(r"\d+", match.group(1)))

    def ranged(match: re.Match[str]) -> str:
        first, last = int(match.group(1)), int(match.group(2))
        if not first <= last <= first + _LONGEST_RANGE:
            removed(match.group())
            return ""
        return "".join(f"[{number}]" for number in range(first, last + 1))

    def named(match: re.Match[str]) -> str:
        return f"[{match.group(1) or match.group(2)}]"

    text = _NAMED.sub(named, _RANGE.sub(ranged, _LISTED.sub(listed, text)))
    text = _ALONE.sub(lambda match: f" {match.group(1).strip()}", text)
    return _AFTER_STOP.sub(lambda match: f" {match.group(2).strip()}{match.group(1)}", text)


def taken(sentence: str, removed: Removed) -> tuple[str, tuple[int, ...]]:
    """A sentence without markers, on one line, and the numbers of those that it had, each once, in order."""
    whole = _HALF.sub(r"[\1]", sentence)
    numbers = tuple(dict.fromkeys(int(match.group(1)) for match in MARKER.finditer(whole)))
    return cleaned(MARKER.sub("", whole), removed), numbers


def cleaned(text: str, removed: Removed) -> str:
    """The text without anything that reads as a marker, on one line."""
    there = True
    while there:  # [[9]1] holds another one
        there = False
        for pattern in (MARKER, _ODD):
            found = [match.group().strip() for match in pattern.finditer(text)]
            for one in found:
                removed(one)
            there = there or bool(found)
            text = pattern.sub("", text)
    return " ".join(text.split())
