"""reStructuredText: docutils' structure, Sphinx's text, no file ever read."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from fonte.parsers.registry import parse_body
from fonte.parsers.rst import RstParser
from fonte.text.canonical import canonicalise
from fonte.text.ledger import BENIGN, balance
from fonte.text.locate import locate
from fonte.types import Acl, BlockKind, Chunk, Parsed, Source, sha256_hex


def source(text: str) -> Source:
    body = text.encode()
    return Source("file:///a.rst", "a.rst", sha256_hex(body), Acl(), body=body)


def parse(text: str) -> Parsed:
    return RstParser().parse(source(text))


def texts(text: str) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in parse(text).blocks]


PAGE = """
The ferry
=========

:Author: Ada Bianchi

.. a remark
   over two lines

The *boat* to |port| leaves at ``nine`` from
the north pier [1]_, see :ref:`the times <times>` and `our page <https://example.org>`_.

.. |port| replace:: Ponza

.. _times:

Times
-----

.. list-table:: When it leaves
   :header-rows: 1

   * - Day
     - Hour
   * - Monday
     - 9:15

=====  =====
City   Rain
=====  =====
Pavia  81
=====  =====

+-------+-------+
| one   | two   |
+=======+=======+
| spans both    |
+-------+-------+

.. code-block:: python
   :caption: The hour

   def hour():
       return "Title\\n====="

.. note:: Bring your ticket.

   And a coin.

.. versionadded:: 1.2
   The second boat.

.. toctree::
   :maxdepth: 2

   install
   usage

#. first

   * inner

#. second

pier
   where one stands

.. py:function:: hour(day, *, late=False)

   Gives the :py:func:`~ferry.time.hour` of *day*.

   :param day: of the week

.. image:: bridge.png
   :alt: A bridge

.. raw:: html

   <p>raw <b>words</b></p>

.. [1] On the left.
"""


def test_a_page_with_everything() -> None:
    assert texts(PAGE) == [
        ("heading", "The ferry"),
        ("list_item", "Author: Ada Bianchi"),
        ("paragraph", "The boat to Ponza leaves at nine from the north pier [1], see the times and our page."),
        ("heading", "Times"),
        ("caption", "When it leaves"),
        ("row", "Day | Hour"),
        ("row", "Day: Monday; Hour: 9:15"),
        ("row", "City | Rain"),
        ("row", "City: Pavia; Rain: 81"),
        ("row", "one | two"),
        ("row", "one: spans both"),
        ("caption", "The hour"),
        ("code", 'def hour():\n    return "Title\\n====="'),
        ("paragraph", "Note: Bring your ticket."),
        ("paragraph", "And a coin."),
        ("paragraph", "Added in version 1.2 The second boat."),
        ("list_item", "1. first"),
        ("list_item", "- inner"),
        ("list_item", "2. second"),
        ("list_item", "pier: where one stands"),
        ("paragraph", "hour(day, *, late=False)"),
        ("paragraph", "Gives the ferry.time.hour of day."),
        ("list_item", "param day: of the week"),
        ("caption", "A bridge"),
        ("paragraph", "raw words"),
        ("note", "[1] On the left."),
    ]
    parsed = parse(PAGE)
    assert parsed.title == "The ferry"
    assert {loss.code for loss in parsed.losses} <= BENIGN


def test_places_are_source_lines_and_anchors() -> None:
    taken = source(PAGE)
    made = canonicalise(parse_body(taken), taken, tenant="default")
    lines = PAGE.split("\n")
    for wanted in ("boat", "north pier", "Monday", "Pavia", "def hour", "coin", "second boat", "stands", "left"):
        at = made.text.index(wanted)
        place = locate(made, at, at + len(wanted))
        assert place.lines is not None, wanted
        first, last = place.lines
        assert wanted in "\n".join(lines[first - 1 : last]), wanted
        assert last - first < 5
    at = made.text.index("Times")
    assert locate(made, at, at + 3).anchor == "times"
    assert made.sections[-1].path == ("The ferry", "Times")


def test_the_books_balance() -> None:
    taken = source(PAGE)
    parsed = parse_body(taken)
    made = canonicalise(parsed, taken, tenant="default")
    chunk = Chunk("c", made.id, 0, 0, len(made.text), made.text)
    entry = balance(parsed, made, [chunk], window=512)
    assert entry.balanced, entry.losses


@pytest.mark.parametrize(
    "directive",
    [
        ".. include:: {0}",
        ".. literalinclude:: {0}",
        ".. csv-table::\n   :file: {0}",
        ".. raw:: html\n   :file: {0}",
        ".. raw:: html\n   :url: file://{0}",
        ".. code-block:: text\n   :file: {0}",
        ".. figure:: {0}\n   :figwidth: image\n\n   caption",
    ],
)
def test_no_file_is_read(directive: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the hidden words")
    parsed = parse(f"Title\n=====\n\n{directive.format(secret)}\n\ntext\n")
    assert "hidden words" not in " ".join(block.text for block in parsed.blocks)
    assert parsed.blocks[-1].text == "text"
    if "figure" not in directive:
        (loss,) = [loss for loss in parsed.losses if loss.code == "include"]
        assert str(secret) in loss.message
        assert loss.code not in BENIGN


def test_no_date_of_the_parse_comes_into_the_text() -> None:
    assert texts("Printed on |today|.\n\n.. |today| date:: year %Y\n\n.. date:: year %Y\n")[0] == (
        "paragraph",
        "Printed on today.",
    )
    assert not any(re.search(r"year \d", text) for _, text in texts(".. |now| date:: year %Y\n\n|now|\n"))


def test_one_document_teaches_the_next_nothing_wrong() -> None:
    parse(".. role:: loud\n.. default-role:: loud\n\n`x`\n")
    assert texts("`x` and :loud:`y`") == [("paragraph", "x and y")]


@pytest.mark.parametrize(
    "text",
    [
        "Title\n==\n\ntext with *no end and `another\n",
        "* " * 2000,
        "   " * 500 + "deep",
        "".join("  " * at + "- item\n\n" for at in range(150)),
        "+--+\n|x\n",
        "=== ===\na\n",
        ".. table::\n\n   none\n",
        ".. list-table::\n\n   * - a\n   * - b\n     - c\n",
        "`" * 3001,
        ".. |x| image:: y\n\n|x| |unknown|\n",
    ],
)
def test_odd_input_keeps_its_words(text: str) -> None:
    parsed = parse(text)
    said = " ".join(block.text for block in parsed.blocks)
    for word in ("deep", "text with", "another"):
        assert word not in text or word in said
    assert parsed.blocks or parsed.empty_reason == "empty"


def test_marks_that_nothing_closes_do_not_take_for_ever() -> None:
    began = time.process_time()
    parsed = parse("Title\n=====\n\n" + "*a `b |c " * 40_000)
    assert time.process_time() - began < 5
    assert sum(len(block.text.split()) for block in parsed.blocks) > 120_000
    assert [loss.code for loss in parsed.losses] == ["structure"]


def test_a_long_page_of_closed_marks_is_read_as_what_it_is() -> None:
    parsed = parse("Title\n=====\n\n" + "*a* ``b`` `c`_ **d** |e|\n" * 4000)
    assert parsed.blocks[0].kind is BlockKind.HEADING
    assert not parsed.losses
