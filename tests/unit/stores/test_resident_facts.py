"""What is kept of rows in memory: ids both ways, facts of documents that lie in any order, masks of every filter."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from contract.store_making import question

from fonte.stores.chunk_ids import ChunkIds
from fonte.stores.document_facts import FACTS, DocumentFacts
from fonte.types import Query

LISTS = pa.list_(pa.utf8())


def made(chance: random.Random) -> dict[str, Any]:
    """A row's facts; rows of one document need not agree, and a NUL is a character like any other."""
    document = f"d{chance.randint(0, 8)}"
    return {
        "document_id": document,
        "document_name": f"{document}.md",
        "source_uri": f"file:///{document}",
        "source_version": chance.choice(["v1", "v2"]),
        "title": chance.choice(["", "T", "T\0", "\0T"]),
        "media_type": chance.choice(["text/html", "text/markdown"]),
        "language": chance.choice(["it", "en"]),
        "roles": chance.choice([[], ["staff"], ["staff", "hr"], ["staff\0hr"], ["legal"]]),
        "valid_from": chance.choice(["", "2021-01-01"]),
        "valid_to": chance.choice(["", "2022-12-31"]),
    }


def batch(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    columns = [pa.array([row[name] for row in rows], LISTS if name == "roles" else pa.utf8()) for name in FACTS]
    return pa.RecordBatch.from_arrays(columns, names=list(FACTS))


def readable(row: dict[str, Any], asked: Query, revoked: list[str]) -> bool:
    wanted, day = asked.filters, asked.as_of.isoformat() if asked.as_of else None
    return (
        bool(asked.principal.held_roles & set(row["roles"]))
        and row["document_id"] not in revoked
        and (
            not wanted.documents
            or bool({row["document_id"], row["document_name"], row["source_uri"]} & {*wanted.documents})
        )
        and (not wanted.languages or row["language"] in wanted.languages)
        and (not wanted.media_types or row["media_type"] in wanted.media_types)
        and (day is None or (row["valid_from"] <= day and (not row["valid_to"] or day <= row["valid_to"])))
    )


@pytest.mark.parametrize("together", [True, False])
def test_facts_come_back_and_masks_are_those_of_looking_at_every_row(together: bool) -> None:
    chance = random.Random(together)
    rows = [made(chance) for _ in range(300)]
    rows = sorted(rows, key=lambda row: row["document_id"]) if together else rows
    facts = DocumentFacts(len(rows))
    for start in (0, 1, 120):
        facts.fill(start, batch(rows[start : {0: 1, 1: 120, 120: 300}[start]]))
    assert [facts.of(at) for at in range(300)] == [{**row, "roles": tuple(row["roles"])} for row in rows]
    assert [facts.document(at) for at in range(300)] == [row["document_id"] for row in rows]
    counts = {language: at.tolist() for language, at in facts.languages().items()}
    assert counts == {one: [at for at, row in enumerate(rows) if row["language"] == one] for one in ("it", "en")}
    seen = set()
    for _ in range(200):
        filters: dict[str, Any] = {
            "documents": chance.choice([(), (), ("d1",), ("d2.md", "file:///d3", "nowhere")]),
            "languages": chance.choice([(), ("it",), ("it", "en"), ("de",)]),
            "media_types": chance.choice([(), ("text/html",)]),
        }
        roles = chance.choice([(), ("staff",), ("hr",), ("legal", "staff"), ("staff\0hr",)])
        asked = replace(question(roles, **filters), as_of=chance.choice([None, date(2020, 5, 5), date(2023, 1, 1)]))
        revoked = chance.sample([f"d{at}" for at in range(10)], chance.randint(0, 3))
        for _twice in range(2):  # what is kept of the last question is no other question's
            mask = facts.readable(asked, revoked)
            assert mask.tolist() == [readable(row, asked, revoked) for row in rows]
        seen.add(int(mask.sum()))
    assert len(seen) > 20
    with pytest.raises(ValueError, match="read-only"):
        mask[0] = True


def test_no_rows_have_no_facts() -> None:
    facts = DocumentFacts(0)
    facts.fill(0, batch([]))
    assert facts.readable(question(["staff"]), ()).tolist() == []
    assert facts.languages() == {}


def test_ids_are_found_by_row_and_rows_by_id() -> None:
    names = [f"c{at:03}" for at in range(50)] + ["c", "perché-東京", "c0000000000000000000001"]
    random.Random(3).shuffle(names)
    ids = ChunkIds(len(names))
    ids.fill(0, pa.array(names[:20]))
    ids.fill(20, pa.array(names[20:]))
    assert ids.close()
    assert [ids[at] for at in range(len(ids))] == names
    asked = ["c049", "absent", "perché-東京", "c049", "", "c000\0", "c", "\ud800", "zz" * 99]
    assert ids.rows(asked) == {one: names.index(one) for one in ("c049", "perché-東京", "c")}
    assert ids.rows([]) == ChunkIds(0).rows(["c"]) == {}


def test_an_id_that_stands_there_twice_is_told() -> None:
    ids = ChunkIds(3)
    ids.fill(0, pa.array(["a", "b", "a"]))
    assert not ids.close()
    assert np.array_equal(ids.rows(["b"])["b"], 1)
