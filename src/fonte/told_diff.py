"""What two generations differ in, as JSON and in lines; every list names its first documents and how many there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fonte.contract import Json
from fonte.differing import ChangedDocument, Differs, GenerationDiff
from fonte.types import DocumentState, Generation

_WORDS = {
    "added": "only in B",
    "removed": "only in A",
    "modified": "of another version",
    "other_state": "in another state",
    "otherwise": "otherwise not the same",
}
_Documents = Sequence[DocumentState] | Sequence[ChangedDocument]


def diff(found: GenerationDiff, limit: int) -> Json:
    """What ``generations diff`` prints; ``limit`` documents in each list."""
    return {
        "a": _side(found.a, found.outcomes[0]),
        "b": _side(found.b, found.outcomes[1]),
        "recipe": [_differs(one) for one in found.recipe],
        "documents": {
            **{
                name: {"total": len(several), "listed": [_document(one) for one in several[:limit]]}
                for name, several in _lists(found).items()
            },
            "unchanged": found.unchanged,
        },
        "measures": {name: {"a": a, "b": b} for name, (a, b) in found.measures.items()},
        "same_questions": found.same_questions,
    }


def _lists(found: GenerationDiff) -> dict[str, _Documents]:
    return {
        "added": found.added,
        "removed": found.removed,
        "modified": found.modified,
        "other_state": found.other_state,
        "otherwise": found.otherwise,
    }


def _side(one: Generation, outcome: str | None) -> Json:
    return {
        "id": one.id,
        "state": one.state.value,
        "created_at": one.created_at.isoformat(),
        "documents": one.documents,
        "chunks": one.chunks,
        "recipe": one.recipe.id,
        "judged": outcome,
    }


def _differs(one: Differs) -> Json:
    return {"field": one.field, "a": one.a, "b": one.b}


def _document(one: DocumentState | ChangedDocument) -> Json:
    state, fields = (one.state, one.fields) if isinstance(one, ChangedDocument) else (one, ())
    return {
        "document_id": state.document_id,
        "document_name": state.name,
        "state": state.status.value,
        "differs": [_differs(each) for each in fields],
    }


def lines(found: GenerationDiff, limit: int) -> Iterator[str]:
    """The same in words."""
    for letter, one in (("A", found.a), ("B", found.b)):
        yield f"{letter} {one.id}: {one.state.value}, {one.documents} documents, {one.chunks} chunks"
    for field in found.recipe:
        yield f"recipe: {field.field}: {_short(field.a)} -> {_short(field.b)}"
    if not found.recipe:
        yield "recipe: the same"
    for name, several in _lists(found).items():
        if several:
            yield f"documents {_WORDS[name]}: {len(several)}"
        yield from (f"  {_line(one)}" for one in several[:limit])
        if len(several) > limit:
            yield f"  and {len(several) - limit} more: --limit N names more"
    yield f"documents that are the same: {found.unchanged}"
    if found.measures:
        kind = {True: "the same questions", False: "other questions", None: "one of them alone"}[found.same_questions]
        yield f"kept figures, A and B ({kind}): judged {found.outcomes[0] or '-'}, {found.outcomes[1] or '-'}"
    for name, (a, b) in found.measures.items():
        yield f"  {name}: {_figure(a)}, {_figure(b)}"


def _line(one: DocumentState | ChangedDocument) -> str:
    if not isinstance(one, ChangedDocument):
        return one.name
    return f"{one.state.name}: {'; '.join(f'{each.field} {_short(each.a)} -> {_short(each.b)}' for each in one.fields)}"


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _short(value: object) -> str:
    """A value in few characters: hashes by their beginning."""
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 40 else f"{text[:12]}…"  # noqa: PLR2004 - as much as a line bears
