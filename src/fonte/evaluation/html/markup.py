"""HTML of one file that needs nothing else: every text escaped, no script, a policy that lets nothing be fetched.

What is written is well-formed XML as well, so that it can be checked strictly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1b;
  background: #fff }
h1, h2, h3 { line-height: 1.2 }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto }
th, td { border-bottom: 1px solid #ccc; padding: .3rem .7rem; text-align: left; vertical-align: top }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
figure { margin: 1.5rem 0 } svg { max-width: 100%; height: auto }
figcaption, .note { color: #444; font-size: .92rem }
details { border: 1px solid #ccc; border-radius: .4rem; padding: .4rem .8rem; margin: .4rem 0 }
summary { cursor: pointer } blockquote { margin: .3rem 0 .6rem 1rem; white-space: pre-wrap; color: #333 }
.better, .right { color: #00603f } .worse, .wrong { color: #a03800 } .cannot_tell, .not_built { color: #555 }
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
    """A table of text; all columns from the ``numbers``-th on (from 1) stand to the right, none where it is 0."""

    def cells(kind: str, row: Sequence[object]) -> str:
        return "".join(
            tag(kind, text(value), "n" if numbers and at >= numbers else "") for at, value in enumerate(row, start=1)
        )

    head = tag("thead", tag("tr", cells("th", headings)))
    return tag("table", head + tag("tbody", "".join(tag("tr", cells("td", row)) for row in rows)))


def figure(svg: str, caption: str) -> str:
    """A drawing with what it shows."""
    return tag("figure", svg + tag("figcaption", text(caption)))


def opening(summary: str, inner: str, kind: str = "") -> str:
    """What opens at a click; both are HTML that is safe already."""
    return tag("details", tag("summary", summary) + inner, kind)


def quote(value: str, most: int) -> str:
    """A passage, cut where it is long."""
    return tag("blockquote", text(value if len(value) <= most else value[:most] + " …"))


def page(title: str, parts: Iterable[str]) -> str:
    """The whole file."""
    head = (
        '<meta charset="utf-8"/>'
        f'<meta http-equiv="Content-Security-Policy" content="{text(POLICY)}"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        '<meta name="referrer" content="no-referrer"/>'
        f"<title>{text(title)}</title><style>{_STYLE}</style>"
    )
    body = "\n".join([tag("h1", text(title)), *parts])
    return (
        '<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" lang="en">'
        f"<head>{head}</head>\n<body>{tag('main', body)}</body></html>\n"
    )
