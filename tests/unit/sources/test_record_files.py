"""Files of records: one source a record."""

from __future__ import annotations

import json
from pathlib import Path

from fonte.errors import InputError, ParseError, SourceTooLarge
from fonte.parsers.records import RecordParser
from fonte.sources.folder import FolderSource, open_source
from fonte.sources.rules import SourceRule
from fonte.types import RECORD_MEDIA_TYPE, Source, sha256_hex


def scan(path: Path, **options: object) -> list[Source | tuple[str, str, Exception]]:
    return list(open_source(str(path), records=True, **options).scan())  # type: ignore[arg-type] - options by name


def test_beir_lines_become_sources(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    lines = [{"_id": "d1", "title": "T", "text": "One.\n\nTwo."}, {"_id": "it/2", "text": "Due", "lang": "it"}]
    path.write_text("\n".join(map(json.dumps, lines)))
    first, second = scan(path)
    assert isinstance(first, Source)
    assert isinstance(second, Source)
    assert (first.name, first.uri, first.media_type) == ("d1", f"{path.as_uri()}#d1", RECORD_MEDIA_TYPE)
    assert first.body is not None
    assert first.content_hash == sha256_hex(first.body)
    assert (second.uri, second.language) == (f"{path.as_uri()}#it%2F2", "it")
    assert [block.text for block in RecordParser().parse(first).blocks] == ["One.", "Two."]


def test_one_bad_line_is_one_failure_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"_id": "a"}\n\n{broken\n[1]\n{"_id": "a"}\n{"id": 7}\n{"x": 1}\n{"_id": "\xff"}\n')
    scanned = scan(path)
    assert [item.name if isinstance(item, Source) else item[1] for item in scanned] == [
        "a",
        "c.jsonl, line 3",
        "c.jsonl, line 4",
        "c.jsonl, line 5",
        "7",
        "c.jsonl, line 7",
        "c.jsonl, line 8",
    ]
    errors = [type(item[2]) for item in scanned if isinstance(item, tuple)]
    assert errors == [ParseError, ParseError, InputError, InputError, ParseError]
    assert len({item.uri if isinstance(item, Source) else item[0] for item in scanned}) == len(scanned)


def test_an_array_and_an_object_become_records_with_their_numbers_unchanged(tmp_path: Path) -> None:
    array, single = tmp_path / "a.json", tmp_path / "b.json"
    array.write_text('[{"_id": 1, "n": 1.10}, {"k": "v"}, 5]')
    single.write_text('{\n "_id": "only",\n "n": 1e3\n}')
    scanned = scan(array)
    assert [item.name if isinstance(item, Source) else item[1] for item in scanned] == ["1", "2", "a.json, line 3"]
    assert isinstance(scanned[0], Source)
    assert scanned[0].body == b'{"_id": 1, "n": 1.10}'
    (only,) = scan(single)
    assert isinstance(only, Source)
    assert (only.name, only.body) == ("only", b'{"_id": "only", "n": 1e3}')


def test_a_whole_file_that_is_no_json_is_one_failure(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for body in ("{broken", "[1, 2", "[" * 100_000):
        path.write_text(body)
        (failure,) = scan(path)
        assert isinstance(failure, tuple)
        assert isinstance(failure[2], ParseError)


def test_a_huge_line_is_refused_and_the_next_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"_id": "1"}\n{"_id": "2", "text": "' + "x" * 5000 + '"}\n{"_id": "3"}\n')
    scanned = scan(path, max_bytes=1000)
    assert [item.name if isinstance(item, Source) else type(item[2]) for item in scanned] == ["1", SourceTooLarge, "3"]


def test_in_a_folder_only_json_files_are_files_of_records(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"_id": "1"}\n{"_id": "2"}\n')
    (tmp_path / "readme.md").write_text("# Read me")
    reader = FolderSource(tmp_path, records=True, rules=[SourceRule("*.jsonl", roles=frozenset())])
    found = {item.name: item.acl.roles for item in reader.scan() if isinstance(item, Source)}
    assert found == {"1": frozenset(), "2": frozenset(), "readme.md": {"public"}}
    assert reader.notes == ("2 documents are readable by nobody: the rule for *.jsonl names no role (1, 2)",)


def test_lone_surrogates_in_a_record_do_not_stop_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"_id": "\\ud800", "text": "x\\ud800y"}\n')
    (item,) = scan(path)
    assert isinstance(item, Source)
    assert item.uri.isascii()
    assert RecordParser().parse(item).blocks[0].text == "x\ud800y"


def test_an_id_never_has_the_uri_of_a_broken_line(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    ids = ["L2", "line=2", "2", "line%3D2"]
    path.write_text('{"_id": "a"}\nbroken\n' + "".join(f'{{"_id": "{one}"}}\n' for one in ids))
    uris = [item.uri if isinstance(item, Source) else item[0] for item in open_source(str(path), records=True).scan()]
    assert len(uris) == len(set(uris)) == 6
    assert uris[1].endswith("c.jsonl#line=2")
