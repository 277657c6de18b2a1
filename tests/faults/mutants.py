"""Damaged files of every format, by seed: small whole files, and what bad disks, mailers and editors do to them."""

# ruff: noqa: E501 - whole files on a line

from __future__ import annotations

import base64
import functools
import io
import json
import random
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

import xlwt
from PIL import Image, ImageDraw, ImageFont
from unit.parsers_c.container_making import outlook, strings, tarred, zipped
from unit.parsers_c.pptx_making import deck, slide, table, title

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
LARGEST = 120_000
"""Bytes of a shared file that is taken: small ones, so that thousands of mutants take minutes."""
PICTURES = ("png", "jpg", "tiff", "gif", "bmp", "webp")
_PACKAGES = ("docx", "xlsx", "pptx", "epub", "ods", "odt", "odp", "xlsm", "zip")
_MARKUP = ("html", "xml", *_PACKAGES)
_WORDS = (
    "The quokka pump in hall 9 runs at 41 bar and is checked every Monday. "
    "La pompa della sala 9 lavora a 41 bar. Perché sì: così è più sicura."
)
_ROWS = [("Item", "Price", "Since"), ("Gasket", "17", "2019"), ("Valve", "23.5", "2021"), ("Door", "104", "2024")]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One damaged file; ``how`` names the seed file and the damage."""

    name: str
    body: bytes
    how: str


@functools.cache
def seeds() -> tuple[tuple[str, bytes], ...]:
    """(ending, whole file): our own of every format, and the small shared ones where they are."""
    found = [*_texts(), *_packages(), *_pictures(), *_others()]
    for folder in (SHARED / "docs-formats", SHARED / "parsing" / "made"):
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            ending = path.suffix.lstrip(".").lower()
            if path.is_file() and ending not in ("jsonl", *PICTURES) and not path.name.endswith(".gold.md"):
                if "scan" in path.name or "ocr" in path.parts or path.stat().st_size > LARGEST:
                    continue  # pages for OCR take seconds each
                found.append((ending, path.read_bytes()))
    return tuple(found)


def mutants(count: int, seed: int) -> Iterator[Mutant]:
    """Damaged files, formats in turn so that none is left out; the same for the same seed."""
    by_format: dict[str, list[bytes]] = {}
    for ending, body in seeds():
        by_format.setdefault(ending, []).append(body)
    endings = sorted(by_format)
    for at in range(count):
        chance = random.Random(f"{seed}:{at}")
        ending = endings[at % len(endings)]
        body = chance.choice(by_format[ending])
        done = []
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            damage = chance.choice(_damages(ending))
            body = damage(body, chance, by_format)
            done.append(damage.__name__.strip("_"))
        yield Mutant(f"{at}.{ending}", body, f"{ending}: {', '.join(done)}")


_Damage = Callable[[bytes, random.Random, dict[str, list[bytes]]], bytes]


def _damages(ending: str) -> list[_Damage]:
    every: list[_Damage] = [_flipped, _flipped, _cut, _spliced, _repeated, _holed, _zeroed]
    if ending in _PACKAGES:
        every += [_member, _member, _member, _member_gone, _markup_inside, _markup_inside, _markup_inside]
    elif ending in _MARKUP:
        every += [_markup, _markup, _markup]
    elif ending not in PICTURES and ending not in ("pdf", "xls", "msg"):
        every += [_lines, _lines, _signs]
    return every


def _flipped(body: bytes, chance: random.Random, _: object) -> bytes:
    made = bytearray(body)
    for _time in range(chance.choice((1, 3, 20, 200))):
        if made:
            made[chance.randrange(len(made))] ^= 1 << chance.randrange(8)
    return bytes(made)


def _cut(body: bytes, chance: random.Random, _: object) -> bytes:
    return body[: chance.randint(0, len(body))]


def _spliced(body: bytes, chance: random.Random, others: dict[str, list[bytes]]) -> bytes:
    other = chance.choice(others[chance.choice(sorted(others))])
    at, start = chance.randint(0, len(body)), chance.randint(0, len(other))
    return body[:at] + other[start : start + chance.randint(1, 5000)] + body[at:]


def _repeated(body: bytes, chance: random.Random, _: object) -> bytes:
    at = chance.randint(0, len(body))
    piece = body[at : at + chance.randint(1, 400)]
    return body[:at] + piece * chance.choice((2, 10, 300)) + body[at:]


def _holed(body: bytes, chance: random.Random, _: object) -> bytes:
    at = chance.randint(0, len(body))
    return body[:at] + body[at + chance.randint(1, 2000) :]


def _zeroed(body: bytes, chance: random.Random, _: object) -> bytes:
    at = chance.randint(0, len(body))
    size = min(chance.randint(1, 3000), len(body) - at)
    return body[:at] + b"\0" * size + body[at + size :]


def _lines(body: bytes, chance: random.Random, _: object) -> bytes:
    lines = body.split(b"\n")
    kind = chance.randrange(4)
    if kind == 0:
        chance.shuffle(lines)
    elif kind == 1:
        lines.insert(chance.randint(0, len(lines)), chance.choice(lines) * chance.choice((2, 50)))
    elif kind == 2:
        lines = [line for line in lines if chance.random() > 0.3]
    else:
        lines = [b" " * chance.randint(0, 6) + line for line in lines]
    return b"\n".join(lines)


def _signs(body: bytes, chance: random.Random, _: object) -> bytes:
    marks = (
        b"|",
        b"===\n",
        b"```\n",
        b"\n////\n",
        b'"',
        b"\n|===\n",
        b"[",
        b"{",
        b"\\",
        b"<",
        b"\n.. ",
        b"::\n",
        b"-->",
    )
    for _time in range(chance.choice((1, 5, 40))):
        at = chance.randint(0, len(body))
        body = body[:at] + chance.choice(marks) * chance.choice((1, 1, 4, 60)) + body[at:]
    return body


def _markup(body: bytes, chance: random.Random, _: object) -> bytes:
    """Tags gone, doubled, moved, deep; attributes and references that no writer makes."""
    for _time in range(chance.choice((1, 3, 10))):
        tags = [match.span() for match in re.finditer(rb"<[^<>]{1,400}>", body)]
        if not tags:
            return body
        start, end = chance.choice(tags)
        tag = body[start:end]
        made = (
            b"",
            tag * 2,
            tag * chance.choice((40, 3000)),
            re.sub(rb'"[^"]*"', b'"' + chance.choice((b"", b"-1", b"99999999999", b"\xff\xfe", b"&x;")) + b'"', tag),
            b"&#0;&nosuch;&#x10FFFF;" + tag,
            tag.replace(b"<", b"<x:", 1),
            b"<![CDATA[" + tag,
            b"<!--" + tag,
            body[slice(*chance.choice(tags))],
        )
        body = body[:start] + chance.choice(made) + body[end:]
    return body


def _member(body: bytes, chance: random.Random, others: dict[str, list[bytes]]) -> bytes:
    damage = chance.choice((_flipped, _cut, _repeated, _holed, _zeroed))
    return _rezipped(body, chance, lambda inner: damage(inner, chance, others))


def _markup_inside(body: bytes, chance: random.Random, others: dict[str, list[bytes]]) -> bytes:
    return _rezipped(body, chance, lambda inner: _markup(inner, chance, others), markup=True)


def _member_gone(body: bytes, chance: random.Random, _: object) -> bytes:
    return _rezipped(body, chance, lambda _inner: None)


def _rezipped(
    body: bytes, chance: random.Random, change: Callable[[bytes], bytes | None], *, markup: bool = False
) -> bytes:
    """The package with one member changed and right checksums again; as it is when it is no package any more."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as package:
            members = [(info.filename, package.read(info)) for info in package.infolist()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError, RuntimeError, zipfile.zlib.error):
        return body
    wanted = [at for at, (name, _) in enumerate(members) if not markup or name.endswith(("xml", "html", "rels", "opf"))]
    if not wanted:
        return body
    at = chance.choice(wanted)
    changed = change(members[at][1])
    members[at : at + 1] = [] if changed is None else [(members[at][0], changed)]
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as package:
        for name, inner in dict(members).items():
            package.writestr(name, inner, zipfile.ZIP_STORED if name == "mimetype" else None)
    return data.getvalue()


