"""What two generations of one tenant differ in: recipe, documents, and what golden sets said of them.

For whoever runs a corpus: nobody's rights are asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fonte.types import DocumentState, Generation, Recipe


@dataclass(frozen=True, slots=True)
class Differs:
    """One field that is not the same in both."""

    field: str
    a: object
    b: object


@dataclass(frozen=True, slots=True)
class ChangedDocument:
    """A document of both, as the later one has it, and what is not the same of it."""

    state: DocumentState
    fields: tuple[Differs, ...]


@dataclass(frozen=True, slots=True)
class GenerationDiff:
    """What B is beside A. Documents are in the order of their names, each in one of the lists."""

    a: Generation
    b: Generation
    recipe: tuple[Differs, ...]
    added: tuple[DocumentState, ...]
    removed: tuple[DocumentState, ...]
    modified: tuple[ChangedDocument, ...]
    """Their source has another version."""
    other_state: tuple[ChangedDocument, ...]
    """Of the same version, in another state."""
    otherwise: tuple[ChangedDocument, ...]
    """Of the same version and state: other roles, another number of chunks, another name or stamp."""
    unchanged: int
    outcomes: tuple[str | None, str | None]
    """What a golden set said of each; None where it said nothing."""
    measures: Mapping[str, tuple[float | None, float | None]]
    """The figures that were kept of each; None where there is none."""
    same_questions: bool | None
    """Whether both were measured by the same golden set; None where one of them was not measured."""


def differences(
    a: Generation,
    b: Generation,
    states: tuple[Sequence[DocumentState], Sequence[DocumentState]],
    judged: tuple[Mapping[str, Any] | None, Mapping[str, Any] | None],
) -> GenerationDiff:
    """Two generations with their documents and kept judgments to what they differ in.

    Where B was judged against A, A's figures are those of that judgment: of the same questions at the same moment.
    """
    before = {state.document_id: state for state in states[0]}
    after = {state.document_id: state for state in states[1]}
    both = [(before[name], state) for name, state in after.items() if name in before]
    changed = [ChangedDocument(now, tuple(_fields(was, now))) for was, now in both]
    names = [{one.field for one in document.fields} for document in changed]
    paired = list(zip(changed, names, strict=True))
    return GenerationDiff(
        a,
        b,
        tuple(_recipe(a.recipe, b.recipe)),
        tuple(state for name, state in after.items() if name not in before),
        tuple(state for name, state in before.items() if name not in after),
        tuple(one for one, fields in paired if "version" in fields),
        tuple(one for one, fields in paired if "state" in fields and "version" not in fields),
        tuple(one for one, fields in paired if fields and not fields & {"version", "state"}),
        sum(not fields for fields in names),
        (_outcome(judged[0]), _outcome(judged[1])),
        *_measures(a.id, judged),
    )


def _fields(was: DocumentState, now: DocumentState) -> Iterator[Differs]:
    pairs = (
        ("version", was.version, now.version),
        ("state", was.status.value, now.status.value),
        ("chunks", was.chunks, now.chunks),
        ("roles", sorted(was.acl.roles), sorted(now.acl.roles)),
        ("name", was.name, now.name),
        ("language", was.language, now.language),
    )
    yield from (Differs(*one) for one in pairs if one[1] != one[2])
    if was.stamp != now.stamp:
        old, new = ({} if one.stamp is None else asdict(one.stamp) for one in (was, now))
        fields = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        yield from (Differs(f"stamp.{name}", old.get(name), new.get(name)) for name in fields)


def _recipe(a: Recipe, b: Recipe) -> Iterator[Differs]:
    one, other = dict(_flat(asdict(a))), dict(_flat(asdict(b)))
    yield from (Differs(name, one.get(name), other.get(name)) for name in one if one.get(name) != other.get(name))


def _flat(told: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in told.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield above + name, value


def _outcome(report: Mapping[str, Any] | None) -> str | None:
    return None if report is None else report.get("outcome")


def _measures(
    a: str, judged: tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]
) -> tuple[Mapping[str, tuple[float | None, float | None]], bool | None]:
    first, second = (one if one is not None else {} for one in judged)
    before, after = first.get("measures") or {}, second.get("measures") or {}
    prints = [one["golden"]["fingerprint"] for one in (first, second) if one.get("golden") and one.get("measures")]
    same = prints[0] == prints[1] if len(prints) == len(judged) else None
    if second.get("against") == a and second.get("before"):
        before, same = second["before"], True
    names = dict.fromkeys([*before, *after])
    return {name: (_value(before, name), _value(after, name)) for name in names}, same


def _value(measures: Mapping[str, Any], name: str) -> float | None:
    found = measures.get(name)
    return None if found is None else float(found["value"])
