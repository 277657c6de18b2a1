"""Books to blocks."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

import pytest

from fonte.errors import EncryptedSource, ParseError
from fonte.parsers.registry import parse_body
from fonte.text.canonical import canonicalise
from fonte.text.locate import locate
from fonte.types import Acl, Parsed, Source, sha256_hex

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)
XHTML = "application/xhtml+xml"


def page(body: str, title: str = "<title/>") -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head>{title}</head><body>{body}</body></html>'
    )


def book(
    chapters: Mapping[str, str],
    *,
    metadata: str = "<dc:title>Il libro</dc:title>",
    spine: list[str] | None = None,
    more: Mapping[str, str | bytes] | None = None,
    items: str = "",
) -> bytes:
    """An EPUB of these chapters (by file name); ``more`` are parts by their whole name."""
    listed = "".join(f'<item id="{name}" href="{name}" media-type="{XHTML}"/>' for name in chapters)
    order = "".join(f'<itemref idref="{name}"/>' for name in (list(chapters) if spine is None else spine))
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        package.writestr("META-INF/container.xml", CONTAINER)
        package.writestr(
            "OEBPS/book.opf",
            '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<metadata>{metadata}</metadata><manifest>{listed}{items}</manifest><spine>{order}</spine></package>",
        )
        for name, content in chapters.items():
            package.writestr(f"OEBPS/{name}", content)
        for name, content in (more or {}).items():
            package.writestr(name, content)
    return data.getvalue()


def source(body: bytes) -> Source:
    return Source("file:///book.epub", "book.epub", sha256_hex(body), Acl(), body=body)


def parse(body: bytes) -> Parsed:
    return parse_body(source(body))


def texts(parsed: Parsed) -> list[str]:
    return [block.text for block in parsed.blocks]


def codes(parsed: Parsed) -> dict[str, int]:
    return {loss.code: loss.count for loss in parsed.losses}


def test_chapters_come_in_the_order_of_the_spine_with_their_structure() -> None:
    parsed = parse(
        book(
            {
                "b.xhtml": page("<h1>Secondo</h1><ul><li>uno</li><li>due</li></ul>"),
                "a.xhtml": page(
                    "<section><h1>Primo</h1><p>Ciao &amp; <b>bene</b>.</p>"
                    "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table></section>"
                ),
            },
            spine=["a.xhtml", "b.xhtml"],
        )
    )
    assert parsed.title == "Il libro"
    assert texts(parsed) == [
        "Il libro", "Primo", "Ciao & bene.", "A | B", "A: 1; B: 2", "Secondo", "- uno", "- due",
    ]  # fmt: skip
    assert parsed.parser.startswith("epub/1 ")
    assert parsed.source_counts.rows == 2


def test_tables_of_two_chapters_keep_numbers_of_their_own() -> None:
    table = "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>"
    parsed = parse(book({"a.xhtml": page(table), "b.xhtml": page(table)}))
    assert [block.table for block in parsed.blocks if block.table is not None] == [0, 0, 1, 1]


def test_an_element_closed_in_its_own_tag_swallows_nothing() -> None:
    """``<title/>`` and ``<script/>`` are open elements to an HTML reader."""
    body = page('<a id="here"/><script src="x.js"/><p>kept</p><div/><p>too</p>')
    parsed = parse(book({"a.xhtml": body}))
    assert texts(parsed) == ["Il libro", "kept", "too"]
    assert parsed.source_counts.words == 4


def test_notes_asides_and_headers_of_books_are_text() -> None:
    body = page('<header><h2>Part</h2></header><aside epub:type="footnote"><p>A note.</p></aside>')
    assert texts(parse(book({"a.xhtml": body})))[1:] == ["Part", "A note."]


def test_anchors_name_the_file_and_the_element() -> None:
    body = book({"a.xhtml": page('<h1 id="one">One</h1><p>alpha</p>'), "b.xhtml": page("<p>beta</p>")})
    document = canonicalise(parse(body), source(body), tenant="t")
    found = [locate(document, start, start + 4).anchor for start in map(document.text.index, ("alpha", "beta"))]
    assert found == ["OEBPS/a.xhtml#one", "OEBPS/b.xhtml"]


def test_makers_and_description_are_said_first_and_kept_as_metadata() -> None:
    metadata = (
        "<dc:title>T</dc:title><dc:creator>Ada</dc:creator><dc:creator>Bo</dc:creator><dc:date>2024-05-01</dc:date>"
        "<dc:description>&lt;p&gt;About &lt;i&gt;pumps&lt;/i&gt;.&lt;/p&gt;</dc:description>"
    )
    parsed = parse(book({"a.xhtml": page("<p>x</p>")}, metadata=metadata))
    assert texts(parsed) == ["T", "Authors: Ada, Bo\nDate: 2024-05-01", "About pumps.", "x"]
    assert parsed.metadata["creator"] == "Ada; Bo"


def test_a_chapter_without_a_heading_takes_its_name_from_the_contents() -> None:
    nav = page(
        '<nav epub:type="toc"><ol><li><a href="a.xhtml">Uno</a></li><li><a href="b.xhtml#x">Due</a></li></ol></nav>'
    )
    ncx = (
        '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">'
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>Tre</text></navLabel>'
        '<content src="c.xhtml"/></navPoint></navMap></ncx>'
    )
    body = book(
        {"a.xhtml": page("<p>a</p>"), "b.xhtml": page("<h2>Own</h2><p>b</p>"), "c.xhtml": page("<p>c</p>")},
        items=f'<item id="nav" href="nav.xhtml" media-type="{XHTML}" properties="nav"/>'
        '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>',
        more={"OEBPS/nav.xhtml": nav, "OEBPS/toc.ncx": ncx},
        spine=["nav", "a.xhtml", "b.xhtml", "c.xhtml"],
    )
    parsed = parse(body)
    assert texts(parsed) == ["Il libro", "Uno", "a", "Own", "b", "Tre", "c"]
    assert codes(parsed) == {"structure": 1}


def test_a_chapter_that_holds_the_contents_too_is_a_chapter() -> None:
    said = "The whole book stands on this one page, beside the list of what it holds, and none of its words may go."
    nav = page(f'<nav epub:type="toc"><ol><li><a href="#x">Uno</a></li></ol></nav><h1 id="x">One</h1><p>{said}</p>')
    body = book(
        {},
        items=f'<item id="nav" href="nav.xhtml" media-type="{XHTML}" properties="nav"/>',
        more={"OEBPS/nav.xhtml": nav},
        spine=["nav"],
    )
    parsed = parse(body)
    assert (texts(parsed), codes(parsed)) == (["Il libro", "One", said], {"structure": 1})


def test_a_chapter_that_the_book_does_not_list_is_told() -> None:
    parsed = parse(book({"a.xhtml": page("<p>good</p>")}, spine=["a.xhtml", "nowhere"]))
    assert (texts(parsed)[1:], codes(parsed)) == (["good"], {"chapters_lost": 1})


def test_what_is_missing_or_damaged_is_told_and_the_rest_is_read() -> None:
    body = book(
        {"a.xhtml": page("<p>good</p>")},
        items=f'<item id="gone" href="gone.xhtml" media-type="{XHTML}"/>',
        spine=["gone", "a.xhtml"],
    )
    parsed = parse(body)
    assert texts(parsed)[1:] == ["good"]
    assert codes(parsed) == {"chapters_lost": 1}


def test_a_book_of_pictures_needs_ocr() -> None:
    parsed = parse(book({"a.xhtml": page('<img src="scan.png" alt=""/>')}))
    assert (parsed.blocks, parsed.empty_reason) == ((), "needs_ocr")
    assert codes(parsed) == {"images": 1}


def encryption(algorithm: str, part: str) -> dict[str, str | bytes]:
    inside = f'<EncryptionMethod Algorithm="{algorithm}"/><CipherData><CipherReference URI="{part}"/></CipherData>'
    return {"META-INF/encryption.xml": f"<encryption><EncryptedData>{inside}</EncryptedData></encryption>"}


def test_protected_chapters_are_refused_and_masked_fonts_are_not() -> None:
    protected = encryption("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OEBPS/a.xhtml")
    with pytest.raises(EncryptedSource, match="protected"):
        parse(book({"a.xhtml": page("<p>x</p>")}, more=protected))
    masked = encryption("http://www.idpf.org/2008/embedding", "OEBPS/font.otf")
    assert texts(parse(book({"a.xhtml": page("<p>x</p>")}, more=masked))) == ["Il libro", "x"]


@pytest.mark.parametrize(
    ("metadata", "spine", "told"),
    [
        ("<dc:title>T</dc:title>", [], "no chapters"),
        ("<dc:title>T</wrong>", None, "not well-formed"),
    ],
)
def test_broken_packages_are_typed_failures(metadata: str, spine: list[str] | None, told: str) -> None:
    with pytest.raises(ParseError, match=told):
        parse(book({"a.xhtml": page("<p>x</p>")}, metadata=metadata, spine=spine))


@pytest.mark.parametrize("deep", [False, True])
def test_entities_of_the_package_document_are_never_expanded(deep: bool) -> None:
    bomb = "".join(f'<!ENTITY e{at} "{f"&e{at - 1};" * 10}">' for at in range(1, 12))
    opf = (
        f'<!DOCTYPE package [<!ENTITY e0 "boom"><!ENTITY file SYSTEM "file:///etc/passwd">{bomb}]><package '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>{"&e11;" * deep}&file;T</dc:title></metadata>'
        '<manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>'
    )
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as package:
        package.writestr("mimetype", "application/epub+zip")
        package.writestr("META-INF/container.xml", CONTAINER)
        package.writestr("OEBPS/book.opf", opf)
        package.writestr("OEBPS/a.xhtml", page("<p>x &file; y</p>"))
    if deep:
        with pytest.raises(ParseError):
            parse(data.getvalue())
        return
    said = " ".join(texts(parse(data.getvalue())))
    assert "root:" not in said
    assert len(said) < 100
