"""The page on which a person judges what was read of documents: extraction beside page pictures or sources.

It needs nothing else, fetches nothing, and its one script (whose hash the policy names) counts verdicts and gives them
as a file. Nothing of a document gets into that script.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from fonte.evaluation.html.markup import page, paragraph, tag, text
from fonte.types import BlockKind, Box, Document, DocumentState, Picture

VERDICTS: Final = ("right", "wrong", "cannot tell")
_SHOWN_LOSSES: Final = 12
_SCRIPT: Final = """
const cards = [...document.querySelectorAll('section.card')];
const chosen = card => card.querySelector('input:checked');
const count = () => { document.getElementById('judged').textContent = cards.filter(chosen).length; };
document.addEventListener('change', count);
document.getElementById('save').addEventListener('click', () => {
  const verdicts = cards.map(card => ({
    document_id: card.dataset.id, document_name: card.dataset.name, source_version: card.dataset.version,
    verdict: chosen(card) ? chosen(card).value : null, note: card.querySelector('textarea').value,
  }));
  const sample = JSON.parse(document.getElementById('sample').dataset.sample);
  const body = JSON.stringify({sample, verdicts}, null, 1);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([body], {type: 'application/json'}));
  link.download = 'fonte-verdicts.json';
  link.click();
});
count();
"""
_STYLE: Final = """
body { max-width: 90rem } .card { border-top: 2px solid #1b1b1b; margin-top: 2.5rem }
.card h2 { margin: .8rem 0 .2rem } .card h3 { margin: 1.2rem 0 .4rem; font-size: 1rem }
.pair { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem }
@media (min-width: 60rem) { .pair { grid-template-columns: repeat(2, minmax(0, 1fr)); align-items: start } }
.read { border: 1px solid #ccc; border-radius: .4rem; padding: .4rem .8rem; min-width: 0 }
.read > * { margin: .35rem 0 } .block { display: grid; grid-template-columns: 2.4rem minmax(0, 1fr); gap: .4rem }
.block p { margin: 0; white-space: pre-wrap } .no { color: #444; font-variant-numeric: tabular-nums; font-size: .8rem;
  padding-top: .15rem } .place { color: #555; font-size: .8rem } .kind-code p { font-family: ui-monospace, monospace;
  font-size: .85rem } .kind-heading p { font-weight: 700 }
.level-1 p { font-size: 1.25rem } .level-2 p { font-size: 1.1rem }
.kind-caption p, .kind-note p { font-style: italic } .kind-list_item p { padding-left: 1rem }
.read { font-size: .95rem } .read table { font-size: .88rem } .read .wide { margin: .6rem 0 }
.read td:first-child, .read th:first-child { min-width: 1.4rem; padding-left: 0 }
.read tr > :last-child { min-width: 0 }
.seen svg { display: block; max-width: 100%; border: 1px solid #888; background: #fff; box-sizing: border-box }
@media (min-width: 60rem) { .seen { position: sticky; top: 4rem } }
.seen rect { fill: none; stroke-width: 1; vector-effect: non-scaling-stroke } .seen .mark { stroke: none }
.seen svg text { fill: #fff; font: 700 1px system-ui, sans-serif }
pre { white-space: pre-wrap; border: 1px solid #ccc; border-radius: .4rem; padding: .6rem .8rem; margin: 0;
  font-size: .82rem; background: #fafafa; overflow-wrap: anywhere }
fieldset { border: 1px solid #888; border-radius: .4rem; margin: 1rem 0; display: flex; flex-wrap: wrap;
  gap: .4rem 1.2rem; align-items: center } fieldset label { padding: .3rem 0 } textarea { font: inherit; width: 100%;
  min-height: 2.6rem; box-sizing: border-box } .full { flex-basis: 100% }
.losses { margin: .3rem 0; padding-left: 1.2rem }
.bar { position: sticky; top: 0; background: #fff; border-bottom: 1px solid #ccc; padding: .5rem 0; z-index: 1 }
button { font: inherit; padding: .4rem .9rem; margin-right: .8rem }
@media (max-width: 40rem) { .bar { position: static } }
@media print { .bar { display: none } .pair { grid-template-columns: repeat(2, minmax(0, 1fr)) } }
"""
_COLORS: Final[Mapping[BlockKind, str]] = {
    BlockKind.HEADING: "#a03800",
    BlockKind.ROW: "#00603f",
    BlockKind.CAPTION: "#6b3fa0",
    BlockKind.NOTE: "#6b3fa0",
    BlockKind.CODE: "#444444",
}
_USUAL_COLOR: Final = "#1f4fa3"
_LETTER: Final = 62
"""Into how many lines of numbers the longer side of a page would go."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A block of the text: what, where in text and original, and its boxes on the page that is shown."""

    kind: BlockKind
    text: str
    start: int
    end: int
    place: str
    level: int = 0
    table: int | None = None
    header: bool = False
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """One page, or the beginning of a document without pages: what was read, and the picture or source beside it."""

    title: str
    blocks: tuple[Shown, ...]
    picture: Picture | None = None
    raw: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A document to be judged: what is known to be missing or doubtful, what was left out on purpose or remarked.

    ``fault`` says why its source is not shown.
    """

    state: DocumentState
    document: Document | None
    views: tuple[View, ...]
    lost: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    fault: str = ""


def sample_page(documents: Sequence[Judged], sample: Mapping[str, object]) -> str:
    """The whole page; ``sample`` says what was drawn, and is given back with the verdicts."""
    parts = ["".join(_top(documents, sample)), *(_card(number, one) for number, one in enumerate(documents, 1))]
    return page("fonte documents: a sample to judge", parts, script=_SCRIPT, style=_STYLE)


def _top(documents: Sequence[Judged], sample: Mapping[str, object]) -> Iterator[str]:
    yield paragraph(
        "Beside each page stands what was read of it. Is every word there, in the order in which it is to be read, are "
        "headings, tables and lists what they are? Boxes show where each numbered block was found. What is known to be "
        "missing is named in red. Choose a verdict for each document and save them: the file is yours, nothing is sent."
    )
    data = text(json.dumps(dict(sample), ensure_ascii=False))
    told = f'<span id="judged">0</span> of {len(documents)} judged'
    yield f'<div class="bar" id="sample" data-sample="{data}"><button type="button" id="save">Save verdicts</button>'
    yield f'<span role="status">{told}</span></div>'


def _card(number: int, one: Judged) -> str:
    state = one.state
    known = f'data-id="{text(state.document_id)}" data-name="{text(state.name)}" data-version="{text(state.version)}"'
    inner = "".join(
        [tag("h2", f"{number}. {text(state.name)}"), *_facts(one), *map(_view, one.views), _verdict(number, state.name)]
    )
    return f'<section class="card" {known}>{inner}</section>'


def _facts(one: Judged) -> Iterator[str]:
    state, document = one.state, one.document
    facts = [state.status.value, state.stamp.extractor if state.stamp else "", state.language]
    facts += [f"{state.chunks} chunks"] if state.chunks else []
    facts += [f"{len(document.text):,} characters"] if document is not None else []
    yield paragraph(" · ".join(filter(None, facts)), "note")
    for said, losses, kind in (
        ("Known to be missing or doubtful:", one.lost, "wrong"),
        ("Left out on purpose, or remarked:", one.remarks, "note"),
    ):
        if losses:
            more = [f"and {len(losses) - _SHOWN_LOSSES} more"] if len(losses) > _SHOWN_LOSSES else []
            items = "".join(tag("li", text(loss)) for loss in [*losses[:_SHOWN_LOSSES], *more])
            yield paragraph(said, kind) + tag("ul", items, f"losses {kind}")
    if one.fault:
        yield paragraph(one.fault, "wrong")


def _view(view: View) -> str:
    read = tag("div", _extraction(view.blocks) or paragraph("Nothing was read.", "wrong"), "read")
    seen = []
    if view.picture is not None:
        seen.append(_drawing(view, view.picture))
    if view.raw is not None:
        seen.append(tag("pre", text(view.raw)))
    if view.note:
        seen.append(paragraph(view.note, "wrong"))
    return tag("h3", text(view.title)) + tag("div", read + tag("div", "".join(seen), "seen"), "pair")


def _extraction(blocks: Sequence[Shown]) -> str:
    """Blocks in order, rows of one table together as a table."""
    numbered = list(enumerate(blocks, 1))
    parts = []
    for table, some in groupby(numbered, key=lambda one: one[1].table if one[1].kind is BlockKind.ROW else None):
        rows = list(some)
        parts += [_table(rows)] if table is not None else [_block(number, one) for number, one in rows]
    return "".join(parts)


def _block(number: int, one: Shown) -> str:
    level = f" level-{one.level}" if one.level else ""
    where = f"{one.kind.value.replace('_', ' ')} · {one.place + ' · ' if one.place else ''}{one.start}–{one.end}"
    inner = paragraph(one.text) + tag("span", text(where), "place")
    return tag("div", tag("span", str(number), "no") + tag("div", inner), f"block kind-{one.kind.value}{level}")


def _table(rows: Sequence[tuple[int, Shown]]) -> str:
    names: list[str] = []
    head: list[str] = []
    body: list[str] = []
    for number, row in rows:
        if row.header:
            names = row.text.split(" | ")
        cells = names if row.header else cells_of(row.text, names)
        width = max(len(names), 1)
        span = f' colspan="{width}"' if len(cells) == 1 and width > 1 else ""
        kind = "th" if row.header else "td"
        inner = "".join(f"<{kind}{span}>{text(cell)}</{kind}>" for cell in cells)
        place = tag("span", text(row.place), "place")
        line = tag("tr", tag("td", tag("span", str(number), "no")) + inner + tag("td", place))
        (head if row.header and not body else body).append(line)
    inside = (tag("thead", "".join(head)) if head else "") + (tag("tbody", "".join(body)) if body else "")
    return tag("div", tag("table", inside), "wide")


def cells_of(row: str, names: Sequence[str]) -> list[str]:
    """The cells of ``A: v1; B: v2`` by its column names, or of ``v1 | v2``; the whole row where it is neither."""
    found: list[tuple[int, int, int]] = []
    at = 0
    for column, name in enumerate(names):
        mark = f"{name}: "
        start = row.find(f"; {mark}", at) if found else 0 if row.startswith(mark) else -1
        if start >= 0:
            at = start + len(mark) + (len("; ") if found else 0)
            found.append((column, start, at))
    if not found:
        return row.split(" | ") if not names or row.count(" | ") + 1 == len(names) else [row]
    cells = [""] * len(names)
    for (column, _, start), after in zip(found, [*(one[1] for one in found[1:]), len(row)], strict=True):
        cells[column] = row[start:after]
    return cells


def _drawing(view: View, picture: Picture) -> str:
    """The page's picture with the boxes of its blocks over it, as its lines are read.

    Boxes broader than high are lines that stand upright on the page as it is stored; without such ones the page is
    turned as viewers turn it.
    """
    wide, high = picture.width, picture.height
    boxes = [box for one in view.blocks for box in one.boxes]
    upright = 2 * sum(x1 - x0 > y1 - y0 for x0, y0, x1, y1 in boxes) > len(boxes)
    rotation = 0 if upright else picture.rotation
    turned = {
        0: "",
        90: f"translate({high:.1f} 0) rotate(90)",
        180: f"translate({wide:.1f} {high:.1f}) rotate(180)",
        270: f"translate(0 {wide:.1f}) rotate(270)",
    }[rotation]
    frame = (high, wide) if rotation in (90, 270) else (wide, high)
    boxed = sum(bool(one.boxes) for one in view.blocks)
    called = f"{view.title}, with the boxes of {boxed} blocks"
    data = base64.b64encode(picture.jpeg).decode("ascii")
    image = f'<image width="{wide:.1f}" height="{high:.1f}" href="data:image/jpeg;base64,{data}"/>'
    marks = "".join(_marks(number, one, picture) for number, one in enumerate(view.blocks, 1))
    inner = f'<g transform="{turned}">{image}{marks}</g>' if turned else f"<g>{image}{marks}</g>"
    view_box = f"0 0 {frame[0]:.1f} {frame[1]:.1f}"
    known = f'xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{text(called)}" viewBox="{view_box}"'
    return f"<svg {known}>{inner}</svg>"


def _marks(number: int, one: Shown, picture: Picture) -> str:
    """The boxes of a block, and its number at the upper left corner of the first."""
    if not one.boxes:
        return ""
    color, size = _COLORS.get(one.kind, _USUAL_COLOR), max(picture.width, picture.height) / _LETTER
    drawn = "".join(
        f'<rect x="{x0:.1f}" y="{picture.height - y1:.1f}" width="{max(x1 - x0, 0.1):.1f}"'
        f' height="{max(y1 - y0, 0.1):.1f}" stroke="{color}"/>'
        for x0, y0, x1, y1 in one.boxes
    )
    broad = size * (0.5 + 0.6 * len(str(number)))
    left = max(one.boxes[0][0] - broad - size / 6, 0.0)
    top = min(max(picture.height - one.boxes[0][3], 0.0), picture.height - size)
    at = f'x="{left:.1f}" y="{top:.1f}" width="{broad:.1f}" height="{size:.1f}"'
    flag = f'<rect class="mark" {at} style="fill:{color}"/>'
    at = f'x="{left + size / 5:.1f}" y="{top + 0.8 * size:.1f}"'
    said = f'<text {at} style="font-size:{0.85 * size:.1f}px">{number}</text>'
    return drawn + flag + said


def _verdict(number: int, name: str) -> str:
    choices = "".join(
        f'<label><input type="radio" name="verdict-{number}" value="{text(one)}"/> {text(one)}</label>'
        for one in VERDICTS
    )
    note = f'<label class="full">What is wrong<textarea rows="2" name="note-{number}"></textarea></label>'
    return tag("fieldset", tag("legend", f"What was read of {text(name)} is") + choices + note)
