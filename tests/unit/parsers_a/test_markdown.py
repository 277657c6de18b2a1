"""Markdown to clean text with its lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.errors import ParseError
from fonte.parsers.counting import count_words
from fonte.parsers.markdown import MarkdownParser
from fonte.text.frontmatter import HEAD_BYTES, iso_date, own_text, split_front_matter
from fonte.types import Acl, Block, BlockKind, Parsed, Source


def parse(text: str | bytes) -> Parsed:
    body = text if isinstance(text, bytes) else text.encode()
    return MarkdownParser().parse(Source("file:///a.md", "a.md", "h", Acl(), body=body))


def shape(parsed: Parsed) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in parsed.blocks]


def line_of(block: Block, word: str) -> int | None:
    at = block.text.index(word)
    return next((place.lines[0] for place in block.places if place.start <= at < place.end and place.lines), None)


def test_case_93_hash_in_code_fence_is_no_heading() -> None:
    parsed = parse("# Title\n\n```sh\n# a shell comment\nls\n```\n\ntext\n")
    assert shape(parsed) == [("heading", "Title"), ("code", "# a shell comment\nls"), ("paragraph", "text")]
    assert line_of(parsed.blocks[1], "# a") == 4
    assert line_of(parsed.blocks[1], "ls") == 5


def test_markup_is_left_out_and_text_is_kept() -> None:
    parsed = parse(
        'A **bold** _word_, a [link](http://x.y/z "t"), `co*de*`, ~~old~~ ![a picture](p.png) &amp; 1\\*2 <b>x</b>'
    )
    assert parsed.blocks[0].text == "A bold word, a link, co*de*, old a picture & 1*2 x"


def test_every_source_line_has_its_place() -> None:
    parsed = parse("\n\nfirst *line*\nsecond [line](u)\nthird  \nfourth\n")
    (block,) = parsed.blocks
    assert block.text == "first line second line third\nfourth"
    assert [line_of(block, word) for word in ("first", "second", "third", "fourth")] == [3, 4, 5, 6]


def test_a_line_that_markup_hides_gives_the_whole_range() -> None:
    (block,) = parse("a `code\nspan` and\nmore").blocks
    assert [place.lines for place in block.places] == [(1, 3)]


def test_levels_of_headings() -> None:
    parsed = parse("# A\n\n### B\n\nC\n=\n\nD\n-\n")
    assert [(block.text, block.level) for block in parsed.blocks] == [("A", 1), ("B", 3), ("C", 1), ("D", 2)]


def test_lists_have_their_marks() -> None:
    parsed = parse("- one\n  - nested\n\n    more\n- [ ] task\n\n3. three\n4. four\n")
    assert shape(parsed) == [
        ("list_item", "- one"),
        ("list_item", "- nested"),
        ("paragraph", "more"),
        ("list_item", "- [ ] task"),
        ("list_item", "3. three"),
        ("list_item", "4. four"),
    ]


def test_case_77_every_cell_of_a_table_is_there() -> None:
    parsed = parse("| Tier | Days | Note |\n|---|---|---|\n| A | 26 | x |\n| B | 30 | |\n")
    assert shape(parsed) == [
        ("row", "Tier | Days | Note"),
        ("row", "Tier: A; Days: 26; Note: x"),
        ("row", "Tier: B; Days: 30"),
    ]
    assert [block.header for block in parsed.blocks] == [True, False, False]
    assert {block.table for block in parsed.blocks} == {0}
    assert [block.places[0].lines for block in parsed.blocks] == [(1, 1), (3, 3), (4, 4)]
    assert parsed.metadata["empty_cells"] == "1"


def test_case_82_two_rows_are_two_rows_and_two_tables_two() -> None:
    parsed = parse("|a|\n|-|\n|1|\n|2|\n\ntext\n\n|b|\n|-|\n|3|\n")
    assert [(block.text, block.table) for block in parsed.blocks if block.kind is BlockKind.ROW] == [
        ("a", 0), ("a: 1", 0), ("a: 2", 0), ("b", 1), ("b: 3", 1)
    ]  # fmt: skip


def test_html_in_markdown_becomes_text() -> None:
    parsed = parse(
        "<details>\n<summary>More</summary>\n\ninside\n\n</details>\n\n<table><tr><th>K<th>V<tr><td>a<td>b</table>\n"
    )
    assert [block.text for block in parsed.blocks] == ["More", "inside", "K | V", "K: a; V: b"]
    assert "<" not in "".join(block.text for block in parsed.blocks)


def test_footnotes_are_notes_without_marks() -> None:
    parsed = parse("Text[^1] here.\n\n[^1]: The note.\n")
    assert shape(parsed) == [("paragraph", "Text here."), ("note", "The note.")]


def test_a_power_does_not_read_as_a_number() -> None:
    assert parse("10<sup>6</sup> and 1<sup>st</sup>").blocks[0].text == "10^6 and 1st"


def test_front_matter_is_metadata_never_text() -> None:
    parsed = parse('---\ntitle: "Ferie: regole"\ndate: 12 marzo 2024\ntags: [a, b]\n---\n# Titolo\n\nTesto\n')
    assert shape(parsed) == [("heading", "Titolo"), ("paragraph", "Testo")]
    assert parsed.title == "Ferie: regole"
    assert parsed.metadata["date"] == "2024-03-12"
    assert parsed.metadata["date_original"] == "12 marzo 2024"
    assert parsed.metadata["tags"] == "a, b"
    assert parsed.blocks[0].places[0].lines == (6, 6)


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    parsed = parse("---\n\nThis is text.\n\n---\nmore\n")
    assert [block.text for block in parsed.blocks] == ["This is text.", "more"]


def test_front_matter_forms() -> None:
    metadata, lines = split_front_matter(
        "---\na: 1\nb:\n  - x\n  - 'y'\nc:\n  d: 2\n# no\ne: |\n  long\n  text\n...\nbody"
    )
    assert metadata == {"a": "1", "b": "x, y", "c.d": "2", "e": "long text"}
    assert lines == 12
    assert split_front_matter('+++\ntitle = "T"\n+++\n')[0] == {"title": "T"}
    assert split_front_matter("\n \n---\na: 1\n---\nbody") == ({"a": "1"}, 5)
    assert split_front_matter("---\n\nNote: a rule, then text\n") == ({}, 0)


_LONG = "\n".join(f"key{number}: value" for number in range(600))


@pytest.mark.parametrize(
    "text",
    [
        f"---\n{_LONG}\nroles: hr\n---\nText.",
        f"---\n{_LONG}\n---\nText.",
        f"---\nnote: {'x' * 40_000}\nroles: hr\n---\nText.",
        f"+++\n{_LONG}\n+++\nText.",
        f"\n\n---\n{_LONG}\nroles: hr\n---\nText.",
        "---\nroles: hr\n\nText that nothing closes.",
        "---\n# mine\n\nroles: hr\nText.",
        "---\n{roles: [hr]}\n---\nText.",
        "---\ntitle: A\n{roles: [hr]}\n---\nText.",
        "---\n? roles\n: [hr]\n---\nText.",
        "---json\n{\n}\n---\nText.",
        '{\n  "title": "A",\n  "roles": ["hr"]\n}\n\nText.',
    ],
)
def test_front_matter_that_is_not_read_whole_fails_the_document(text: str) -> None:
    """It may say who may read the document: it is never text, and never passed over."""
    for encoding in ("utf-8", "utf-16"):
        with pytest.raises(ParseError, match="front matter"):
            parse(text.encode(encoding))
        with pytest.raises(ParseError, match="front matter"):
            own_text("a.md", text.encode(encoding)[:HEAD_BYTES])


@pytest.mark.parametrize("text", ["---\n\nText.\n", "---\nText about roles.\n\n---\nMore.\n", '{"a": 1}\n', "--- a\n"])
def test_what_is_no_front_matter_stays_text(text: str) -> None:
    assert parse(text).blocks
    assert own_text("a.md", text.encode()) == ""


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2024-03-12", "2024-03-12"),
        ("2024/3/2", "2024-03-02"),
        ("12.03.2024", "2024-03-12"),
        ("13/04/2024", "2024-04-13"),
        ("04/13/2024", "2024-04-13"),
        ("03/04/2024", None),
        ("1º gennaio 2025", "2025-01-01"),
        ("March 5, 2024", "2024-03-05"),
        ("5 Mar 2024", "2024-03-05"),
        ("2024-03-12T10:00:00Z", "2024-03-12T10:00:00+00:00"),
        ("31 febbraio 2024", None),
        ("2024", None),
        ("version 1.2.2024", None),
    ],
)
def test_dates_become_iso_when_they_are_sure(text: str, iso: str | None) -> None:
    assert iso_date(text) == iso


def test_a_slashed_date_is_read_day_first_where_the_language_says_so() -> None:
    assert split_front_matter("---\nlang: it\ndate: 03/04/2024\n---\n")[0]["date"] == "2024-04-03"


def test_text_nested_beyond_the_grammar_is_not_lost() -> None:
    parsed = parse("> " * 200 + "deep words at the very end\n\nnormal text\n")
    assert "deep words at the very end" in " ".join(block.text for block in parsed.blocks)
    assert [loss.code for loss in parsed.losses] == ["structure"]


@pytest.mark.parametrize("text", ["", "\n\n", "<!-- only this -->", "![](a.png)", "---\ntitle: x\n---\n"])
def test_case_91_markdown_without_text_is_empty(text: str) -> None:
    assert parse(text).empty_reason == "empty"


def test_counts_are_of_the_text_without_markup() -> None:
    text = (
        "# One two\n\n[three](http://a.b/c) `four` **five**\n\n```py\nsix = 7\n```\n\n| a | b |\n|---|---|\n| 8 | 9 |\n"
    )
    parsed = parse(text)
    assert parsed.source_counts.words == 11
    assert sum(count_words(block.text) for block in parsed.blocks) >= 11


@given(st.text(alphabet=st.sampled_from("# *_`~[]()<>!-+|\\\n\t &;1.ab:\"'=\U0001f600"), max_size=80))
def test_anything_is_markdown_and_places_stay_inside(text: str) -> None:
    parsed = parse(b"x" + text.encode())
    lines = text.count("\n") + 1
    for block in parsed.blocks:
        assert block.text.strip()
        for place in block.places:
            assert place.lines is None or 1 <= place.lines[0] <= place.lines[1] <= lines
