"""What a process keeps of a table that it reads for long: as much as there is room for, and only while it is needed."""

from __future__ import annotations

import gc
from pathlib import Path
from threading import Event, Thread
from threading import enumerate as threads

import numpy as np
import pytest
from contract.store_making import CODED, STAFF, question, random_codes, random_units, sealed, stored
from waiting import wait_until

from fonte.stores import open_table
from fonte.stores.lance_index import LanceIndex
from fonte.stores.lance_reader import LanceReader
from fonte.stores.lance_rows import CODES, TEXTS
from fonte.types import Generation

ROWS = 300
SIZES = [20] * ROWS


@pytest.fixture
def generation(tmp_path: Path) -> Generation:
    writer = LanceIndex(tmp_path / "lance").begin(CODED, None)
    rows = [stored(f"c{at:03}", f"d{at // 10}", content=f"text {at} " * 40) for at in range(ROWS)]
    words = [["it:x", f"it:w{at % 7}"] for at in range(ROWS)]
    writer.add(rows, words, random_units(ROWS, 1), random_codes(SIZES, 2))
    return sealed(writer, recipe=CODED)


def getting_ready() -> list[Thread]:
    return [one for one in threads() if one.name == "fonte-getting-ready"]


def ready(folder: Path, generation: Generation, room: int) -> LanceReader:
    reader = LanceIndex(folder / "lance", resident_bytes=room).open(generation)
    assert reader.word_search == "table"
    reader.get_ready()
    wait_until(lambda: not getting_ready())
    return reader


def asked(reader: LanceReader) -> tuple[object, ...]:
    hits = reader.bm25(["it:w3", "it:x"], question(), revoked=["d1"], k=40)
    names = [hit.chunk_id for hit in hits]
    chunks = reader.chunks(names, STAFF, revoked=["d2"])
    codes = reader.codes(names, STAFF, revoked=["d2"])
    texts = [(name, one.chunk, one.roles) for name, one in chunks.items()]
    return names, texts, [(name, one.tolist()) for name, one in codes.items()]


def test_postings_texts_and_codes_are_kept_in_turn_as_far_as_there_is_room(
    tmp_path: Path, generation: Generation
) -> None:
    whole = ready(tmp_path, generation, 2**30)._opened
    words, texts, codes = whole.postings, whole.kept(TEXTS), whole.kept(CODES)
    assert words is not None
    assert texts is not None
    assert codes is not None
    some, more = int(1.3 * words.nbytes), 2 * (words.nbytes + texts.nbytes)
    assert some < more
    expected = asked(ready(tmp_path, generation, 0))
    for room, kept in (
        (0, (False, False, False)),
        (words.nbytes // 2, (False, False, False)),
        (some, (True, False, False)),
        (more, (True, True, False)),
        (2 * more + 4 * codes.nbytes, (True, True, True)),
    ):
        reader = ready(tmp_path, generation, room)
        opened = reader._opened
        assert (opened.postings is not None, bool(opened.kept(TEXTS)), bool(opened.kept(CODES))) == kept
        assert reader.word_search == ("memory" if kept[0] else "table")
        assert asked(reader) == expected


def test_a_table_that_nobody_reads_any_more_is_not_held_by_getting_ready(
    tmp_path: Path, generation: Generation, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_way, go_on = Event(), Event()

    class Slow(open_table.Collector):
        def add(self, terms: object) -> None:
            under_way.set()
            assert go_on.wait(60)

    monkeypatch.setattr(open_table, "Collector", Slow)
    store = LanceIndex(tmp_path / "lance")
    reader = store.open(generation)
    reader.get_ready()
    assert under_way.wait(60)
    assert reader.word_search == "loading"
    assert np.isfinite([hit.score for hit in reader.bm25(["it:x"], question(), revoked=(), k=3)]).all()
    del reader
    gc.collect()
    assert store.in_use([generation]) == []
    store.drop([])
    assert not store._path(generation.table).exists()
    go_on.set()
    wait_until(lambda: not getting_ready())
