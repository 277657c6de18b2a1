"""A worse candidate is not published, each for its own reason; an equal one is. Only the encoder is a fake."""

from __future__ import annotations

import json
import random
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "usecases"))

from command import Ran, fonte
from evaluating_making import Quick
from fonte.errors import ModelUnavailable
from fonte.stores.lance_writer import LanceWriter
from fonte.types import Codes, StoredChunk, Vectors
from quick_corpus import WordEmbedder

ROOMS = 24
"""Enough questions to rule out a loss of 0.15 where nothing differs; for the usual 0.05 it would take seventy-three."""
SETTINGS = "[golden]\npath = 'golden.yaml'\n[retrieval]\nmode = 'bm25'\n"
"""Words alone: the fake vectors say little."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Quick:
    made = Quick()
    monkeypatch.setattr("fonte.wiring.make_parts", made)
    return made


def _documents(folder: Path, rooms: int) -> Path:
    """Rooms in one long paragraph each; the sentence that is asked for stands about its 512th character."""
    docs, draw = folder / "docs", random.Random(7)
    docs.mkdir()
    for number in range(rooms):
        sentences: list[str] = []
        while len(" ".join(sentences)) < 420 + draw.randrange(40):
            sentences.append(" ".join(f"w{draw.randrange(5000)}" for _ in range(6)) + ".")
        text = " ".join([*sentences, _needle(number), *sentences[:4]])
        (docs / f"room{number}.md").write_text(f"# Room {number}\n\n{text}\n", encoding="utf-8")
    return docs


def _needle(number: int) -> str:
    return f"The key k{number}k of room r{number}r hangs behind the green door d{number}d since the flood of that year."


def _golden(folder: Path, rooms: int) -> None:
    questions = [
        {
            "id": f"q{number}",
            "question": f"Where does the key k{number}k of room r{number}r hang, behind door d{number}d?",
            "segment": "lexical",
            "relevant": [{"document": f"room{number}.md", "needle": _needle(number)}],
        }
        for number in range(rooms)
    ]
    (folder / "golden.yaml").write_text(json.dumps({"name": "rooms", "questions": questions}), encoding="utf-8")
    (folder / "fonte.toml").write_text(SETTINGS, encoding="utf-8")


def _held(home: Path, ran: Ran, before: str) -> tuple[str, list[str]]:
    """The message of a candidate that was held back, and the codes of its data checks."""
    assert (ran.status, ran.json["published"], ran.json["error"]["code"]) == (1, False, "gate_failed"), ran.out
    told = fonte(home, "generations").json
    assert told["active"] == before
    one = next(one for one in told["generations"] if one["id"] == ran.json["generation"])
    assert one["state"] == "candidate"
    assert one["verdict"].startswith("held back: ")
    return str(ran.json["error"]["message"]), [fault["code"] for fault in one["checks"]["faults"]]


def test_a_chunker_that_cuts_blindly_is_not_published_and_an_equal_candidate_is(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fonte.judging.DEFAULT_MARGIN", 0.15)
    docs = _documents(tmp_path, ROOMS)
    _golden(tmp_path, ROOMS)
    first = fonte(home, "sync", str(docs)).json["generation"]
    (docs / "canteen.md").write_text("# Canteen\n\nLunch is at noon.\n", encoding="utf-8")
    equal = fonte(home, "sync", str(docs))
    assert (equal.status, equal.json["published"]) == (0, True), equal.err
    second = equal.json["generation"]
    judged = fonte(home, "generations").json["generations"][-1]["judgment"]
    assert (judged["outcome"], judged["against"]) == ("pass", first)
    blind = tmp_path / "blind.toml"
    blind.write_text(f"[chunking]\nstrategy = 'blind'\nsize = 512\n{SETTINGS}", encoding="utf-8")
    message, codes = _held(home, fonte(home, "sync", str(docs), "--config", str(blind)), second)
    assert "golden set rooms fails it: needle@5 changed by -" in message
    assert "more than 0.15 was lost" in message
    assert codes == [], "its data are whole: the golden set alone tells"


def test_a_tiny_golden_set_says_that_it_cannot_tell(home: Path, tmp_path: Path) -> None:
    docs = _documents(tmp_path, 4)
    _golden(tmp_path, 4)
    first = fonte(home, "sync", str(docs)).json["generation"]
    (docs / "canteen.md").write_text("# Canteen\n\nLunch is at noon.\n", encoding="utf-8")
    message, codes = _held(home, fonte(home, "sync", str(docs)), first)
    assert "golden set rooms cannot tell: needle@5 changed by +0.0000" in message
    assert codes == []


_Add = Callable[..., None]


def _adding(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[Sequence[Sequence[str]]], Sequence[Sequence[str]]]
) -> None:
    """From here on chunks are written with other terms."""
    real: _Add = LanceWriter.add

    def add(
        self: LanceWriter,
        chunks: Sequence[StoredChunk],
        terms: Sequence[Sequence[str]],
        vectors: Vectors,
        codes: Sequence[Codes] | None = None,
    ) -> None:
        real(self, chunks, change(terms), vectors, codes)

    monkeypatch.setattr(LanceWriter, "add", add)


@pytest.mark.parametrize(
    ("broken", "reasons"),
    [
        ("no terms", {"terms"}),
        ("another analyser", {"terms", "bm25"}),
        ("terms of other chunks", {"terms"}),
    ],
)
def test_a_broken_bm25_leg_is_not_published(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str, reasons: set[str]
) -> None:
    docs = _documents(tmp_path, 6)
    first = fonte(home, "sync", str(docs)).json["generation"]
    changes: dict[str, Any] = {
        "no terms": lambda terms: [[] for _ in terms],
        "another analyser": lambda terms: [[term.upper() for term in one] for one in terms],
        "terms of other chunks": lambda terms: [*terms[1:], terms[0]],
    }
    _adding(monkeypatch, changes[broken])
    for number in range(6):
        path = docs / f"room{number}.md"
        path.write_text(path.read_text(encoding="utf-8") + f"\nThe lamp l{number}l was mended.\n", encoding="utf-8")
    message, codes = _held(home, fonte(home, "sync", str(docs)), first)
    assert reasons <= set(codes), message


def test_a_candidate_that_lost_half_of_its_documents_is_not_published(home: Path, tmp_path: Path) -> None:
    docs = _documents(tmp_path, 10)
    first = fonte(home, "sync", str(docs)).json["generation"]
    for number in range(5):
        (docs / f"room{number}.md").unlink()
    message, codes = _held(home, fonte(home, "sync", str(docs)), first)
    assert codes == ["disappeared"]
    assert "5 of 10 documents have disappeared" in message


class _Changed(WordEmbedder):
    """An endpoint whose operator changed the model under the same name: what it says to texts from now on."""

    def encode_passages(self, texts: Sequence[str]) -> tuple[Vectors, list[Codes]]:
        return super().encode_passages([text[::-1] for text in texts])


def test_vectors_of_another_model_are_not_published(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = _documents(tmp_path, 6)
    first = fonte(home, "sync", str(docs)).json["generation"]
    path = docs / "room0.md"
    path.write_text(path.read_text(encoding="utf-8") + "\nThe lamp was mended.\n", encoding="utf-8")
    with monkeypatch.context() as patched:
        patched.setattr("evaluating_making.WordEmbedder", _Changed)
        message, codes = _held(home, fonte(home, "sync", str(docs)), first)
    assert codes == ["model"]
    assert "have vectors that words does not make of their text" in message
    again = fonte(home, "publish", fonte(home, "generations").json["generations"][-1]["id"])
    assert (again.status, again.json["error"]["code"]) == (1, "gate_failed")


class _Silent(WordEmbedder):
    """An endpoint that went down after it made vectors."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if not self._encoding:
            raise ModelUnavailable("the endpoint is down")
        return super().embed_passages(texts)


