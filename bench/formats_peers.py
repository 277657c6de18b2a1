"""What single libraries make of the files of docs-formats: run by the interpreter of an environment of their own.

    uv venv /tmp/peers-venv && uv pip install --python /tmp/peers-venv/bin/python -r bench/peers-formats.txt
    /tmp/peers-venv/bin/python bench/formats_peers.py FOLDER OUT.jsonl

One line for each file and library: {file, peer, version, text, seconds, error}. Nothing of fonte is imported here.
"""

# ruff: noqa: D103 - each reader is the library of its name

from __future__ import annotations

import argparse
import json
import logging
import signal
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

SECONDS = 60
Reader = Callable[[Path], str]


def markitdown(path: Path) -> str:
    from markitdown import MarkItDown

    return MarkItDown().convert_local(str(path)).text_content


def mammoth_(path: Path) -> str:
    import mammoth

    with path.open("rb") as file:
        return mammoth.convert_to_markdown(file).value


def docx2txt_(path: Path) -> str:
    import docx2txt

    return docx2txt.process(str(path))


def python_docx(path: Path) -> str:
    import docx
    from docx.table import Table

    lines = []
    for item in docx.Document(str(path)).iter_inner_content():
        if isinstance(item, Table):
            lines += ["\t".join(cell.text for cell in row.cells) for row in item.rows]
        else:
            lines.append(item.text)
    return "\n".join(lines)


def python_pptx(path: Path) -> str:
    from pptx import Presentation

    lines: list[str] = []

    def take(shapes) -> None:  # noqa: ANN001 - the library has no public type for it
        for shape in shapes:
            if hasattr(shape, "shapes"):
                take(shape.shapes)
            elif shape.has_text_frame:
                lines.append(shape.text_frame.text)
            elif getattr(shape, "has_table", False) and shape.has_table:
                lines.extend("\t".join(cell.text for cell in row.cells) for row in shape.table.rows)

    for slide in Presentation(str(path)).slides:
        take(slide.shapes)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            lines.append(slide.notes_slide.notes_text_frame.text)
    return "\n".join(lines)


def openpyxl_(path: Path) -> str:
    import openpyxl

    book = openpyxl.load_workbook(path, data_only=True)
    lines = []
    for sheet in book.worksheets:
        lines.append(sheet.title)
        lines += [
            "\t".join("" if one is None else str(one) for one in row) for row in sheet.iter_rows(values_only=True)
        ]
    return "\n".join(lines)


def calamine(path: Path) -> str:
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_path(str(path))
    lines = []
    for name in book.sheet_names:
        lines.append(name)
        lines += ["\t".join(map(str, row)) for row in book.get_sheet_by_name(name).to_python()]
    return "\n".join(lines)


def trafilatura_(path: Path) -> str:
    import trafilatura

    return trafilatura.extract(path.read_bytes(), output_format="markdown", include_tables=True) or ""


def html2text_(path: Path) -> str:
    import html2text

    reader = html2text.HTML2Text()
    reader.body_width = 0
    return reader.handle(path.read_text("utf-8", "replace"))


def markdownify_(path: Path) -> str:
    import markdownify

    return markdownify.markdownify(path.read_text("utf-8", "replace"))


def beautifulsoup(path: Path) -> str:
    from bs4 import BeautifulSoup

    return BeautifulSoup(path.read_bytes(), "html.parser").get_text("\n")


def pypdf_(path: Path) -> str:
    import pypdf

    return "\n".join(page.extract_text() for page in pypdf.PdfReader(path).pages)


def pdfplumber_(path: Path) -> str:
    import pdfplumber

    with pdfplumber.open(path) as pdf:
        return "\n".join(page.extract_text() or "" for page in pdf.pages)


def pypdfium(path: Path) -> str:
    import pypdfium2

    return "\n".join(page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(path))


def pdfminer(path: Path) -> str:
    from pdfminer.high_level import extract_text

    return extract_text(str(path))


def webvtt_(path: Path) -> str:
    import webvtt

    return "\n".join(caption.text for caption in webvtt.from_string(path.read_text("utf-8")))


def pysubs2_(path: Path) -> str:
    import pysubs2

    return "\n".join(event.plaintext for event in pysubs2.load(str(path)))


