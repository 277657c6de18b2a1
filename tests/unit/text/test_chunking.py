"""Chunks: boundaries, budgets, headers, tables, overlap, blind windows."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from fonte.errors import ConfigError
from fonte.text.chunking import make_chunker
from fonte.text.locate import locate
from fonte.types import ChunkingRecipe, Place, Recipe, Space
from making import Words, chunks, document, heading, item, paragraph, row

SENTENCE = "The quick brown fox jumps over the lazy dog again."


def test_case_22_offsets_do_not_drift_with_overlap() -> None:
    doc = document(paragraph("a b c d e f"))
    made = chunks(doc, ChunkingRecipe("tokens", 5, 1, header=False))
    assert [chunk.content for chunk in made] == ["a b c", "c d e", "e f"]
    assert all(doc.text[chunk.start : chunk.end] == chunk.content for chunk in made)


def test_case_23_every_strategy_gives_offsets() -> None:
    doc = document(heading("H"), paragraph(SENTENCE * 8))
    blind = ChunkingRecipe("blind", 50, unit="characters")
    for recipe in (ChunkingRecipe("boundaries", 30), blind, ChunkingRecipe("tokens", 30)):
        assert all(doc.text[chunk.start : chunk.end] == chunk.content for chunk in chunks(doc, recipe))


@pytest.mark.parametrize(("size", "overlap"), [(512, 64), (512, 0), (1200, 200)])
def test_blind_windows_are_those_of_the_documents(size: int, overlap: int) -> None:
    text = " ".join(f"word{number}" for number in range(900))
    doc = document(paragraph(text))
    wanted = []
    for start in range(0, len(text), size - overlap):
        wanted.append(text[start : start + size].strip())
        if start + size >= len(text):
            break
    made = chunks(doc, ChunkingRecipe("blind", size, overlap, header=False, unit="characters"))
    assert [chunk.content for chunk in made] == wanted


def test_paragraphs_stay_whole_and_sections_apart() -> None:
    first, second = " ".join([SENTENCE] * 2), " ".join([SENTENCE] * 2)
    doc = document(
        heading("T"), heading("A", 2), paragraph(first), paragraph(second), heading("B", 2), paragraph("Short.")
    )
    made = chunks(doc, ChunkingRecipe("boundaries", 40))
    assert [chunk.content for chunk in made] == [first, second, "Short."]
    assert [chunk.context for chunk in made] == ["[T > A]", "[T > A]", "[T > B]"]
    assert made[0].section == ("T", "A")


def test_small_pieces_are_packed_up_to_the_budget() -> None:
    doc = document(heading("T"), *[item(f"- point number {number}") for number in range(4)])
    assert len(chunks(doc, ChunkingRecipe("boundaries", 100))) == 1


def test_a_long_paragraph_is_cut_at_sentences_and_a_long_sentence_at_spaces() -> None:
    doc = document(paragraph(" ".join([SENTENCE] * 6)))
    made = chunks(doc, ChunkingRecipe("boundaries", 30, header=False))
    assert all(chunk.content.endswith(".") for chunk in made)
    doc = document(paragraph("word " * 100))
    made = chunks(doc, ChunkingRecipe("boundaries", 30, header=False))
    assert all(chunk.content.split() == ["word"] * len(chunk.content.split()) for chunk in made)
    assert sum(len(chunk.content.split()) for chunk in made) == 100


def test_what_has_no_space_is_cut_but_not_inside_a_letter_and_its_accent() -> None:
    doc = document(paragraph("e\u0301" * 100))
    made = chunks(doc, ChunkingRecipe("boundaries", 33, header=False, unit="characters"))
    assert "".join(chunk.content for chunk in made) == doc.text
    assert all(not chunk.content.startswith("\u0301") for chunk in made)


def test_a_last_crumb_is_balanced() -> None:
    sentences = [f"Sentence number {number} has exactly eight words here." for number in range(4)]
    doc = document(*map(paragraph, [*sentences, "Bye."]))
    made = chunks(doc, ChunkingRecipe("boundaries", 2 + 9 * 4, header=False))
    assert [chunk.content.count("Sentence") for chunk in made] == [2, 2]
    assert made[-1].content.endswith("Bye.")


@pytest.mark.parametrize("size", [24, 40, 64])
def test_tokens_count_header_content_and_the_encoders_own(size: int) -> None:
    doc = document(heading("Leave policy"), heading("Paid leave", 2), paragraph(" ".join([SENTENCE] * 9)))
    tokenizer = Words()
    for chunk in chunks(doc, ChunkingRecipe("boundaries", size)):
        assert chunk.tokens == tokenizer.count(chunk.text) + tokenizer.overhead <= size
        assert chunk.header_tokens == tokenizer.count(chunk.context) > 0


def test_no_chunk_passes_the_encoders_window_in_any_unit() -> None:
    doc = document(paragraph("x " * 500))
    for recipe in (
        ChunkingRecipe("boundaries", 900, unit="characters"),
        ChunkingRecipe("blind", 900, unit="characters"),
    ):
        made = chunks(doc, recipe, window=40)
        assert max(chunk.tokens for chunk in made) <= 40
        assert sum(chunk.content.count("x") for chunk in made) == 500


def test_a_header_takes_at_most_half_the_budget() -> None:
    doc = document(heading("word " * 60), heading("deep", 2), paragraph(SENTENCE))
    made = chunks(doc, ChunkingRecipe("boundaries", 30))
    body = [chunk for chunk in made if SENTENCE[:5] in chunk.content]
    assert all(chunk.header_tokens <= 14 and "…" in chunk.context and "deep" in chunk.context for chunk in body)


def test_without_header_the_heading_is_content() -> None:
    doc = document(heading("Title"), paragraph("Body."))
    (only,) = chunks(doc, ChunkingRecipe("boundaries", 60, header=False))
    assert (only.content, only.context) == ("Title\n\nBody.", "")


def test_a_heading_without_text_is_a_chunk_unless_a_section_below_carries_it() -> None:
    doc = document(heading("Title"), heading("Carried", 2), heading("Sub", 3), paragraph("Body."), heading("Alone", 2))
    made = chunks(doc, ChunkingRecipe("boundaries", 60))
    assert [chunk.content for chunk in made] == ["Body.", "Alone"]
    assert made[0].context == "[Title > Carried > Sub]"


def test_case_76_the_header_row_stands_with_every_piece_of_a_table() -> None:
    rows = [
        row(f"Name: n{one}; Days: {one}", Place(0, 5, sheet="S", range=f"A{one + 1}:B{one + 1}")) for one in range(60)
    ]
    doc = document(heading("T"), row("Name | Days", header=True), *rows)
    made = chunks(doc, ChunkingRecipe("boundaries", 60))
    assert len(made) > 5
    assert "Name | Days" in made[0].content
    assert "Name | Days" not in made[0].context
    assert all(chunk.context == "[T]\nName | Days" for chunk in made[1:])
    lines = [line for chunk in made[1:] for line in chunk.content.split("\n")]
    assert all(re.fullmatch(r"Name: n(\d+); Days: \1", line) for line in lines)
    assert locate(doc, made[1].start, made[1].end).range == f"A{made[0].content.count('Days: ') + 1}:B" + str(
        made[0].content.count("Days: ") + made[1].content.count("Days: ")
    )
    assert sum(chunk.content.count("Days: ") for chunk in made) == 60
    assert all(chunk.tokens <= 60 for chunk in made)


def test_case_79_a_table_keeps_its_heading_path() -> None:
    doc = document(heading("T"), heading("Rates", 2), row("A | B", header=True), row("A: 1; B: 2"))
    (only,) = chunks(doc, ChunkingRecipe("boundaries", 60))
    assert (only.section, only.context) == (("T", "Rates"), "[T > Rates]")


def test_overlap_repeats_the_end_of_the_chunk_before_in_the_same_section() -> None:
    four = [paragraph(f"{SENTENCE} Number {number}.") for number in range(4)]
    doc = document(heading("T"), *four, heading("U"), paragraph("New."))
    made = chunks(doc, ChunkingRecipe("boundaries", 60, 20, header=False, unit="characters"))
    for before, after in pairwise(made):
        if before.section == after.section:
            assert 0 < before.end - after.start <= 20
        else:
            assert before.end <= after.start
    assert made[-1].content == "U\n\nNew."


def test_ids_change_with_the_recipe_and_not_with_anything_else() -> None:
    doc = document(paragraph(SENTENCE))
    one, same = chunks(doc, ChunkingRecipe("boundaries", 60)), chunks(doc, ChunkingRecipe("boundaries", 60))
    other = chunks(doc, ChunkingRecipe("boundaries", 61))
    assert one == same
    assert one[0].id != other[0].id


def test_a_chunk_long_enough_has_its_own_language() -> None:
    italian = "Il dipendente ha diritto a ventisei giorni di ferie all'anno, che maturano ogni mese di servizio. " * 3
    english = (
        "Every employee is entitled to twenty-six days of paid leave each year, earned month by month of work. " * 3
    )
    doc = document(heading("A"), paragraph(italian), heading("B"), paragraph(english), heading("C"), paragraph("Boh."))
    assert [chunk.language for chunk in chunks(doc, ChunkingRecipe("boundaries", 200))] == ["it", "en", "en"]


def test_chunks_of_a_document_in_several_languages_each_have_their_own() -> None:
    doc = document(
        heading("A"),
        paragraph("Ogni quanto conviene far analizzare l'acqua di un pozzo privato? Almeno una volta l'anno."),
        heading("B"),
        paragraph("How often should the water of a private well be analyzed? At least once each year."),
        language="und",
    )
    assert [chunk.language for chunk in chunks(doc, ChunkingRecipe("boundaries", 200))] == ["it", "en"]


def test_a_size_without_room_is_a_configuration_error() -> None:
    recipe = Recipe("1", "1", ChunkingRecipe("boundaries", 2), "t", Space("s", "m", "1", 4, 512))
    with pytest.raises(ConfigError):
        make_chunker(recipe, Words(overhead=4))
