"""What every IndexStore does, whatever it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contract.memory_index import MemoryIndex
from contract.ready_index import ReadyIndex
from contract.store_making import (
    CODE_WIDTH,
    CODED,
    OTHER_CHUNKING,
    OTHER_CODEC,
    OTHER_SPACE,
    RECIPE,
    STAFF,
    build,
    postgres_index,
    question,
    random_codes,
    random_units,
    sealed,
    stored,
    unit,
)

from fonte.errors import CorruptIndex, SpaceMismatch, StoreError
from fonte.stores.lance_index import LanceIndex

NEAR = unit(1.0)


@pytest.fixture(params=["memory", "lance", "lance, words in memory", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "postgres":
        with postgres_index(request.getfixturevalue("postgres_module_url")) as index:
            yield index
        return
    made = {"memory": MemoryIndex, "lance": lambda: LanceIndex(tmp_path / "lance")}
    yield made.get(request.param, lambda: ReadyIndex(tmp_path / "lance"))()


def ids(hits: Any) -> list[str]:
    return [hit.chunk_id for hit in hits]


def test_a_chunk_comes_back_as_it_was_given(store: Any) -> None:
    one = stored("c1", roles=("staff", "hr"), content="Le ferie sono 26 giorni, «circa» 😀\n\tfine", index=3)
    vectors = random_units(1, 3)
    reader = store.open(build(store, [(one, ["ferie"])], vectors))
    back = reader.chunks(["c1", "c9"], STAFF, revoked=())
    assert list(back) == ["c1"]
    assert replace(back["c1"], vector=None) == one
    assert np.array_equal(back["c1"].vector, vectors[0])


def test_case_98_and_62_and_63_roles_filter_both_legs_before_k(store: Any) -> None:
    rows = [(stored(f"c{at:03}", f"d{at}", ["hr"] if at % 10 else ["staff"]), ["ferie"]) for at in range(200)]
    reader = store.open(build(store, rows, np.tile(NEAR, (200, 1))))
    wanted = [f"c{at:03}" for at in range(0, 200, 10)]
    asked = question(["staff"])
    assert ids(reader.bm25(["ferie"], asked, revoked=(), k=20)) == wanted
    assert ids(reader.dense(NEAR, asked, revoked=(), k=20)) == wanted
    assert reader.chunks(["c001", "c010"], asked.principal, revoked=()).keys() == {"c010"}


def test_case_58_k_results_whenever_k_exist(store: Any) -> None:
    rows = [(stored(f"c{at:03}", f"d{at}", ["staff"] if at % 10 == 0 else ["hr"]), ["ferie"]) for at in range(500)]
    reader = store.open(build(store, rows))
    assert len(reader.dense(NEAR, question(["staff"]), revoked=(), k=50)) == 50
    assert len(reader.bm25(["ferie"], question(["staff"]), revoked=(), k=50)) == 50


def test_case_59_a_filtered_search_finds_what_looking_at_every_row_finds(store: Any) -> None:
    vectors = random_units(300, 7)
    rows = [(stored(f"c{at:03}", f"d{at}", language="en" if at % 9 == 0 else "it"), ["ferie"]) for at in range(300)]
    reader = store.open(build(store, rows, vectors))
    asked = random_units(1, 11)[0]
    near = sorted((-round(float(vectors[at] @ asked), 6), f"c{at:03}") for at in range(0, 300, 9))
    found = reader.dense(asked, question(languages=("en",)), revoked=(), k=20)
    assert ids(found) == [chunk for _, chunk in near[:20]]


def test_case_60_the_few_rows_of_one_among_a_hundred_are_all_found(store: Any) -> None:
    vectors = random_units(302, 5)
    rows = [(stored(f"c{at:03}", f"d{at}", [f"group{at % 100}"]), ["ferie"]) for at in range(300)]
    rows += [(stored(f"tiny{at}", f"t{at}", ["tiny"]), ["ferie"]) for at in range(2)]
    reader = store.open(build(store, rows, vectors))
    for found in (
        reader.dense(vectors[0], question(["tiny"]), revoked=(), k=10),
        reader.bm25(["ferie"], question(["tiny"]), revoked=(), k=10),
    ):
        assert sorted(ids(found)) == ["tiny0", "tiny1"]


def test_missing_rights_mean_nobody(store: Any) -> None:
    reader = store.open(build(store, [(stored("c1", roles=()), ["ferie"])]))
    asked = question(["staff", "hr"])
    assert reader.bm25(["ferie"], asked, revoked=(), k=5) == []
    assert reader.dense(NEAR, asked, revoked=(), k=5) == []
    assert reader.chunks(["c1"], asked.principal, revoked=()) == {}


def test_another_tenant_sees_nothing(store: Any) -> None:
    reader = store.open(build(store, [(stored("c1"), ["ferie"])]))
    asked = question(["staff"], tenant="other")
    assert reader.bm25(["ferie"], asked, revoked=(), k=5) == []
    assert reader.dense(NEAR, asked, revoked=(), k=5) == []
    assert reader.chunks(["c1"], asked.principal, revoked=()) == {}


def test_revoked_documents_leave_both_legs_and_make_room(store: Any) -> None:
    rows = [(stored(f"c{at}", f"d{at}"), ["ferie"]) for at in range(6)]
    reader = store.open(build(store, rows, np.tile(NEAR, (6, 1))))
    gone = ["d0", "d2", "d'; --"]
    assert ids(reader.bm25(["ferie"], question(), revoked=gone, k=3)) == ["c1", "c3", "c4"]
    assert ids(reader.dense(NEAR, question(), revoked=gone, k=3)) == ["c1", "c3", "c4"]
    assert reader.chunks(["c0", "c1"], question().principal, revoked=gone).keys() == {"c1"}


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ({"documents": ("d1",)}, ["c1"]),
        ({"documents": ("d1.md", "file:///d3.md")}, ["c1", "c3"]),
        ({"languages": ("en",)}, ["c2", "c3"]),
        ({"media_types": ("text/html",)}, ["c3"]),
        ({"languages": ("en",), "media_types": ("text/markdown",)}, ["c2"]),
        ({"documents": ("d1",), "languages": ("en",)}, []),
        ({"documents": ("nowhere' OR '1'='1",)}, []),
    ],
)
def test_case_61_filters_hold_inside_both_legs(store: Any, filters: dict[str, Any], wanted: list[str]) -> None:
    rows = [
        (stored("c1", "d1"), ["ferie"]),
        (stored("c2", "d2", language="en"), ["ferie"]),
        (stored("c3", "d3", language="en", media_type="text/html"), ["ferie"]),
    ]
    reader = store.open(build(store, rows, np.tile(NEAR, (3, 1))))
    assert ids(reader.bm25(["ferie"], question(**filters), revoked=(), k=5)) == wanted
    assert ids(reader.dense(NEAR, question(**filters), revoked=(), k=5)) == wanted
    assert reader.bm25(["assente"], question(**filters), revoked=(), k=5) == []


@pytest.mark.parametrize(
    ("day", "wanted"),
    [
        (None, ["always", "from", "to", "year"]),
        ("2023-12-31", ["always", "to"]),
        ("2024-01-01", ["always", "from", "to", "year"]),
        ("2024-12-31", ["always", "from", "year"]),
        ("2025-01-01", ["always", "from"]),
    ],
)
def test_as_of_a_day_only_what_holds_then_enters_a_leg(store: Any, day: str | None, wanted: list[str]) -> None:
    rows = [
        (stored("always", "d1"), ["ferie"]),
        (stored("from", "d2", valid_from="2024-01-01"), ["ferie"]),
        (stored("to", "d3", valid_to="2024-06-30"), ["ferie"]),
        (stored("year", "d4", valid_from="2024-01-01", valid_to="2024-12-31"), ["ferie"]),
    ]
    reader = store.open(build(store, rows, np.tile(NEAR, (4, 1))))
    asked = replace(question(), as_of=date.fromisoformat(day) if day else None)
    assert ids(reader.bm25(["ferie"], asked, revoked=(), k=9)) == wanted
    assert ids(reader.dense(NEAR, asked, revoked=(), k=9)) == wanted
    # Before k: as many as there are, whatever else is nearer.
    assert ids(reader.dense(NEAR, asked, revoked=(), k=2)) == wanted[:2]
    kept = reader.chunks(["year"], asked.principal, revoked=())["year"]
    assert (kept.valid_from, kept.valid_to) == ("2024-01-01", "2024-12-31")


def test_ties_stand_by_chunk_id_whatever_k(store: Any) -> None:
    rows = [(stored(f"c{at:03}", f"d{at}"), ["ferie", "giorni"]) for at in reversed(range(100))]
    reader = store.open(build(store, rows, np.tile(unit(1, 2, 3), (100, 1))))
    for k in (1, 7, 99):
        wanted = [f"c{at:03}" for at in range(k)]
        assert ids(reader.bm25(["ferie"], question(), revoked=(), k=k)) == wanted
        assert ids(reader.dense(NEAR, question(), revoked=(), k=k)) == wanted


def test_dense_scores_are_one_minus_distance_nearest_first(store: Any) -> None:
    rows = [(stored(f"c{at}", f"d{at}"), ["x"]) for at in range(3)]
    reader = store.open(build(store, rows, np.stack([unit(0, 1), unit(1, 1), unit(1, 0)])))
    hits = reader.dense(NEAR, question(), revoked=(), k=3)
    assert ids(hits) == ["c2", "c1", "c0"]
    assert [hit.dense_distance for hit in hits] == pytest.approx([0.0, 1 - 2**-0.5, 1.0], abs=1e-6)
    assert [hit.score for hit in hits] == pytest.approx([1 - hit.dense_distance for hit in hits])
    assert reader.distances(NEAR, ["c1", "nowhere"]) == pytest.approx({"c1": 1 - 2**-0.5}, abs=1e-6)


@pytest.mark.parametrize("vector", [np.zeros(8, np.float32), np.full(8, np.nan, np.float32), 2 * NEAR])
def test_case_75_no_zero_vector_is_ever_stored_or_asked(store: Any, vector: np.ndarray) -> None:
    writer = store.begin(RECIPE, None)
    with pytest.raises(ValueError, match="unit"):
        writer.add([stored("c1")], [["x"]], vector[None, :])
    reader = store.open(build(store, [(stored("c1"), ["x"])]))
    with pytest.raises(ValueError, match="unit"):
        reader.dense(vector, question(), revoked=(), k=1)


def test_case_94_another_dimension_is_refused(store: Any) -> None:
    writer = store.begin(RECIPE, None)
    with pytest.raises(SpaceMismatch):
        writer.add([stored("c1")], [["x"]], random_units(1, 1, 9))
    reader = store.open(build(store, [(stored("c1"), ["x"])]))
    with pytest.raises(SpaceMismatch):
        reader.dense(random_units(1, 1, 9)[0], question(), revoked=(), k=1)


def test_case_96_another_space_is_refused_and_case_97_built_beside(store: Any) -> None:
    base = build(store, [(stored("c1"), ["x"])])
    with pytest.raises(SpaceMismatch):
        store.begin(OTHER_SPACE, base)
    fresh = store.begin(OTHER_SPACE, None)
    fresh.add([stored("c2")], [["x"]], random_units(1, 1))
    sealed(fresh, "g2", OTHER_SPACE)
    assert ids(store.open(base).bm25(["x"], question(), revoked=(), k=5)) == ["c1"]


def test_another_chunking_starts_from_nothing(store: Any) -> None:
    base = build(store, [(stored("c1"), ["x"])])
    assert store.begin(OTHER_CHUNKING, base).chunk_ids("d1") == ()


@pytest.mark.parametrize(
    ("chunks", "terms", "rows"),
    [(["c1", "c1"], 2, 2), (["c1", "c2"], 1, 2), (["c1", "c2"], 2, 1)],
    ids=["a chunk twice", "too few terms", "too few vectors"],
)
def test_lists_that_do_not_fit_are_refused(store: Any, chunks: list[str], terms: int, rows: int) -> None:
    with pytest.raises(ValueError):
        store.begin(RECIPE, None).add([stored(one) for one in chunks], [["x"]] * terms, random_units(rows, 1))


@pytest.mark.parametrize("term", ["", "two words", "a\u2003b"])
def test_what_is_not_one_term_is_refused(store: Any, term: str) -> None:
    with pytest.raises(ValueError):
        store.begin(RECIPE, None).add([stored("c1")], [[term]], random_units(1, 1))


def test_a_chunk_of_the_base_cannot_be_added_again(store: Any) -> None:
    base = build(store, [(stored("c1"), ["x"])])
    with pytest.raises(ValueError):
        store.begin(RECIPE, base).add([stored("c1")], [["x"]], random_units(1, 1))


def test_case_32_and_38_a_changed_document_is_replaced_whole_and_alone(store: Any) -> None:
    rows = [(stored(f"c{at}", f"d{at // 3}"), ["x", f"w{at}"]) for at in range(9)]
    base = build(store, rows)
    writer = store.begin(RECIPE, base)
    assert list(writer.chunk_ids("d1")) == ["c3", "c4", "c5"]
    assert writer.remove_documents(["d1", "nowhere"]) == 3
    assert writer.remove_documents(["d1"]) == 0
    writer.add([stored("n1", "d1"), stored("n2", "d1")], [["x", "w3"], ["x", "new"]], random_units(2, 5))
    assert list(writer.chunk_ids("d1")) == ["n1", "n2"]
    after = sealed(writer, "g2")
    assert after.chunks == 8
    reader = store.open(after)
    assert sorted(ids(reader.bm25(["x"], question(), revoked=(), k=50))) == [
        "c0", "c1", "c2", "c6", "c7", "c8", "n1", "n2",
    ]  # fmt: skip
    assert ids(reader.bm25(["w4"], question(), revoked=(), k=50)) == []
    assert len(store.open(base).bm25(["x"], question(), revoked=(), k=50)) == 9


def test_added_and_removed_before_the_seal_leaves_nothing(store: Any) -> None:
    writer = store.begin(RECIPE, None)
    writer.add([stored("c1", "d1"), stored("c2", "d2")], [["x"], ["x"]], random_units(2, 5))
    assert writer.remove_documents(["d1"]) == 1
    reader = store.open(sealed(writer))
    assert ids(reader.bm25(["x"], question(), revoked=(), k=5)) == ["c2"]
    assert ids(reader.dense(NEAR, question(), revoked=(), k=5)) == ["c2"]


def test_roles_change_without_text_or_vector(store: Any) -> None:
    vectors = random_units(3, 5)
    rows = [(stored(f"c{at}", f"d{at}", ["hr"]), ["x"]) for at in range(3)]
    base = build(store, rows, vectors)
    writer = store.begin(RECIPE, base)
    writer.set_roles({"d1": frozenset({"staff"}), "d2": frozenset(), "nowhere": frozenset({"staff"})})
    after = sealed(writer, "g2")
    reader = store.open(after)
    assert after.chunks == 3
    assert ids(reader.bm25(["x"], question(["staff"]), revoked=(), k=5)) == ["c1"]
    assert ids(reader.dense(NEAR, question(["hr"]), revoked=(), k=5)) == ["c0"]
    back = reader.chunks(["c1"], STAFF, revoked=())["c1"]
    assert back.chunk == rows[1][0].chunk
    assert np.array_equal(back.vector, vectors[1])
    assert ids(store.open(base).bm25(["x"], question(["staff"]), revoked=(), k=5)) == []


def test_a_document_of_one_generation_is_changed_twice_in_the_next(store: Any) -> None:
    base = build(store, [(stored("c1", "d1"), ["old"])])
    writer = store.begin(RECIPE, base)
    writer.remove_documents(["d1"])
    writer.add([stored("c2", "d1")], [["middle"]], random_units(1, 1))
    writer.remove_documents(["d1"])
    writer.add([stored("c3", "d1")], [["new"]], random_units(1, 2))
    writer.set_roles({"d1": frozenset({"public", "hr"})})
    reader = store.open(sealed(writer, "g2"))
    assert ids(reader.bm25(["old", "middle", "new"], question(), revoked=(), k=5)) == ["c3"]


def test_every_chunk_is_listed_whoever_may_read_it_and_as_its_generation_has_it(store: Any) -> None:
    rows = [(stored(f"c{at:04}", f"d{at}", ["hr"] if at % 2 else []), ["x"]) for at in range(1500)]
    base = build(store, rows)
    writer = store.begin(RECIPE, base)
    writer.remove_documents(["d7"])
    writer.set_roles({"d8": frozenset({"staff"})})
    after = sealed(writer, "g2")
    listed = sorted(store.open(base).stored_chunks(), key=lambda one: one.chunk.id)
    assert listed == [row for row, _ in rows]
    later = {one.chunk.id: one for one in store.open(after).stored_chunks()}
    assert sorted(later) == [row.chunk.id for row, _ in rows if row.chunk.id != "c0007"]
    assert later["c0008"].roles == {"staff"}
    assert list(store.open(sealed(store.begin(RECIPE, None), "g3")).stored_chunks()) == []


def test_an_empty_generation_answers_with_nothing(store: Any) -> None:
    generation = sealed(store.begin(RECIPE, None))
    reader = store.open(generation)
    assert generation.chunks == 0
    assert reader.bm25(["x"], question(), revoked=(), k=5) == []
    assert reader.dense(NEAR, question(), revoked=(), k=5) == []
    assert reader.chunks(["c1"], STAFF, revoked=()) == {}
    assert reader.distances(NEAR, ["c1"]) == {}
    assert dict(reader.languages()) == {}
    assert reader.document_frequencies(["x"]) == {}


def test_a_generation_is_emptied_and_filled_again(store: Any) -> None:
    base = build(store, [(stored("c1", "d1"), ["x"])])
    writer = store.begin(RECIPE, base)
    writer.remove_documents(["d1"])
    empty = sealed(writer, "g2")
    assert store.open(empty).bm25(["x"], question(), revoked=(), k=5) == []
    writer = store.begin(RECIPE, empty)
    writer.add([stored("c2", "d2")], [["x"]], random_units(1, 1))
    assert ids(store.open(sealed(writer, "g3")).bm25(["x"], question(), revoked=(), k=5)) == ["c2"]


def test_languages_and_document_frequencies_are_counted(store: Any) -> None:
    rows = [(stored("c1", "d1"), ["a", "a", "b"]), (stored("c2", "d2", language="en"), ["a"]), (stored("c3", "d3"), [])]
    reader = store.open(build(store, rows))
    assert dict(reader.languages()) == {"it": 2, "en": 1}
    assert dict(reader.document_frequencies(["a", "b", "c", ""])) == {"a": 2, "b": 1}
    assert ids(reader.dense(NEAR, question(), revoked=(), k=5)) != []


OPERATORS = ["AND", "OR", "NOT", '"quoted', "-minus", "+plus", "star*", "(paren", "a:b", "^2", "~1", "it's", "\\", "{}"]


@pytest.mark.parametrize("word", OPERATORS)
def test_case_67_a_term_is_data_never_an_operator(store: Any, word: str) -> None:
    rows = [(stored(f"c{at:02}", f"d{at}"), [one, "same"]) for at, one in enumerate(OPERATORS)]
    reader = store.open(build(store, rows))
    assert ids(reader.bm25([word], question(), revoked=(), k=50)) == [f"c{OPERATORS.index(word):02}"]


def test_terms_are_exact_case_accents_and_length_included(store: Any) -> None:
    words = ["perché", "perche", "Perché", "x" * 300, "x" * 301, "ﬁ", "fi", "東京", "京都"]
    reader = store.open(build(store, [(stored(f"c{at}", f"d{at}"), [one]) for at, one in enumerate(words)]))
    for at, word in enumerate(words):
        assert ids(reader.bm25([word], question(), revoked=(), k=9)) == [f"c{at}"]


def test_case_71_a_hundred_words_and_more_never_fail(store: Any) -> None:
    rows = [(stored(f"c{at:03}", f"d{at}"), ["common", f"rare{at}", "and"]) for at in range(100)]
    reader = store.open(build(store, rows))
    words = ["common", "and", *(f"rare{at}" for at in range(40, 60)), *(f"absent{at}" for at in range(300))]
    hits = reader.bm25(words, question(), revoked=(), k=20)
    assert ids(hits) == [f"c{at:03}" for at in range(40, 60)]
    assert reader.bm25([f"absent{at}" for at in range(300)], question(), revoked=(), k=20) == []
    assert reader.bm25([], question(), revoked=(), k=20) == []
    assert reader.bm25(["common"], question(), revoked=(), k=0) == []


def test_a_writer_that_never_sealed_is_seen_by_nobody(store: Any) -> None:
    base = build(store, [(stored("c1", "d1"), ["x"])])
    killed = store.begin(RECIPE, base)
    killed.remove_documents(["d1"])
    killed.add([stored("c2", "d2")], [["x"]], random_units(1, 1))
    assert ids(store.open(base).bm25(["x"], question(), revoked=(), k=5)) == ["c1"]
    writer = store.begin(RECIPE, base)
    assert list(writer.chunk_ids("d1")) == ["c1"]
    assert list(writer.chunk_ids("d2")) == []


def test_an_older_generation_can_be_built_upon_after_a_rollback(store: Any) -> None:
    first = build(store, [(stored("c1", "d1"), ["x"])])
    second = build(store, [(stored("c2", "d2"), ["x"])], base=first, name="g2")
    third = build(store, [(stored("c3", "d3"), ["x"])], base=first, name="g3")
    found = [ids(store.open(one).bm25(["x"], question(), revoked=(), k=5)) for one in (first, second, third)]
    assert found == [["c1"], ["c1", "c2"], ["c1", "c3"]]


def test_drop_keeps_what_is_named_and_removes_the_rest(store: Any) -> None:
    first = build(store, [(stored("c1", "d1"), ["x"])])
    second = build(store, [(stored("c2", "d2"), ["x"])], base=first, name="g2")
    store.drop([second])
    assert ids(store.open(second).bm25(["x"], question(), revoked=(), k=5)) == ["c1", "c2"]
    with pytest.raises(StoreError):
        store.open(first)
    third = build(store, [(stored("c3", "d3"), ["x"])], base=second, name="g3")
    store.drop([third])
    assert len(store.open(third).dense(NEAR, question(), revoked=(), k=5)) == 3


def test_a_reader_stays_valid_while_writers_go_on_and_after_drop(store: Any) -> None:
    first = build(store, [(stored("c1", "d1"), ["x"])])
    reader = store.open(first)
    second = build(store, [(stored("c2", "d2"), ["x"])], base=first, name="g2")
    store.drop([second])
    assert ids(reader.bm25(["x"], question(), revoked=(), k=5)) == ["c1"]
    assert ids(reader.dense(NEAR, question(), revoked=(), k=5)) == ["c1"]
    assert list(reader.chunks(["c1"], STAFF, revoked=())) == ["c1"]


def test_a_table_that_is_not_what_the_catalog_says_is_refused(store: Any) -> None:
    generation = build(store, [(stored("c1"), ["x"])])
    with pytest.raises(CorruptIndex):
        store.open(replace(generation, chunks=2))
    with pytest.raises(CorruptIndex):
        store.open(replace(generation, table="chunks-nowhere"))


def test_centroids_are_means_within_each_language(store: Any) -> None:
    rows = [(stored("c1"), ["x"]), (stored("c2", "d2", language="en"), ["x"]), (stored("c3", "d3"), ["x"])]
    vectors = random_units(3, 5)
    found = store.open(build(store, rows, vectors)).centroids()
    assert {language: count for language, (_, count) in found.items()} == {"it": 2, "en": 1}
    assert found["it"][0] == pytest.approx((vectors[0] + vectors[2]) / 2, abs=1e-6)
    assert found["en"][0] == pytest.approx(vectors[1], abs=1e-6)
    assert dict(store.open(sealed(store.begin(RECIPE, None))).centroids()) == {}


# --- token codes -----------------------------------------------------------------------------------------------------


def coded(store: Any, rows: list[Any], codes: list[np.ndarray], base: Any = None, name: str = "g1") -> Any:
    writer = store.begin(CODED, base)
    writer.add(rows, [["x"]] * len(rows), random_units(len(rows), 7), codes)
    return sealed(writer, name, CODED)


def same(found: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> bool:
    kinds = {(one.dtype, one.shape[1]) for one in found.values()}
    return (
        list(found) == list(wanted)
        and kinds <= {(np.dtype(np.int8), CODE_WIDTH)}
        and all(np.array_equal(found[key], wanted[key]) for key in wanted)
    )


def test_codes_come_back_as_they_were_given_in_the_order_asked(store: Any) -> None:
    sizes = [3, 1, 0, 300, 7]
    given = random_codes(sizes, 1)
    reader = store.open(coded(store, [stored(f"c{at}", f"d{at}") for at in range(5)], given))
    found = reader.codes(["c4", "c2", "c9", "c3", "c0", "c4"], STAFF, revoked=())
    assert same(found, {f"c{at}": given[at] for at in (4, 2, 3, 0)})
    assert reader.codes([], STAFF, revoked=()) == {}


def test_codes_are_given_to_those_who_may_read_the_chunk_and_to_no_other(store: Any) -> None:
    roles = (["staff"], ["hr"], [], ["public"], ["public"])
    given = random_codes([2] * 5, 2)
    reader = store.open(coded(store, [stored(f"c{at}", f"d{at}", one) for at, one in enumerate(roles)], given))
    every = [f"c{at}" for at in range(5)]
    assert list(reader.codes(every, STAFF, revoked=["d4"])) == ["c0", "c3"]
    assert reader.codes(every, replace(STAFF, tenant="other"), revoked=()) == {}
    assert reader.codes(every, STAFF, revoked=()).keys() == reader.chunks(every, STAFF, revoked=()).keys()


def test_codes_go_through_generations_with_their_chunks(store: Any) -> None:
    given = random_codes([2, 3, 4], 3)
    first = coded(store, [stored(f"c{at}", f"d{at}") for at in range(3)], given)
    writer = store.begin(CODED, first)
    writer.set_roles({"d0": frozenset({"hr", "staff"})})
    writer.remove_documents(["d1"])
    new = random_codes([5], 4)
    writer.add([stored("n1", "d1")], [["x"]], random_units(1, 1), new)
    second = sealed(writer, "g2", CODED)
    every = ["c0", "c1", "c2", "n1"]
    assert same(store.open(second).codes(every, STAFF, revoked=()), {"c0": given[0], "c2": given[2], "n1": new[0]})
    assert same(store.open(first).codes(every, STAFF, revoked=()), {f"c{at}": given[at] for at in range(3)})


def test_a_space_without_a_codec_has_no_codes(store: Any) -> None:
    reader = store.open(build(store, [(stored("c1"), ["x"])]))
    assert reader.codes(["c1"], STAFF, revoked=()) == {}
    with pytest.raises(SpaceMismatch):
        store.begin(RECIPE, None).add([stored("c2")], [["x"]], random_units(1, 1), random_codes([2], 1))


@pytest.mark.parametrize(
    "codes",
    [None, random_codes([2], 1, CODE_WIDTH + 1), [np.zeros((2, CODE_WIDTH), np.float32)], [np.zeros(8, np.int8)]],
    ids=["missing", "another width", "another kind", "no rows"],
)
def test_codes_that_are_not_the_spaces_are_refused(store: Any, codes: list[np.ndarray] | None) -> None:
    writer = store.begin(CODED, None)
    with pytest.raises(SpaceMismatch):
        writer.add([stored("c1")], [["x"]], random_units(1, 1), codes)
    with pytest.raises(ValueError):
        writer.add([stored("c1")], [["x"]], random_units(1, 1), random_codes([2, 2], 1))


def test_an_index_with_another_codec_is_never_built_upon(store: Any) -> None:
    base = coded(store, [stored("c1")], random_codes([2], 1))
    for other in (OTHER_CODEC, RECIPE):
        with pytest.raises(SpaceMismatch):
            store.begin(other, base)


def test_an_empty_generation_has_no_codes(store: Any) -> None:
    reader = store.open(sealed(store.begin(CODED, None), "g1", CODED))
    assert reader.codes(["c1"], STAFF, revoked=()) == {}
