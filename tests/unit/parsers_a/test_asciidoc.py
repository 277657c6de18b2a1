"""AsciiDoc: structure by its marks, markup off, nothing included, nothing lost without a word."""

from __future__ import annotations

import pytest

from fonte.parsers.asciidoc import AsciidocParser
from fonte.parsers.registry import parse_body
from fonte.text.canonical import canonicalise
from fonte.text.ledger import BENIGN, balance
from fonte.text.locate import locate
from fonte.types import Acl, Chunk, Parsed, Source, sha256_hex


def source(text: str) -> Source:
    body = text.encode()
    return Source("file:///a.adoc", "a.adoc", sha256_hex(body), Acl(), body=body)


def parse(text: str) -> Parsed:
    return AsciidocParser().parse(source(text))


def texts(text: str) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in parse(text).blocks]


PAGE = """= The ferry
Ada Bianchi <ada@example.org>
:revdate: 2024-03-01
:port: Ponza

// a remark
The boat to *{port}* leaves at _nine_ from
the north pier, see <<times,the times>> and https://example.org/a_b[our page].

[[times]]
== Times [[inner]]

.When it leaves
[cols="1,1,1",options="header"]
|===
|Day |Hour |Pier

|Monday
|9:15
|North

2+|Sunday, closed
|none
|===

[source,python]
----
def hour():  # <1>
    return "== no heading =="
----
<1> What it gives.

NOTE: Bring your ticket.footnote:[Paper or screen.]

[WARNING]
====
The gate closes early.

* really
====

[[rules]]
Old style
---------

. first
.. inner
. second
+
tied to the second

Pier:: where one stands
Gate::
  where one waits
"""


def test_a_page_with_everything() -> None:
    assert texts(PAGE) == [
        ("heading", "The ferry"),
        ("paragraph", "Ada Bianchi <ada@example.org>"),
        ("paragraph", "The boat to Ponza leaves at nine from the north pier, see the times and our page."),
        ("heading", "Times"),
        ("caption", "When it leaves"),
        ("row", "Day | Hour | Pier"),
        ("row", "Day: Monday; Hour: 9:15; Pier: North"),
        ("row", "Day: Sunday, closed; Pier: none"),
        ("code", 'def hour():\n    return "== no heading =="'),
        ("list_item", "1. What it gives."),
        ("paragraph", "NOTE: Bring your ticket."),
        ("note", "Paper or screen."),
        ("paragraph", "WARNING: The gate closes early."),
        ("list_item", "- really"),
        ("heading", "Old style"),
        ("list_item", "1. first"),
        ("list_item", "1. inner"),
        ("list_item", "2. second"),
        ("paragraph", "tied to the second"),
        ("list_item", "Pier: where one stands"),
        ("list_item", "Gate: where one waits"),
    ]
    parsed = parse(PAGE)
    assert (parsed.title, parsed.metadata["author"]) == ("The ferry", "Ada Bianchi <ada@example.org>")
    assert parsed.metadata["date"] == "2024-03-01"
    assert {loss.code for loss in parsed.losses} <= BENIGN


def test_places_are_source_lines_and_anchors() -> None:
    taken = source(PAGE)
    made = canonicalise(parse_body(taken), taken, tenant="default")
    lines = PAGE.split("\n")
    for wanted in ("north pier", "Sunday", "no heading", "Bring", "tied to"):
        at = made.text.index(wanted)
        place = locate(made, at, at + len(wanted))
        assert place.lines is not None
        first, last = place.lines
        assert wanted in " ".join(lines[first - 1 : last])
    at = made.text.index("Old style")
    assert locate(made, at, at + 3).anchor == "rules"
    assert made.sections[-1].path == ("The ferry", "Old style")


def test_the_books_balance() -> None:
    taken = source(PAGE)
    parsed = parse_body(taken)
    made = canonicalise(parsed, taken, tenant="default")
    chunk = Chunk("c", made.id, 0, 0, len(made.text), made.text)
    entry = balance(parsed, made, [chunk], window=512)
    assert entry.balanced, entry.losses


