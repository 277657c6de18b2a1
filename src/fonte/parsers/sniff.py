"""What kind of file some bytes are, told by the bytes; the name only decides between kinds of text."""

from __future__ import annotations

import codecs
import io
import json
import re
import zipfile
from pathlib import PurePosixPath

from fonte.errors import EncryptedSource, ParseError, UnsupportedMediaType
from fonte.parsers.containers.looks import MAIL_FIELD, OLE, PACKED, ZIP
from fonte.parsers.encodings import decode
from fonte.text.frontmatter import MARKDOWN_ENDINGS, MARKDOWN_TYPES
from fonte.types import RECORD_MEDIA_TYPE

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
EPUB = "application/epub+zip"
NOTEBOOK = "application/x-ipynb+json"
XLS = "application/vnd.ms-excel"
DOC = "application/msword"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
ODT = "application/vnd.oasis.opendocument.text"
RTF = "application/rtf"
FEED = "application/rss+xml"
ODP = "application/vnd.oasis.opendocument.presentation"
EML = "message/rfc822"
MSG = "application/vnd.ms-outlook"
_IMAGE_MAGIC = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"II*\0": "image/tiff",
    b"MM\0*": "image/tiff",
}
_PDF_OBJECT = re.compile(rb"\b\d+ \d+ obj\b")
IMAGES = (*dict.fromkeys(_IMAGE_MAGIC.values()), "image/webp", "image/bmp")
"""Kinds of pictures that OCR reads."""
_REFUSED = {
    **dict.fromkeys(PACKED, "application/x-compressed (an archive)"),
    b"7z\xbc\xaf\x27\x1c": "application/x-7z-compressed (an archive)",
    b"Rar!\x1a\x07": "application/vnd.rar (an archive)",
    b"\x28\xb5\x2f\xfd": "application/zstd (an archive)",
    b"%!PS": "application/postscript",
    b"OggS": "audio/ogg",
    b"fLaC": "audio/flac",
    b"ID3": "audio/mpeg",
    b"\x7fELF": "application/x-elf (a program)",
    b"SQLite format 3\0": "application/vnd.sqlite3",
    b"PAR1": "application/vnd.apache.parquet",
    b"\xca\xfe\xba\xbe": "application/java-vm (a program)",
}
_RIFF = {b"WAVE": "audio/wav", b"AVI ": "video/avi"}
_ZIP_FOLDERS = {"word/": DOCX, "xl/": XLSX, "ppt/": PPTX}
_PACKAGE_MARKS = ("[content_types].xml", "_rels/.rels")
_BOOK_MARK = "META-INF/container.xml"
_BY_NAME = {
    **dict.fromkeys(MARKDOWN_ENDINGS, "text/markdown"),
    **dict.fromkeys((".html", ".htm", ".xhtml", ".xht"), "text/html"),
    **dict.fromkeys((".tsv", ".tab"), "text/tab-separated-values"),
    **dict.fromkeys((".jsonl", ".ndjson"), "application/jsonl"),
    **dict.fromkeys((".adoc", ".asciidoc", ".asc"), "text/asciidoc"),
    **dict.fromkeys((".rst", ".rest"), "text/x-rst"),
    ".csv": "text/csv",
    ".json": "application/json",
    ".ipynb": "application/json",
    ".txt": "text/plain",
    ".pdf": PDF,
    ".docx": DOCX,
    ".xlsx": XLSX,
    ".pptx": PPTX,
    ".epub": EPUB,
    ".eml": EML,
    ".msg": MSG,
    ".vtt": "text/vtt",
    ".srt": "application/x-subrip",
    ".sbv": "text/x-sbv",
}
_XML_TYPE = "application/xml"
_PPT = "application/vnd.ms-powerpoint (old PowerPoint)"
_NOT_READ_BY_NAME = {
    ".svg": "image/svg+xml",
    ".xml": _XML_TYPE,
}
_PLANNED = (_XML_TYPE, _PPT)
"""Kinds that a later version is to read; of all others that are refused nothing is promised."""
_BINARY = frozenset(
    ".pdf .docx .xlsx .xlsm .pptx .doc .xls .ppt .ods .odt .odp .epub .msg .png .jpg .jpeg .gif .tif .tiff .webp .bmp "
    ".zip .tar .gz .tgz .bz2 .xz .7z .rar .rtf".split()
)
"""Endings of files that are no text: what bears one and is not of its kind is damaged, unless it is clean text."""
_REMAINS = re.compile(r"\bendobj\b|\bstartxref\b|\[Content_Types\]\.xml|\\par\b")
"""What stays of PDF, Office and RTF files that have lost their beginning."""
_CONTROL = re.compile(r"[\0-\x08\x0e-\x1f\x7f\ufffd]")
_HEAD = 4096
_MAIL_FIELDS = 3
_TABLE_ROWS, _TABLE_CUTS = 5, 2
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_HTML = re.compile(
    r"(?:<\?xml[^>]*\?>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*+<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL
)
_FEED = re.compile(
    r"(?:<\?[^?>]*\?>|<!--(?:(?!-->).)*-->|\s)*+<(?:rss\b|(?:\w+:)?feed\b[^<>]*http://www\.w3\.org/2005/Atom"
    r"|rdf:RDF\b[^<>]*http://purl\.org/rss/1\.0/)",
    re.DOTALL,
)
_XML = re.compile(r"<\?xml\b", re.IGNORECASE)
_TRANSCRIPT = re.compile(
    r"(?P<vtt>WEBVTT(?:\s|$))|(?P<srt>\d+[^\S\n]*\r?\n\d{1,2}:\d\d:\d\d[,.]\d{1,3}[^\S\n]*-->)"
    r"|(?P<sbv>\d+:\d\d:\d\d\.\d{3},\d+:\d\d:)"
)
_MAIL_HEAD = re.compile(MAIL_FIELD, re.IGNORECASE)
_MAIL_FIELD = re.compile(r"[A-Za-z][\w-]*[ \t]*:|[ \t]|>?From ")


