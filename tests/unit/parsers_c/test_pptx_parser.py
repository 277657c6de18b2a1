"""Slides to blocks."""

from __future__ import annotations

import pytest

from fonte.errors import ParseError
from fonte.parsers.registry import parse_body
from fonte.text.canonical import canonicalise
from fonte.text.ledger import BENIGN
from fonte.text.locate import fragment, label, locate
from fonte.types import Acl, BlockKind, Parsed, Source, sha256_hex
from pptx_making import deck, graphic, group, part, picture, rels, shape, slide, table, text, title


def source(body: bytes, name: str = "deck.pptx") -> Source:
    return Source(f"file:///{name}", name, sha256_hex(body), Acl(), body=body)


def parse(body: bytes) -> Parsed:
    return parse_body(source(body))


def told(parsed: Parsed) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in parsed.blocks]


def codes(parsed: Parsed) -> dict[str, int]:
    return {loss.code: loss.count for loss in parsed.losses}


def test_titles_are_headings_and_a_slide_without_one_has_its_number() -> None:
    parsed = parse(
        deck(slide(title("Ferie"), shape("Ventisei giorni")), slide(shape("Senza titolo")), title_said="Il manuale")
    )
    assert parsed.title == "Il manuale"
    assert told(parsed) == [
        ("heading", "Ferie"),
        ("paragraph", "Ventisei giorni"),
        ("heading", "Slide 2"),
        ("paragraph", "Senza titolo"),
    ]
    assert [block.places[0].slide for block in parsed.blocks] == [1, 1, 2, 2]
    assert parsed.parser.startswith("pptx/")


def test_a_passage_is_located_by_its_slide() -> None:
    body = deck(slide(title("One"), shape("alpha")), slide(title("Two"), shape("beta gamma")))
    document = canonicalise(parse(body), source(body), tenant="t")
    start = document.text.index("beta gamma")
    locator = locate(document, start, start + 10)
    assert locator.slide == 2
    assert fragment(document, locator) == "#slide=2"
    assert label(document, locator, ("Two",)) == "deck.pptx, slide 2, Two"


def test_text_boxes_are_read_by_where_they_stand_not_by_their_order_in_the_file() -> None:
    parsed = parse(
        deck(
            slide(
                shape("right body", at=(5, 2.2, 3, 3)),
                shape("left body", at=(1, 2.2, 3, 3)),
                shape("right head", at=(5, 1.5, 3, 0.6)),
                shape("left head", at=(1, 1.5, 3, 0.6)),
                shape("foot", at=(1, 6, 7, 0.5)),
                title("Compare"),
            )
        )
    )
    assert [said for _, said in told(parsed)] == [
        "Compare", "left head", "left body", "right head", "right body", "foot",
    ]  # fmt: skip


def test_rows_of_labels_and_values_are_read_row_by_row() -> None:
    shapes = [
        shape(said, at=(x, y, 1.5, 0.5))
        for y, row in ((4, ("c", "three")), (1, ("a", "one")), (2.5, ("b", "two")))
        for x, said in ((3, row[1]), (1, row[0]))
    ]
    parsed = parse(deck(slide(title("T"), *shapes)))
    assert [said for _, said in told(parsed)][1:] == ["a", "one", "b", "two", "c", "three"]


def test_a_placeholder_without_a_frame_stands_where_its_layout_says() -> None:
    layout = part(
        "p:sldLayout",
        "<p:cSld><p:spTree>"
        + shape("prompt", at=(1, 5), ph='type="body" idx="1"')
        + shape("prompt", at=(1, 1), ph='type="body" idx="2"')
        + "</p:spTree></p:cSld>",
    )
    body = deck(
        slide(
            shape("below", ph='type="body" idx="1"'),
            shape("above", ph='type="body" idx="2"'),
            shape("middle", at=(1, 3)),
        ),
        relations={1: {"rId9": ("slideLayout", "../slideLayouts/one.xml")}},
        parts={"ppt/slideLayouts/one.xml": layout},
    )
    assert [said for _, said in told(parse(body))] == ["Slide 1", "above", "middle", "below"]


def test_groups_stay_together() -> None:
    parsed = parse(
        deck(
            slide(
                group(shape("g2", at=(0, 9)), shape("g1", at=(0, 0)), at=(5, 1, 3, 3)),
                shape("before", at=(1, 1, 3, 3)),
                shape("after", at=(1, 6, 7, 1)),
            )
        )
    )
    assert [said for _, said in told(parsed)][1:] == ["before", "g1", "g2", "after"]


def test_paragraphs_breaks_bullets_and_escapes() -> None:
    parsed = parse(
        deck(
            slide(
                shape("<a:r><a:t>two </a:t></a:r><a:br/><a:r><a:t>lines</a:t></a:r>", "a_x000B_b", "  "),
                shape("first", "<a:pPr><a:buNone/></a:pPr><a:r><a:t>plain</a:t></a:r>", ph='idx="1"'),
                shape("<a:pPr><a:buChar char='-'/></a:pPr><a:r><a:t>dash</a:t></a:r>"),
            )
        )
    )
    assert told(parsed)[1:] == [
        ("paragraph", "two\nlines"),
        ("paragraph", "a\nb"),
        ("list_item", "first"),
        ("paragraph", "plain"),
        ("list_item", "dash"),
    ]


