"""RTF: text in its encodings, structure, what is left out and told, and files that are torn."""

from __future__ import annotations

import pytest

from fonte.errors import ParseError
from fonte.parsers.registry import parse_body
from fonte.parsers.sniff import RTF, sniff
from fonte.text.canonical import canonicalise
from fonte.text.ledger import BENIGN, balance
from fonte.types import Acl, Chunk, Parsed, Source, sha256_hex

HEAD = (
    r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fnil\fcharset0 Arial;}{\f1\fcharset204 Times CYR;}"
    r"{\f2\fcharset128 MS Mincho;}}{\colortbl;\red0\green0\blue0;}"
    r"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}{\s2 heading 2;}{\*\cs10 Default;}}"
    r"{\info{\title Piano}{\author Ada}}"
)


def source(inside: str, head: str = HEAD, tail: str = "}") -> Source:
    body = (head + inside + tail).encode("latin-1")
    return Source("file:///a.rtf", "a.rtf", sha256_hex(body), Acl(), body=body)


def parse(inside: str, head: str = HEAD, tail: str = "}") -> Parsed:
    return parse_body(source(inside, head, tail))


def told(parsed: Parsed) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in parsed.blocks]


EVERYTHING = r"""
\pard\s1\outlinelevel0 Ferie\par
\pard\s2 Giorni\par
\pard Ventisei{\footnote\chftn  Per anno.} giorni\line all'anno{\*\bkmkstart x}, {\deleted non }{\b sempre}.\par
{\listtext\'B7\tab}Primo\par
{\pntext 2.\tab}Secondo\par
\pard {\field{\*\fldinst{HYPERLINK "http://x.y"}}{\fldrslt il sito}}\par
{\pict\pngblip\bin4 {}}x}{\*\annotation Comment.}
{\header\pard Riservato\par}
\trowd\trhdr\cellx1\cellx2\pard\intbl Anno\cell Anatre\cell\row
\trowd\cellx1\cellx2\pard\intbl 2019\cell 120\par molte\cell\row
\pard Fine\par
"""


def test_a_file_with_everything() -> None:
    parsed = parse(EVERYTHING)
    assert told(parsed) == [
        ("heading", "Ferie"),
        ("heading", "Giorni"),
        ("paragraph", "Ventisei giorni\nall'anno, sempre."),
        ("note", "Per anno."),
        ("list_item", "- Primo"),
        ("list_item", "2. Secondo"),
        ("paragraph", "il sito"),
        ("row", "Anno | Anatre"),
        ("row", "Anno: 2019; Anatre: 120 molte"),
        ("paragraph", "Fine"),
    ]
    assert [block.level for block in parsed.blocks[:2]] == [1, 2]
    assert parsed.title == "Piano"
    assert {loss.code for loss in parsed.losses} == {"images", "comments", "page_furniture"} <= BENIGN


def test_the_books_balance() -> None:
    made = source(EVERYTHING)
    parsed = parse_body(made)
    document = canonicalise(parsed, made, tenant="t")
    ledger = balance(parsed, document, [Chunk("c", "d", 0, 0, len(document.text), document.text)], window=9999)
    assert ledger.balanced, ledger.losses
    assert (ledger.source.rows, ledger.canonical.rows) == (2, 2)


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        (r"Perch\'e9 citt\'e0", "Perché città"),
        ("Perché così", "Perché così"),
        (r"\u8364 ?20 \u-10179?\u-8704? x", "€20 😀 x"),
        (r"\uc2\u233\'c3\'a9t\uc0\u233 .", "été."),
        (r"{\f1\'cf\'f0\'e8\'e2\'e5\'f2} ok", "Привет ok"),
        (r"{\f2\'93\'fa\'96\'7b}", "日本"),
        (r"a\~b\_c\-d\{e\}\\f", "a\u00a0b-cd{e}\\f"),
        (r"\ldblquote x\rdblquote\emdash y", "“x”—y"),
        (r"{\*\unknown hidden}seen{\*\shpinst{\sp{\sn a}{\sv b}}{\shptxt in the box}}", "seenin the box"),
        (r"{\upr{ansi}{\*\ud{unicode}}}", "unicode"),
    ],
)
def test_characters(inside: str, text: str) -> None:
    assert [block.text for block in parse(inside).blocks] == [text]


def test_more_characters_for_one_than_can_be_pass_over_no_text() -> None:
    parsed = parse(r"Seen \uc999999999\u233? and this.\par And that.")
    assert [block.text for block in parsed.blocks] == ["Seen \u00e9 and this.", "And that."]
    assert [loss.code for loss in parsed.losses] == ["damaged"]
    assert "999999999" in parsed.losses[0].message


def test_torn_files_keep_what_they_have_and_are_partial() -> None:
    torn = parse(r"\pard Seen.\par {\b and this", tail="")
    assert [block.text for block in torn.blocks] == ["Seen.", "and this"]
    assert [loss.code for loss in torn.losses] == ["damaged"]
    assert "damaged" not in BENIGN
    assert parse("x}}}").losses[0].code == "damaged"
    assert parse("{" * 9000 + "x", tail="").losses[0].code == "damaged"
    row = parse(r"\trowd\pard\intbl One\cell Two")
    assert [block.text for block in row.blocks] == ["One | Two"]


def test_empty_files_and_pictures_alone() -> None:
    assert parse("").empty_reason == "empty"
    assert parse(r"{\pict\bin2 {{}").empty_reason == "needs_ocr"
    assert sniff(b"{\\rtf1 x}", "notes.doc") == RTF


@pytest.mark.parametrize("inside", [r"\bin999999999 text", r"{{{{\*\x text"])
def test_damaged_files_of_which_no_text_came_are_no_empty_ones(inside: str) -> None:
    with pytest.raises(ParseError, match="damaged, and no text came out"):
        parse(inside, tail="")
