"""What lies in archives and mails, listed to the bottom and read again."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import stat
import tarfile
import zipfile
import zlib
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from container_making import locked_zip, outlook, strings, tarred, zipped
from fonte.errors import EncryptedSource, FonteError, ParseError, SourceTooLarge, SourceUnreadable
from fonte.parsers.containers import archives, kinds, limits, walk
from fonte.parsers.containers.looks import may_hold
from fonte.parsers.containers.walk import MemberReader, list_contents
from fonte.types import Acl, Contents, Source, sha256_hex
from pptx_making import deck, shape, slide

FILES = {"a.md": "# A", "docs/b.txt": "bee", "docs/perché.txt": "città"}


def source(body: bytes, name: str = "a.zip", inside: tuple[str, ...] = ()) -> Source:
    return Source(f"file:///{name}", name, sha256_hex(body), Acl(), body=body, inside=inside)


def listed(body: bytes, name: str = "a.zip") -> Contents:
    assert may_hold(body[:1024], name)
    return list_contents(source(body, name))


def read(body: bytes, name: str, *inside: str) -> bytes:
    with MemberReader() as reader:
        return reader.read(source(body, name, inside))


def names(contents: Contents) -> list[str]:
    return ["!/".join(one.inside) for one in contents.members if one.error is None]


def errors(contents: Contents) -> dict[str, Exception]:
    return {"!/".join(one.inside): one.error for one in contents.members if one.error is not None}


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (zipped(FILES), "a.zip"),
        (zipped(FILES), "notes.md"),
        (tarred(FILES), "a.tar"),
        (tarred(FILES, "w:gz"), "a.tar.gz"),
        (tarred(FILES, "w:bz2"), "a.tbz2"),
        (tarred(FILES, "w:xz"), "anything"),
    ],
)
def test_members_come_in_order_with_their_hashes_whatever_the_file_is_called(body: bytes, name: str) -> None:
    contents = listed(body, name)
    assert names(contents) == list(FILES)
    assert [one.content_hash for one in contents.members] == [sha256_hex(text) for text in FILES.values()]
    assert not contents.itself
    assert contents.error is None
    with MemberReader() as reader:
        for member in reversed(contents.members):  # in any order
            text = reader.read(source(body, name, member.inside))
            assert sha256_hex(text) == member.content_hash


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_one_packed_file_is_a_container_of_one(pack) -> None:
    contents = listed(pack(b"some text"), "notes.txt.gz")
    assert names(contents) == ["notes.txt"]
    assert read(pack(b"some text"), "notes.txt.gz", "notes.txt") == b"some text"


def test_two_xz_streams_are_one_file() -> None:
    body = lzma.compress(b"one ") + lzma.compress(b"two")
    assert read(body, "n.txt.xz", "n.txt") == b"one two"


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize(("padding", "seen"), [(0, 1), (8, 4), (8, 9)])
def test_streams_are_one_file_wherever_a_piece_of_it_ends(
    pack, padding: int, seen: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A piece may end within the padding, or behind the first byte of the next stream."""
    first = pack(b"first ")
    monkeypatch.setattr(archives, "_PIECE", len(first) + seen)
    assert read(first + bytes(padding) + pack(b"second"), "a.md.gz", "a.md") == b"first second"


def test_what_a_folder_would_hide_is_left_out() -> None:
    body = zipped({".git/x": "x", "__MACOSX/._a": "x", "a/.DS_Store": "x", "a.md": "a", "dir/": ""})
    assert names(listed(body)) == ["a.md"]


@pytest.mark.parametrize("body", [zipped({}), zipped({".hidden": "x"}), tarred({".x": "x"}, "w:gz")])
def test_an_archive_without_a_file_is_no_success(body: bytes) -> None:
    with pytest.raises(ParseError, match="holds no file"):
        list_contents(source(body))


@pytest.mark.parametrize("raw", ["../../etc/passwd", "a/../../b", "/etc/passwd", "C:\\x.md", "..\\up.md", "a\x07b"])
def test_names_that_lead_out_are_refused_and_the_rest_is_read(raw: str) -> None:
    contents = listed(tarred({raw: "evil", "good.md": "good"}), "a.tar")
    assert names(contents) == ["good.md"]
    (error,) = errors(contents).values()
    assert isinstance(error, SourceUnreadable)