def sniff(body: bytes, name: str, *, declared: str | None = None) -> str:
    """Media type of a file that some parser reads.

    Args:
        body: the whole file.
        name: what it is called; its ending decides between kinds of text and for empty files.
        declared: our own type for single records is believed, and Markdown, for it may say who may read it; that it
            is HTML, as a name's ending where none says more, for pages of the web have names without one and need
            not begin with ``<html>``.

    Raises:
        UnsupportedMediaType: a kind of file that no parser reads; the message names it.
        ParseError: a file that bears the ending of a binary kind and is neither of that kind nor clean text.
        EncryptedSource: an office file behind a password.
    """
    if declared == RECORD_MEDIA_TYPE:
        return RECORD_MEDIA_TYPE
    ending = PurePosixPath(name).suffix.lower()
    if declared in _HTML_TYPES and ending not in _BY_NAME:
        ending = ".html"
    if declared in MARKDOWN_TYPES:
        ending = ".md"
    if not body:
        return _BY_NAME.get(ending, "application/x-empty")
    if b"%PDF-" in body[:1024] and not _is_text_about_pdf(body, ending):
        return PDF
    if ending == ".pdf" and _PDF_OBJECT.search(body[:1024]):  # it has lost its first line
        return PDF
    if body.startswith(ZIP):
        return _zip_kind(body, name)
    if body.startswith(OLE):
        return _ole_kind(body, name)
    known = _magic_kind(body)
    if known is not None:
        return known
    refused = _refused_magic(body)
    if refused is not None:
        raise _unsupported(refused, name)
    return _text_kind(body, name, ending)


def _unsupported(kind: str, name: str) -> UnsupportedMediaType:
    told = f"{kind} is not read yet" if kind in _PLANNED else f"fonte reads no files of this kind: {kind}"
    return UnsupportedMediaType(f"{name}: {told}", hint="leave it out with --exclude, or convert it")


def _is_text_about_pdf(body: bytes, ending: str) -> bool:
    """Text that only mentions the mark of a PDF, not at its beginning."""
    at_start = body.lstrip().startswith(b"%PDF-")
    return ending in _BY_NAME and ending != ".pdf" and not at_start and b"startxref" not in body


def _magic_kind(body: bytes) -> str | None:
    for magic, kind in {**_IMAGE_MAGIC, b"{\\rtf": RTF}.items():
        if body.startswith(magic):
            return kind
    if body.startswith(b"RIFF") and body[8:12] == b"WEBP":
        return "image/webp"
    return "image/bmp" if body.startswith(b"BM") and b"\0" in body[:64] else None


def _refused_magic(body: bytes) -> str | None:
    for magic, kind in _REFUSED.items():
        if body.startswith(magic):
            return kind
    if body.startswith(b"RIFF"):
        return _RIFF.get(body[8:12])
    if body[4:8] == b"ftyp":
        return "image/heic" if body[8:12] in (b"heic", b"mif1", b"avif") else "video/mp4"
    if body[257:262] == b"ustar":
        return "application/x-tar (an archive)"
    if body.startswith(b"MZ") and b"\0" in body[:64]:
        return "application/x-msdownload (a program)"
    return None


def _zip_kind(body: bytes, name: str) -> str:
    members = _zip_members(body)
    if any(member.lower() in _PACKAGE_MARKS for member in members):
        for folder, kind in _ZIP_FOLDERS.items():
            if any(member.startswith(folder) for member in members):
                return kind
        raise _unsupported("application/vnd.openxmlformats (an Office file of another kind)", name)
    marked = body[30:160]
    if marked.startswith(b"mimetype"):
        kind = marked[8:].split(b"PK")[0].decode("ascii", "replace").strip("\0 ")
        known = next((known for known in (EPUB, ODS, ODT, ODP) if kind.startswith(known)), None)
        if known is not None:
            return known
        raise _unsupported(kind, name)
    if _BOOK_MARK in members:
        return EPUB
    raise _unsupported("application/zip (an archive)", name)


