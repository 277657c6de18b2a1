"""What documents say of themselves through whole syncs: rights, tenants, validity, lines of records."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from property.quick_corpus import Shelf, Shelves, WordEmbedder, quick_corpus

from fonte.corpus import OpenCorpus, SourceOptions
from fonte.errors import ParseError, SourceTooLarge
from fonte.types import Acl, DocumentStatus, Principal

WHO = Principal()
HR = Principal(roles={"hr"})
RECORDS = SourceOptions(records=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    return made


@pytest.fixture
def model() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def corpus(tmp_path: Path, model: WordEmbedder):
    with quick_corpus(tmp_path / "home", embedder=model) as opened:
        yield opened


def found(corpus: OpenCorpus, query: str, principal: Principal = WHO) -> list[str]:
    results = corpus.search(query, principal=principal, mode="bm25").results
    return [one.stored.document_name for one in results]


def zipped(**files: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, body in files.items():
            archive.writestr(name.replace("__", "."), body)
    return data.getvalue()


def test_front_matter_narrows_and_is_not_text(corpus: OpenCorpus, folder: Path) -> None:
    (folder / "pay.md").write_text("---\nroles: hr\nvalid_to: 2027-01-31\n---\nThe okapi earns more.")
    (folder / "own.md").write_text("---\nroles: public\n---\nThe lemur reads all.")
    corpus.sync(str(folder), options=SourceOptions(allow=("staff", "hr")))
    assert found(corpus, "okapi", HR) == ["pay.md"]
    assert found(corpus, "okapi", Principal(roles={"staff"})) == found(corpus, "lemur") == []
    document = corpus.document("pay.md", principal=HR)
    assert document.metadata["valid_to"] == "2027-01-31"
    assert "roles" not in document.text
    again = corpus.sync(str(folder), options=SourceOptions(allow=("staff", "hr")))
    assert (again.documents["unchanged"], again.notes) == (2, ())


def test_members_of_archives_have_their_say_too(corpus: OpenCorpus, folder: Path) -> None:
    files = {"a__md": "---\nroles: hr\n---\nThe okapi.", "b__txt": "The lemur.", "b__txt__fonte__yaml": "roles: hr\n"}
    (folder / "box.zip").write_bytes(zipped(**files, c__txt="The tapir.", c__txt__fonte__yaml="rolls: hr"))
    report = corpus.sync(str(folder))
    assert report.documents["failed"] == 1
    assert {one.name: one.status for one in corpus.documents()} == {
        "box.zip!/a.md": DocumentStatus.READY,
        "box.zip!/b.txt": DocumentStatus.READY,
        "box.zip!/c.txt": DocumentStatus.FAILED,
    }
    assert found(corpus, "okapi") == found(corpus, "lemur") == []
    assert found(corpus, "lemur", HR) == ["box.zip!/b.txt"]


def test_documents_of_other_tenants_are_left_out_and_told(corpus: OpenCorpus, folder: Path) -> None:
    (folder / "a.md").write_text("---\ntenant: acme\n---\nThe okapi.")
    (folder / "b.md").write_text("The lemur.")
    report = corpus.sync(str(folder))
    assert "1 sources belong to other tenants and were left out" in report.notes
    assert [one.name for one in corpus.documents()] == ["b.md"]
    corpus.sync(str(folder), tenant="acme")
    assert [one.name for one in corpus.documents(tenant="acme")] == ["a.md", "b.md"]
    (folder / "b.md").write_text("---\ntenant: other\n---\nThe lemur.")
    assert corpus.sync(str(folder), tenant="acme", publish=False).documents["deleted"] == 1
    results = corpus.search("lemur", principal=Principal("acme"), mode="bm25").results
    assert results == (), "another tenant's from now on, published or not"


def lines(path: Path, *records: dict[str, object]) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))


def test_records_carry_rights_language_validity_and_title(corpus: OpenCorpus, folder: Path) -> None:
    lines(
        folder / "c.jsonl",
        {"_id": "open", "title": "Open", "text": "The okapi walks.", "lang": "en"},
        {"_id": "closed", "text": "The okapi earns.", "roles": ["hr"], "valid_from": "2026-01-01"},
        {"_id": "nobody", "text": "The okapi sleeps.", "roles": None},
        {"_id": "theirs", "text": "The okapi runs.", "tenant": "acme"},
    )
    report = corpus.sync(str(folder / "c.jsonl"), options=RECORDS)
    assert any("1 document is readable by nobody" in note for note in report.notes)
    assert found(corpus, "okapi") == ["open"]
    assert set(found(corpus, "okapi", HR)) == {"open", "closed"}
    assert corpus.document("closed", principal=HR).metadata["valid_from"] == "2026-01-01"
    assert corpus.document("open", principal=WHO).title == "Open"
    assert corpus.documents()[0].language in ("en", "und")


def test_a_citation_of_a_record_names_its_file_and_its_line_of_now(
    corpus: OpenCorpus, folder: Path, model: WordEmbedder
) -> None:
    first = {"_id": "one", "text": "The okapi stands in hall 1."}
    second = {"_id": "two", "text": "The lemur stands in hall 2."}
    lines(folder / "c.jsonl", first, second)
    corpus.sync(str(folder), options=RECORDS)

    def place() -> tuple[str, tuple[int, int] | None]:
        passage = corpus.search("lemur", principal=WHO, mode="bm25", k=1).results[0]
        return passage.label, passage.locator.lines

    assert place() == ("two, c.jsonl, line 2", (2, 2))
    lines(folder / "c.jsonl", {"_id": "zero", "text": "The tapir stands in hall 0."}, first, second)
    calls = model.calls
    report = corpus.sync(str(folder), options=RECORDS)
    assert (report.documents["added"], report.documents["modified"], report.documents["unchanged"]) == (1, 0, 2)
    assert report.embedded_texts == 1
    assert model.calls == calls + 1
    assert place() == ("two, c.jsonl, line 3", (3, 3))
    assert corpus.documents()[0].ledger is None or corpus.documents()[0].ledger.balanced
    assert corpus.sync(str(folder), options=RECORDS).generation == report.generation


def test_records_whose_file_fails_follow_the_roles_of_now(corpus: OpenCorpus, folder: Path) -> None:
    lines(folder / "c.jsonl", {"_id": "a", "text": "The okapi."}, {"_id": "b", "text": "The lemur.", "roles": ["hr"]})
    corpus.sync(str(folder), options=RECORDS)
    assert found(corpus, "okapi") == ["a"]
    (folder / "c.jsonl").unlink()
    (folder / "c.jsonl").mkdir(mode=0o000)
    (folder / "c.jsonl").rmdir()
    (folder / "c.jsonl").symlink_to("/nowhere")
    report = corpus.sync(str(folder), options=SourceOptions(records=True, allow=("board", "hr")))
    assert report.documents["deleted"] == 0
    board = Principal(roles={"board"})
    assert (found(corpus, "okapi"), found(corpus, "okapi", board)) == ([], ["a"])
    assert (found(corpus, "lemur", board), found(corpus, "lemur", HR)) == ([], ["b"])
    # Wider rules do not give back what the record may have taken away.
    corpus.sync(str(folder), options=RECORDS)
    assert found(corpus, "lemur") == []


def test_a_sync_with_other_options_than_before_says_so(corpus: OpenCorpus, folder: Path) -> None:
    lines(folder / "c.jsonl", {"_id": "a", "text": "The okapi."})
    corpus.sync(str(folder), options=SourceOptions(records=True, allow=("staff",)))
    report = corpus.sync(str(folder))
    assert report.notes[0] == (
        f"{folder} was synced with --allow staff --records before, with --allow public now:"
        " options count for one sync each"
    )
    assert corpus.sync(str(folder)).notes == ()


@dataclass
class Box(Shelf):
    """A shelf that is an archive: what was not listed is told, when ``error`` says why."""

    root: str = "memory://shelf/box.zip"
    error: Exception | None = None

    def scan(self):
        for item in super().scan():
            yield replace(item, uri=f"{self.root}!/{item.name}")
        if self.error is not None:
            yield self.root, "box.zip", self.error

    def acl_of(self, uri: str, name: str) -> Acl:
        return Acl(frozenset({"public"}))


@pytest.mark.parametrize(
    ("error", "left"), [(SourceTooLarge("holds too much"), ["a.txt"]), (ParseError("broken"), ["a.txt", "b.txt"])]
)
def test_an_archive_beyond_a_limit_loses_what_it_no_longer_holds_and_a_broken_one_does_not(
    tmp_path: Path, error: Exception, left: list[str]
) -> None:
    texts = {"a.txt": ("The okapi.", {"public"}), "b.txt": ("The lemur.", {"public"})}
    shelves = Shelves({"box.zip": Box(texts)})
    with quick_corpus(tmp_path / "home", shelves) as corpus:
        corpus.sync("box.zip")
        shelves.by_name["box.zip"] = Box({"a.txt": texts["a.txt"]}, error=error)
        report = corpus.sync("box.zip")
        assert (report.documents["deleted"], report.documents["failed"]) == (2 - len(left), 1)
        assert found(corpus, "the okapi lemur") == left
