"""What a parser counts in its source does not come out of the blocks that it made: a loss between them is seen."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fonte.parsers import csv_tsv, html_blocks, records
from fonte.parsers.counting import count_text
from fonte.parsers.csv_tsv import CsvParser
from fonte.parsers.html import HtmlParser
from fonte.parsers.records import Json, JsonLinesParser, JsonParser, RecordParser
from fonte.text.canonical import canonicalise
from fonte.text.ledger import balance
from fonte.types import Acl, Block, BlockKind, Chunk, Parsed, Source, sha256_hex

PEOPLE = [
    {"name": f"Person {n}", "pay": {"net": f"{n}.50", "gross": n * 2.25}, "tags": ["a", "b c"]} for n in range(30)
]


def _source(body: str, name: str = "a.json") -> Source:
    return Source(f"file:///{name}", name, sha256_hex(body), Acl(frozenset({"public"})), body=body.encode())


def _losses(parsed: Parsed, name: str = "a.json") -> list[str]:
    document = canonicalise(parsed, _source("", name), tenant="t")
    whole = Chunk("c", document.id, 0, 0, len(document.text), document.text)
    return [loss.code for loss in balance(parsed, document, [whole], window=9_999_999).losses]


def _parsers() -> dict[str, tuple[JsonParser | JsonLinesParser | RecordParser, str]]:
    return {
        "array": (JsonParser(), json.dumps(PEOPLE)),
        "object": (JsonParser(), json.dumps({"people": PEOPLE, "about": {"year": 2026, "note": "all of them"}})),
        "lines": (JsonLinesParser(), "\n".join(map(json.dumps, PEOPLE))),
        "record": (RecordParser(), json.dumps({"people": PEOPLE})),
    }


@pytest.mark.parametrize("kind", _parsers())
def test_values_that_become_no_block_are_missed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parser, body = _parsers()[kind]
    assert _losses(parser.parse(_source(body))) == []
    real = records.leaves

    def forgetful(value: Json) -> Iterator[tuple[str, str]]:
        yield from ((path, text) for path, text in real(value) if not path.endswith("gross"))

    monkeypatch.setattr(records, "leaves", forgetful)
    assert "words_lost" in _losses(parser.parse(_source(body)))
    assert "numbers_lost" in _losses(parser.parse(_source(body)))


def test_records_that_become_no_row_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = records._array_items
    monkeypatch.setattr(records, "_array_items", lambda *given: list(real(*given))[:-1])
    assert "rows_lost" in _losses(JsonParser().parse(_source(json.dumps(PEOPLE))))


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(_VALUES)
def test_both_readings_of_any_json_agree(value: object) -> None:
    for parser, body in ((JsonParser(), value), (JsonLinesParser(), value), (RecordParser(), {"v": value})):
        parsed = parser.parse(_source(json.dumps(body)))
        held = count_text("\n".join(block.text for block in parsed.blocks))
        rows = sum(block.kind is BlockKind.ROW for block in parsed.blocks)
        counted = parsed.source_counts
        assert (counted.words, counted.numbers, counted.rows) == (held.words, held.numbers, rows)


def test_rows_of_a_csv_that_become_no_block_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    csv.writer(out).writerows([["name", "days"], *([f"Person {n}", str(n)] for n in range(30))])
    assert _losses(CsvParser().parse(_source(out.getvalue(), "a.csv")), "a.csv") == []
    real = csv_tsv._rows
    monkeypatch.setattr(csv_tsv, "_rows", lambda *given, **how: list(real(*given, **how))[:-3])
    assert "rows_lost" in _losses(CsvParser().parse(_source(out.getvalue(), "a.csv")), "a.csv")


TABLE = "<table>" + "".join(f"<tr><td>Person {n}<td>{n}" for n in range(40)) + "</table>"


def test_rows_of_html_that_become_no_block_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _losses(HtmlParser().parse(_source(TABLE, "a.html")), "a.html") == []
    real = html_blocks.table_blocks

    def forgetful(*given: object, **how: object) -> list[Block]:
        return real(*given, **how)[:-3]  # type: ignore[arg-type]  # whatever the real one takes

    monkeypatch.setattr(html_blocks, "table_blocks", forgetful)
    assert "rows_lost" in _losses(HtmlParser().parse(_source(TABLE, "a.html")), "a.html")


@pytest.mark.parametrize(
    "page",
    [
        "<nav><table><tr><td>Home<td>Help<tr><td>A<td>B<tr><td>C<td>D</table></nav>" + TABLE,
        "<table><tr><td>left<td>" + TABLE + "<tr><td>foot<td>note<tr><td>x<td>y</table>",
        "<table>" + "<tr><td>one column" * 9 + "</table>" + TABLE,
        "<table>" + "<tr><td><td>" * 9 + "<tr><td>a<td>b</table>" + TABLE,
        "<tr><td>stray<tr><td>rows<tr><td>alone" + TABLE,
        "<!-- " + TABLE + " --><script>x='" + TABLE + "'</script>" + TABLE,
        "<p>" + TABLE.replace("<", "&lt;") + TABLE,
    ],
)
def test_rows_that_are_explained_are_not_missed(page: str) -> None:
    assert "rows_lost" not in _losses(HtmlParser().parse(_source(page, "a.html")), "a.html")