# --- whole files


def _texts() -> list[tuple[str, bytes]]:
    table_ = "\n".join(" | ".join(row) for row in _ROWS)
    made = {
        "txt": f"{_WORDS}\n\n{_WORDS}",
        "md": f"# Pumps\n\n{_WORDS}\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```sh\n# no heading\n```\n\n> {_WORDS}\n",
        "html": f"<html><body><nav>Menu</nav><main><h1>Pumps</h1><p>{_WORDS}</p><table><tr><th>A<th>B<tr><td>1<td>2"
        f"</table><ul><li>One<li>Two</ul><pre>x  y</pre></main></body></html>",
        "csv": "\n".join(",".join(row) for row in _ROWS),
        "tsv": "\n".join("\t".join(row) for row in _ROWS),
        "json": json.dumps({"pump": {"bar": 41, "said": _WORDS, "list": [1, 2, {"a": None}]}}),
        "jsonl": "\n".join(json.dumps({"_id": str(at), "text": _WORDS}) for at in range(4)),
        "rst": f"Pumps\n=====\n\n{_WORDS}\n\n.. note:: {_WORDS}\n\n=== ===\n a   b\n=== ===\n 1   2\n=== ===\n\n* one\n",
        "adoc": f"= Pumps\n\n{_WORDS}\n\n.Title\n|===\n|a |b\n\n|1 |2\n|===\n\n////\nhidden\n////\n\n----\ncode\n----\n",
        "vtt": f"WEBVTT\n\n1\n00:00:01.000 --> 00:00:02.000\n<v Ada>{_WORDS}\n\n00:03.000 --> 00:04.000\nYes &amp; no\n",
        "srt": f"1\n00:00:01,000 --> 00:00:02,000\n{_WORDS}\n\n2\n00:00:03,000 --> 00:00:04,000\n- Yes\n- No\n",
        "sbv": f"0:00:01.000,0:00:02.000\n{_WORDS}\n\n0:00:03.000,0:00:04.000\n>> ADA: Yes\n",
        "ipynb": json.dumps(
            {
                "nbformat": 4,
                "nbformat_minor": 5,
                "metadata": {"kernelspec": {"language": "python"}},
                "cells": [
                    {"cell_type": "markdown", "source": f"# Pumps\n{_WORDS}"},
                    {
                        "cell_type": "code",
                        "source": ["x = 1\n", "x"],
                        "outputs": [
                            {"output_type": "execute_result", "data": {"text/plain": "1", "text/html": "<b>1</b>"}},
                            {"output_type": "stream", "name": "stdout", "text": ["done\n"]},
                        ],
                    },
                ],
            }
        ),
        "eml": _mail(),
        "rtf": r"{\rtf1\ansi\deff0{\fonttbl{\f0 Arial;}}\pard " + _WORDS + r"\par Perch\'e9\par}",
        "xml": f"<?xml version='1.0'?><rss><channel><title>Pumps</title><item><title>A</title><description>"
        f"&lt;p&gt;{_WORDS}&lt;/p&gt;</description></item></channel></rss>",
        "unknown": table_,
    }
    return [(ending, text.encode()) for ending, text in made.items()]


