"""Which parser reads which kind of file. Parsers are named, not imported: only a child process loads one."""

from __future__ import annotations

import importlib
from dataclasses import replace
from functools import cache
from typing import Protocol, cast, runtime_checkable

from fonte.errors import UnsupportedMediaType
from fonte.parsers.ocr.engine import find_engine
from fonte.parsers.ocr.settings import DEFAULT_LANGUAGES
from fonte.parsers.sniff import IMAGES, sniff
from fonte.types import RECORD_MEDIA_TYPE, Counts, Parsed, Source

_OFFICE = "application/vnd.openxmlformats-officedocument"
PARSERS = {
    "application/pdf": "fonte.parsers.pdf:PdfParser",
    f"{_OFFICE}.wordprocessingml.document": "fonte.parsers.docx:DocxParser",
    f"{_OFFICE}.spreadsheetml.sheet": "fonte.parsers.xlsx:XlsxParser",
    f"{_OFFICE}.presentationml.presentation": "fonte.parsers.pptx:PptxParser",
    "application/epub+zip": "fonte.parsers.epub:EpubParser",
    "message/rfc822": "fonte.parsers.mail:MailParser",
    "application/vnd.ms-outlook": "fonte.parsers.mail:MailParser",
    "application/msword": "fonte.parsers.doc:DocParser",
    "application/vnd.ms-excel": "fonte.parsers.sheets:XlsParser",
    "application/vnd.oasis.opendocument.spreadsheet": "fonte.parsers.sheets:OdsParser",
    "application/vnd.oasis.opendocument.text": "fonte.parsers.odf:OdtParser",
    "application/vnd.oasis.opendocument.presentation": "fonte.parsers.odf:OdpParser",
    "application/rss+xml": "fonte.parsers.feeds:FeedParser",
    "application/rtf": "fonte.parsers.rtf:RtfParser",
    "text/plain": "fonte.parsers.plain:PlainParser",
    "text/markdown": "fonte.parsers.markdown:MarkdownParser",
    "text/html": "fonte.parsers.html:HtmlParser",
    "text/csv": "fonte.parsers.csv_tsv:CsvParser",
    "text/tab-separated-values": "fonte.parsers.csv_tsv:CsvParser",
    "application/json": "fonte.parsers.records:JsonParser",
    "application/jsonl": "fonte.parsers.records:JsonLinesParser",
    "application/x-ipynb+json": "fonte.parsers.notebook:NotebookParser",
    "text/asciidoc": "fonte.parsers.asciidoc:AsciidocParser",
    "text/x-rst": "fonte.parsers.rst:RstParser",
    "text/vtt": "fonte.parsers.transcripts:TranscriptParser",
    "application/x-subrip": "fonte.parsers.transcripts:TranscriptParser",
    "text/x-sbv": "fonte.parsers.transcripts:TranscriptParser",
    **dict.fromkeys(IMAGES, "fonte.parsers.images:ImageParser"),
    RECORD_MEDIA_TYPE: "fonte.parsers.records:RecordParser",
}
"""Media type to ``module:class``. Classes take no arguments and have ``name`` and ``parse(source)``."""


class NamedParser(Protocol):
    """A parser that says what it is."""

    name: str

    def parse(self, source: Source) -> Parsed:
        """Blocks in reading order. Raises ParseError and nothing else."""


@runtime_checkable
class PictureParser(NamedParser, Protocol):
    """A parser that reads pictures by OCR where it has to."""

    def name_with(self, engine: str) -> str:
        """What it is when an engine has read some of the text."""


@cache
def parser_for(media_type: str) -> NamedParser:
    """The parser of a media type, loaded once.

    Raises:
        UnsupportedMediaType: no parser reads it.
    """
    try:
        module, name = PARSERS[media_type].split(":")
    except KeyError:
        raise UnsupportedMediaType(f"fonte reads no files of this kind: {media_type}") from None
    return cast("NamedParser", getattr(importlib.import_module(module), name)())


def extractors(ocr_languages: str = DEFAULT_LANGUAGES) -> dict[str, str]:
    """The names of all parsers, with their versions, by the part before the first ``/``; loads them all.

    Without an OCR engine nothing is said of what one has read: such documents stay as they are.
    """
    parsers = [parser_for(media_type) for media_type in PARSERS]
    names = [parser.name for parser in parsers]
    engine = find_engine(ocr_languages)
    if engine is not None:
        names += [parser.name_with(engine.name) for parser in parsers if isinstance(parser, PictureParser)]
    return {name.split("/")[0]: name for name in names}


def parse_body(source: Source) -> Parsed:
    """Look at the bytes of ``source.body``, choose the parser and let it read them.

    Raises:
        ParseError: bytes that could not become text.
        UnsupportedMediaType: a kind of file that no parser reads.
    """
    body = source.body or b""
    media_type = sniff(body, source.name, declared=source.media_type)
    if not body:
        return Parsed((), "empty/1", media_type=media_type, source_counts=Counts(), empty_reason="empty")
    parsed = parser_for(media_type).parse(replace(source, media_type=media_type))
    return replace(parsed, media_type=media_type)
