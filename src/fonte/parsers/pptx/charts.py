"""Charts and diagrams: what the package keeps of their data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fonte.parsers.pptx.names import a, c, dgm
from fonte.parsers.pptx.text import paragraphs
from fonte.parsers.tables import one_line

if TYPE_CHECKING:
    from lxml.etree import _Element

_MAX_POINTS = 100_000
_STRUCTURE = frozenset({"pres", "parTrans", "sibTrans"})


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart's title and its data as tables, names of the series in the first row of each."""

    title: str
    tables: tuple[tuple[tuple[str, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class _Series:
    name: str
    categories: dict[int, str]
    values: dict[int, str]


def read_chart(root: _Element) -> Chart:
    """The chart of a chart part: series with the same categories stand in one table."""
    chart = root.find(c("chart"))
    title = chart.find(c("title")) if chart is not None else None
    axis = next((found for kind in ("catAx", "dateAx") for found in root.iter(c(kind))), None)
    label = _words(axis.find(c("title"))) if axis is not None else ""
    groups: list[tuple[dict[int, str], list[_Series]]] = []
    for element in root.iter(c("ser")):
        series = _series(element)
        for categories, members in groups:
            if categories == series.categories:
                members.append(series)
                break
        else:
            groups.append((series.categories, [series]))
    tables = tuple(_table(label, categories, members) for categories, members in groups)
    return Chart(_words(title), tuple(table for table in tables if len(table) > 1))


def _table(label: str, categories: dict[int, str], members: list[_Series]) -> tuple[tuple[str, ...], ...]:
    indexes = sorted(set(categories).union(*(one.values for one in members)))
    head = (label, *(one.name for one in members))
    rows = ((categories.get(index, ""), *(one.values.get(index, "") for one in members)) for index in indexes)
    return (head, *rows)


def _series(element: _Element) -> _Series:
    name = element.find(c("tx"))
    said = "" if name is None else one_line(" ".join(part.text or "" for part in name.iter(c("v"))))
    return _Series(said, _points(element, "cat", "xVal"), _points(element, "val", "yVal"))


def _points(element: _Element, *kinds: str) -> dict[int, str]:
    """Cached values by index; of several levels of categories, those of one point joined, the outer first."""
    holder = next((found for kind in kinds if (found := element.find(c(kind))) is not None), None)
    if holder is None:
        return {}
    levels = list(holder.iter(c("lvl")))[::-1] or [holder]
    code = holder.find(f".//{c('formatCode')}")
    percent = code is not None and "%" in (code.text or "")
    points: dict[int, str] = {}
    for level in levels:
        running = ""
        said: dict[int, str] = {
            int(key): _number(one_line(point.findtext(c("v")) or ""), percent=percent)
            for point in level.iter(c("pt"))
            if (key := point.get("idx", "")).isdecimal()
        }
        wanted = set(said) if level is levels[-1] else {*said, *range(_count(holder))}
        for index in sorted(wanted)[:_MAX_POINTS]:
            running = said.get(index, running)
            points[index] = f"{points[index]} {running}" if points.get(index) else running
    return points


def _count(holder: _Element) -> int:
    count = holder.find(f".//{c('ptCount')}")
    said = "" if count is None else count.get("val", "")
    return min(int(said), _MAX_POINTS) if said.isdecimal() else 0


def _number(text: str, *, percent: bool) -> str:
    """A stored number as it is shown: no digits that only binary fractions have, percents as percents."""
    try:
        value = float(text)
    except ValueError:
        return text
    if percent:
        return f"{value * 100:.10g}%"
    return text if text.lstrip("-").isdecimal() else f"{value:.12g}"


def _words(element: _Element | None) -> str:
    """Rich or cached text below an element."""
    if element is None:
        return ""
    return one_line(" ".join(part.text or "" for part in element.iter(a("t"), c("v"))))


def diagram_texts(root: _Element) -> list[str]:
    """The texts of a diagram's nodes, in the order in which they are kept."""
    texts = []
    for point in root.iter(dgm("pt")):
        body = point.find(dgm("t"))
        if body is not None and point.get("type", "node") not in _STRUCTURE:
            text = "\n".join(part.text for part in paragraphs(body))
            texts += [text] if text else []
    return texts
