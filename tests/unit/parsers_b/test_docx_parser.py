"""The DOCX parser on files made here: structure, revisions, numbering, tables, notes, guards."""

from __future__ import annotations

import io
import zipfile

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from fonte.errors import EncryptedSource, ParseError
from fonte.parsers.docx import DocxParser
from fonte.types import Acl, BlockKind, Parsed, Source

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" '
    'ContentType="application/xml"/></Types>'
)
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def package(body: str, parts: dict[str, str] | None = None, namespace: str = W) -> bytes:
    """A Word file with this body; ``parts`` are further parts by kind (styles, numbering, footnotes, header)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{RELATIONS}"><Relationship Id="r1" Type="{OFFICE}/officeDocument" '
            'Target="word/document.xml"/></Relationships>',
        )
        archive.writestr("word/document.xml", f"<w:document {spaces(namespace)}><w:body>{body}</w:body></w:document>")
        links = ""
        for number, (kind, text) in enumerate((parts or {}).items()):
            archive.writestr(f"word/{kind}.xml", text)
            links += f'<Relationship Id="p{number}" Type="{OFFICE}/{kind}" Target="{kind}.xml"/>'
        archive.writestr("word/_rels/document.xml.rels", f'<Relationships xmlns="{RELATIONS}">{links}</Relationships>')
    return buffer.getvalue()


def spaces(namespace: str = W) -> str:
    return (
        f'xmlns:w="{namespace}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
        'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    )


def style_of(name: str, inner: str) -> str:
    return f'<w:style w:type="paragraph" w:styleId="{name}">{inner}</w:style>'


def p(inner: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{inner}</w:p>"


def r(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def parse(body: bytes) -> Parsed:
    return DocxParser().parse(Source("file:///a.docx", "a.docx", "0", Acl(), body=body))


def texts(parsed: Parsed) -> list[str]:
    return [block.text for block in parsed.blocks]


def made(document) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def test_headings_paragraphs_and_title():
    document = docx.Document()
    document.core_properties.title = "Harbour rules"
    document.add_heading("Harbour", 0)
    document.add_heading("Fees", 1)
    document.add_paragraph("Each boat pays.")
    document.add_heading("Late fees", 2)
    parsed = parse(made(document))
    assert [(b.kind, b.level, b.text) for b in parsed.blocks] == [
        (BlockKind.HEADING, 1, "Harbour"),
        (BlockKind.HEADING, 1, "Fees"),
        (BlockKind.PARAGRAPH, 0, "Each boat pays."),
        (BlockKind.HEADING, 2, "Late fees"),
    ]
    assert parsed.title == "Harbour rules"
    assert parsed.source_counts.words == 7


@pytest.mark.parametrize(
    ("style", "level"),
    [
        (style_of("Titolo2", '<w:name w:val="heading 2"/>'), 2),
        (style_of("X", '<w:name w:val="Mine"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr>'), 3),
        (style_of("X", '<w:basedOn w:val="H"/>') + style_of("H", '<w:name w:val="heading 1"/>'), 1),
        (style_of("X", '<w:name w:val="a"/><w:basedOn w:val="X"/>'), 0),
    ],
)
def test_heading_styles_in_any_language_and_by_inheritance(style, level):
    name = "Titolo2" if "Titolo2" in style else "X"
    styles = f"<w:styles {spaces()}>{style}</w:styles>"
    parsed = parse(package(p(r("Tariffe"), f'<w:pStyle w:val="{name}"/>'), {"styles": styles}))
    assert parsed.blocks[0].level == level


@pytest.mark.parametrize("namespace", [W, STRICT])
def test_strict_and_transitional_files_read_the_same(namespace):
    assert texts(parse(package(p(r("One")) + p(r("Two")), namespace=namespace))) == ["One", "Two"]


def test_insertions_stay_and_deletions_are_absent():
    body = p(
        r("The fee is ")
        + "<w:del><w:r><w:delText>10</w:delText></w:r></w:del>"
        + f"<w:ins>{r('12')}</w:ins>"
        + f"<w:moveFrom>{r(' old')}</w:moveFrom>"
        + f"<w:moveTo>{r(' euro')}</w:moveTo>"
        + r(".")
    )
    parsed = parse(package(body))
    assert texts(parsed) == ["The fee is 12 euro."]
    assert parsed.source_counts.characters == len("Thefeeis12euro.")


def test_content_controls_links_and_fields():
    body = (
        f"<w:sdt><w:sdtPr><w:alias w:val='no'/></w:sdtPr><w:sdtContent>{p(r('In a control'))}</w:sdtContent></w:sdt>"
        + p(f"<w:sdt><w:sdtContent>{r('Inline ')}</w:sdtContent></w:sdt><w:hyperlink>{r('a link')}</w:hyperlink>")
        + p(
            r("See page ")
            + '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
            + "<w:r><w:instrText>PAGEREF x</w:instrText></w:r>"
            + r("hidden code")
            + '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
            + r("7")
            + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
            + r(".")
        )
    )
    assert texts(parse(package(body))) == ["In a control", "Inline a link", "See page 7."]


def test_hidden_runs_are_marked_where_they_stand_and_told():
    hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:t xml:space='preserve'>{0}</w:t></w:r>"
    parsed = parse(package(p(r("Seen ") + hidden.format("not ") + hidden.format("this") + r(" again."))))
    assert texts(parsed) == ["Seen [Not visible: not this] again."]
    assert [(loss.code, loss.count) for loss in parsed.losses] == [("hidden_text", 8)]


def test_tabs_breaks_hyphens_and_symbols():
    body = p(
        "<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t>"
        '<w:softHyphen/><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>'
    )
    assert texts(parse(package(body))) == ["a\tb\nc-d✓"]


def test_a_text_box_comes_once():
    box = f"<w:txbxContent>{p(r('Boxed'))}</w:txbxContent>"
    body = p(
        f"<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing>{box}</w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent></w:r>" + r("Around")
    )
    parsed = parse(package(body))
    assert texts(parsed) == ["Around", "Boxed"]
    assert parsed.source_counts.words == 2


NUMBERING = (
    f"<w:numbering {spaces()}>"
    '<w:abstractNum w:abstractNumId="0">'
    '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl>'
    '</w:abstractNum><w:abstractNum w:abstractNumId="1">'
    '<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="x"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    '<w:num w:numId="3"><w:abstractNumId w:val="0"/>'
    '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>'
    "</w:numbering>"
)


def test_list_labels_are_what_word_prints():
    def item(text, num, level):
        return p(r(text), f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{num}"/></w:numPr>')

    body = (
        item("one", 1, 0)
        + item("first", 1, 1)
        + item("second", 1, 1)
        + item("two", 1, 0)
        + item("again", 1, 1)
        + item("dot", 2, 0)
        + item("restarted", 3, 0)
        + item("plain", 0, 0)
    )
    parsed = parse(package(body, {"numbering": NUMBERING}))
    assert texts(parsed) == [
        "1. one",
        "1.a) first",
        "1.b) second",
        "2. two",
        "2.a) again",
        "- dot",
        "1. restarted",
        "plain",
    ]
    assert [block.kind for block in parsed.blocks] == [BlockKind.LIST_ITEM] * 7 + [BlockKind.PARAGRAPH]


def test_case_77_and_82_tables_as_rows_with_merged_cells_once():
    document = docx.Document()
    table = document.add_table(rows=4, cols=3)
    grid = [("Boat", "Fee", "Note"), ("Cutter", "12.50", "early"), ("Barge", "40", "late"), ("", "9", "x")]
    for row, values in enumerate(grid):
        for column, value in enumerate(values):
            table.cell(row, column).text = value
    table.cell(2, 0).merge(table.cell(3, 0))
    rows = parse(made(document)).blocks
    assert [row.text for row in rows] == [
        "Boat | Fee | Note",
        "Boat: Cutter; Fee: 12.50; Note: early",
        "Boat: Barge; Fee: 40; Note: late",
        "Fee: 9; Note: x",
    ]
    assert [row.header for row in rows] == [True, False, False, False]


def test_a_spanning_name_names_all_its_columns():
    spanning = f'<w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>{p(r("Fee"))}</w:tc>'
    cells = f"<w:tc>{p(r('Boat'))}</w:tc>{spanning}"
    body = (
        f"<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>{cells}</w:tr>"
        f"<w:tr><w:tc>{p(r('Cutter'))}</w:tc><w:tc>{p(r('1'))}</w:tc><w:tc>{p(r('2'))}</w:tc></w:tr></w:tbl>"
    )
    assert texts(parse(package(body))) == ["Boat | Fee", "Boat: Cutter; Fee: 1; Fee: 2"]


def test_nested_tables_deleted_rows_and_frames_of_one_cell():
    inner = f"<w:tbl><w:tr><w:tc>{p(r('in'))}</w:tc><w:tc>{p(r('ner'))}</w:tc></w:tr></w:tbl>"
    body = (
        f"<w:tbl><w:tr><w:tc>{p(r('1'))}{inner}</w:tc><w:tc>{p(r('2'))}</w:tc></w:tr>"
        f"<w:tr><w:trPr><w:del/></w:trPr><w:tc>{p(r('gone'))}</w:tc></w:tr></w:tbl>"
        f"<w:tbl><w:tr><w:tc>{p(r('A boxed paragraph.'))}</w:tc></w:tr></w:tbl>"
    )
    parsed = parse(package(body))
    assert texts(parsed) == ["1 in | ner; | 2", "A boxed paragraph."]
    assert [block.kind for block in parsed.blocks] == [BlockKind.ROW, BlockKind.PARAGRAPH]
    assert parsed.source_counts.rows == 1


def test_rows_without_text_and_tables_in_frames_are_counted_as_they_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def row(*cells: str) -> str:
        return f"<w:tr>{''.join(f'<w:tc>{cell}</w:tc>' for cell in cells)}</w:tr>"

    removed = f"<w:p><w:moveFrom>{r('moved')}</w:moveFrom></w:p>"
    table = f"<w:tbl>{row(p(r('1')), p(r('2')))}{row(p(''), p(''))}{row(removed, p(''))}{row(p(r('3')), p(''))}</w:tbl>"
    body = package(f"<w:tbl>{row(f'<w:tbl>{row(table)}</w:tbl>')}</w:tbl>")
    parsed = parse(body)
    assert texts(parsed) == ["1 | 2", "3"]
    assert parsed.source_counts.rows == 2
    monkeypatch.setattr("fonte.parsers.docx.body.row_line", lambda *_: ("", ()))
    lost = parse(body)
    assert (lost.source_counts.rows, [block.text for block in lost.blocks if block.text]) == (2, [])


def test_notes_follow_their_paragraph():
    notes = (
        f'<w:footnotes {spaces()}><w:footnote w:type="separator" w:id="-1">{p(r("no"))}</w:footnote>'
        f'<w:footnote w:id="2">{p(r("See the tariff."))}</w:footnote></w:footnotes>'
    )
    body = p(r("Boats pay") + '<w:r><w:footnoteReference w:id="2"/></w:r>' + r(".")) + p(r("After"))
    parsed = parse(package(body, {"footnotes": notes}))
    assert [(b.kind, b.text) for b in parsed.blocks] == [
        (BlockKind.PARAGRAPH, "Boats pay."),
        (BlockKind.NOTE, "See the tariff."),
        (BlockKind.PARAGRAPH, "After"),
    ]
    assert parsed.source_counts.words == 6


def test_page_headers_are_left_out_and_counted():
    header = f"<w:hdr {spaces()}>{p(r('Harbour handbook'))}</w:hdr>"
    parsed = parse(package(p(r("Body")), {"header": header}))
    assert texts(parsed) == ["Body"]
    assert [(loss.code, loss.count) for loss in parsed.losses] == [("page_furniture", 1)]


def test_case_24_a_word_file_has_no_pages():
    body = p(r("One")) + p('<w:r><w:lastRenderedPageBreak/><w:br w:type="page"/></w:r>' + r("Two"))
    parsed = parse(package(body))
    assert texts(parsed) == ["One", "Two"]
    assert parsed.pages is None
    assert all(place.page is None for block in parsed.blocks for place in block.places)


def test_an_empty_document_is_empty_and_pictures_alone_need_ocr():
    assert parse(package(p(""))).empty_reason == "empty"
    parsed = parse(package(p("<w:r><w:drawing/></w:r>")))
    assert (parsed.blocks, parsed.empty_reason) == ((), "needs_ocr")


def test_code_paragraphs_are_one_block():
    style = style_of("C", '<w:name w:val="HTML Preformatted"/>')
    styles = f"<w:styles {spaces()}>{style}</w:styles>"
    body = p(r("# no heading"), '<w:pStyle w:val="C"/>') + p(r("x = 1"), '<w:pStyle w:val="C"/>')
    blocks = parse(package(body, {"styles": styles})).blocks
    assert [(block.kind, block.text) for block in blocks] == [(BlockKind.CODE, "# no heading\nx = 1")]


def test_equations_give_their_text():
    document = docx.Document()
    paragraph = document.add_paragraph("Area ")
    runs = "<m:r><m:t>A=</m:t></m:r><m:r><m:t>ab</m:t></m:r>"
    paragraph._p.append(parse_xml(f"<m:oMath {nsdecls('m')}>{runs}</m:oMath>"))
    assert texts(parse(made(document))) == ["Area A=ab"]


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]>'


def zipped(name: str, data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04 broken", "no readable Office file"),
        (zipped("other.xml", b"<a/>"), "is missing"),
        (zipped("word/document.xml", b"<a>"), "not well-formed"),
        (zipped("word/document.xml", (BOMB + "<a>&a;</a>").encode()), "document type"),
        (zipped("word/document.xml", bytes(40 * 2**20)), "grows"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 old word", "97-2003"),
    ],
)
def test_damaged_and_hostile_files_are_parse_errors(body, message):
    with pytest.raises(ParseError, match=message):
        parse(body)


def test_a_truncated_part_is_a_parse_error():
    whole = bytearray(package(p(r("text " * 3000))))
    at = whole.find(b"word/document.xml") + 60
    whole[at : at + 20] = bytes(20)
    with pytest.raises(ParseError):
        parse(bytes(whole))


def test_a_password_is_asked_for():
    body = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le")
    with pytest.raises(EncryptedSource):
        parse(body)


def test_deep_nesting_does_not_crash():
    body = "<w:tbl><w:tr><w:tc>" * 60 + p(r("deep")) + "</w:tc></w:tr></w:tbl>" * 60
    with pytest.raises(ParseError):
        parse(package(body))


C = "http://schemas.openxmlformats.org/drawingml/2006/chart"
CHART = (
    f'<c:chartSpace xmlns:c="{C}" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><c:chart><c:title><c:tx>'
    "<c:rich><a:p><a:r><a:t>Pressure</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser>"
    "<c:tx><c:v>bar</c:v></c:tx><c:cat><c:strCache><c:pt idx='0'><c:v>Monday</c:v></c:pt></c:strCache></c:cat>"
    "<c:val><c:numCache><c:pt idx='0'><c:v>41</c:v></c:pt></c:numCache></c:val></c:ser></c:barChart></c:plotArea>"
    "</c:chart></c:chartSpace>"
)


def drawn(relation: str) -> str:
    chart = f'<c:chart xmlns:c="{C}" xmlns:r="{OFFICE}" r:id="{relation}"/>'
    return f"<w:r><w:drawing>{chart}</w:drawing></w:r>"


def test_charts_give_their_stored_values_and_lost_ones_are_told():
    parsed = parse(package(p(r("Before") + drawn("p0")) + p(drawn("p7")), {"chart": CHART}))
    assert texts(parsed) == ["Before", "Pressure", "A | bar", "A: Monday; bar: 41"]
    assert [(loss.code, loss.count) for loss in parsed.losses] == [("objects_lost", 1)]
    both = (
        "<w:r><mc:AlternateContent><mc:Choice>"
        f"{drawn('p0')[5:-6]}</mc:Choice><mc:Fallback><w:pict/></mc:Fallback></mc:AlternateContent></w:r>"
    )
    assert not parse(package(p(both), {"chart": CHART})).losses
    damaged = parse(package(p(r("x") + drawn("p0")), {"chart": "<c:chart"}))
    assert [loss.code for loss in damaged.losses] == ["objects_lost"]
