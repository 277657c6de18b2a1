"""ODT and ODP: structure, places, what is left out and told."""

from __future__ import annotations

import io
import zipfile

import pytest

from fonte.errors import EncryptedSource, ParseError
from fonte.parsers.registry import parse_body
from fonte.text.canonical import canonicalise
from fonte.text.ledger import BENIGN, balance
from fonte.text.locate import fragment, locate
from fonte.types import Acl, BlockKind, Chunk, Parsed, Source, sha256_hex

SPACES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
    for short, long in {
        "office": "office",
        "table": "table",
        "text": "text",
        "style": "style",
        "presentation": "presentation",
        "draw": "drawing",
        "svg": "svg-compatible",
    }.items()
)
STYLES = """<office:automatic-styles>
<style:style style:name="P1" style:parent-style-name="Title"/>
<style:style style:name="dp2" style:family="drawing-page">
<style:drawing-page-properties presentation:visibility="hidden"/></style:style>
<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"
 style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/>
</text:list-style></office:automatic-styles>"""


def made(kind: str, inside: str, *, manifest: str = "", content: str | None = None) -> bytes:
    xml = content or (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {SPACES}>{STYLES}<office:body>'
        f"<office:{kind}>{inside}</office:{kind}></office:body></office:document-content>"
    )
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as package:
        package.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}", zipfile.ZIP_STORED)
        package.writestr("content.xml", xml)
        package.writestr("META-INF/manifest.xml", f"<manifest>{manifest}</manifest>")
        package.writestr("meta.xml", '<m xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title> Piano </dc:title></m>')
    return data.getvalue()


def parse(body: bytes, name: str = "a.odt") -> Parsed:
    return parse_body(source(body, name))


def source(body: bytes, name: str = "a.odt") -> Source:
    return Source(f"file:///{name}", name, sha256_hex(body), Acl(), body=body)


def told(parsed: Parsed) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in parsed.blocks]


TEXT = """
<text:tracked-changes><text:changed-region><text:deletion><text:p>Gone.</text:p></text:deletion></text:changed-region>
</text:tracked-changes>
<text:p text:style-name="P1">Piano  <text:span>delle</text:span>
 ferie</text:p>
<text:h text:outline-level="2">Giorni<text:bookmark text:name="x"/></text:h>
<text:p>Ventisei<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Per anno.</text:p>
</text:note-body></text:note> giorni<text:s text:c="2"/>e<text:tab/>mezzo<text:line-break/>di riposo<office:annotation>
<text:p>A comment.</text:p></office:annotation>.</text:p>
<text:list text:style-name="L1"><text:list-item><text:p>Primo</text:p><text:list><text:list-item><text:p>sotto</text:p>
</text:list-item></text:list></text:list-item><text:list-item><text:p>Secondo</text:p></text:list-item></text:list>
<text:list><text:list-item><text:p>Punto</text:p></text:list-item></text:list>
<text:p>Prima<draw:frame><draw:text-box><text:p>Nel riquadro.</text:p></draw:text-box></draw:frame></text:p>
<text:p><draw:frame><draw:image/><svg:desc>Una mappa</svg:desc></draw:frame></text:p>
"""


def test_a_text_with_everything() -> None:
    parsed = parse(made("text", TEXT))
    assert told(parsed) == [
        ("heading", "Piano delle ferie"),
        ("heading", "Giorni"),
        ("paragraph", "Ventisei giorni  e\tmezzo\ndi riposo."),
        ("note", "Per anno."),
        ("list_item", "1. Primo"),
        ("list_item", "a) sotto"),
        ("list_item", "2. Secondo"),
        ("list_item", "- Punto"),
        ("paragraph", "Prima"),
        ("paragraph", "Nel riquadro."),
        ("caption", "Una mappa"),
    ]
    assert parsed.title == "Piano"
    assert {loss.code for loss in parsed.losses} == {"comments", "images"} <= BENIGN
    assert [block.level for block in parsed.blocks[:2]] == [1, 2]


def test_the_books_balance_and_miss_a_word_that_is_gone() -> None:
    rows = "<table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row>" * 3
    body = made("text", TEXT + f"<table:table>{rows}</table:table>")
    parsed = parse(body)
    document = canonicalise(parsed, source(body), tenant="t")
    chunk = Chunk("c", "d", 0, 0, len(document.text), document.text)
    ledger = balance(parsed, document, [chunk], window=10_000)
    assert ledger.balanced
    assert (ledger.source.rows, ledger.canonical.rows) == (3, 3)
    assert ledger.source.words <= ledger.canonical.words < ledger.source.words + 6


TABLE = """<table:table><table:table-header-rows><table:table-row>
<table:table-cell><text:p>Anno</text:p></table:table-cell>
<table:table-cell table:number-columns-spanned="2"><text:p>Anatre</text:p></table:table-cell><table:covered-table-cell/>
</table:table-row></table:table-header-rows>
<table:table-row table:number-rows-repeated="2"><table:table-cell><text:p>2019</text:p></table:table-cell>
<table:table-cell><text:p>120</text:p></table:table-cell><table:table-cell><text:list><text:list-item><text:p>x</text:p>
</text:list-item></text:list></table:table-cell></table:table-row>
<table:table-row><table:table-cell table:number-columns-repeated="3"/></table:table-row></table:table>"""


def test_rows_of_a_table_name_their_columns_and_repeated_ones_are_kept() -> None:
    rows = [block for block in parse(made("text", TABLE)).blocks if block.kind is BlockKind.ROW]
    assert [row.text for row in rows] == [
        "Anno | Anatre | Anatre",
        "Anno: 2019; Anatre: 120; Anatre: x",
        "Anno: 2019; Anatre: 120; Anatre: x",
    ]
    assert rows[0].header


