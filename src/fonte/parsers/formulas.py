"""Office formulas (OMML) as LaTeX: a fraction, a power or a root that is written flat would say something else.

Letters and signs stay as they are (π, ∞, ±); only structure is spelled. ECMA-376, part 1, clause 22.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fonte.parsers.ooxml import local

if TYPE_CHECKING:
    from collections.abc import Callable

    from lxml.etree import _Element

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MAX_DEPTH = 60
_LARGE = {"∑": "\\sum", "∏": "\\prod", "∐": "\\coprod", "∫": "\\int", "∬": "\\iint", "∭": "\\iiint", "∮": "\\oint"}
_LARGE |= {"⋃": "\\bigcup", "⋂": "\\bigcap", "⋁": "\\bigvee", "⋀": "\\bigwedge"}
_ACCENTS = {"\u0302": "\\hat", "\u0303": "\\tilde", "\u0304": "\\bar", "\u0305": "\\bar", "\u0307": "\\dot"}
_ACCENTS |= {"\u0308": "\\ddot", "\u20d7": "\\vec", "\u0301": "\\acute", "\u0300": "\\grave", "\u030c": "\\check"}
_SPELLED = frozenset("\\^_{")


def formula(element: _Element) -> str:
    """A formula's text; between ``$`` where it has structure. Nothing of it is left out but beyond 60 levels."""
    said = " ".join(_all(element, 0).split())
    return f"${said}$" if not _SPELLED.isdisjoint(said) else said


def _all(element: _Element, depth: int) -> str:
    return "".join(_one(child, depth + 1) for child in element)


def _one(element: _Element, depth: int) -> str:
    tag, name = element.tag, local(element.tag)
    if not name or name.endswith("Pr"):
        return ""
    if name == "t":
        return element.text or ""
    if depth > _MAX_DEPTH:
        return "".join(_texts(element))
    spell = _FORMS.get(name) if tag.startswith(_M) else None
    return spell(element, depth) if spell is not None else _all(element, depth)


def _texts(element: _Element) -> list[str]:
    return [part.text or "" for part in element.iter() if local(part.tag) == "t"]


def _part(element: _Element, name: str, depth: int) -> str:
    """What stands in the children of that name."""
    return "".join(_all(child, depth + 1) for child in element.findall(f"{_M}{name}")).strip()


def _property(element: _Element, path: str, usual: str) -> str:
    """A property's value; ``usual`` where it is not set."""
    found = element.find("/".join(f"{_M}{name}" for name in path.split("/")))
    return usual if found is None else found.get(f"{_M}val", "")


def _raised(element: _Element, depth: int) -> str:
    """A base with what stands below and above it, in ``sub``, ``sup`` or ``lim``."""
    below, above = _part(element, "sub", depth), _part(element, "sup", depth)
    limit = _part(element, "lim", depth)
    below, above = (below or limit, above) if element.tag == f"{_M}limLow" else (below, above or limit)
    marks = (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")
    base = _part(element, "e", depth)
    if element.tag == f"{_M}sPre":
        return f"{{}}{marks}{base}"
    return (f"{{{base}}}" if len(base) > 1 and not base.isalnum() and base[-1] not in ")]}" else base) + marks


def _fraction(element: _Element, depth: int) -> str:
    top, bottom = _part(element, "num", depth), _part(element, "den", depth)
    kind = _property(element, "fPr/type", "bar")
    if kind == "noBar":
        return f"\\binom{{{top}}}{{{bottom}}}"
    return f"{{{top}}}/{{{bottom}}}" if kind == "lin" else f"\\frac{{{top}}}{{{bottom}}}"


def _root(element: _Element, depth: int) -> str:
    degree = _part(element, "deg", depth)
    return f"\\sqrt{f'[{degree}]' if degree else ''}{{{_part(element, 'e', depth)}}}"


def _large(element: _Element, depth: int) -> str:
    sign = _property(element, "naryPr/chr", "∫")
    below, above = _part(element, "sub", depth), _part(element, "sup", depth)
    marks = (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")
    return f"{_LARGE.get(sign, sign)}{marks}{{{_part(element, 'e', depth)}}}"


def _between(element: _Element, depth: int) -> str:
    """Brackets of any kind around parts."""
    parts = [_all(child, depth + 1) for child in element.findall(f"{_M}e")]
    left, right = _property(element, "dPr/begChr", "("), _property(element, "dPr/endChr", ")")
    return left + _property(element, "dPr/sepChr", "|").join(parts) + right


def _function(element: _Element, depth: int) -> str:
    """A name before what it is a function of."""
    name, of = _part(element, "fName", depth), _part(element, "e", depth)
    spelled = f"\\{name}" if name.isascii() and name.isalpha() else name
    return f"{spelled}{of}" if of.startswith(("(", "[", "{", "|")) else f"{spelled}{{{of}}}"


def _accent(element: _Element, depth: int) -> str:
    inside = _part(element, "e", depth)
    if element.tag == f"{_M}bar":
        return f"\\{'underline' if _property(element, 'barPr/pos', 'bot') == 'bot' else 'overline'}{{{inside}}}"
    sign = _property(element, "accPr/chr", "\u0302")
    return f"{_ACCENTS.get(sign, '')}{{{inside}}}" if sign in _ACCENTS else f"{inside}{sign}"


def _matrix(element: _Element, depth: int) -> str:
    rows = [[_all(cell, depth + 2) for cell in row.findall(f"{_M}e")] for row in element.findall(f"{_M}mr")]
    return "\\begin{matrix}" + " \\\\ ".join(" & ".join(row) for row in rows) + "\\end{matrix}"


def _lines(element: _Element, depth: int) -> str:
    return " \\\\ ".join(_all(line, depth + 1) for line in element.findall(f"{_M}e"))


_FORMS: dict[str, Callable[[_Element, int], str]] = {
    **dict.fromkeys(("sSub", "sSup", "sSubSup", "sPre", "limLow", "limUpp"), _raised),
    "f": _fraction,
    "rad": _root,
    "nary": _large,
    "d": _between,
    "func": _function,
    **dict.fromkeys(("acc", "bar"), _accent),
    "m": _matrix,
    "eqArr": _lines,
}