def test_names_of_windows_and_names_that_are_utf8_without_saying_so() -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("docs\\sub\\a.md", "x")
    assert names(listed(data.getvalue())) == ["docs/sub/a.md"]
    unmarked = zipped({"perche'.md": "x"}).replace(b"perche'", "perché".encode())
    assert names(listed(unmarked)) == ["perché.md"]


def test_links_and_devices_are_refused() -> None:
    kinds_of = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE)
    more = []
    for number, kind in enumerate(kinds_of):
        info = tarfile.TarInfo(f"l{number}")
        info.type, info.linkname = kind, "/etc/passwd"
        more.append(info)
    contents = listed(tarred({"a.md": "x"}, more=tuple(more)), "a.tar")
    assert names(contents) == ["a.md"]
    assert list(errors(contents)) == ["l0", "l1", "l2", "l3"]
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        info = zipfile.ZipInfo("link")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
        archive.writestr("a.md", "x")
    assert list(errors(listed(data.getvalue()))) == ["link"]


def test_a_member_under_a_password_is_told_and_the_rest_is_read() -> None:
    (error,) = errors(listed(locked_zip())).values()
    assert isinstance(error, EncryptedSource)


def test_a_name_that_comes_twice_is_an_error_of_the_later_one() -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a.md", "first")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.md", "second")
    contents = listed(data.getvalue())
    assert contents.members[0].content_hash == sha256_hex("first")
    assert list(errors(contents)) == ["a.md (again)"]


def test_of_two_tar_entries_of_one_name_the_last_is_meant() -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, body in (("a.md", b"old"), ("b.md", b"b"), ("a.md", b"newer")):
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
        link = tarfile.TarInfo("b.md")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    contents = listed(data.getvalue(), "a.tar")
    assert [(one.inside, one.content_hash) for one in contents.members] == [
        (("a.md",), sha256_hex(b"newer")),
        (("b.md",), ""),
    ]
    assert read(data.getvalue(), "a.tar", "a.md") == b"newer"


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_bytes_behind_the_last_packed_stream_are_told_and_the_rest_is_read(pack) -> None:
    packed = pack(b"one") + pack(b" two")
    assert listed(packed + b"\0" * 900, "n.txt.gz").error is None
    contents = listed(packed + b"\0\0" + b"left over", "n.txt.gz")
    assert [one.content_hash for one in contents.members] == [sha256_hex("one two")]
    assert "9 bytes behind its end were not read" in str(contents.error)
    assert read(packed + b"left over", "n.txt.gz", "n.txt") == b"one two"
    archive = pack(tarred({"a.md": "# A"}))
    contents = listed(archive + b"x" * 300_000, "a.tgz")
    assert names(contents) == ["a.md"]
    assert "300000 bytes" in str(contents.error)