def _mail() -> str:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "ada@example.com", "bob@example.com", "Pumps"
    mail["Date"] = "Mon, 01 Jan 2024 10:00:00 +0100"
    mail.set_content(_WORDS + "\n\n> quoted\n")
    mail.add_alternative(f"<p>{_WORDS}</p>", subtype="html")
    mail.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="list.csv")
    return mail.as_string()


def _packages() -> list[tuple[str, bytes]]:
    import docx
    import openpyxl

    word = docx.Document()
    word.add_heading("Pumps", 1)
    word.add_paragraph(_WORDS)
    grid = word.add_table(len(_ROWS), 3)
    for row, cells in enumerate(_ROWS):
        for column, cell in enumerate(cells):
            grid.cell(row, column).text = cell
    word.add_paragraph("One", style="List Bullet")
    book = openpyxl.Workbook()
    for cells in _ROWS:
        book.active.append(cells)
    book.create_sheet("Second")["D10"] = "offset"
    chapter = f"<html xmlns='http://www.w3.org/1999/xhtml'><body><h1>One</h1><p>{_WORDS}</p></body></html>"
    epub = zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": (
                '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
                '<rootfile full-path="b.opf"/></rootfiles></container>'
            ),
            "b.opf": (
                '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
                '<dc:title>Book</dc:title></metadata><manifest><item id="a" href="a.xhtml" '
                'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>'
            ),
            "a.xhtml": chapter,
        }
    )
    show = deck(slide(title("Pumps"), table(_ROWS)), slide(title("Valves"), hidden=True), title_said="Show")
    files = {"a/pump.md": _WORDS, "list.csv": "a,b\n1,2\n", "in.zip": zipped({"deep.txt": _WORDS})}
    return [
        ("docx", _saved(word)),
        ("xlsx", _saved(book)),
        ("pptx", show),
        ("epub", epub),
        *((ending, _open_document(ending)) for ending in ("ods", "odt", "odp")),
        ("zip", zipped(files)),
        ("tar", tarred(files)),
        ("tgz", tarred(files, "w:gz")),
    ]


