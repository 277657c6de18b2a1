"""Chunking by what a document is: questions with their answers, clauses with what they hang on, code, tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fonte.text.chunking.code import definitions
from fonte.text.chunking.document import rule_of
from fonte.types import Block, BlockKind, Chunk, ChunkingRecipe, Document
from making import chunks, document, heading, item, paragraph, row

LONG = " ".join(f"Reason number {number} is given here in a few words." for number in range(12))


def cut(doc: Document, size: int = 60, window: int = 512, *, header: bool = True) -> Sequence[Chunk]:
    made = chunks(doc, ChunkingRecipe("document", size, header=header), window)
    assert all(doc.text[chunk.start : chunk.end] == chunk.content for chunk in made)
    return made


def code(text: str) -> Block:
    return Block(BlockKind.CODE, dedent(text).strip("\n"))


# --- questions and answers -------------------------------------------------------------------------------------------


def asked(number: int, answer: str = "Yes, it does.") -> list[Block]:
    return [heading(f"Does rule {number} hold?", 2), paragraph(answer)]


def test_a_question_as_a_heading_keeps_its_whole_answer_beyond_the_budget() -> None:
    doc = document(heading("FAQ"), *asked(1, LONG), *asked(2), *asked(3))
    assert rule_of(doc).name == "faq"
    assert rule_of(doc).reason.startswith("3 questions with answers")
    made = cut(doc)
    assert [chunk.content for chunk in made] == [LONG, "Yes, it does.", "Yes, it does."]
    assert made[0].context == "[FAQ > Does rule 1 hold?]"


def test_an_answer_longer_than_the_encoder_reads_is_told_its_question_in_every_piece() -> None:
    for header in (True, False):
        made = cut(document(heading("FAQ"), *asked(1, LONG * 3), *asked(2), *asked(3)), window=100, header=header)
        of_first = [chunk for chunk in made if "Reason number" in chunk.content]
        assert len(of_first) > 2
        assert all("Does rule 1 hold?" in chunk.text for chunk in of_first)
        assert all(chunk.tokens <= 100 for chunk in of_first)


@pytest.mark.parametrize("question", ["Q: {}", "D. {}", "Domanda 4: {}", "**{}?**", "{}?", "3. {}?", "Q4. {}"])
def test_paragraphs_that_ask_are_questions_and_pairs_are_not_mixed(question: str) -> None:
    pairs = [
        block
        for number in range(3)
        for block in (
            paragraph(question.format(f"Can item {number} be sent back")),
            paragraph("A: It can."),
            item("- in May"),
        )
    ]
    doc = document(heading("Help"), paragraph("Read this first."), *pairs)
    assert rule_of(doc).name == "faq"
    made = cut(doc)
    assert made[0].content == "Read this first."
    for number, chunk in enumerate(made[1:]):
        assert re.findall(r"item (\d)", chunk.content) == [str(number)]
        assert chunk.content.endswith("- in May")


def test_a_paragraph_that_holds_question_and_answer_is_a_pair() -> None:
    doc = document(*[paragraph(f"Is gate {number} open?\nIt opens at {number}.") for number in range(4)])
    assert rule_of(doc).name == "faq"
    assert [chunk.content.count("?") for chunk in cut(doc)] == [1, 1, 1, 1]


def test_questions_that_a_long_text_asks_itself_make_no_faq() -> None:
    doc = document(heading("Essay"), paragraph(LONG), paragraph("But why?"), paragraph(LONG), paragraph("And when?"))
    assert rule_of(doc).name == "text"
    often = [block for number in range(5) for block in (paragraph("But why?"), *[paragraph(LONG)] * 5)]
    assert rule_of(document(heading("Essay"), *often)).name == "text"


# --- clauses ---------------------------------------------------------------------------------------------------------

CONTRACT = (
    heading("Supply agreement"),
    paragraph("This agreement is made between the parties."),
    paragraph("1. Definitions"),
    paragraph("1.1 Goods means what the Supplier delivers."),
    paragraph("1.2 Price means what the Buyer pays."),
    paragraph("3. Delivery"),
    paragraph("3.1 Delivery takes place at the quay."),
    paragraph("3.2 The Supplier shall, for every delivery of Goods that the Buyer has ordered:"),
    item("(a) tell the Buyer the hour of the delivery at least one working day before;"),
    item("(b) bear the cost of carriage, of insurance and of the packing up to the quay, and in particular"),
    item("(i) the duties of the port;"),
    item("(ii) the wages of the crane;"),
    item("(c) take back whatever was not ordered within ten working days of the delivery."),
    paragraph("3.3 The Buyer signs for what it has received."),
)


def test_clauses_are_recognised_and_counted() -> None:
    rule = rule_of(document(*CONTRACT))
    assert rule.name == "contract"
    assert rule.reason.startswith("5 numbered clauses, 1.1 to 3.3")


def test_a_clause_that_fits_is_one_chunk_with_all_that_hangs_on_it() -> None:
    made = cut(document(*CONTRACT), size=256)
    assert [chunk.content.split(" ")[0] for chunk in made] == ["This", "1.", "3."]
    assert "(c) take back" in made[2].content


def test_nested_clauses_are_told_the_words_that_they_hang_on() -> None:
    made = cut(document(*CONTRACT), size=70)
    last = next(chunk for chunk in made if "(c) take back" in chunk.content)
    assert "3.2 The Supplier shall" in last.text
    assert "3. Delivery" in last.context
    assert "1.1" not in last.text
    roman = next(chunk for chunk in made if "(ii) the wages" in chunk.content)
    assert "(b) bear the cost" in roman.text
    signed = next(chunk for chunk in made if chunk.content.startswith("3.3"))
    assert (signed.content, signed.context) == (CONTRACT[-1].text, "[Supply agreement]\n3. Delivery")


def test_a_long_clause_keeps_its_number_in_the_header_of_every_piece() -> None:
    doc = document(paragraph("1.1 First."), paragraph("1.2 Second."), paragraph("1.3 " + LONG))
    pieces = [chunk for chunk in cut(doc, size=50) if "Reason" in chunk.content]
    assert len(pieces) > 2
    assert all("1.3 Reason number 0" in chunk.text for chunk in pieces)


@pytest.mark.parametrize(
    "form",
    ["Art. {} - Ferie", "Articolo {}", "Section {}. Leave", "§ {} Leave", "Clause {}: Leave", "Section 2.{} Leave"],
)
def test_articles_are_clauses_as_headings_and_as_paragraphs(form: str) -> None:
    texts = [[form.format(number), f"Comma {number} says something."] for number in range(1, 5)]
    as_headings = document(*[block for head, text in texts for block in (heading(head, 2), paragraph(text))])
    as_paragraphs = document(*[block for head, text in texts for block in (paragraph(head), paragraph(text))])
    assert (rule_of(as_headings).name, rule_of(as_paragraphs).name) == ("contract", "contract")
    assert [chunk.content for chunk in cut(as_paragraphs)] == [f"{head}\n\n{text}" for head, text in texts]
    assert [chunk.section[-1] for chunk in cut(as_headings)] == [head for head, _ in texts]


def test_i_after_h_is_a_letter() -> None:
    letters = [item(f"({letter}) item {letter} of the list;") for letter in "abcdefghij"]
    doc = document(paragraph("1.1 One."), paragraph("1.2 Two."), paragraph("1.3 These:"), *letters)
    made = cut(doc, size=30)
    assert "(h)" not in next(chunk for chunk in made if "(j) item" in chunk.content).context


@pytest.mark.parametrize(
    "blocks",
    [
        [item(f"{number}. Press the button.") for number in range(1, 9)],
        [
            block
            for number in range(1, 5)
            for block in (heading(f"1.{number} Setting up"), paragraph("Press the button."))
        ],
        [paragraph("Version 3.2 is out, and 3.3 will be."), paragraph("In 2024 we sold 1.5 t.")],
    ],
)
def test_steps_and_numbered_headings_make_no_contract(blocks: list[Block]) -> None:
    assert rule_of(document(heading("Manual"), *blocks)).name != "contract"


# --- code ------------------------------------------------------------------------------------------------------------

PYTHON = '''
    import os

    LIMIT = 3


    @cached
    def first(
        one,
    ):
        """What it says."""

        return one


    # Says how much.
    class Store:
        """Keeps things."""

        def put(self, key):
            if key:
                return 1

            return 2

        async def get(self, key):
            return await self.inner.get(key)


    if __name__ == "__main__":
        first(1)
'''


def heads(text: str) -> list[str]:
    text = dedent(text)
    return [text[slice(*part.head)] for part in definitions(text, 0, len(text)) if part.head]


def test_functions_and_classes_of_python_with_what_stands_right_above_them() -> None:
    text = dedent(PYTHON)
    parts = definitions(text, 0, len(text))
    assert [text[part.start : part.end].split("\n")[0] for part in parts] == [
        "import os",
        "@cached",
        "# Says how much.",
        'if __name__ == "__main__":',
    ]
    assert text[parts[1].start : parts[1].end].endswith("return one")
    assert "".join("".join(text[part.start : part.end] for part in parts).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("export async function go(a) {\n  return a;\n}\nconst x = (a) => {\n  b();\n};\ngo(1);", 2),
        (
            "package main\n\nfunc (s *Store) Put(k string) error {\n\treturn nil\n}\n\ntype Store struct {\n\tn int\n}",
            2,
        ),
        (
            "use std::io;\n\n#[derive(Debug)]\npub struct A {\n    x: u8,\n}\n\nimpl A {\n    fn b() -> A {\n    }\n}",
            2,
        ),
        ("public class A {\n  int x;\n}\n\ninterface B {\n}", 2),
        ("int main(int argc, char **argv)\n{\n  return 0;\n}\n\nstatic void *other(int a) {\n}\n", 2),
        ("module A\n  def b\n    1\n  end\nend\n\ndef c\n  2\nend\n", 2),
        ("CREATE TABLE a (\n  id int\n);\n\ncreate or replace view b as\nselect 1;\n", 2),
        ("build() {\n  make\n}\n\nfunction clean {\n  rm -f x\n}\n", 2),
        ("if (x) {\n  y();\n}\nreturn f(x)\nfrom a import (b)\nraise ValueError(x)\n", 0),
        ("The quick brown fox (see there) jumps.\n", 0),
    ],
)
def test_definitions_of_other_languages(text: str, found: int) -> None:
    assert len(heads(text)) == found


def test_functions_stay_whole_and_methods_of_a_long_class_are_told_the_class() -> None:
    doc = document(heading("Guide"), paragraph("An example:"), code(PYTHON))
    made = cut(doc, size=50)
    assert all(chunk.tokens <= 50 for chunk in made)
    first = next(chunk for chunk in made if "def first" in chunk.content)
    assert "return one" in first.content
    put = next(chunk for chunk in made if "def put" in chunk.content)
    assert "return 2" in put.content
    get = next(chunk for chunk in made if "def get" in chunk.content)
    assert "class Store:" in get.text


def test_a_function_longer_than_the_budget_is_cut_at_lines_and_told_its_own_head() -> None:
    body = "\n".join(f"    total = total + weight_{number} * value_{number}" for number in range(40))
    doc = document(heading("Guide"), code(f"def add(total):\n{body}\n    return total"))
    made = cut(doc, size=60)
    assert len(made) > 3
    assert all("def add(total):" in chunk.text for chunk in made)
    assert all(chunk.content.split("\n")[-1].endswith(tuple("0123456789l")) for chunk in made)


def test_a_source_file_is_cut_by_its_functions_though_it_is_read_as_paragraphs() -> None:
    text = dedent(PYTHON).strip()
    parts = re.split(r"(\n\n+)", text)
    blocks = [
        Block(BlockKind.PARAGRAPH, part, before=parts[at - 1] if at else None)
        for at, part in enumerate(parts)
        if at % 2 == 0
    ]
    doc = document(*blocks, name="src/store.py")
    assert doc.text == text
    rule = rule_of(doc)
    assert (rule.name, rule.reason) == ("code", "the name src/store.py is one of source code")
    put = next(chunk for chunk in cut(doc, size=50) if "def put" in chunk.content)
    assert "return 2" in put.content


# --- tables, and the rest --------------------------------------------------------------------------------------------


def test_a_table_stands_apart_from_the_text_around_it_with_its_caption() -> None:
    doc = document(
        heading("Port"),
        paragraph("Fees are paid in advance."),
        paragraph("Table 1: Fees"),
        row("Vessel | Fee", header=True),
        row("Vessel: Cutter; Fee: 3"),
        paragraph("They are not given back."),
    )
    assert [chunk.content.split("\n")[0] for chunk in cut(doc)] == [
        "Fees are paid in advance.",
        "Table 1: Fees",
        "They are not given back.",
    ]
    assert rule_of(doc).name == "text"


def test_a_document_of_rows_is_tables_and_one_of_fences_is_code() -> None:
    assert rule_of(document(*[row(f"Vessel: v{number}; Fee: {number}") for number in range(9)])).name == "tables"
    assert rule_of(document(heading("A"), code("x = 1\ny = 2\nz = 3"))).name == "code"


def test_nesting_without_end_is_cut_in_reasonable_time() -> None:
    nested = "\n".join(" " * depth + f"def f{depth}():" for depth in range(400))
    made = cut(document(heading("A"), code(nested)), size=40)
    assert "".join("".join(chunk.content.split()) for chunk in made) == "".join(nested.split())
    clauses = [paragraph(".".join(["1"] * depth) + " The clause says it.") for depth in range(1, 400)]
    assert "The clause says it." in cut(document(*clauses), size=60)[-1].content
    assert rule_of(document(paragraph("x (" * 20000), code("void f(" + "(a) " * 20000))).name == "code"


@given(st.lists(st.sampled_from([*CONTRACT, *asked(1), code(PYTHON), row("A: 1; B: 2"), paragraph(LONG)]), max_size=12),
       st.integers(24, 90), st.booleans())  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_nothing_is_lost_and_every_chunk_is_its_slice(blocks: list[Block], size: int, header: bool) -> None:
    doc = document(*blocks)
    made = cut(doc, size=size, header=header)
    held = "\n".join(chunk.text for chunk in made)
    for word in set(re.findall(r"\w+", doc.text)):
        assert word in held
    assert len({chunk.id for chunk in made}) == len(made)
