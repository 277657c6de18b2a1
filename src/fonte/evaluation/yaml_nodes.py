"""YAML as nodes that know their lines, one question at a time.

PyYAML's own nodes cost more than a gigabyte for 100,000 questions; these are made out of its events, and those of a
question are forgotten once it was read. Anchors, aliases and tags are refused: a golden set is plain text, and an
alias can make a small file endless.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Never, TypeAlias

import yaml

_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE: Final = frozenset("yes Yes YES true True TRUE on On ON".split())
_FALSE: Final = frozenset("no No NO false False FALSE off Off OFF".split())
_WHOLE = re.compile(r"[-+]?[0-9]{1,18}")


class NodeFault(Exception):
    """A line that cannot be read: line from 1, words, code."""

    def __init__(self, line: int, message: str, *, code: str = "shape") -> None:
        super().__init__(message)
        self.line = line
        self.message = message
        self.code = code


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text as it was written; ``plain`` when without quotes."""

    line: int
    text: str
    plain: bool


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    line: int
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """A mapping, its pairs in order."""

    line: int
    pairs: tuple[tuple[Node, Node], ...]


Node: TypeAlias = Scalar | Items | Pairs


def line_of(event: yaml.Event) -> int:
    """Where an event begins, from 1."""
    return event.start_mark.line + 1 if event.start_mark else 1


class Events:
    """The events of one YAML document, with one seen ahead."""

    def __init__(self, text: str) -> None:
        # The C parser is part of every wheel of PyYAML; without it the other one gives the same events, slowly.
        loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
        self._events = yaml.parse(text, Loader=loader)
        self._ahead: yaml.Event | None = None
        self._lines = text.count("\n") + 1

    def peek(self) -> yaml.Event:
        """The next event, left there."""
        if self._ahead is None:
            self._ahead = self._next()
        return self._ahead

    def take(self) -> yaml.Event:
        """The next event."""
        event = self.peek()
        self._ahead = None
        return event

    def _next(self) -> yaml.Event:
        try:
            event = next(self._events)
        except yaml.MarkedYAMLError as error:
            # The end of a file that stops in the middle counts as a line of its own.
            line = min(error.problem_mark.line + 1, self._lines) if error.problem_mark else 1
            raise NodeFault(line, f"is not valid YAML: {error.problem}", code="yaml") from error
        except yaml.YAMLError as error:
            raise NodeFault(1, f"is not valid YAML: {error}", code="yaml") from error
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            _refuse(event, "anchors and aliases are not read: write it out")
        tag = getattr(event, "tag", None)
        if tag not in (None, "!"):
            _refuse(event, f"tags such as {tag} are not read: quotes make anything text")
        return event

    def node(self) -> Node:
        """The next whole node."""
        event = self.take()
        line = line_of(event)
        if isinstance(event, yaml.ScalarEvent):
            return Scalar(line, str(event.value), event.style is None or event.style == "")
        if isinstance(event, yaml.SequenceStartEvent):
            return Items(line, tuple(self.items()))
        if isinstance(event, yaml.MappingStartEvent):
            return Pairs(line, tuple(self._pairs()))
        raise AssertionError("a node begins with a scalar, a list or a mapping")

    def items(self) -> Iterator[Node]:
        """The nodes of a list that was begun, one at a time."""
        while not isinstance(self.peek(), yaml.SequenceEndEvent):
            yield self.node()
        self.take()

    def _pairs(self) -> Iterator[tuple[Node, Node]]:
        while not isinstance(self.peek(), yaml.MappingEndEvent):
            key = self.node()
            yield key, self.node()
        self.take()


def _refuse(event: yaml.Event, message: str) -> Never:
    raise NodeFault(line_of(event), message, code="yaml")


# --- nodes to values -------------------------------------------------------------------------------------------------


def mapping(node: Node, what: str, known: frozenset[str]) -> dict[str, Node]:
    """The values of a mapping by key. Raises NodeFault: no mapping, an unknown key, or one twice."""
    if not isinstance(node, Pairs):
        raise NodeFault(node.line, f"{what} should be a mapping")
    found: dict[str, Node] = {}
    for key_node, value in node.pairs:
        key = key_of(key_node, what, known)
        if key in found:
            raise NodeFault(key_node.line, f"{what} has {key} twice")
        found[key] = value
    return found


def key_of(node: Node, what: str, known: frozenset[str]) -> str:
    """A key's name. Raises NodeFault: it is not one of the known."""
    key = text_of(node, "a key")
    if key not in known:
        raise NodeFault(node.line, f"{what} has no key {key}; known are {', '.join(sorted(known))}")
    return key


def text_of(node: Node, what: str) -> str:
    """Any scalar as it was written: a needle ``1,200`` or ``2026-01-01`` is text, quoted or not."""
    if not isinstance(node, Scalar) or (node.plain and node.text in _NULL):
        raise NodeFault(node.line, f"{what} should be text")
    return node.text


def items_of(node: Node | None, what: str) -> tuple[Node, ...]:
    """The items of a list; nothing where there is no node."""
    if node is None:
        return ()
    if not isinstance(node, Items):
        raise NodeFault(node.line, f"{what} should be a list")
    return node.items


def texts_of(node: Node | None, what: str) -> tuple[str, ...]:
    """A list of texts."""
    return tuple(text_of(item, f"each of {what}") for item in items_of(node, what))


def flag_of(node: Node, what: str) -> bool:
    """True or false."""
    if not isinstance(node, Scalar) or not node.plain or node.text not in _TRUE | _FALSE:
        raise NodeFault(node.line, f"{what} should be true or false")
    return node.text in _TRUE


def whole_of(node: Node, what: str) -> int:
    """A whole number."""
    if not isinstance(node, Scalar) or not node.plain or not _WHOLE.fullmatch(node.text):
        raise NodeFault(node.line, f"{what} should be a whole number")
    return int(node.text)
