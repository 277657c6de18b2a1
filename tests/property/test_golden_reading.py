"""Whatever stands in a golden file, reading it gives a set or faults with lines of that file, and raises nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fonte.evaluation.golden_check import check_golden
from fonte.evaluation.golden_files import read_golden
from fonte.evaluation.golden_import import Imported, import_beir, import_squad, import_trec
from fonte.evaluation.golden_reading import Reading

YAML = b"""\
name: small
questions:
  - id: leave
    question: "How much leave?"
    wordings: [a, "b"]
    roles: [staff]
    relevant: [{document: a.md, needle: "26 days", span: [3, 10], grade: 2}, {document: b.md}]
    must_include: [26]
  - {id: nothing, question: 'Why?', answerable: false}
"""
SQUAD = json.dumps(
    {
        "data": [
            {
                "title": "t",
                "paragraphs": [
                    {
                        "context": "Rome is old.",
                        "qas": [
                            {"id": "q", "question": "w", "answers": [{"text": "Rome", "answer_start": 0}]},
                            {"id": "r", "question": "v", "answers": [], "is_impossible": True},
                        ],
                    }
                ],
            }
        ]
    },
    indent=1,
).encode()
QUERIES = (
    b'{"_id": "q", "text": "w", "answers": ["x"], "roles": ["r"]}\n{"_id": "r", "text": "v", "answerable": false}\n'
)
QRELS = b"query-id\tcorpus-id\tscore\nq\td\t2\n"
SPANS = b'{"query_id": "q", "doc": "d", "start": 0, "end": 1, "text": "x"}\n'
CORPUS = b'{"_id": "d", "title": "t", "text": "x y"}\n'
TOPICS = b"<top>\n<num> Number: 1\n<title> one &amp; two\n</top>\n<topic number='2'><query>x</query></topic>\n"
TREC = b"1 0 d 1\n2 0 d 0\n"
SPICE = [
    b"",
    b"\xff",
    b"\x00",
    b"null",
    b"-1",
    b"1e999",
    b"true",
    b"[",
    b"}",
    b'"',
    b"\n",
    b"\t",
    b": ",
    b"- ",
    b"{}",
    b"&a",
    b"*a",
]


@st.composite
def broken(draw: st.DrawFn, good: bytes) -> bytes:
    """A good file with some bytes taken out, doubled or replaced."""
    data = good
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 12)))
        data = data[:start] + draw(st.sampled_from(SPICE) | st.just(data[start:end] * 2)) + data[end:]
    return data


def sound(reading: Reading | Imported, *files: Path) -> None:
    """A set and no fault, or faults and no set, each with a line that its file has."""
    golden, faults = reading.golden, reading.faults
    assert (golden is None) == bool(faults)
    lines = {str(path): path.read_bytes().count(b"\n") + 1 for path in files}
    for fault in faults:
        assert fault.code
        assert fault.message
        assert fault.hint
        assert 0 <= fault.line <= max(lines[fault.file], 1), (fault, lines)
    if golden is not None:
        check_golden(golden)
        assert golden.fingerprint


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Written over by every example."""
    return tmp_path_factory.mktemp("golden")


@settings(max_examples=150)
@given(data=broken(YAML))
def test_any_yaml(folder: Path, data: bytes) -> None:
    path = folder / "golden.yaml"
    path.write_bytes(data)
    sound(read_golden(path), path)


@settings(max_examples=150)
@given(data=broken(SQUAD))
def test_any_squad(folder: Path, data: bytes) -> None:
    path = folder / "dev.json"
    path.write_bytes(data)
    sound(import_squad(path), path)


@settings(max_examples=150)
@given(queries=broken(QUERIES), qrels=broken(QRELS), spans=broken(SPANS), corpus=broken(CORPUS))
def test_any_folder(folder: Path, queries: bytes, qrels: bytes, spans: bytes, corpus: bytes) -> None:
    files = {"queries.jsonl": queries, "qrels.tsv": qrels, "spans.jsonl": spans, "corpus.jsonl": corpus}
    place = folder / "beir"
    place.mkdir(exist_ok=True)
    for name, data in files.items():
        (place / name).write_bytes(data)
    sound(import_beir(place), *(place / name for name in files))


@settings(max_examples=150)
@given(topics=broken(TOPICS), qrels=broken(TREC))
def test_any_topics(folder: Path, topics: bytes, qrels: bytes) -> None:
    (folder / "topics").write_bytes(topics)
    (folder / "qrels").write_bytes(qrels)
    sound(import_trec(folder / "topics", folder / "qrels"), folder / "topics", folder / "qrels")
