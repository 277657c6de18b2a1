"""Parents around children, recursion from the outermost border inwards, and changes of subject."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from fonte.errors import ConfigError
from fonte.text.chunking import make_chunker
from fonte.text.chunking.parents import parent_of
from fonte.types import Block, Chunk, ChunkingRecipe, Document, Recipe, Space, Vectors
from making import Words, chunks, document, heading, paragraph, row

PARENTS = ChunkingRecipe("parent_child", 24, parent_characters=300)


def sentence(subject: str, number: int) -> str:
    return f"The {subject} number {number} is told of here in ten words."


def text(subject: str, many: int) -> str:
    return " ".join(sentence(subject, number) for number in range(many))


# --- parents ---------------------------------------------------------------------------------------------------------


def test_children_are_small_and_their_parent_is_the_section() -> None:
    doc = document(
        heading("T"), heading("A", 2), paragraph(text("boat", 4)), heading("B", 2), paragraph(text("crane", 3))
    )
    made = chunks(doc, PARENTS)
    assert len(made) > 4
    assert all(chunk.tokens <= 24 for chunk in made)
    shown = {doc.text[slice(*parent_of(doc, PARENTS, chunk.start, chunk.end))] for chunk in made}
    assert shown == {text("boat", 4), text("crane", 3)}


def test_a_long_section_has_several_parents_and_no_child_leaves_its_own() -> None:
    doc = document(heading("T"), *[paragraph(text("boat", 3)) for _ in range(6)], paragraph(text("crane", 20)))
    made = chunks(doc, PARENTS)
    ranges = sorted({parent_of(doc, PARENTS, chunk.start, chunk.end) for chunk in made})
    assert len(ranges) > 3
    assert all(end - start <= 300 for start, end in ranges)
    assert all(before[1] <= after[0] for before, after in pairwise(ranges))
    for chunk in made:
        start, end = parent_of(doc, PARENTS, chunk.start, chunk.end)
        assert start <= chunk.start < chunk.end <= end


def test_rows_of_a_parent_are_read_with_their_names() -> None:
    rows = [row(f"Vessel: v{number}; Fee: {number}") for number in range(8)]
    doc = document(heading("T"), row("Vessel | Fee", header=True), *rows)
    assert all("Vessel | Fee" in chunk.text for chunk in chunks(doc, PARENTS))


def test_other_strategies_have_no_parents() -> None:
    doc = document(paragraph(text("boat", 4)))
    assert parent_of(doc, ChunkingRecipe(), 3, 9) == (3, 9)


# --- recursion -------------------------------------------------------------------------------------------------------


def recursive(size: int, *blocks: Block, header: bool = True) -> list[tuple[str, str]]:
    return [
        (chunk.context, chunk.content)
        for chunk in chunks(document(*blocks), ChunkingRecipe("recursive", size, header=header))
    ]


SECTIONS = (
    heading("Port"),
    paragraph("All about it."),
    heading("Fees", 2),
    heading("Boats", 3),
    paragraph("Three."),
    heading("Cranes", 3),
    paragraph("Four."),
    heading("Hours", 2),
    paragraph(text("hour", 5)),
)


def test_a_document_that_fits_is_one_chunk_with_its_headings() -> None:
    (only,) = recursive(256, *SECTIONS)
    assert only[0] == "[Port]"
    assert only[1].startswith("All about it.\n\nFees\n\nBoats\n\nThree.")


def test_small_sections_share_a_chunk_below_what_they_have_in_common() -> None:
    made = recursive(40, *SECTIONS)
    assert made[0] == ("[Port]", "All about it.\n\nFees\n\nBoats\n\nThree.\n\nCranes\n\nFour.")
    assert {context for context, _ in made[1:]} == {"[Port > Hours]"}
    made = recursive(15, *SECTIONS)
    assert made[1] == ("[Port > Fees]", "Boats\n\nThree.\n\nCranes\n\nFour.")


def test_sections_of_one_name_are_not_taken_for_one() -> None:
    made = recursive(20, heading("A"), paragraph(text("boat", 2)), heading("A"), paragraph(text("crane", 2)))
    assert [content.split(" ")[1] for _, content in made] == ["boat", "boat", "crane", "crane"]


# --- changes of subject ----------------------------------------------------------------------------------------------

SUBJECTS = {"boat": [1.0, 0, 0], "crane": [0, 1.0, 0], "hour": [0, 0, 1.0]}
asked_for: list[str] = []


def embed(texts: Sequence[str]) -> Vectors:
    """One direction for each subject."""
    asked_for.extend(texts)
    return np.array(
        [next((v for k, v in SUBJECTS.items() if k in one), [1.0, 0, 0]) for one in texts], dtype=np.float32
    )


def semantic(doc: Document, size: int = 400, percentile: int = 80, *, window: int = 512) -> Sequence[Chunk]:
    chunking = ChunkingRecipe("semantic", size, percentile=percentile)
    recipe = Recipe("1", "canonical-1", chunking, "terms", Space("s", "m", "1", 3, window))
    made = make_chunker(recipe, Words(window), embed).chunk(doc)
    assert made == make_chunker(recipe, Words(window), embed).chunk(doc)
    return made


def test_a_chunk_ends_where_the_subject_changes_inside_a_paragraph() -> None:
    whole = " ".join([text("boat", 9), text("crane", 9), text("hour", 9)])
    made = semantic(document(heading("T"), paragraph(whole)), percentile=92)
    assert [chunk.content for chunk in made] == [text("boat", 9), text("crane", 9), text("hour", 9)]


def test_the_budget_and_sections_hold_and_no_crumbs_are_made() -> None:
    mixed = " ".join(sentence(subject, number) for number in range(9) for subject in SUBJECTS)
    doc = document(heading("T"), heading("A", 2), paragraph(mixed), heading("B", 2), paragraph(text("boat", 2)))
    made = semantic(doc, size=80, percentile=1)
    assert all(chunk.tokens <= 80 for chunk in made)
    assert all(len(chunk.content.split()) >= 18 for chunk in made[:-2])
    assert made[-1].content == text("boat", 2)


def test_what_the_encoder_reads_is_never_longer_than_its_window() -> None:
    asked_for.clear()
    long = "The boat " + "with many oars and " * 60
    semantic(document(heading("T"), paragraph(long), paragraph(text("boat", 3))), size=20, window=24)
    assert asked_for
    assert all(Words().count(one) <= 22 for one in asked_for)


def test_nothing_is_embedded_where_nothing_can_be_compared() -> None:
    asked_for.clear()
    semantic(document(heading("A"), paragraph(sentence("boat", 1)), heading("B"), paragraph(sentence("crane", 1))))
    assert asked_for == []


def test_without_an_encoder_the_strategy_is_refused() -> None:
    with pytest.raises(ConfigError, match="encoder"):
        chunks(document(paragraph("x")), ChunkingRecipe("semantic", percentile=80))


# --- recipes ---------------------------------------------------------------------------------------------------------


def test_every_setting_of_a_strategy_is_in_the_fingerprint_and_in_the_stamp() -> None:
    made = [
        ChunkingRecipe(),
        ChunkingRecipe("recursive"),
        ChunkingRecipe("document"),
        ChunkingRecipe("semantic", percentile=80),
        ChunkingRecipe("semantic", percentile=90),
        ChunkingRecipe("parent_child", parent_characters=900),
        ChunkingRecipe("parent_child", parent_characters=901),
    ]
    space = Space("s", "m", "1", 4, 512)
    assert len({Recipe("1", "1", one, "t", space).id for one in made}) == len(made)
    assert len({str(one) for one in made}) == len(made)
    assert str(made[0]) == "boundaries/256/0/tokens/header"


@pytest.mark.parametrize(
    "wrong",
    [
        {"strategy": "semantic"},
        {"strategy": "semantic", "percentile": 100},
        {"percentile": 80},
        {"strategy": "parent_child"},
        {"parent_characters": 5},
    ],
)
def test_a_recipe_without_what_its_strategy_needs_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="needs"):
        ChunkingRecipe(**wrong)  # type: ignore[arg-type] - wrong on purpose
