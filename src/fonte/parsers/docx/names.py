"""Element and attribute names of WordprocessingML."""

from __future__ import annotations

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def w(name: str) -> str:
    """A name in the main namespace."""
    return f"{{{_W}}}{name}"


def m(name: str) -> str:
    """A name in the mathematics namespace."""
    return f"{{{_M}}}{name}"


ALTERNATE, CHOICE, FALLBACK = (f"{{{_MC}}}{name}" for name in ("AlternateContent", "Choice", "Fallback"))
VAL = w("val")
CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"

_WRAPPERS = "ins moveTo hyperlink smartTag sdt sdtContent fldSimple customXml bdo dir ruby rubyBase"
PASSED_THROUGH = frozenset({w(name) for name in _WRAPPERS.split()})
"""Wrappers whose content counts as if it stood alone."""
_ABSENT = "del moveFrom delText instrText delInstrText rt pPr rPr sdtPr sdtEndPr tblPr tblGrid trPr tcPr"
ABSENT = frozenset({w(name) for name in _ABSENT.split()})
"""Content that is deleted, moved away, or no text."""