@pytest.mark.parametrize(
    ("said", "clean"),
    [
        ("snake_case_name and 2*3*4", "snake_case_name and 2*3*4"),
        ("**un**bound and __em__phasis", "unbound and emphasis"),
        ("`code *stays*` `+{port}+`", "code stays {port}"),
        (r"\*not bold* and \{port}", "*not bold* and {port}"),
        ("kbd:[Ctrl+C] btn:[OK] menu:File[Save As]", "Ctrl+C OK File > Save As"),
        ("xref:other.adoc#x[there] link:a.html[here^] https://a.org", "there here https://a.org"),
        ("image:a.png[A bridge,200] shown", "A bridge shown"),
        ("[.big]#large# 10^2^ H~2~O", "large 10^2 H2O"),
        ("caf&#233; &amp; ((index term)) (((hidden)))x", "café & index term x"),
        ("https://example.org/x[window=_blank]", "https://example.org/x"),
        ("a +\nb", "a\nb"),
    ],
)
def test_markup_inside_lines(said: str, clean: str) -> None:
    assert texts(said) == [("paragraph", clean)]


def test_includes_are_not_read_and_make_the_document_partial() -> None:
    parsed = parse("= A\n\ninclude::/etc/passwd[]\n\ntext\n")
    (loss,) = parsed.losses
    assert (loss.code, loss.count) == ("include", 1)
    assert "/etc/passwd (line 3)" in loss.message
    assert loss.code not in BENIGN
    assert "root" not in " ".join(block.text for block in parsed.blocks)


def test_conditions_keep_their_text_and_are_told() -> None:
    parsed = parse("ifdef::web[]\nfor the web\nendif::[]\nifndef::web[for print]\n")
    assert [block.text for block in parsed.blocks] == ["for the web", "for print"]
    assert parsed.losses[0].code == "structure"


def test_tables_of_other_forms() -> None:
    assert texts(",===\nCity,Rain\nPavia,81\n,===\n")[1] == ("row", "City: Pavia; Rain: 81")
    quoted = parse(',===\nwho,says\nAda,"first line\nsecond line"\nBob,short\n,===\n').blocks
    assert [(block.text, block.places[0].lines) for block in quoted[1:]] == [
        ("who: Ada; says: first line second line", (3, 4)),
        ("who: Bob; says: short", (5, 5)),
    ]
    spanned = "|===\n|A |B\n\n.2+|x |1\n|2\n|===\n"
    assert [text for _, text in texts(spanned)] == ["A | B", "A: x; B: 1", "B: 2"]
    assert texts("|===\n|one |two\\|half\n|===\n") == [("row", "one | two|half")]


@pytest.mark.parametrize(
    "text",
    [
        "====\n" * 200,
        "----\nnever closed\n",
        "[NOTE]\n",
        "|===\n",
        "* " * 3000,
        "*a " * 3000,
        "= \n",
        "+\n+\n",
        "|===\n9999999*|x\n|===\n",
    ],
)
def test_odd_input_gives_blocks_or_nothing(text: str) -> None:
    parsed = parse(text)
    assert parsed.blocks or parsed.empty_reason == "empty"


def test_a_csv_cell_of_any_length_is_a_cell() -> None:
    long = "word " * 40_000
    parsed = parse(f'[format="csv"]\n|===\nName,Said\nAda,"{long}"\n|===\n')
    assert parsed.blocks[1].text == f"Name: Ada; Said: {long.strip()}"
    assert not parsed.losses


def test_a_comment_that_is_never_closed_is_told_with_what_it_hides() -> None:
    parsed = parse("= Title\n\nSeen.\n\n////\nfour words are hidden\n")
    assert [block.text for block in parsed.blocks] == ["Title", "Seen."]
    loss = next(loss for loss in parsed.losses if loss.code == "unclosed_comment")
    assert (loss.count, "line 5" in loss.message) == (4, True)
    closed = parse("Seen.\n\n////\nfour words are hidden\n////\n")
    assert "unclosed_comment" not in {loss.code for loss in closed.losses}
