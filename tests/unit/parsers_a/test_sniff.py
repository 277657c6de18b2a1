"""What kind of file bytes are."""

from __future__ import annotations

import io
import zipfile

import pytest

from fonte.errors import EncryptedSource, ParseError, UnsupportedMediaType
from fonte.parsers.sniff import DOCX, EPUB, PDF, PPTX, XLSX, sniff
from fonte.types import RECORD_MEDIA_TYPE


def package(*members: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for member in members:
            archive.writestr(member, "x" * 50)
    return data.getvalue()


@pytest.mark.parametrize(
    ("body", "name", "expected"),
    [
        (b"%PDF-1.7\n...", "notes.txt", PDF),
        (b"\n\n%PDF-1.4\n", "a.md", PDF),
        (b"A PDF file begins with %PDF-1.7", "a.txt", "text/plain"),
        (package("[Content_Types].xml", "word/document.xml"), "a.bin", DOCX),
        (package("[Content_Types].xml", "word/document.xml")[:200], "a.docx", DOCX),
        (package("[Content_Types].xml", "xl/workbook.xml"), "a.docx", XLSX),
        (package("[Content_Types].xml", "ppt/presentation.xml"), "a.docx", PPTX),
        (package("mimetype", "META-INF/container.xml").replace(b"x" * 50, EPUB.encode().ljust(50)), "a.zip", EPUB),
        (package("META-INF/container.xml", "book.opf"), "a.bin", EPUB),
        (b"Received: x\nFrom: a@b.c\nTo: d@e.f\nSubject: x\n\nhi", "mail", "message/rfc822"),
        (b"From: a@b.c\n\nhi", "a.eml", "message/rfc822"),
        (b"From: a@b.c\nTo: d@e.f\nSubject: x\n\nhi", "a.txt", "text/plain"),
        (b"no header at all", "a.eml", "text/plain"),
        (b"# Title\n\ntext", "a.md", "text/markdown"),
        (b"# Title\n\ntext", "a.txt", "text/plain"),
        (b"# Title\n\ntext", "README", "text/plain"),
        (b"<!DOCTYPE html><p>x", "a.md", "text/html"),
        (b"<?xml version='1.0'?>\n<html xmlns='x'>", "a", "text/html"),
        (b"<!-- saved --><html>", "a.txt", "text/html"),
        (b"<p align=center>Readme</p>", "README.md", "text/markdown"),
        (b"just words", "a.html", "text/html"),
        (b"a,b\n1,2\n", "a.csv", "text/csv"),
        (b"a,b\n1,2\n", "a.txt", "text/plain"),
        (b"a\tb\n1\t2\n", "a.tsv", "text/tab-separated-values"),
        (b"a\tb\tc\n" * 6, "export", "text/tab-separated-values"),
        (b'{"a": 1}', "a", "application/json"),
        (b'{"a": 1}\n{"a": 2}\n', "a.json", "application/jsonl"),
        (b'{"a": 1}\n{broken\n', "a.jsonl", "application/jsonl"),
        (b"{broken", "a.json", "application/json"),
        (b"[link](x) and text", "a", "text/plain"),
        ("perché".encode("utf-16"), "a.md", "text/markdown"),
        (b"", "a.csv", "text/csv"),
        (b"", "a", "application/x-empty"),
        (b"just text", "wrong.pdf", "text/plain"),
        ("perché no".encode("utf-16"), "wrong.docx", "text/plain"),
        ("prezzo\tcittà\tora\n".encode("cp1252") * 6, "export.xls", "text/tab-separated-values"),
        (b"<html><body>caf\xe9</body></html>", "report.doc", "text/html"),
        (b"WEBVTT\n\n00:01.000 --> 00:02.000\nhi", "a.txt", "text/vtt"),
        (b"\xef\xbb\xbfWEBVTT - talk\n\n00:01.000 --> 00:02.000\nhi", "a.srt", "text/vtt"),
        (b"1\r\n00:00:01,000 --> 00:00:02,000\r\nhi", "a", "application/x-subrip"),
        (b"0:00:01.000,0:00:02.000\nhi", "talk", "text/x-sbv"),
        (b"\x89PNG\r\n\x1a\n\0\0", "notes.md", "image/png"),
        (b"\xff\xd8\xff\xe0", "a.txt", "image/jpeg"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "a", "image/webp"),
        (b"II*\0", "scan", "image/tiff"),
        (b"BM\0\0\0\0", "a.txt", "image/bmp"),
        (b"BM is short for a picture", "a.txt", "text/plain"),
        (b'{"nbformat": 4, "cells": []}', "a.json", "application/x-ipynb+json"),
        (b'{"nbformat": 3, "worksheets": []}', "a.ipynb", "application/x-ipynb+json"),
        (b'{"cells": []}', "a.ipynb", "application/json"),
        (b"= Title\n", "a.adoc", "text/asciidoc"),
        (b"Title\n=====\n", "a.rst", "text/x-rst"),
        (b"a word on WEBVTT", "a.txt", "text/plain"),
    ],
)
def test_content_decides_and_the_name_breaks_ties(body: bytes, name: str, expected: str) -> None:
    assert sniff(body, name) == expected


@pytest.mark.parametrize(
    ("body", "name", "told"),
    [
        (b"RIFF\0\0\0\0WAVEfmt ", "a", "audio/wav"),
        (package("[Content_Types].xml", "visio/document.xml"), "a.vsdx", "Office file of another kind"),
        (package("word/notes.md"), "a.zip", "archive"),
        (package("mimetype", "content.xml"), "a.odt", "no files of this kind"),
        (package("a.txt"), "a.zip", "archive"),
        (b"\x1f\x8b\x08", "a.md", "archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "PowerPoint Document".encode("utf-16-le"), "a.pptx", "old PowerPoint"),
        (b"<?xml version='1.0'?><feed/>", "a.xml", "application/xml"),
        (bytes(range(256)) * 5, "a.txt", "binary"),
    ],
)
def test_kinds_without_a_parser_are_named(body: bytes, name: str, told: str) -> None:
    with pytest.raises(UnsupportedMediaType) as caught:
        sniff(body, name)
    assert told in caught.value.message
    assert ("not read yet" in caught.value.message) is (told in ("old PowerPoint", "application/xml"))
    assert "yet" in caught.value.message or "fonte reads no files of this kind" in caught.value.message
    assert name in caught.value.message


def test_an_office_file_behind_a_password_is_encrypted() -> None:
    with pytest.raises(EncryptedSource):
        sniff(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "a.xlsx")


def test_only_our_own_type_for_records_is_believed() -> None:
    assert sniff(b'{"_id": "1"}', "1", declared=RECORD_MEDIA_TYPE) == RECORD_MEDIA_TYPE
    assert sniff(b"%PDF-1.4", "a", declared="text/html") == PDF


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (b"BT (words) Tj ET\n" * 90 + b"endobj\nstartxref\n9\n%%EOF\n", "report.pdf"),
        (package("[Content_Types].xml", "word/document.xml")[40:], "letter.docx"),
        (b"\x88PNG\r\n\x1a\n" + bytes(range(256)) * 4, "scan.png"),
        (b"\xd1\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"W\0o\0r\0k\0" * 200, "list.xls"),
        (b"{\\rtg1\\ansi Ciao\\par mondo}", "letter.rtf"),
    ],
)
def test_a_damaged_file_of_a_binary_kind_is_not_read_as_text(body: bytes, name: str) -> None:
    with pytest.raises((ParseError, UnsupportedMediaType), match=r"damaged or misnamed|no files of this kind"):
        sniff(body, name)


@pytest.mark.parametrize("mark", [b"<?xml version='1.0'?>", b"<!-- a -->", b" \n", b"<?x?><!---->"])
def test_many_marks_before_the_first_element_take_no_time(mark: bytes) -> None:
    with pytest.raises(UnsupportedMediaType):
        sniff(mark * 400 + b"<invoice/>", "a.xml")
    assert sniff(mark * 100 + b"<html>", "a.html") == "text/html"
