"""From ranked chunks to ranked stretches: overlaps merged, copies grouped."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

_NOT_WORDS = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"\w*\d[\w.,]*")
_NEAR = 0.85
"""Share of runs of three words that near copies have in common."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A ranked chunk: its key, its document, its characters there, what it says, and who may read it."""

    key: str
    document: str
    start: int
    end: int
    content: str
    readers: frozenset[str] = frozenset()


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


def diversify(candidates: Sequence[Candidate], *, near_once: bool = False) -> list[Group]:
    """Groups in the order of their best candidates.

    A candidate that overlaps a group of its document widens it; one with the same words as an earlier one becomes its
    copy, and with ``near_once`` also one of another document with the same readers, the same numbers, and nearly the
    same words.
    """
    groups: list[_Growing] = []
    said: dict[str, _Growing] = {}
    near = _Near() if near_once else None
    for candidate in candidates:
        own = [group for group in groups if group.document == candidate.document]
        met = [group for group in own if group.meets(candidate.start, candidate.end)]
        words = same_words(candidate.content)
        if met:
            _widen(met[0], candidate, own, groups, said)
        elif words in said:
            said[words].copies.append(candidate.key)
            continue
        elif near is not None and (like := near.first_like(candidate)) in said:
            said[like].copies.append(candidate.key)
            continue
        else:
            groups.append(_Growing(candidate.key, candidate.document, candidate.start, candidate.end, [candidate.key]))
            met = groups[-1:]
        said.setdefault(words, met[0])
        if near is not None:
            near.take(candidate, words)
    return [Group(one.key, one.document, one.start, one.end, tuple(one.parts), tuple(one.copies)) for one in groups]


class _Near:
    """Passages that were shown, by their readers and numbers, to find those that come to the same."""

    def __init__(self) -> None:
        self._known: defaultdict[tuple[frozenset[str], tuple[str, ...]], list[tuple[str, str, set[str]]]] = defaultdict(
            list
        )

    def take(self, candidate: Candidate, words: str) -> None:
        """Remember a passage under its words."""
        self._known[_key(candidate)].append((candidate.document, words, _runs(words)))

    def first_like(self, candidate: Candidate) -> str:
        """The words of the first passage of another document that this one is like; empty where there is none."""
        mine = _runs(same_words(candidate.content))
        for document, words, runs in self._known[_key(candidate)]:
            if document != candidate.document and len(mine & runs) >= _NEAR * len(mine | runs):
                return words
        return ""


def _key(candidate: Candidate) -> tuple[frozenset[str], tuple[str, ...]]:
    return candidate.readers, tuple(sorted(_NUMBER.findall(candidate.content)))


def _runs(words: str) -> set[str]:
    """Every run of three words."""
    one = words.split()
    return {" ".join(one[at : at + 3]) for at in range(max(len(one) - 2, 1))}


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
