"""Archives and mails through whole syncs: members come, change and go like files of a folder."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from email.message import EmailMessage
from pathlib import Path

import pytest
from property.quick_corpus import WordEmbedder, quick_corpus

from fonte.corpus import OpenCorpus, SourceOptions
from fonte.errors import NotFound
from fonte.types import DocumentState, DocumentStatus, Principal, SyncReport

WHO = Principal()


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return data.getvalue()


def mail(**attachments: bytes) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "ada@example.com", "bo@example.com", "The okapi"
    message.set_content("The okapi arrives on Monday.")
    for name, body in attachments.items():
        message.add_attachment(body, "text", "plain", filename=f"{name}.txt")
    return message.as_bytes()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    (made / "top.txt").write_text("The quokka stands in hall 1.")
    inner = zipped({"c.txt": "The pangolin digs."})
    box = {"a.md": "# Axolotls\n\nThe axolotl swims.", "sub/b.txt": "The narwhal dives.", "in.zip": inner}
    (made / "box.zip").write_bytes(zipped(box))
    (made / "m.eml").write_bytes(mail(note=b"The capybara sleeps."))
    return made


@pytest.fixture
def model() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def corpus(tmp_path: Path, model: WordEmbedder):
    with quick_corpus(tmp_path / "home", embedder=model) as opened:
        yield opened


def counted(report: SyncReport, *names: str) -> tuple[int, ...]:
    return tuple(report.documents[name] for name in names)


def names(corpus: OpenCorpus) -> set[str]:
    return {one.name for one in corpus.documents() if one.chunks}


def states(corpus: OpenCorpus) -> dict[str, DocumentState]:
    return {one.name: one for one in corpus.documents()}


def first(corpus: OpenCorpus, query: str, principal: Principal = WHO) -> str | None:
    results = corpus.search(query, principal=principal, mode="bm25", k=1).results
    return results[0].stored.document_name if results else None


ALL = {"top.txt", "box.zip!/a.md", "box.zip!/sub/b.txt", "box.zip!/in.zip!/c.txt", "m.eml", "m.eml!/note.txt"}


def test_every_member_is_a_document_that_is_found(corpus: OpenCorpus, folder: Path) -> None:
    report = corpus.sync(str(folder))
    assert report.published
    assert counted(report, "added", "failed") == (6, 0)
    assert names(corpus) == ALL
    assert {first(corpus, word) for word in ("axolotl", "narwhal", "pangolin", "okapi", "capybara", "quokka")} == ALL
    shown = corpus.document("box.zip!/a.md", principal=WHO)
    assert "The axolotl swims." in shown.text
    assert shown.uri == (folder / "box.zip").as_uri() + "!/a.md"


def test_an_unchanged_container_costs_no_parse_and_no_vector(
    corpus: OpenCorpus, folder: Path, model: WordEmbedder
) -> None:
    first_time = corpus.sync(str(folder))
    before = model.calls
    report = corpus.sync(str(folder))
    assert report.generation == first_time.generation
    assert counted(report, "added", "modified", "deleted", "unchanged") == (0, 0, 0, 6)
    assert model.calls == before


def test_one_changed_member_is_one_modified_document(corpus: OpenCorpus, folder: Path) -> None:
    corpus.sync(str(folder))
    box = {"a.md": "# Axolotls\n\nThe axolotl rests.", "sub/b.txt": "The narwhal dives.", "new.txt": "The tapir eats."}
    (folder / "box.zip").write_bytes(zipped(box))
    report = corpus.sync(str(folder))
    assert counted(report, "added", "modified", "deleted", "unchanged") == (1, 1, 1, 4)
    assert names(corpus) == ALL - {"box.zip!/in.zip!/c.txt"} | {"box.zip!/new.txt"}
    assert first(corpus, "pangolin") is None


def test_a_container_that_goes_takes_its_members_along(corpus: OpenCorpus, folder: Path) -> None:
    corpus.sync(str(folder))
    (folder / "m.eml").unlink()
    assert counted(corpus.sync(str(folder)), "deleted", "unchanged") == (2, 4)
    assert first(corpus, "capybara") is None


def test_an_archive_alone_is_compared_as_a_whole(corpus: OpenCorpus, folder: Path) -> None:
    corpus.sync(str(folder / "box.zip"))
    assert names(corpus) == {name for name in ALL if name.startswith("box")}
    (folder / "box.zip").write_bytes(zipped({"a.md": "# Axolotls\n\nThe axolotl swims."}))
    assert counted(corpus.sync(str(folder / "box.zip")), "deleted", "unchanged") == (2, 1)
    assert names(corpus) == {"box.zip!/a.md"}


def test_an_archive_that_breaks_is_told_and_keeps_what_was_known(corpus: OpenCorpus, folder: Path) -> None:
    """As with a folder that may not be read: nothing is deleted because something could not be looked at."""
    corpus.sync(str(folder))
    whole = (folder / "box.zip").read_bytes()
    (folder / "box.zip").write_bytes(whole[: len(whole) // 2])
    report = corpus.sync(str(folder))
    assert counted(report, "failed", "deleted") == (1, 0)
    assert "damaged" in (states(corpus)["box.zip"].reason or "")
    assert first(corpus, "axolotl") == "box.zip!/a.md"
    (folder / "box.zip").write_bytes(whole)
    assert counted(corpus.sync(str(folder)), "failed", "deleted") == (0, 1)
    assert "box.zip" not in states(corpus)
    assert names(corpus) == ALL


def test_what_an_archive_that_breaks_held_follows_its_roles_all_the_same(corpus: OpenCorpus, folder: Path) -> None:
    corpus.sync(str(folder))
    whole = (folder / "box.zip").read_bytes()
    (folder / "box.zip").write_bytes(whole[:60])
    report = corpus.sync(str(folder), options=SourceOptions(allow=("board",)))
    assert report.documents["failed"] == 1
    board = Principal(roles={"board"})
    for query in ("axolotl", "pangolin", "quokka"):
        assert first(corpus, query) is None
        assert first(corpus, query, board) is not None
    (folder / "box.zip").write_bytes(whole)
    corpus.sync(str(folder), options=SourceOptions(allow=("board",)))
    assert (first(corpus, "axolotl"), first(corpus, "axolotl", board)) == (None, "box.zip!/a.md")


def test_members_that_fail_have_states_of_their_own(corpus: OpenCorpus, folder: Path) -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, body in (
            ("good.md", b"# Good\n\nThe ibex climbs."),
            ("../up.md", b"x"),
            ("prog.bin", bytes(range(256)) * 9),
        ):
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
        link = tarfile.TarInfo("link.md")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    (folder / "t.tgz").write_bytes(data.getvalue())
    report = corpus.sync(str(folder))
    assert counted(report, "added", "failed") == (7, 3)
    found = {name: one for name, one in states(corpus).items() if name.startswith("t.tgz")}
    assert {name: one.status for name, one in found.items()} == {
        "t.tgz!/good.md": DocumentStatus.READY,
        "t.tgz!/../up.md": DocumentStatus.FAILED,
        "t.tgz!/prog.bin": DocumentStatus.FAILED,
        "t.tgz!/link.md": DocumentStatus.FAILED,
    }
    assert "leads out" in (found["t.tgz!/../up.md"].reason or "")
    assert "link" in (found["t.tgz!/link.md"].reason or "")
    assert first(corpus, "ibex") == "t.tgz!/good.md"
    again = corpus.sync(str(folder))
    assert again.generation == report.generation


def test_members_are_under_the_roles_of_their_container(corpus: OpenCorpus, folder: Path) -> None:
    corpus.sync(str(folder), options=SourceOptions(allow=("staff",)))
    assert first(corpus, "pangolin") is None
    assert first(corpus, "pangolin", Principal(roles={"staff"})) == "box.zip!/in.zip!/c.txt"
    with pytest.raises(NotFound):
        corpus.document("box.zip!/a.md", principal=WHO)
    corpus.sync(str(folder), options=SourceOptions(allow=("board",)))
    assert first(corpus, "pangolin", Principal(roles={"staff"})) is None
    assert first(corpus, "capybara", Principal(roles={"board"})) == "m.eml!/note.txt"


def test_one_member_is_deleted_and_tried_again(corpus: OpenCorpus, folder: Path) -> None:
    corpus.sync(str(folder))
    corpus.delete("box.zip!/a.md")
    assert first(corpus, "axolotl") is None
    assert first(corpus, "narwhal") == "box.zip!/sub/b.txt"
    report = corpus.retry("m.eml!/note.txt")
    assert counted(report, "modified", "deleted", "failed") == (1, 0, 0)
    assert first(corpus, "capybara") == "m.eml!/note.txt"


def test_a_bomb_is_a_failure_of_its_own(corpus: OpenCorpus, folder: Path) -> None:
    (folder / "bomb.zip").write_bytes(zipped({"zeros.txt": b"0" * (40 * 2**20), "fine.txt": "The lemur jumps."}))
    report = corpus.sync(str(folder))
    assert counted(report, "failed") == (1,)
    assert "grows" in (states(corpus)["bomb.zip!/zeros.txt"].reason or "")
    assert first(corpus, "lemur") == "bomb.zip!/fine.txt"
