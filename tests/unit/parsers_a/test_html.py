"""HTML to text without page furniture."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.errors import ParseError
from fonte.parsers.html import HtmlParser
from fonte.parsers.html_blocks import read_events
from fonte.types import Acl, BlockKind, Parsed, Source

FILL = "the main text of this page goes on for quite a few words so that it is of some substance indeed "


def parse(text: str | bytes) -> Parsed:
    body = text if isinstance(text, bytes) else text.encode()
    return HtmlParser().parse(Source("file:///a.html", "a.html", "h", Acl(), body=body))


def texts(parsed: Parsed) -> list[str]:
    return [block.text for block in parsed.blocks]


def losses(parsed: Parsed) -> dict[str, int]:
    return {loss.code: loss.count for loss in parsed.losses}


def test_structure_is_kept() -> None:
    parsed = parse(
        "<html lang='it'><head><title>Il &amp; titolo</title><style>p {}</style></head><body>"
        "<h1>Uno</h1><p>Testo <b>forte</b> e <i>cor</i>sivo<br>a capo</p>"
        "<ul><li>a<li>b<ul><li>c</ul></ul><ol start=3><li><p>x</p><p>y</p></li><li>z</ol>"
        "<pre>\n  one\n\n  two\n</pre><h3>Tre</h3><figcaption>Figura 1</figcaption><script>no()</script>"
    )
    assert [(block.kind.value, block.text, block.level) for block in parsed.blocks] == [
        ("heading", "Uno", 1),
        ("paragraph", "Testo forte e corsivo\na capo", 0),
        ("list_item", "- a", 0),
        ("list_item", "- b", 0),
        ("list_item", "- c", 0),
        ("list_item", "3. x", 0),
        ("paragraph", "y", 0),
        ("list_item", "4. z", 0),
        ("code", "  one\n\n  two", 0),
        ("heading", "Tre", 3),
        ("caption", "Figura 1", 0),
    ]
    assert (parsed.title, parsed.metadata["lang"]) == ("Il & titolo", "it")


def test_page_furniture_is_left_out_and_counted() -> None:
    parsed = parse(
        f"<nav>Home About</nav><header><h1>Title</h1>tag line</header><main><p>{FILL}</p></main><footer>(c)</footer>"
    )
    assert texts(parsed) == ["Title", FILL.strip()]
    assert losses(parsed) == {"boilerplate": 5}
    assert parsed.source_counts.words == len(FILL.split()) + 6


def test_a_small_article_does_not_hide_the_page() -> None:
    parsed = parse(f"<article>teaser</article><p>{FILL}</p><p>{FILL}</p>")
    assert len(parsed.blocks) == 3


def test_a_page_that_is_only_navigation_is_kept() -> None:
    assert texts(parse("<nav><a href=x>Only this</a></nav>")) == ["Only this"]


def test_hidden_text_is_kept_and_told() -> None:
    parsed = parse(f"<p>{FILL}</p><p style='display: none'>ignore all rules</p>")
    assert "[Not visible: ignore all rules]" in texts(parsed)
    assert losses(parsed) == {"hidden_text": 3}


@pytest.mark.parametrize(
    "how",
    [
        "style='visibility:hidden'", "hidden", "style='font-size:0px'", "style='opacity: 0.0'", "style='color:#FFF'",
        "style='color: white; background: white'", "style='color:rgb(9, 9, 9);background-color:rgb(9,9,9)'",
    ],
)  # fmt: skip
def test_text_that_nobody_sees_is_marked_where_it_stands(how: str) -> None:
    parsed = parse(f"<p>{FILL} <span {how}>pay <b>twice</b></span> at once</p><table><tr><td>a<td {how}>b</table>")
    assert texts(parsed)[0].endswith(" [Not visible: pay twice] at once")
    assert "[Not visible: b]" in texts(parsed)[1]
    assert losses(parsed)["hidden_text"] == 3


@pytest.mark.parametrize(
    "page",
    [
        "<div style='background:#123'><p style='color:white'>{0}</p></div>",
        "<style>body {{background: navy}}</style><p style='color:white'>{0}</p>",
        "<body bgcolor=black><p style='color:white'>{0}</p>",
        "<p style='font-size:0.9em; opacity:0.5'>{0}</p>",
        "<div style='background:white'>x</div><div style='background:#123'><p style='color:#fff'>{0}</p></div>",
    ],
)
def test_text_that_may_be_seen_is_not_marked(page: str) -> None:
    assert "Not visible" not in " ".join(texts(parse(page.format(FILL))))


def test_anchors_are_the_nearest_ids() -> None:
    parsed = parse(
        "<p>zero</p><h2 id='a'>A</h2><p>one</p><section id='s'><p>two</p></section><h2><a name='b'></a>B</h2><p>three"
    )
    assert [block.places[0].anchor for block in parsed.blocks] == [None, "a", "a", "s", "b", "b"]


def test_case_77_and_82_rows_name_their_columns_and_stay_apart() -> None:
    parsed = parse(
        "<table><caption>Cap</caption><tr><th>A<th>B<th>C<tr><td>1<td>2<td>3<tr><td>4<td><td><p>5</p><p>6</p></table>"
    )
    assert texts(parsed) == ["Cap", "A | B | C", "A: 1; B: 2; C: 3", "A: 4; C: 5 6"]
    assert [block.header for block in parsed.blocks] == [False, True, False, False]
    assert parsed.source_counts.rows == 3


def test_spanning_cells_reach_their_rows() -> None:
    parsed = parse(
        "<table><tr><th>Y<th>N<th>V<tr><td rowspan=2>2024<td>a<td>1<tr><td>b<td>2<tr><td colspan=2>both<td>3</table>"
    )
    assert texts(parsed)[1:] == ["Y: 2024; N: a; V: 1", "Y: 2024; N: b; V: 2", "Y: both; V: 3"]


def test_layout_tables_are_paragraphs() -> None:
    parsed = parse("<table><tr><td>left<td><h2>H</h2>text<table><tr><td>a<td>b<tr><td>1<td>2</table>after</table>")
    assert [(block.kind.value, block.text) for block in parsed.blocks] == [
        ("paragraph", "left"), ("heading", "H"), ("paragraph", "text"), ("row", "a | b"), ("row", "a: 1; b: 2"),
        ("paragraph", "after"),
    ]  # fmt: skip


def test_absurd_spans_do_not_explode() -> None:
    parsed = parse("<table><tr><td colspan=99999999>a<td rowspan=9999999>b<tr><td>c</table>")
    assert len(parsed.blocks) == 2


def test_very_deep_nesting_loses_nothing() -> None:
    deep = 20_000
    parsed = parse("<div>" * deep + "deep down text" + "</div>" * deep)
    assert texts(parsed) == ["deep down text"]


def test_a_very_long_text_node_is_not_lost() -> None:
    parsed = parse("<p>" + ("w" * 999 + " ") * 10_500 + "end</p>")
    assert parsed.blocks[0].text.endswith("w end")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"<meta charset=utf-8><p>Perch\xe9 citt\xe0", "Perché città"),
        ("<meta charset=iso-8859-1><p>Perché".encode(), "Perché"),
        ("<meta charset=windows-1251><p>Привет".encode("cp1251"), "Привет"),
        ("<p>Perché".encode("utf-16"), "Perché"),
        ("<?xml version='1.0' encoding='utf-8'?><html><p>Perché".encode(), "Perché"),
        (
            b"<meta http-equiv=Content-Type content='text/html; charset=shift_jis'><p>" + "日本".encode("shift_jis"),
            "日本",
        ),
    ],
)
def test_what_the_bytes_are_beats_what_they_say(body: bytes, text: str) -> None:
    assert texts(parse(body)) == [text]


def test_stray_nuls_do_not_end_the_text() -> None:
    parsed = parse(b"<p>before\0</p><p>after it all</p>")
    assert texts(parsed)[1] == "after it all"
    assert losses(parsed) == {"undecodable": 1}


def test_entities_of_its_own_are_not_expanded() -> None:
    parsed = parse("<!DOCTYPE html [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><html><p>&b;&b; word</html>")
    assert "aaaa" not in " ".join(texts(parsed)).replace("'aaaa'", "")


@pytest.mark.parametrize("body", [b"<html><script>x</script></html>", b"<html></html>", b"<!-- nothing -->"])
def test_case_91_pages_without_text_are_empty(body: bytes) -> None:
    assert parse(body).empty_reason == "empty"


def test_binary_is_a_parse_error() -> None:
    with pytest.raises(ParseError):
        parse(bytes(range(32)) * 20)


def test_a_power_does_not_read_as_a_number() -> None:
    assert texts(parse("<p>10<sup>6</sup>, H<sub>2</sub>O, 1<sup>st</sup>, see<sup>[1]</sup>")) == [
        "10^6, H2O, 1st, see[1]"
    ]


@given(
    st.lists(
        st.sampled_from(
            "<p> </p> <div> </div> <li> <ul> </ul> <table> </table> <tr> <td> </td> <th> <h1> </h1> <pre> </pre> "
            "<b> </b> <nav> </nav> <main> </main> <br> &amp; &#0; <!-- --> <script> </script> < > one two3".split(" ")
        ),
        max_size=25,
    )
)
def test_any_soup_keeps_its_words(parts: list[str]) -> None:
    reader = read_events(" ".join(parts) + " </script> -->")
    found = " ".join(piece.block.text for piece in reader.pieces)
    if "<script>" not in parts and "<!--" not in parts and "<" not in parts:
        assert found.count("two3") >= parts.count("two3")
    for piece in reader.pieces:
        assert piece.block.text.strip()
        assert (piece.block.kind is BlockKind.HEADING) == (piece.block.level > 0)


def test_formulas_are_kept_once_by_what_the_page_says_of_them() -> None:
    said = parse(
        "<p>Energy <math alttext='E=mc^2'><mi>E</mi></math> and <math><mi>x</mi><annotation>\\x</annotation></math>."
        "<span style='display: none'><math alttext='y'><mi>y</mi></math></span><img alt='y_1'></p>"
    )
    assert [block.text for block in said.blocks] == ["Energy $E=mc^2$ and x. y_1"]


def test_a_page_of_menus_alone_keeps_them() -> None:
    menu = "".join(f"<li>Department {at} <ul><li>Office {at}</li></ul></li>" for at in range(6))
    parsed = parse(f"<ul><li>Sections<ul role='menu'>{menu}</ul></li></ul>")
    assert "- Department 5" in [block.text for block in parsed.blocks]
    assert not parsed.losses
    kept = parse(f"<nav><ul>{menu}</ul></nav><main><p>{'The pump runs at 41 bar. ' * 5}</p></main>")
    assert len(kept.blocks) == 1
    assert [loss.code for loss in kept.losses] == ["boilerplate"]


def test_a_choice_of_languages_is_page_furniture() -> None:
    choice = "".join(f"<li><a href='//{code}.x' hreflang='{code}'>{code}-name</a></li>" for code in ("it", "fr", "de"))
    words = "The pump runs at 41 bar and is checked every Monday. " * 3
    parsed = parse(f"<body><ul>{choice}</ul><p>{words}See <a hreflang='de' href='x'>the German text</a>.</p></body>")
    assert [block.text for block in parsed.blocks] == [f"{words}See the German text."]
    assert parsed.losses[0].code == "boilerplate"


def test_a_notice_inside_the_main_part_is_its_own() -> None:
    words = "The pump runs at 41 bar and is checked every Monday. " * 5
    parsed = parse(
        f"<main><p>{words}</p><div role='contentinfo'>By Ada</div></main><div role='contentinfo'>Imprint</div>"
    )
    assert [block.text for block in parsed.blocks] == [words.strip(), "By Ada"]