def test_table_rows_carry_their_names_and_merged_cells_are_said_once_in_each_row() -> None:
    rows = [["Paese", "Giorni", "Giorni"], ["Italia", "26", "28"], ["", "30", "31"]]
    marks = {(0, 1): 'gridSpan="2"', (0, 2): 'hMerge="1"', (1, 0): 'rowSpan="2"', (2, 0): 'vMerge="1"'}
    parsed = parse(deck(slide(title("T"), table(rows, marks=marks))))
    assert told(parsed)[2:] == [
        ("row", "Paese: Italia; Giorni: 26; Giorni: 28"),
        ("row", "Paese: Italia; Giorni: 30; Giorni: 31"),
    ]
    assert parsed.blocks[1].header
    assert {block.table for block in parsed.blocks[1:]} == {0}
    assert parsed.source_counts.rows == 3


CHART = part(
    "c:chartSpace",
    "<c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Ricavi</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea>"
    "<c:ser><c:tx><c:strRef><c:strCache><c:pt idx='0'><c:v>Nord</c:v></c:pt></c:strCache></c:strRef></c:tx>"
    "<c:cat><c:strRef><c:strCache><c:pt idx='0'><c:v>Q1</c:v></c:pt><c:pt idx='1'><c:v>Q2</c:v></c:pt></c:strCache>"
    "</c:strRef></c:cat><c:val><c:numRef><c:numCache><c:formatCode>0%</c:formatCode><c:pt idx='0'><c:v>0.25</c:v>"
    "</c:pt><c:pt idx='1'><c:v>0.30000000000000004</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>"
    "<c:catAx><c:title><c:tx><c:rich><a:p><a:r><a:t>Trimestre</a:t></a:r></a:p></c:rich></c:tx></c:title></c:catAx>"
    "</c:plotArea></c:chart>",
)


def test_charts_are_tables_of_their_stored_values() -> None:
    body = deck(
        slide(title("T"), graphic('<c:chart r:id="rId5"/>')),
        relations={1: {"rId5": ("chart", "../charts/chart1.xml")}},
        parts={"ppt/charts/chart1.xml": CHART},
    )
    assert told(parse(body))[1:] == [
        ("caption", "Ricavi"),
        ("row", "Trimestre | Nord"),
        ("row", "Trimestre: Q1; Nord: 25%"),
        ("row", "Trimestre: Q2; Nord: 30%"),
    ]


def test_a_chart_that_is_not_in_the_file_is_told() -> None:
    parsed = parse(deck(slide(title("T"), shape("text"), graphic('<c:chart r:id="rId5"/>'))))
    assert "slide 1: a chart" in parsed.losses[0].message


def test_a_chart_whose_part_is_damaged_is_a_loss_and_not_only_an_object() -> None:
    body = deck(
        slide(title("T"), shape("text"), graphic('<c:chart r:id="rId5"/>')),
        relations={1: {"rId5": ("chart", "../charts/chart1.xml")}},
        parts={"ppt/charts/chart1.xml": "<broken"},
    )
    lost = next(loss for loss in parse(body).losses if loss.code not in BENIGN)
    assert (lost.code, lost.count) == ("slides_lost", 1)
    assert "chart1.xml" in lost.message


def test_diagrams_give_the_texts_of_their_nodes() -> None:
    points = "".join(
        f'<dgm:pt type="{kind}">{text(said, tag="dgm:t")}</dgm:pt>'
        for kind, said in (("node", "plan"), ("parTrans", "x"), ("node", "do"))
    )
    body = deck(
        slide(title("T"), graphic('<dgm:relIds r:dm="rId5"/>')),
        relations={1: {"rId5": ("diagramData", "../diagrams/data1.xml")}},
        parts={"ppt/diagrams/data1.xml": part("dgm:dataModel", f"<dgm:ptLst>{points}</dgm:ptLst>")},
    )
    assert told(parse(body))[1:] == [("list_item", "plan"), ("list_item", "do")]


def test_notes_follow_their_slide_and_comments_are_told() -> None:
    notes = part(
        "p:notes",
        "<p:cSld><p:spTree>"
        + shape("say this", "and that", ph='type="body" idx="1"')
        + shape("7", ph='type="sldNum"')
        + "</p:spTree></p:cSld>",
    )
    body = deck(
        slide(title("One"), shape("text")),
        slide(title("Two"), shape("more")),
        relations={1: {"rId3": ("notesSlide", "../notes/n1.xml"), "rId4": ("comments", "../comments/c1.xml")}},
        parts={"ppt/notes/n1.xml": notes, "ppt/comments/c1.xml": part("p:cmLst", "<p:cm/><p:cm/>")},
    )
    parsed = parse(body)
    assert told(parsed)[2:4] == [("note", "say this\nand that"), ("heading", "Two")]
    assert codes(parsed) == {"comments": 2}


