"""From ranked chunks to ranked stretches: overlaps merged, copies grouped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_NOT_WORDS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A ranked chunk: its key, its document, its characters there, and what it says."""

    key: str
    document: str
    start: int
    end: int
    content: str


@dataclass(frozen=True, slots=True)
class Group:
    """A stretch of one document: the best chunk's key, the merged range, and the chunks that it took in.

    ``parts`` are the keys merged into the range, best first, ``key`` among them; ``copies`` the keys of chunks that
    say the same elsewhere, best first.
    """

    key: str
    document: str
    start: int
    end: int
    parts: tuple[str, ...]
    copies: tuple[str, ...] = ()


@dataclass(slots=True)
class _Growing:
    key: str
    document: str
    start: int
    end: int
    parts: list[str]
    copies: list[str] = field(default_factory=list)

    def meets(self, start: int, end: int) -> bool:
        return self.start < end and start < self.end


def diversify(candidates: Sequence[Candidate]) -> list[Group]:
    """Groups in the order of their best candidates.

    A candidate that overlaps a group of its document widens it; one with the same words as an earlier one becomes its
    copy.
    """
    groups: list[_Growing] = []
    said: dict[str, _Growing] = {}
    for candidate in candidates:
        own = [group for group in groups if group.document == candidate.document]
        met = [group for group in own if group.meets(candidate.start, candidate.end)]
        words = same_words(candidate.content)
        if met:
            _widen(met[0], candidate, own, groups, said)
        elif words in said:
            said[words].copies.append(candidate.key)
            continue
        else:
            groups.append(_Growing(candidate.key, candidate.document, candidate.start, candidate.end, [candidate.key]))
            met = groups[-1:]
        said.setdefault(words, met[0])
    return [Group(one.key, one.document, one.start, one.end, tuple(one.parts), tuple(one.copies)) for one in groups]


def same_words(content: str) -> str:
    """What near-copies share: the words in small letters, without marks and white space between them."""
    return _NOT_WORDS.sub(" ", content.casefold()).strip() or content


def _widen(
    group: _Growing, candidate: Candidate, own: list[_Growing], groups: list[_Growing], said: dict[str, _Growing]
) -> None:
    """Take the candidate in, and then every other group of the document that the wider range meets."""
    group.start, group.end = min(group.start, candidate.start), max(group.end, candidate.end)
    group.parts.append(candidate.key)
    again = True
    while again:
        again = False
        for other in own:
            if other is not group and other in groups and group.meets(other.start, other.end):
                group.start, group.end = min(group.start, other.start), max(group.end, other.end)
                group.parts += other.parts
                group.copies += other.copies
                groups[:] = [kept for kept in groups if kept is not other]
                said.update({words: group for words, holder in said.items() if holder is other})
                again = True