def test_new_vectors_that_cannot_be_compared_with_the_model_are_not_published(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = _documents(tmp_path, 6)
    first = fonte(home, "sync", str(docs)).json["generation"]
    monkeypatch.setattr("evaluating_making.WordEmbedder", _Silent)
    path = docs / "room0.md"
    before = path.read_text(encoding="utf-8")
    path.write_text(before + "\nThe lamp was mended.\n", encoding="utf-8")
    message, codes = _held(home, fonte(home, "sync", str(docs)), first)
    assert codes == ["model_unknown"]
    assert "the endpoint is down" in message
    path.write_text(before, encoding="utf-8")
    (docs / "room1.md").unlink()
    gone = fonte(home, "sync", str(docs))
    assert (gone.status, gone.json["published"]) == (0, True), "no vector is new: those that answer now are the same"
    assert fonte(home, "generations").json["generations"][-1]["checks"]["embedded"] == 0


def test_a_generation_of_a_model_that_the_settings_do_not_name_is_not_published(
    home: Path, tmp_path: Path, quick: Quick, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = _documents(tmp_path, 6)

    class Other(WordEmbedder):
        def __init__(self) -> None:
            super().__init__()
            self.space = type(self.space)("others", "others", "1", 16, 512, "word-codes", 16)

    first = fonte(home, "sync", str(docs)).json["generation"]
    with monkeypatch.context() as patched:
        patched.setattr("evaluating_making.WordEmbedder", Other)
        second = fonte(home, "sync", str(docs)).json["generation"]
        refused = fonte(home, "publish", first)
        assert (refused.status, refused.json["error"]["code"]) == (1, "gate_failed")
        assert "it was built with words, the settings name others" in refused.json["error"]["message"]
        assert fonte(home, "generations").json["active"] == second
    assert fonte(home, "publish", first).status == 0


# --- a table that is not what its catalog says -----------------------------------------------------------------------


def _tampered(home: Path, change: Callable[[Any], None]) -> str:
    """Alter the candidate's table, and let the catalog name what came of it; the candidate's id."""
    import lancedb

    (folder,) = home.glob("tenants/*")
    with closing(sqlite3.connect(folder / "catalog.sqlite")) as catalog:
        name, table_name = catalog.execute(
            "SELECT id, table_name FROM generations WHERE state = 'candidate' ORDER BY seq DESC"
        ).fetchone()
        table = lancedb.connect(folder / "lance").open_table(table_name)
        change(table)
        catalog.execute(
            "UPDATE generations SET table_version = ?, chunks = ? WHERE id = ?",
            (table.version, table.count_rows(), name),
        )
        catalog.commit()
    return str(name)


def _altered(table: Any, **columns: Callable[[Any], Any]) -> None:
    """One row with other values in some columns, in the place of itself."""
    import pyarrow as pa

    rows = table.search().limit(None).to_arrow()
    (first, *_) = rows.slice(0, 1).to_pylist()
    changed = first | {name: change(first[name]) for name, change in columns.items()}
    table.delete(f"chunk_id = '{first['chunk_id']}'")
    table.add(pa.Table.from_pylist([changed], schema=rows.schema))


def _doubled(table: Any) -> None:
    table.add(table.search().limit(None).to_arrow().slice(0, 1))


def _one_gone(table: Any) -> None:
    (chunk,) = table.search().select(["chunk_id"]).limit(1).to_arrow()["chunk_id"].to_pylist()
    table.delete(f"chunk_id = '{chunk}'")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_one_gone, {"counts", "incomplete"}),
        (_doubled, {"counts", "incomplete", "repeated"}),
        (lambda table: _altered(table, document_id=lambda _: "d-of-nobody"), {"orphans", "incomplete"}),
        (lambda table: _altered(table, content=lambda text: text[::-1]), {"texts"}),
        (lambda table: _altered(table, vector=lambda one: [0.0] * len(one)), {"vectors"}),
        (lambda table: _altered(table, vector=lambda one: [1.0] * len(one)), {"vectors"}),
        (lambda table: _altered(table, vector=lambda one: np.roll(one, 3).tolist()), {"model"}),
        (lambda table: _altered(table, codes=lambda _: b""), {"codes"}),
        (lambda table: _altered(table, terms=lambda _: "en:another"), {"terms"}),
    ],
)
def test_what_is_wrong_in_a_table_is_told_by_its_own_reason(
    home: Path, tmp_path: Path, change: Callable[[Any], None], reason: set[str]
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(3):  # few enough that each row is among those that are looked at closely
        (docs / f"n{number}.md").write_text(f"# N{number}\n\nThe lamp number {number} is blue.\n", encoding="utf-8")
    built = fonte(home, "sync", str(docs), "--no-publish").json
    assert built["published"] is False
    candidate = _tampered(home, change)
    refused = fonte(home, "publish", candidate)
    assert (refused.status, refused.json["error"]["code"]) == (1, "gate_failed")
    (one,) = fonte(home, "generations").json["generations"]
    assert reason <= {fault["code"] for fault in one["checks"]["faults"]}, one["verdict"]
    assert fonte(home, "generations").json["active"] is None
    seen_by_check = not reason.isdisjoint({"counts", "orphans", "texts", "vectors"})
    assert fonte(home, "check").json["whole"] is not seen_by_check, "it asks no model and no analyser"