def odfpy(path: Path) -> str:
    from odf import teletype
    from odf.element import Text
    from odf.opendocument import load

    found: list[str] = []
    waiting = [load(str(path)).body]
    while waiting:
        node = waiting.pop()
        if getattr(node, "qname", (None, ""))[1] in ("p", "h"):
            found.append(teletype.extractText(node))
        elif not isinstance(node, Text):
            waiting.extend(reversed(node.childNodes))
    return "\n".join(found)


def striprtf_(path: Path) -> str:
    from striprtf.striprtf import rtf_to_text

    return rtf_to_text(path.read_bytes().decode("latin-1"))


def docutils_(path: Path) -> str:
    from docutils.core import publish_doctree

    settings = {"report_level": 5, "file_insertion_enabled": False, "raw_enabled": False}
    return publish_doctree(path.read_text("utf-8"), settings_overrides=settings).astext()


def as_it_is(path: Path) -> str:
    return path.read_text("utf-8", "replace")


MARKITDOWN, PLAIN = ("markitdown", markitdown), ("python", as_it_is)
SHEETS: list[tuple[str, Reader]] = [MARKITDOWN, ("openpyxl", openpyxl_), ("python-calamine", calamine)]
PEERS: dict[str, list[tuple[str, Reader]]] = {
    "docx": [MARKITDOWN, ("mammoth", mammoth_), ("python-docx", python_docx), ("docx2txt", docx2txt_)],
    "pptx": [MARKITDOWN, ("python-pptx", python_pptx)],
    "xlsx": SHEETS,
    "xlsm": SHEETS,
    "xls": [MARKITDOWN, ("python-calamine", calamine)],
    "ods": [("python-calamine", calamine), ("odfpy", odfpy)],
    "odt": [("odfpy", odfpy)],
    "odp": [("odfpy", odfpy)],
    "rtf": [("striprtf", striprtf_)],
    "html": [
        MARKITDOWN,
        ("trafilatura", trafilatura_),
        ("html2text", html2text_),
        ("markdownify", markdownify_),
        ("beautifulsoup4", beautifulsoup),
    ],
    "pdf": [
        MARKITDOWN,
        ("pypdf", pypdf_),
        ("pdfplumber", pdfplumber_),
        ("pypdfium2", pypdfium),
        ("pdfminer.six", pdfminer),
    ],
    "csv": [MARKITDOWN, PLAIN],
    "epub": [MARKITDOWN],
    "msg": [MARKITDOWN],
    "ipynb": [MARKITDOWN],
    "json": [MARKITDOWN, PLAIN],
    "zip": [MARKITDOWN],
    "xml": [MARKITDOWN],
    "md": [MARKITDOWN, PLAIN],
    "asciidoc": [MARKITDOWN, PLAIN],
    "rst": [MARKITDOWN, ("docutils", docutils_)],
    "vtt": [MARKITDOWN, ("webvtt-py", webvtt_), ("pysubs2", pysubs2_)],
    "srt": [("pysubs2", pysubs2_)],
}


def _ring(*_: object) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


def told(file: str, path: Path, peer: str, read: Reader) -> dict[str, object]:
    """What one library makes of one file; its error instead of a text."""
    began = time.perf_counter()
    text, error = "", ""
    signal.alarm(SECONDS)
    try:
        text = read(path)
    except Exception as fault:  # noqa: BLE001 - a peer's fault is a figure here
        error = f"{type(fault).__name__}: {fault}"[:200]
    finally:
        signal.alarm(0)
    known = "" if peer == "python" else version(peer)
    seconds = round(time.perf_counter() - began, 3)
    return {"file": file, "peer": peer, "version": known, "text": text, "seconds": seconds, "error": error}


def main() -> int:
    """Read every file of the manifest by every library of its format."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path, help="docs-formats")
    options.add_argument("out", type=Path, help="JSON lines to write")
    wanted = options.parse_args()
    signal.signal(signal.SIGALRM, _ring)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    files = [json.loads(line)["file"] for line in (wanted.folder / "manifest.jsonl").read_text("utf-8").splitlines()]
    with wanted.out.open("w", encoding="utf-8") as out:
        for file in files:
            for peer, read in PEERS.get(Path(file).suffix.lstrip(".").lower(), []):
                line = json.dumps(told(file, wanted.folder / file, peer, read), ensure_ascii=False)
                out.write(line.encode("utf-8", "replace").decode("utf-8") + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
