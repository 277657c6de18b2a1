"""Notebooks: cells in order, results labelled, what is no text counted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fonte.errors import ParseError
from fonte.parsers.notebook import NotebookParser
from fonte.parsers.registry import parse_body
from fonte.text.canonical import canonicalise
from fonte.text.ledger import balance
from fonte.text.locate import locate
from fonte.types import Acl, BlockKind, Chunk, Parsed, Source, sha256_hex


def source(notebook: object) -> Source:
    body = json.dumps(notebook).encode()
    return Source("file:///n.ipynb", "n.ipynb", sha256_hex(body), Acl(), body=body)


def parse(*cells: dict[str, Any], **fields: Any) -> Parsed:
    return parse_body(source({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells), **fields}))


def markdown(*lines: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": list(lines)}


def code(text: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": text, "outputs": list(outputs)}


def texts(parsed: Parsed) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in parsed.blocks]


FRAME = """<div><style scoped>.x { color: red }</style><table border="1"><thead><tr><th></th><th>city</th><th>rain</th>
</tr></thead><tbody><tr><th>0</th><td>Pavia</td><td>81.5</td></tr><tr><th>1</th><td>Lodi</td><td>77</td></tr></tbody></table>
<p>2 rows &times; 2 columns</p></div>"""

CELLS = (
    markdown("# Rain\n", "\n", "Sums of *2023*.\n", "\n", "| a | b |\n|---|---|\n| 1 | 2 |\n"),
    code(
        "frame = read('rain.csv')\nframe  # all\n",
        {"output_type": "stream", "name": "stderr", "text": ["\x1b[31mslow\x1b[0m\n"]},
        {
            "output_type": "execute_result",
            "data": {"text/html": FRAME, "text/plain": "   city  rain\n0  Pavia", "image/png": "iVBORw0KGgo="},
        },
    ),
    code("1/0", {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "division by zero", "traceback": []}),
    code("show()", {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"}}),
    {"cell_type": "raw", "source": "kept as it is"},
    code("   \n"),
)


def test_cells_become_headings_paragraphs_tables_code_and_labelled_results() -> None:
    assert texts(parse(*CELLS)) == [
        ("heading", "Rain"),
        ("paragraph", "Sums of 2023."),
        ("row", "a | b"),
        ("row", "a: 1; b: 2"),
        ("code", "frame = read('rain.csv')\nframe  # all"),
        ("code", "Errors:\nslow"),
        ("row", "A | city | rain"),
        ("row", "A: 0; city: Pavia; rain: 81.5"),
        ("row", "A: 1; city: Lodi; rain: 77"),
        ("paragraph", "2 rows × 2 columns"),
        ("code", "1/0"),
        ("code", "Error:\nZeroDivisionError: division by zero"),
        ("code", "show()"),
        ("code", "Output:\n<Figure>"),
        ("paragraph", "kept as it is"),
    ]


def test_pictures_are_counted_and_not_printed() -> None:
    parsed = parse(*CELLS)
    (loss,) = parsed.losses
    assert (loss.code, loss.count) == ("images", 2)
    assert "image/png 2" in loss.message
    assert not any("iVBOR" in block.text for block in parsed.blocks)


def test_a_result_that_only_another_kind_of_text_holds_is_read() -> None:
    said = {"text/html": " ", "text/vnd.x": " ", "text/csv": "a,b"}
    parsed = parse(code("x", {"output_type": "display_data", "data": said}))
    assert (texts(parsed)[1:], parsed.losses) == ([("code", "Output:\na,b")], ())
    parsed = parse(code("x", {"output_type": "display_data", "data": {**said, "text/plain": "a b"}}))
    assert texts(parsed)[1:] == [("code", "Output:\na b")]


def test_every_block_has_its_cell_and_tables_are_numbered_through() -> None:
    taken = source({"nbformat": 4, "metadata": {}, "cells": list(CELLS)})
    parsed = parse_body(taken)
    assert [block.table for block in parsed.blocks if block.kind is BlockKind.ROW] == [0, 0, 1, 1, 1]
    made = canonicalise(parsed, taken, tenant="default")
    for wanted, anchor in (("Sums", "cell-1"), ("Lodi", "cell-2"), ("ZeroDivision", "cell-3"), ("kept", "cell-5")):
        at = made.text.index(wanted)
        assert locate(made, at, at + len(wanted)).anchor == anchor
    chunk = Chunk("c", made.id, 0, 0, len(made.text), made.text)
    assert balance(parsed, made, [chunk], window=512).balanced


def test_format_3() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Old"]},
        {
            "cell_type": "code",
            "input": ["print(1)"],
            "outputs": [
                {"output_type": "stream", "stream": "stdout", "text": ["1\n"]},
                {"output_type": "pyout", "text": ["42"], "png": "iVBORw0KGgo="},
                {"output_type": "pyerr", "ename": "E", "evalue": "x", "traceback": ["E: x"]},
            ],
        },
    ]
    parsed = parse_body(source({"nbformat": 3, "worksheets": [{"cells": cells}], "metadata": {}}))
    assert texts(parsed) == [
        ("heading", "Old"),
        ("code", "print(1)"),
        ("code", "Output:\n1"),
        ("code", "Output:\n42"),
        ("code", "Error:\nE: x"),
    ]
    assert parsed.blocks[0].level == 2
    assert [loss.code for loss in parsed.losses] == ["images"]


def test_metadata_and_a_title_of_its_own() -> None:
    parsed = parse(markdown("text"), metadata={"title": "Rain of 2023", "language_info": {"name": "julia"}})
    assert parsed.title == "Rain of 2023"
    assert parsed.metadata == {"cells": "1", "programming_language": "julia"}


def test_dashes_at_the_top_of_a_cell_are_no_front_matter() -> None:
    parsed = parse(markdown("---\ntitle: not lost\n---\n"))
    assert "not lost" in " ".join(text for _, text in texts(parsed))


def test_no_cells_is_empty() -> None:
    parsed = parse()
    assert (parsed.blocks, parsed.empty_reason) == ((), "empty")


@pytest.mark.parametrize(
    "cells",
    [None, [1, None, "x"], [{"cell_type": "code", "outputs": [3, {"data": 7}], "source": 5}], {"cells": 1}],
)
def test_cells_of_wrong_types_are_read_as_far_as_they_go(cells: object) -> None:
    parsed = NotebookParser().parse(source({"nbformat": 4, "cells": cells, "metadata": []}))
    assert parsed.empty_reason == "empty"


@pytest.mark.parametrize("body", [b"{broken", b"[]", b"{}", b"[" * 100_000])
def test_what_is_no_notebook_is_a_typed_error(body: bytes) -> None:
    with pytest.raises(ParseError):
        NotebookParser().parse(Source("file:///n.ipynb", "n.ipynb", "h", Acl(), body=body))