def test_a_table_in_a_cell_is_part_of_its_row_and_rows_without_text_are_none() -> None:
    def row(*cells: str) -> str:
        made_cells = "".join(f"<table:table-cell>{one}</table:table-cell>" for one in cells)
        return f"<table:table-row>{made_cells}</table:table-row>"

    def said(text: str) -> str:
        return f"<text:p>{text}</text:p>"

    inner = f"<table:table>{row(said('A'), said('B'))}{row(said('1'), said('2'))}</table:table>"
    remark = f"<text:p><office:annotation>{said('Only a comment.')}</office:annotation></text:p>"
    rows = [row(said("Boat"), said("Fees")), row(said("Cutter"), inner), row(remark, said(""))]
    parsed = parse(made("text", f"<table:table>{''.join(rows)}</table:table>"))
    assert [text for _, text in told(parsed)] == ["Boat | Fees", "Boat: Cutter; Fees: A | B; 1 | 2;"]
    assert parsed.source_counts.rows == 2


def test_rows_that_repeat_beyond_the_limit_are_told_to_be_missing() -> None:
    body = made("text", TABLE.replace('number-rows-repeated="2"', 'number-rows-repeated="5000"'))
    parsed = parse(body)
    assert len(parsed.blocks) == 1001
    assert parsed.source_counts.rows == 5001


def test_copies_of_rows_and_cells_are_written_up_to_a_limit_and_told() -> None:
    """Case 'repeated a billion times': a row of ten thousand characters made 13,000 equal chunks."""
    long = "Sale e pepe. " * 800
    body = TABLE.replace('number-rows-repeated="2"', 'number-rows-repeated="999999999"').replace("120", long)
    parsed = parse(made("text", body))
    assert len(parsed.blocks) < 15
    told = {loss.code: loss.count for loss in parsed.losses}
    assert told["repeated"] > 999_999_900
    assert "repeated" not in BENIGN
    wide = '<table:table-cell table:number-columns-repeated="900"><text:p>' + long + "</text:p></table:table-cell>"
    parsed = parse(made("text", f"<table:table><table:table-row>{wide}</table:table-row></table:table>"))
    assert sum(len(block.text) for block in parsed.blocks) < 150_000


def test_objects_that_are_not_read_make_the_document_partial() -> None:
    parsed = parse(made("text", TEXT + "<text:p><draw:frame><draw:object/></draw:frame></text:p>"))
    assert ("objects_lost", 1) in [(loss.code, loss.count) for loss in parsed.losses]
    assert "objects_lost" not in BENIGN


def test_slides_with_titles_notes_hidden_ones_and_places() -> None:
    slides = f"""<draw:page draw:name="1"><draw:frame presentation:class="outline"><draw:text-box><text:p>Testo</text:p>
    </draw:text-box></draw:frame><draw:frame presentation:class="title"><draw:text-box><text:p>Titolo</text:p>
    </draw:text-box></draw:frame><draw:frame presentation:class="footer"><draw:text-box><text:p>Riservato</text:p>
    </draw:text-box></draw:frame><draw:g><draw:custom-shape><text:p>Forma</text:p></draw:custom-shape></draw:g>
    <presentation:notes><draw:page-thumbnail/><draw:frame><draw:text-box><text:p>Nota.</text:p></draw:text-box>
    </draw:frame></presentation:notes></draw:page>
    <draw:page draw:style-name="dp2"><draw:frame>{TABLE}</draw:frame></draw:page><draw:page/>"""
    body = made("presentation", slides)
    parsed = parse(body, "a.odp")
    assert told(parsed)[:4] == [
        ("heading", "Titolo"),
        ("paragraph", "Testo"),
        ("paragraph", "Forma"),
        ("note", "Nota."),
    ]
    assert told(parsed)[4] == ("heading", "Slide 2 (hidden slide)")
    assert {loss.code for loss in parsed.losses} == {"hidden_slide", "page_furniture"}
    document = canonicalise(parsed, source(body, "a.odp"), tenant="t")
    locator = locate(document, document.text.index("2019"), document.text.index("2019") + 4)
    assert (locator.slide, fragment(document, locator)) == (2, "#slide=2")


def test_nested_depth_empty_files_passwords_and_damage() -> None:
    deep = "<text:section>" * 200 + "<text:p>x</text:p>" + "</text:section>" * 200
    with pytest.raises(ParseError, match="no text came out"):
        parse(made("text", deep))
    assert parse(made("text", "<text:p/>")).empty_reason == "empty"
    with pytest.raises(EncryptedSource):
        parse(made("text", "", manifest="<encryption-data/>"))
    with pytest.raises(ParseError, match="well-formed"):
        parse(made("text", "<text:p>"))
    with pytest.raises(ParseError, match="no body"):
        parse(made("text", "", content="<a/>"))
    laughs = '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;">]><a>&y;</a>'
    with pytest.raises(ParseError):
        parse(made("text", "", content=laughs))


def test_remarks_of_xml_are_no_text_and_entities_of_its_own_are_refused() -> None:
    parsed = parse(made("text", "<text:p>a<!-- no -->b<?pi no?>c<text:s/><!-- no -->d</text:p>"))
    assert told(parsed) == [("paragraph", "abc d")]
    whole = made("text", "<text:p>a&x;b</text:p>")
    head = '<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    with zipfile.ZipFile(io.BytesIO(whole)) as package:
        content = package.read("content.xml").decode()
    at = content.index("<office:")
    with pytest.raises(ParseError, match="entities"):
        parse(made("text", "", content=content[:at] + head + content[at:]))