def _open_document(ending: str) -> bytes:
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text", "style", "presentation")
    )
    spaces += ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
    rows = "".join(
        "<table:table-row>"
        + "".join(
            f"<table:table-cell office:value-type='string'><text:p>{cell}</text:p></table:table-cell>" for cell in row
        )
        + "</table:table-row>"
        for row in _ROWS
    )
    grid = f'<table:table table:name="A">{rows}</table:table>'
    text = f'<text:h text:outline-level="1">Pumps</text:h><text:p>{_WORDS}</text:p>'
    frames = f"<draw:frame><draw:text-box>{text}</draw:text-box></draw:frame><draw:frame>{grid}</draw:frame>"
    kind, inside = {
        "ods": ("spreadsheet", grid),
        "odt": ("text", text + grid),
        "odp": ("presentation", f"<draw:page draw:name='1'>{frames}</draw:page>"),
    }[ending]
    content = (
        f"<office:document-content {spaces}><office:body><office:{kind}>{inside}</office:{kind}></office:body>"
        "</office:document-content>"
    )
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as package:
        package.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}", zipfile.ZIP_STORED)
        package.writestr("content.xml", content)
        package.writestr("META-INF/manifest.xml", "<manifest/>")
    return data.getvalue()


def _pictures() -> list[tuple[str, bytes]]:
    image = Image.new("L", (420, 90), "white")
    ImageDraw.Draw(image).text((20, 20), "Pump 41 bar", fill="black", font=ImageFont.load_default(36))
    kinds = {"png": "PNG", "jpg": "JPEG", "tiff": "TIFF", "gif": "GIF", "bmp": "BMP", "webp": "WEBP"}
    found = []
    for ending, kind in kinds.items():
        data = io.BytesIO()
        image.save(data, kind)
        found.append((ending, data.getvalue()))
    return found


def _others() -> list[tuple[str, bytes]]:
    from reportlab.pdfgen.canvas import Canvas

    book = xlwt.Workbook()
    sheet = book.add_sheet("Prices")
    for row, cells in enumerate(_ROWS):
        for column, cell in enumerate(cells):
            sheet.write(row, column, cell)
    data = io.BytesIO()
    canvas = Canvas(data, pageCompression=0)
    for page in range(3):
        for line in range(12):
            canvas.drawString(72, 760 - 18 * line, f"{page}.{line} {_WORDS[:70]}")
        canvas.showPage()
    canvas.save()
    message = outlook(strings(p0037="Pumps", p1000=_WORDS, p0c1a="Ada", p0e04="Bob"))
    pixel = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
    return [("xls", _saved(book)), ("pdf", data.getvalue()), ("msg", message), ("gif", pixel)]


def _saved(made: object) -> bytes:
    data = io.BytesIO()
    made.save(data)  # type: ignore[attr-defined] - documents, books
    return data.getvalue()