def test_a_damaged_member_is_told_and_the_rest_is_read() -> None:
    body = bytearray(zipped({"a.md": "alpha " * 50, "b.md": "beta"}))
    at = body.index(b"a.md") + 4
    body[at : at + 8] = b"\xff" * 8
    contents = listed(bytes(body))
    assert names(contents) == ["b.md"]
    assert isinstance(errors(contents)["a.md"], ParseError)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_an_archive_that_ends_too_early_keeps_what_came_before(mode: str) -> None:
    whole = tarred({f"{at}.bin": random.Random(at).randbytes(90_000) for at in range(8)}, mode)
    contents = listed(whole[: len(whole) // 2], "a.tar")
    assert 2 <= len(names(contents)) <= 5
    assert contents.error is not None or errors(contents)


@pytest.mark.parametrize("body", [b"PK\x03\x04" + b"\0" * 100, zipped(FILES)[:-30], b"\x1f\x8b\x08" + b"\0" * 30])
def test_a_broken_archive_is_a_typed_failure(body: bytes) -> None:
    try:
        contents = list_contents(source(body))
    except FonteError:
        return
    assert contents.error or errors(contents)


def test_documents_that_are_zip_files_are_no_containers() -> None:
    office = deck(slide(shape("x")))
    for body in (office, office[: len(office) // 2], zipped({"mimetype": "application/epub+zip", "x": "y"})):
        assert not may_hold(body[:1024], "a.zip")
        assert list_contents(source(body)) == Contents()
    program = zipped({"a.class": "x", "META-INF/MANIFEST.MF": "y"})
    assert list_contents(source(program, "a.jar")) == Contents()
    later = zipped({"word/document.xml": "x", "[Content_Types].xml": "y"})
    assert may_hold(later[:1024], "a.docx")
    assert list_contents(source(later, "a.docx")) == Contents()


@pytest.mark.parametrize("first", ["mimetypes.csv", "docProps/a.md", "_rels/.rels.md", "[Content_Types].xml.md"])
def test_an_archive_is_one_whatever_its_first_file_is_like(first: str) -> None:
    hidden = [] if "/." in first else [first]
    assert names(listed(zipped({first: "one", "b.md": "two"}))) == [*hidden, "b.md"]


@pytest.mark.parametrize("body", [b"", b"plain text", b"Note: this is no mail\n\nat all", b"\x00" * 2000, b"%PDF-1.4"])
def test_other_files_are_themselves_alone(body: bytes) -> None:
    assert list_contents(source(body, "a.txt")) == Contents()


# --- containers in containers


def mail(*attachments: tuple[str, bytes], subject: str = "Hello") -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "ada@example.com", "bo@example.com", subject
    message.set_content("The body.")
    for name, body in attachments:
        message.add_attachment(body, "application", "octet-stream", filename=name)
    return message.as_bytes()


def test_a_mail_is_a_document_and_holds_its_attachments() -> None:
    contents = listed(mail(("a.md", b"# A"), ("a.md", b"# B"), ("../x/y.txt", b"y"), (".rc", b"z")), "m.eml")
    assert contents.itself
    assert names(contents) == ["a.md", "a (2).md", "y.txt", "attachment-4"]


def test_containers_inside_are_listed_to_the_bottom() -> None:
    inner = zipped({"deep.md": "deep"})
    body = tarred({"in/z.zip": inner, "m.eml": mail(("n.zip", inner)), "top.md": "top"}, "w:gz")
    contents = listed(body, "a.tgz")
    assert names(contents) == ["in/z.zip!/deep.md", "m.eml", "m.eml!/n.zip!/deep.md", "top.md"]
    deep = [source(body, "a.tgz", one.inside) for one in contents.members if one.inside[-1] == "deep.md"]
    with MemberReader() as reader:
        assert [reader.read(one) for one in [*deep, *deep]] == [b"deep"] * 4


def test_depth_is_limited_and_told() -> None:
    body = zipped({"deep.md": "x"})
    for at in range(8):
        body = zipped({f"{at}.zip": body, f"{at}.md": "y"})
    contents = listed(body)
    assert names(contents) == ["7.md", "6.md", "5.md", "4.md"] or set(names(contents)) == {
        "7.md", "7.zip!/6.md", "7.zip!/6.zip!/5.md", "7.zip!/6.zip!/5.zip!/4.md",
    }  # fmt: skip
    (error,) = errors(contents).values()
    assert isinstance(error, SourceTooLarge)


def test_an_archive_that_holds_itself_ends() -> None:
    """As a quine would: every level opens another."""
    body = zipped({"r.zip": zipped({"r.zip": zipped({"r.zip": zipped({"r.zip": zipped({"r.zip": b"PK\x03\x04"})})})})})
    assert errors(listed(body))


# --- bombs


def test_too_many_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_MEMBERS", 5)
    monkeypatch.setattr(walk, "Budget", lambda: limits.Budget(members=5))
    contents = listed(zipped({f"{at}.md": "x" for at in range(9)}))
    assert len(names(contents)) == 5
    assert isinstance(contents.error, SourceTooLarge)


def test_too_much_in_all_also_over_containers_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "Budget", lambda: limits.Budget(bytes=10_000))
    contents = listed(zipped({"in.zip": zipped({"a.md": "x" * 6000}), "b.md": "y" * 6000, "c.md": "z"}))
    assert names(contents) == ["in.zip!/a.md"]
    assert isinstance(contents.error, SourceTooLarge)


def test_a_member_that_is_too_large_is_told_and_the_rest_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_MEMBER", 1000)
    for body in (zipped({"big": "x" * 2000, "a.md": "y"}), tarred({"big": "x" * 2000, "a.md": "y"}, "w:gz")):
        contents = listed(body)
        assert names(contents) == ["a.md"]
        assert isinstance(errors(contents)["big"], SourceTooLarge)


def test_a_size_that_lies_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory says ten bytes; what comes out is cut off at the limit and refused, or damaged."""
    monkeypatch.setattr(limits, "MAX_MEMBER", 1000)
    body = bytearray(zipped({"a.md": "x" * 50_000}))
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = body.index(mark) + offset
        body[at : at + 4] = (10).to_bytes(4, "little")
    assert isinstance(errors(listed(bytes(body)))["a.md"], ParseError | SourceTooLarge)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_what_grows_too_much_is_a_bomb(pack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RATIO_FROM", 2**22)
    bomb = pack(b"\0" * (limits.RATIO_FROM + 2**20))
    with pytest.raises(SourceTooLarge, match=r"grows \d+ times"):
        list_contents(source(bomb, "bomb.gz"))
    zipbomb = zipped({"zeros": b"\0" * (limits.RATIO_FROM + 2**20), "a.md": "fine"})
    contents = listed(zipbomb)
    assert names(contents) == ["a.md"]
    assert "grows" in str(errors(contents)["zeros"])


def test_a_sparse_tar_member_costs_nothing_and_is_refused() -> None:
    info = tarfile.TarInfo("huge")
    info.size = 2**40
    body = tarred({"a.md": "x"})[:1024] + info.tobuf() + b"\0" * 1024
    contents = listed(body, "a.tar")
    assert names(contents) == ["a.md"]
    assert isinstance(errors(contents).get("huge"), SourceTooLarge)


def test_an_xz_stream_may_not_ask_for_all_memory() -> None:
    """The block header asks for a dictionary of 4 GiB: refused, not obeyed."""
    body = bytearray(lzma.compress(b"text"))
    at = body.index(b"\x21\x01") + 2  # the filter's number, the size of its properties, the size of the dictionary
    body[at] = 40
    start = 12
    size = (body[start] + 1) * 4
    body[start + size - 4 : start + size] = zlib.crc32(bytes(body[start : start + size - 4])).to_bytes(4, "little")
    with pytest.raises(ParseError, match=r"[Mm]emory"):
        read(bytes(body), "a.xz", "a")


# --- the reader of members


def test_a_file_that_changed_is_opened_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({"a.md": "one"}))
    wanted = replace(source(b"", inside=("a.md",)), body=None, path=str(path))
    with MemberReader() as reader:
        assert reader.read(wanted) == b"one"
        path.write_bytes(zipped({"a.md": "other"}))
        assert reader.read(wanted) == b"other"
        path.write_bytes(zipped({"b.md": "x"}))
        with pytest.raises(ParseError, match="not in its archive"):
            reader.read(wanted)
        path.write_bytes(b"no archive at all")
        with pytest.raises(ParseError, match="no container"):
            reader.read(wanted)
        path.unlink()
        with pytest.raises(ParseError, match="cannot be read"):
            reader.read(wanted)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_damage_ends_in_members_or_a_typed_error(data: st.DataObject) -> None:
    whole = data.draw(
        st.sampled_from(
            [
                zipped(FILES),
                tarred(FILES),
                tarred(FILES, "w:gz"),
                tarred(FILES, "w:xz"),
                mail(("a.zip", zipped(FILES))),
                outlook(strings(p0037="x", p1000="y")),
            ]
        )
    )
    body = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(body) - 1))
        body[at] = data.draw(st.integers(0, 255))
    body = body[: data.draw(st.integers(1, len(body)))]
    try:
        contents = list_contents(source(bytes(body), data.draw(st.sampled_from(["a.zip", "m.eml", "x"]))))
    except FonteError as error:
        assert error.message
        return
    for member in contents.members:
        assert member.inside
        assert bool(member.content_hash) is (member.error is None)


def test_kinds_do_not_guess_from_names() -> None:
    assert kinds.open_container(io.BytesIO(b"plain"), "a.zip") is None
    found = kinds.open_container(io.BytesIO(zipped({"a": "b"})), "a.txt")
    assert found is not None
    found.close()