def _zip_members(body: bytes) -> list[str]:
    """Member names by the directory, or by the local headers when the end of the file is missing."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as package:
            return package.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, UnicodeError):
        pass
    names = []
    for match in re.finditer(rb"PK\x03\x04.{22}(..)..", body, re.DOTALL):
        size = int.from_bytes(match[1], "little")
        names.append(body[match.end() : match.end() + size].decode("utf-8", "replace"))
    return names


def _ole_kind(body: bytes, name: str) -> str:
    from fonte.parsers.mail.msg import is_msg

    if is_msg(body):  # first: whatever else is found may stand in its attachments
        return MSG
    if "EncryptedPackage".encode("utf-16-le") in body:
        raise EncryptedSource(f"{name} needs a password", uri=name)
    for mark, kind in (
        ("WordDocument", DOC),
        ("Workbook", XLS),
        ("Book", XLS),
        ("PowerPoint Document", _PPT),
    ):
        if mark.encode("utf-16-le") in body:
            if kind in (XLS, DOC):
                return kind
            raise _unsupported(kind, name)
    raise _unsupported("application/x-ole-storage (an old office file)", name)


def _is_binary(body: bytes) -> bool:
    """Whether there are zeros, but for text in UTF-16 that says so."""
    return b"\0" in body and not body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def _text_kind(body: bytes, name: str, ending: str) -> str:
    decoded = decode(body) if ending not in (".html", ".htm") else decode(body, declared="cp1252")
    if decoded is None:
        raise _unsupported("application/octet-stream (binary data)", name)
    text = decoded.text
    head = text[:_HEAD].lstrip("\ufeff\ufffd \t\r\n\f\0")
    if _HTML.match(head):
        return "text/html"
    if ending in _BINARY and (_is_binary(body) or _CONTROL.search(text) or _REMAINS.search(text)):
        raise ParseError(f"{name} is damaged or misnamed: it does not begin as a {ending} file does, and is no text")
    if ending == ".asc" and head.startswith("-----BEGIN PGP"):
        return "text/plain"
    if ending not in (".md", ".txt") and _FEED.match(head):
        return FEED
    if ending in _NOT_READ_BY_NAME:
        raise _unsupported(_NOT_READ_BY_NAME[ending], name)
    transcript = _TRANSCRIPT.match(head)
    if transcript is not None:
        return _BY_NAME[f".{transcript.lastgroup}"]
    if (ending == ".eml" and _MAIL_FIELD.match(head)) or (ending not in _BY_NAME and _is_mail(head)):
        return EML
    if _XML.match(head) and ending not in (".md", ".txt", ".html", ".htm", ".xhtml"):
        raise _unsupported(_XML_TYPE, name)
    return _by_name_or_look(text, head, ending)


def _by_name_or_look(text: str, head: str, ending: str) -> str:
    named = _BY_NAME.get(ending)
    if named == "application/json" or (named is None and head.startswith(("{", "["))):
        return _json_kind(text, named=named is not None)
    if named in (PDF, DOCX, XLSX, PPTX, EPUB, EML, MSG):
        return "text/plain"
    return named or _look(text)


def _json_kind(text: str, *, named: bool) -> str:
    """JSON, JSON lines, a notebook, or text that only begins like JSON."""
    try:
        value = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        lines = [line for line in text.splitlines() if line.strip()][:5]
        if len(lines) > 1 and all(_is_json_object(line) for line in lines[:-1]):
            return "application/jsonl"
        return "application/json" if named else "text/plain"
    if isinstance(value, dict) and "nbformat" in value and ("cells" in value or "worksheets" in value):
        return NOTEBOOK
    return "application/json"


def _is_json_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _is_mail(head: str) -> bool:
    lines = head.splitlines()[:4]
    return len(lines) >= _MAIL_FIELDS and _MAIL_HEAD.match(lines[0]) is not None and all(map(_MAIL_FIELD.match, lines))


def _look(text: str) -> str:
    """Text without a telling name: a table when at least five rows have the same three or more columns."""
    lines = [line for line in text[: 16 * _HEAD].splitlines() if line.strip()][:50]
    for delimiter, kind in (("\t", "text/tab-separated-values"), (";", "text/csv"), (",", "text/csv")):
        widths = {line.count(delimiter) for line in lines}
        if len(lines) >= _TABLE_ROWS and len(widths) == 1 and min(widths) >= _TABLE_CUTS:
            return kind
    return "text/plain"
