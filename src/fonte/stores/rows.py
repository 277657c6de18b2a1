"""Recipes, stamps, ledgers and states as the catalog keeps them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from fonte.errors import CorruptIndex
from fonte.stores.statements import Row
from fonte.types import (
    Acl,
    ChunkingRecipe,
    Counts,
    DocumentState,
    DocumentStatus,
    Generation,
    GenerationState,
    LedgerEntry,
    Loss,
    Recipe,
    Space,
    Stamp,
)

_SAID, _LIKENESS = "said", "likeness"
"""Keys beside a stamp's own."""


def put_json(value: object) -> str:
    """JSON with sorted keys."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def put_time(moment: datetime) -> str:
    """ISO 8601 in UTC; a time without a zone is taken as UTC."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat()


def put_acl(acl: Acl) -> str:
    """Roles as a sorted JSON list."""
    return put_json(sorted(acl.roles))


@lru_cache(maxsize=4096)
def get_acl(text: str) -> Acl:
    """The rights of ``put_acl``; kept, for thousands of documents have the same."""
    return Acl(frozenset(json.loads(text)))


def put_recipe(recipe: Recipe) -> str:
    """A recipe as JSON."""
    return put_json(asdict(recipe))


def get_recipe(text: str) -> Recipe:
    """The recipe of ``put_recipe``."""
    value: Mapping[str, Any] = json.loads(text)
    return Recipe(
        pipeline=value["pipeline"],
        normaliser=value["normaliser"],
        chunking=ChunkingRecipe(**value["chunking"]),
        terms=value["terms"],
        space=Space(**value["space"]),
    )


def get_generation(row: Row, tenant: str) -> Generation:
    """A generation out of its row, with ``documents`` counted by the query.

    Raises:
        CorruptIndex: a row that is not a generation.
    """
    try:
        return Generation(
            id=row["id"],
            tenant=tenant,
            state=GenerationState(row["state"]),
            recipe=get_recipe(row["recipe"]),
            table=row["table_name"],
            table_version=row["table_version"],
            created_at=datetime.fromisoformat(row["created_at"]),
            documents=row["documents"],
            chunks=row["chunks"],
            verdict=row["verdict"],
            base=row["base"],
        )
    except (ValueError, KeyError, TypeError) as error:
        message = f"generation {row['id']} of the catalog is damaged: {error}"
        raise CorruptIndex(message) from error


def put_stamp(state: DocumentState) -> str | None:
    """A state's stamp as JSON, with what the source said and the likeness of its text beside it."""
    if state.stamp is None:
        return None
    beside = {_SAID: state.said, _LIKENESS: state.likeness}
    return put_json({**asdict(state.stamp), **{key: value for key, value in beside.items() if value}})


def get_stamp(text: str | None) -> tuple[Stamp | None, str, str]:
    """The stamp of ``put_stamp``, what was said, and the likeness."""
    if text is None:
        return None, "", ""
    value: dict[str, Any] = json.loads(text)
    said, likeness = str(value.pop(_SAID, "")), str(value.pop(_LIKENESS, ""))
    return Stamp(**value), said, likeness


def put_ledger(ledger: LedgerEntry | None) -> str | None:
    """A ledger as JSON."""
    return None if ledger is None else put_json(asdict(ledger))


def get_ledger(text: str | None) -> LedgerEntry | None:
    """The ledger of ``put_ledger``."""
    if text is None:
        return None
    value: dict[str, Any] = json.loads(text)
    value.pop("index", None)
    parsed = value.pop("parsed", None)
    return LedgerEntry(
        parsed=None if parsed is None else Counts(**parsed),
        source=Counts(**value.pop("source")),
        canonical=Counts(**value.pop("canonical")),
        chunks=Counts(**value.pop("chunks")),
        losses=tuple(Loss(**loss) for loss in value.pop("losses")),
        **value,
    )


def get_state(row: Row) -> DocumentState:
    """A document's state out of its row; DELETED, with no chunk, when the row says that its tombstone stands.

    Raises:
        CorruptIndex: a row that is not a state.
    """
    try:
        stamp, said, likeness = get_stamp(row["stamp"])
        return DocumentState(
            document_id=row["document_id"],
            name=row["name"],
            uri=row["uri"],
            status=DocumentStatus.DELETED if row["gone"] else DocumentStatus(row["status"]),
            version=row["version"],
            acl=get_acl(row["acl"]),
            reason=row["reason"],
            retryable=bool(row["retryable"]),
            chunks=0 if row["gone"] else row["chunks"],
            pages=row["pages"],
            language=row["language"],
            stamp=stamp,
            ledger=get_ledger(row["ledger"]),
            source_root=row["source_root"],
            said=said,
            likeness=likeness,
        )
    except (ValueError, KeyError, TypeError) as error:
        message = f"document {row['document_id']} of the catalog is damaged: {error}"
        raise CorruptIndex(message) from error
