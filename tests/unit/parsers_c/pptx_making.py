"""PPTX files made by hand: what a test wants of them and nothing else."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

_NS = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
INCH = 914_400


def rels(entries: Mapping[str, tuple[str, str]]) -> str:
    """A relations part: id -> (kind, target)."""
    inside = "".join(
        f'<Relationship Id="{key}" Type="{_RELATION}/{kind}" Target="{target}"/>'
        for key, (kind, target) in entries.items()
    )
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{inside}</Relationships>'
    )


def frame(x: float, y: float, width: float = 2, height: float = 1, tag: str = "a:xfrm") -> str:
    return (
        f'<{tag}><a:off x="{int(x * INCH)}" y="{int(y * INCH)}"/>'
        f'<a:ext cx="{int(width * INCH)}" cy="{int(height * INCH)}"/></{tag}>'
    )


def text(*paragraphs: str, tag: str = "p:txBody") -> str:
    inside = "".join(
        f"<a:p>{one if one.startswith('<') else f'<a:r><a:t>{one}</a:t></a:r>'}</a:p>" for one in paragraphs
    )
    return f"<{tag}><a:bodyPr/>{inside}</{tag}>"


def shape(
    *paragraphs: str, at: tuple[float, ...] | None = None, ph: str | None = None, named: str = "Shape", extra: str = ""
) -> str:
    where = frame(*at) if at else ""
    holder = "" if ph is None else f"<p:ph {ph}/>"
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="{named}"{extra}/><p:cNvSpPr/><p:nvPr>{holder}</p:nvPr></p:nvSpPr>'
        f"<p:spPr>{where}</p:spPr>{text(*paragraphs)}</p:sp>"
    )


def title(said: str, kind: str = "title") -> str:
    return shape(said, ph=f'type="{kind}"')


def picture(description: str, at: tuple[float, ...] = (0, 0)) -> str:
    return (
        f'<p:pic><p:nvPicPr><p:cNvPr id="3" name="Picture" descr="{description}"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr>'
        f"<p:spPr>{frame(*at)}</p:spPr></p:pic>"
    )


def graphic(inside: str, at: tuple[float, ...] = (1, 3), uri: str = "x") -> str:
    return (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="4" name="Thing"/><p:cNvGraphicFramePr/><p:nvPr/>'
        f"</p:nvGraphicFramePr>{frame(*at, tag='p:xfrm')}"
        f'<a:graphic><a:graphicData uri="{uri}">{inside}</a:graphicData></a:graphic></p:graphicFrame>'
    )


def table(rows: Sequence[Sequence[str]], *, first_row: bool = True, marks: Mapping[tuple[int, int], str] = {}) -> str:
    """A table; ``marks`` gives attributes of cells by (row, column)."""
    inside = "".join(
        "<a:tr h='1'>"
        + "".join(
            f"<a:tc {marks.get((row, column), '')}>{text(cell, tag='a:txBody')}</a:tc>"
            for column, cell in enumerate(cells)
        )
        + "</a:tr>"
        for row, cells in enumerate(rows)
    )
    return graphic(f'<a:tbl><a:tblPr firstRow="{int(first_row)}"/>{inside}</a:tbl>')


def group(*shapes: str, at: tuple[float, ...]) -> str:
    return (
        '<p:grpSp><p:nvGrpSpPr><p:cNvPr id="5" name="Group"/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr>'
        f"<p:grpSpPr>{frame(*at)}</p:grpSpPr>{''.join(shapes)}</p:grpSp>"
    )


def slide(*shapes: str, hidden: bool = False) -> str:
    show = ' show="0"' if hidden else ""
    return f"<p:sld {_NS}{show}><p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld></p:sld>"


def part(root: str, inside: str) -> str:
    """Any part: its root element with all namespaces."""
    return f"<{root} {_NS}>{inside}</{root}>"


def deck(
    *slides: str,
    parts: Mapping[str, str | bytes] | None = None,
    relations: Mapping[int, Mapping[str, tuple[str, str]]] | None = None,
    title_said: str | None = None,
) -> bytes:
    """A presentation of these slides (written as ``slide`` gives them).

    ``relations`` are those of slides, by number from 1; ``parts`` are added as they are.
    """
    data = io.BytesIO()
    ids = "".join(f'<p:sldId id="{255 + number}" r:id="rId{number}"/>' for number in range(1, len(slides) + 1))
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("[Content_Types].xml", "<Types/>")
        package.writestr("_rels/.rels", rels({"rId1": ("officeDocument", "ppt/presentation.xml")}))
        package.writestr(
            "ppt/presentation.xml", f"<p:presentation {_NS}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"
        )
        package.writestr(
            "ppt/_rels/presentation.xml.rels",
            rels({f"rId{number}": ("slide", f"slides/slide{number}.xml") for number in range(1, len(slides) + 1)}),
        )
        for number, one in enumerate(slides, 1):
            package.writestr(f"ppt/slides/slide{number}.xml", one)
            if relations and number in relations:
                package.writestr(f"ppt/slides/_rels/slide{number}.xml.rels", rels(relations[number]))
        if title_said:
            package.writestr(
                "docProps/core.xml",
                f'<x xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title_said}</dc:title></x>',
            )
        for name, content in (parts or {}).items():
            package.writestr(name, content)
    return data.getvalue()
