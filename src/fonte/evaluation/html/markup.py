"""HTML of one file that needs nothing else: every text escaped, a policy that lets nothing be fetched.

A page has no script, but for one of our own that its policy names by its hash.

What is written is well-formed XML as well, so that it can be checked strictly.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from html import escape

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """
:root { color-scheme: only light }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1b;
  background: #fff; overflow-wrap: anywhere }
h1, h2, h3 { line-height: 1.2; break-after: avoid } h2 { margin-top: 2rem }
.wide { overflow-x: auto; margin: 1rem 0 } table { border-collapse: collapse }
th, td { border-bottom: 1px solid #ccc; padding: .3rem .6rem; text-align: left; vertical-align: top;
  overflow-wrap: normal; min-width: 3rem; max-width: 30rem }
th { vertical-align: bottom } td { overflow-wrap: break-word } td:first-child { min-width: 6rem }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums } td.n { white-space: nowrap }
figure { margin: 1.5rem 0 } svg { width: 100%; max-width: 36rem; height: auto }
figcaption, .note { color: #444; font-size: .92rem }
details { border: 1px solid #ccc; border-radius: .4rem; padding: .4rem .8rem; margin: .4rem 0 }
summary { cursor: pointer } blockquote { margin: .3rem 0 .6rem; padding-left: .8rem; border-left: 3px solid #ccc;
  white-space: pre-wrap; color: #333 }
.right { color: #00603f } .wrong { color: #a03800 }
@media (max-width: 40rem) { body { margin: 1rem auto } table { font-size: .85rem } th, td { padding: .3rem .4rem } }
@media print { body { margin: 0; max-width: none } figure, tr, blockquote { break-inside: avoid }
  .wide { overflow: visible } table { font-size: .8rem } }
"""
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")


def text(value: object) -> str:
    """Escaped, without control characters and without marks that turn the writing direction."""
    return escape(_FORBIDDEN.sub("\ufffd", str(value)))


def tag(name: str, inner: str, kind: str = "") -> str:
    """An element around HTML that is safe already."""
    return f'<{name} class="{text(kind)}">{inner}</{name}>' if kind else f"<{name}>{inner}</{name}>"


def paragraph(value: object, kind: str = "") -> str:
    """A paragraph of text."""
    return tag("p", text(value), kind)


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: int = 0) -> str:
    """A table of text; all columns from the ``numbers``-th on (from 1) stand to the right, none where it is 0.

    Without a heading that says something it has no row of headings. A wide one is scrolled within the page.
    """

    def cells(kind: str, row: Sequence[object]) -> str:
        return "".join(
            tag(kind, text(value), "n" if numbers and at >= numbers else "") for at, value in enumerate(row, start=1)
        )

    head = tag("thead", tag("tr", cells("th", headings))) if any(headings) else ""
    return tag("div", tag("table", head + tag("tbody", "".join(tag("tr", cells("td", row)) for row in rows))), "wide")


def figure(svg: str, caption: str) -> str:
    """A drawing with what it shows, which is also read to whom does not see it."""
    named = svg.replace("<svg ", f'<svg role="img" aria-label="{text(caption)}" ', 1)
    return tag("figure", named + tag("figcaption", text(caption)))


def opening(summary: str, inner: str, kind: str = "") -> str:
    """What opens at a click; both are HTML that is safe already."""
    return tag("details", tag("summary", summary) + inner, kind)


def quote(value: str, most: int) -> str:
    """A passage, cut where it is long."""
    return tag("blockquote", text(value if len(value) <= most else value[:most] + " …"))


def page(title: str, parts: Iterable[str], *, script: str = "", style: str = "") -> str:
    """The whole file; one with a script may also show pictures that it holds itself.

    The script is ours and holds neither ``<`` nor ``&``, so that HTML and XML read it alike.
    """
    policy = POLICY
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
        policy += f"; img-src data:; script-src 'sha256-{digest}'"
    head = (
        '<meta charset="utf-8"/>'
        f'<meta http-equiv="Content-Security-Policy" content="{text(policy)}"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        '<meta name="referrer" content="no-referrer"/>'
        f"<title>{text(title)}</title><style>{_STYLE}{style}</style>"
    )
    body = "\n".join([tag("h1", text(title)), *parts])
    return (
        '<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" lang="en">'
        f"<head>{head}</head>\n<body>{tag('main', body)}{tag('script', script) if script else ''}</body></html>\n"
    )
