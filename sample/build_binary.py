"""Builds the PDF, Word and Excel documents of the sample handbook.

    pip install reportlab python-docx openpyxl
    apt-get install fonts-crosextra-carlito fonts-crosextra-caladea    (or FONTS=folder with their .ttf files)
    python sample/build_binary.py

The texts are in `sample/source/`. Nothing depends on the clock or on the machine: with the same
versions of the three libraries a second run writes the same bytes.
"""

from __future__ import annotations

import datetime as dt
import io
import os
import re
import sys
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

sys.path.insert(0, str(Path(__file__).parent / "source"))
sys.dont_write_bytecode = True

import documents
import manuale_qualita
import sampling_manual
import workbooks
from docx import Document
from docx.enum.table import WD_TABLE_ALIGNMENT
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Pt, RGBColor
from openpyxl import Workbook
from openpyxl.styles import Alignment, Font, PatternFill
from reportlab.lib import colors
from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import (
    BaseDocTemplate,
    CondPageBreak,
    Frame,
    FrameBreak,
    KeepTogether,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

HANDBOOK = Path(__file__).parent / "handbook"
STAMP = dt.datetime(2026, 3, 2, 9, 0, 0)
BLUE = colors.HexColor("#12506b")
PALE = colors.HexColor("#e7f0f3")
RULE = colors.HexColor("#9db6c0")
AUTHOR = "Risorgiva Società Cooperativa"


# ---------------------------------------------------------------- PDF

FONTS = Path(os.environ.get("FONTS", "/usr/share/fonts/truetype/crosextra"))
for family in ("Carlito", "Caladea"):
    for face in ("Regular", "Bold", "Italic", "BoldItalic"):
        pdfmetrics.registerFont(TTFont(f"{family}-{face}", FONTS / f"{family}-{face}.ttf"))
    pdfmetrics.registerFontFamily(f"{family}-Regular", normal=f"{family}-Regular", bold=f"{family}-Bold",
                                  italic=f"{family}-Italic", boldItalic=f"{family}-BoldItalic")

BODY = ParagraphStyle("body", fontName="Caladea-Regular", fontSize=10, leading=12.6, alignment=TA_JUSTIFY,
                      spaceAfter=5, embeddedHyphenation=1, allowWidows=0, allowOrphans=0)
H1 = ParagraphStyle("h1", fontName="Carlito-Bold", fontSize=13, leading=16, spaceBefore=9, spaceAfter=4,
                    textColor=BLUE)
# Where long words of the two-column manual may be broken at the end of a line.
BREAKS = ("con-duc-tivity", "disin-fect-ing", "disin-fectant", "micro-biology", "tempera-ture", "ther-mometer",
          "preserva-tive", "labora-tory", "unat-tended", "investiga-tion", "continu-ously", "house-holder", "com-pliance",
          "amend-ment", "impos-sible", "centi-metres", "immedi-ately", "instru-ment", "stag-nation", "coordi-nator",
          "sur-face", "hypo-chlorite", "neutral-ises", "contam-inated", "certain-ty", "cus-tomer", "mea-sured")

H2 = ParagraphStyle("h2", parent=H1, fontSize=11, leading=14, spaceBefore=5, spaceAfter=2,
                    textColor=colors.black)
TITLE = ParagraphStyle("title", fontName="Carlito-Bold", fontSize=24, leading=28, textColor=BLUE)
SUBTITLE = ParagraphStyle("subtitle", fontName="Carlito-Regular", fontSize=12, leading=16, textColor=colors.HexColor("#444444"))
SMALL = ParagraphStyle("small", fontName="Carlito-Regular", fontSize=9.5, leading=12, textColor=colors.HexColor("#555555"))
CAPTION = ParagraphStyle("caption", fontName="Carlito-Bold", fontSize=9.5, leading=12, spaceBefore=4, spaceAfter=3,
                         keepWithNext=1)


def cell(text: str, size: float, bold: bool = False) -> Paragraph:
    return Paragraph(text, ParagraphStyle("cell", fontName="Carlito-Bold" if bold else "Carlito-Regular",
                                          fontSize=size, leading=size * 1.22))


def table(rows: list[list[str]], widths: list[float], size: float) -> Table:
    data = [[cell(c, size, i == 0) for c in row] for i, row in enumerate(rows)]
    made = Table(data, colWidths=widths, repeatRows=1)
    made.setStyle(TableStyle([
        ("GRID", (0, 0), (-1, -1), 0.5, RULE),
        ("BACKGROUND", (0, 0), (-1, 0), PALE),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LEFTPADDING", (0, 0), (-1, -1), 4), ("RIGHTPADDING", (0, 0), (-1, -1), 4),
        ("TOPPADDING", (0, 0), (-1, -1), 2.5), ("BOTTOMPADDING", (0, 0), (-1, -1), 3),
    ]))
    return made


def breakable(text: str) -> str:
    for word in BREAKS:
        text = text.replace(word.replace("-", ""), word.replace("-", "\u00ad"))
    return text


def flow(items, styles, widths: list[float], table_size: float) -> list:
    out = []
    for kind, content in items:
        if kind == "table":
            caption, rows = content
            out.append(KeepTogether([Paragraph(caption, CAPTION), table(rows, widths, table_size), Spacer(1, 7)]))
        else:
            if kind != "p":
                out.append(CondPageBreak(62 if kind == "h1" else 48))
            out.append(Paragraph(content, styles[kind]))
    return out


def sampling_manual_pdf(path: Path) -> None:
    width, height = A4
    margin, gutter = 18 * mm, 8 * mm
    column = (width - 2 * margin - gutter) / 2
    total = {"pages": 0}

    def decorate(canvas, doc):
        canvas.saveState()
        canvas.setFont("Carlito-Regular", 9)
        canvas.setFillColor(colors.HexColor("#555555"))
        canvas.drawString(margin, height - 12 * mm, sampling_manual.RUNNING)
        canvas.drawRightString(width - margin, height - 12 * mm, "For internal use")
        canvas.setStrokeColor(RULE)
        canvas.line(margin, height - 13.5 * mm, width - margin, height - 13.5 * mm)
        canvas.drawCentredString(width / 2, 10 * mm, f"Page {doc.page} of {total['pages']}")
        canvas.restoreState()

    def build(target):
        top = 66 * mm
        bottom = 17 * mm
        full = height - 17 * mm - bottom
        plain = {"leftPadding": 0, "rightPadding": 0, "topPadding": 0, "bottomPadding": 0}
        right = margin + column + gutter
        first = [Frame(margin, height - 17 * mm - top, width - 2 * margin, top, id="head", **plain),
                 Frame(margin, bottom, column, full - top, id="a1", **plain),
                 Frame(right, bottom, column, full - top, id="a2", **plain)]
        later = [Frame(margin, bottom, column, full, id="b1", **plain),
                 Frame(right, bottom, column, full, id="b2", **plain)]
        doc = BaseDocTemplate(target, pagesize=A4, title=sampling_manual.TITLE, author=AUTHOR, lang="en",
                              subject=sampling_manual.DOCUMENT, invariant=1)
        doc.addPageTemplates([PageTemplate("first", first, onPage=decorate),
                              PageTemplate("later", later, onPage=decorate)])
        lead = ParagraphStyle("lead", parent=BODY, fontName="Caladea-Italic", fontSize=11.5, leading=15)
        story = [NextPageTemplate("later"), Spacer(1, 6 * mm), Paragraph(sampling_manual.TITLE, TITLE), Spacer(1, 2 * mm),
                 Paragraph(sampling_manual.SUBTITLE, SUBTITLE), Spacer(1, 1.5 * mm),
                 Paragraph(sampling_manual.DOCUMENT, SMALL), Spacer(1, 4 * mm),
                 Paragraph(sampling_manual.ABSTRACT, lead), FrameBreak()]
        widths = [16.5 * mm, 12 * mm, 14 * mm, 21 * mm, column - 63.5 * mm]
        text = ParagraphStyle("text", parent=BODY, fontSize=10.6, leading=14.2, spaceAfter=6)
        items = [(k, breakable(c) if k == "p" else c) for k, c in sampling_manual.BODY]
        story += flow(items, {"p": text, "h1": H1, "h2": H2}, widths, 8)
        doc.build(story)
        return doc.page

    total["pages"] = build(io.BytesIO())
    build(str(path))


def manuale_qualita_pdf(path: Path) -> None:
    width, height = A4
    left, right_margin = 28 * mm, 25 * mm
    text_width = width - left - right_margin
    front_pages = 3

    def roman(n: int) -> str:
        return ["", "i", "ii", "iii", "iv", "v"][n]

    def label(page: int) -> str:
        return roman(page) if page <= front_pages else str(page - front_pages)

    def cover(canvas, doc):
        canvas.addPageLabel(0, style="ROMAN_LOWER", start=1)
        canvas.addPageLabel(front_pages, style="ARABIC", start=1)
        canvas.saveState()
        canvas.setFillColor(BLUE)
        canvas.rect(0, height - 62 * mm, width, 62 * mm, stroke=0, fill=1)
        canvas.setFillColor(colors.white)
        canvas.setFont("Carlito-Bold", 17)
        canvas.drawString(left, height - 36 * mm, "Risorgiva Società Cooperativa")
        canvas.setFont("Carlito-Regular", 10.5)
        canvas.drawString(left, height - 43 * mm, "Laboratori di analisi delle acque · Cremona · Udine · Exeter")
        canvas.restoreState()

    def decorate(canvas, doc):
        canvas.saveState()
        canvas.setFont("Carlito-Regular", 9)
        canvas.setFillColor(colors.HexColor("#555555"))
        canvas.drawString(left, height - 14 * mm, manuale_qualita.RUNNING)
        canvas.setStrokeColor(RULE)
        canvas.line(left, height - 16 * mm, width - right_margin, height - 16 * mm)
        canvas.drawString(left, 12 * mm, "Copia non controllata se stampata")
        canvas.drawRightString(width - right_margin, 12 * mm, f"pag. {label(doc.page)}")
        canvas.restoreState()

    body = ParagraphStyle("corpo", parent=BODY, fontSize=11.5, leading=16, spaceAfter=8)
    h1 = ParagraphStyle("titolo1", parent=H1, fontSize=15, leading=19, spaceBefore=15, spaceAfter=6)
    h2 = ParagraphStyle("titolo2", parent=H2, fontSize=11, leading=14, spaceBefore=6, spaceAfter=3)
    toc = ParagraphStyle("indice", fontName="Caladea-Regular", fontSize=11, leading=18)
    styles = {"p": body, "h1": h1, "h2": h2}
    started: dict[str, int] = {}

    class Doc(BaseDocTemplate):
        def afterFlowable(self, flowable):
            if isinstance(flowable, Paragraph) and flowable.style.name == "titolo1":
                started[flowable.getPlainText()] = self.page

    def build(target):
        frame = Frame(left, 20 * mm, text_width, height - 42 * mm, leftPadding=0, rightPadding=0, id="f")
        doc = Doc(target, pagesize=A4, title=manuale_qualita.TITLE, author=AUTHOR, lang="it",
                  subject=manuale_qualita.DOCUMENT, invariant=1)
        doc.addPageTemplates([PageTemplate("cover", [frame], onPage=cover), PageTemplate("pages", [frame], onPage=decorate)])
        story = [NextPageTemplate("pages"), Spacer(1, 85 * mm), Paragraph(manuale_qualita.TITLE, ParagraphStyle("t", parent=TITLE, fontSize=34, leading=40)),
                 Spacer(1, 3 * mm), Paragraph(manuale_qualita.SUBTITLE, ParagraphStyle("s", parent=SUBTITLE, fontSize=15, leading=20)),
                 Spacer(1, 10 * mm), Paragraph(manuale_qualita.DOCUMENT, SUBTITLE), PageBreak(),
                 Paragraph("Stato delle revisioni", ParagraphStyle("rev", parent=h1)),
                 table(manuale_qualita.REVISIONS, [14 * mm, 36 * mm, text_width - 50 * mm], 9), Spacer(1, 8 * mm),
                 Paragraph("Avvertenza", ParagraphStyle("avv", parent=h1))]
        story += flow(manuale_qualita.FRONT, styles, [], 9)
        story += [PageBreak(), Paragraph("Indice", ParagraphStyle("ind", parent=h1))]
        entries = [[Paragraph(text, toc), Paragraph(str(started.get(text, 0) - front_pages), ParagraphStyle("n", parent=toc, alignment=2))]
                   for kind, text in manuale_qualita.BODY if kind == "h1"]
        index = Table(entries, colWidths=[text_width - 15 * mm, 15 * mm])
        index.setStyle(TableStyle([("LINEBELOW", (0, 0), (-1, -1), 0.3, RULE), ("LEFTPADDING", (0, 0), (-1, -1), 0),
                                   ("RIGHTPADDING", (0, 0), (-1, -1), 0), ("TOPPADDING", (0, 0), (-1, -1), 1),
                                   ("BOTTOMPADDING", (0, 0), (-1, -1), 3)]))
        story += [index, PageBreak()]
        widths = [16 * mm, text_width - 86 * mm, 36 * mm, 34 * mm]
        story += flow(manuale_qualita.BODY, styles, widths, 9)
        doc.build(story)

    build(io.BytesIO())
    build(str(path))


# ---------------------------------------------------------------- Word

FOOTNOTES = ('<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
             '<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
             '<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>'
             '<w:footnote w:type="continuationSeparator" w:id="0"><w:p><w:r><w:continuationSeparator/></w:r></w:p></w:footnote>'
             "{notes}</w:footnotes>")
FOOTNOTE = ('<w:footnote w:id="{id}"><w:p><w:r><w:rPr><w:vertAlign w:val="superscript"/><w:sz w:val="18"/></w:rPr><w:footnoteRef/></w:r>'
            '<w:r><w:rPr><w:sz w:val="18"/></w:rPr><w:t xml:space="preserve"> {text}</w:t></w:r></w:p></w:footnote>')


def add_text(paragraph, text: str) -> None:
    """Text with {fn1} marks, which become references to footnotes."""
    parts = text.split("{fn")
    paragraph.add_run(parts[0])
    for part in parts[1:]:
        number, rest = part.split("}", 1)
        run = paragraph.add_run()
        run.font.superscript = True
        reference = OxmlElement("w:footnoteReference")
        reference.set(qn("w:id"), number)
        run._r.append(reference)
        if rest:
            paragraph.add_run(rest)


def word(path: Path, content: dict, language: str) -> None:
    doc = Document()
    core = doc.core_properties
    core.title, core.author, core.last_modified_by, core.comments = content["title"], AUTHOR, AUTHOR, ""
    core.created = core.modified = STAMP
    core.language, core.revision = language, 1
    normal = doc.styles["Normal"]
    normal.font.name, normal.font.size = "Calibri", Pt(11)
    normal.paragraph_format.space_after = Pt(7)
    for name in ("Title", "Heading 1"):
        doc.styles[name].font.color.rgb = RGBColor(0x12, 0x50, 0x6B)
    doc.sections[0].header.paragraphs[0].text = f"Risorgiva – {content['title']}"
    doc.add_paragraph(content["title"], style="Title")
    for text in content["intro"]:
        add_text(doc.add_paragraph(), text)
    for kind, value in content["body"]:
        if kind == "h":
            doc.add_paragraph(value, style="Heading 1")
        elif kind == "li":
            doc.add_paragraph(value, style="List Bullet")
        elif kind == "table":
            made = doc.add_table(rows=0, cols=len(value[0]), style="Light Grid Accent 1")
            made.alignment = WD_TABLE_ALIGNMENT.CENTER
            for row in value:
                for target, text in zip(made.add_row().cells, row, strict=True):
                    target.text = text
            doc.add_paragraph()
        else:
            add_text(doc.add_paragraph(), value)
    if content["footnotes"]:
        notes = "".join(FOOTNOTE.format(id=i, text=escape(t)) for i, t in enumerate(content["footnotes"], 1))
        part = Part(PackURI("/word/footnotes.xml"), CONTENT_TYPE.WML_FOOTNOTES, FOOTNOTES.format(notes=notes).encode(),
                    doc.part.package)
        doc.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
    buffer = io.BytesIO()
    doc.save(buffer)
    write_zip(path, buffer)


def write_zip(path: Path, buffer: io.BytesIO) -> None:
    """The same members with one fixed time, in the same order."""
    with zipfile.ZipFile(buffer) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            info = zipfile.ZipInfo(name, (2026, 3, 2, 9, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            info.create_system = 3
            data = source.read(name)
            if name == "docProps/core.xml":
                data = re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>2026-03-02T09:00:00Z", data)
            target.writestr(info, data)


# ---------------------------------------------------------------- Excel

def workbook(path: Path, title: str, sheets: list[tuple[str, str | None, list[list], list[int]]]) -> None:
    book = Workbook()
    book.remove(book.active)
    book.properties.title, book.properties.creator, book.properties.lastModifiedBy = title, AUTHOR, AUTHOR
    book.properties.created = book.properties.modified = STAMP
    for name, heading, rows, widths in sheets:
        sheet = book.create_sheet(name)
        first = 1
        if heading:
            sheet.cell(1, 1, heading).font = Font(bold=True, size=14, color="12506B")
            first = 3
        for r, row in enumerate(rows, first):
            for c, value in enumerate(row, 1):
                made = sheet.cell(r, c, value if value != "" else None)
                made.alignment = Alignment(wrap_text=True, vertical="top")
                if r == first:
                    made.font = Font(bold=True)
                    made.fill = PatternFill("solid", fgColor="E7F0F3")
        for letter, size in zip("ABCDEFGHIJ", widths, strict=False):
            sheet.column_dimensions[letter].width = size
        sheet.freeze_panes = f"A{first + 1}"
    buffer = io.BytesIO()
    book.save(buffer)
    write_zip(path, buffer)


def main() -> None:
    sampling_manual_pdf(HANDBOOK / "quality/sampling-manual.pdf")
    manuale_qualita_pdf(HANDBOOK / "quality/manuale-qualita.pdf")
    word(HANDBOOK / "people/lavoro-agile.docx", documents.LAVORO_AGILE, "it-IT")
    word(HANDBOOK / "operations/purchasing-guide.docx", documents.PURCHASING, "en-GB")
    word(HANDBOOK / "private/board/board-minutes-2026-09.docx", documents.BOARD_MINUTES, "en-GB")
    workbook(HANDBOOK / "quality/methods-and-prices.xlsx", "Methods and prices 2026", [
        ("Methods", None, workbooks.METHODS, [12, 42, 32, 18, 22, 14, 24]),
        ("Tariffe 2026", "Tariffe per i privati e le piccole imprese, anno 2026", workbooks.TARIFFE, [12, 28, 60, 14, 20, 18]),
        ("Note", None, workbooks.NOTE_TARIFFE, [20, 80]),
    ])
    workbook(HANDBOOK / "private/hr/salary-bands-2026.xlsx", "Salary bands 2026", [
        ("Italia", "Fasce retributive 2026 – riservato all'Ufficio Risorse umane", workbooks.SALARY_IT, [10, 36, 28, 32]),
        ("United Kingdom", "Salary bands 2026 – confidential to Human Resources", workbooks.SALARY_UK, [10, 36, 28, 32]),
        ("Rules", None, workbooks.SALARY_RULES, [18, 90]),
    ])


if __name__ == "__main__":
    main()