def test_descriptions_of_pictures_are_kept_but_not_file_names() -> None:
    parsed = parse(
        deck(slide(title("T"), picture("Un anatroccolo", at=(1, 1)), picture("image3.png", at=(1, 3)), picture("")))
    )
    assert told(parsed)[1:] == [("caption", "Un anatroccolo")]
    assert codes(parsed)["images"] == 3


def test_hidden_slides_are_labelled() -> None:
    parsed = parse(deck(slide(title("Shown")), slide(title("Old prices"), shape("9 euro"), hidden=True)))
    assert told(parsed)[1:] == [("heading", "Old prices (hidden slide)"), ("paragraph", "9 euro")]
    assert codes(parsed) == {"hidden_slide": 1}


def test_footers_dates_and_slide_numbers_are_left_out_and_told() -> None:
    parsed = parse(
        deck(slide(title("T"), shape("body"), shape("Acme 2026", ph='type="ftr"'), shape("1", ph='type="sldNum"')))
    )
    assert [said for _, said in told(parsed)] == ["T", "body"]
    assert codes(parsed) == {"page_furniture": 2}


def test_alternative_content_is_read_once() -> None:
    choice = f"<mc:Choice Requires='x'>{shape('twice')}</mc:Choice><mc:Fallback>{shape('twice')}</mc:Fallback>"
    parsed = parse(deck(slide(f"<mc:AlternateContent>{choice}</mc:AlternateContent>")))
    assert [said for _, said in told(parsed)] == ["Slide 1", "twice"]
    assert parsed.source_counts.words == 3  # the heading's two among them


def test_the_count_of_the_source_does_not_come_from_the_blocks() -> None:
    """Text in an element that no walk knows is counted, and so missed."""
    body = deck(slide(title("T"), shape("kept"), f"<p:unknown>{text('one two three four five six')}</p:unknown>"))
    parsed = parse(body)
    assert sum(len(block.text.split()) for block in parsed.blocks) == 2
    assert parsed.source_counts.words == 8


def test_pictures_alone_need_ocr() -> None:
    parsed = parse(deck(slide(picture("")), slide(picture("scan.png"))))
    assert (parsed.blocks, parsed.empty_reason) == ((), "needs_ocr")


def test_nothing_at_all_is_empty() -> None:
    assert parse(deck(slide())).empty_reason == "empty"
    assert parse(deck()).empty_reason == "empty"


def test_a_damaged_slide_is_told_and_the_others_are_read() -> None:
    parsed = parse(deck(slide(title("One"), shape("good")), "<p:sld", slide(title("Three"), shape("fine"))))
    assert [said for _, said in told(parsed)] == ["One", "good", "Three", "fine"]
    assert codes(parsed) == {"slides_lost": 1}
    assert "slide 2" in parsed.losses[0].message


def test_no_slide_that_can_be_read_is_a_failure() -> None:
    with pytest.raises(ParseError, match="slide 1"):
        parse(deck("<p:sld"))


def test_entities_are_refused() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><p:sld xmlns:p="x">&e;</p:sld>'
    with pytest.raises(ParseError, match="document type"):
        parse(deck(bomb))


def test_groups_in_groups_without_end_and_relations_in_a_circle() -> None:
    deep = shape("bottom")
    for _ in range(60):
        deep = group(deep, at=(0, 0))
    circle = {"rId3": ("notesSlide", "slide1.xml"), "rId4": ("slideLayout", "slide1.xml")}
    parsed = parse(deck(slide(title("T"), shape("text"), deep), relations={1: circle}))
    assert parsed.blocks[0].text == "T"
    assert parsed.source_counts.words > sum(
        len(block.text.split()) for block in parsed.blocks if block.kind is not BlockKind.NOTE
    )


def test_a_layout_that_is_its_own_master() -> None:
    layout = part("p:sldLayout", "<p:cSld><p:spTree/></p:cSld>")
    body = deck(
        slide(title("T"), shape("x")),
        relations={1: {"rId4": ("slideLayout", "../l.xml")}},
        parts={"ppt/l.xml": layout, "ppt/_rels/l.xml.rels": rels({"rId1": ("slideMaster", "l.xml")})},
    )
    assert parse(body).blocks[0].text == "T"


def test_damaged_parts_beside_a_slide_are_told_and_the_slide_is_read() -> None:
    targets = {
        "rId1": ("notesSlide", "../n.xml"),
        "rId2": ("comments", "../c.xml"),
        "rId3": ("slideLayout", "../l.xml"),
    }
    body = deck(
        slide(title("T"), shape("text"), graphic('<c:chart r:id="rId5"/>')),
        relations={1: {**targets, "rId5": ("chart", "../x.xml")}},
        parts={f"ppt/{name}.xml": "<broken" for name in "nclx"},
    )
    parsed = parse(body)
    assert [said for _, said in told(parsed)] == ["T", "text"]
    assert codes(parsed) == {"objects": 1, "slides_lost": 4}
