"""Element and attribute names of PresentationML and DrawingML."""

from __future__ import annotations

_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_P = "http://schemas.openxmlformats.org/presentationml/2006/main"
_C = "http://schemas.openxmlformats.org/drawingml/2006/chart"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_DGM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
_ADEC = "http://schemas.microsoft.com/office/drawing/2017/decorative"

ALTERNATE, CHOICE, FALLBACK = (f"{{{_MC}}}{name}" for name in ("AlternateContent", "Choice", "Fallback"))
MATH, MATH_TEXT = f"{{{_M}}}oMath", f"{{{_M}}}t"
DECORATIVE = f"{{{_ADEC}}}decorative"


def a(name: str) -> str:
    """A name in DrawingML's main namespace."""
    return f"{{{_A}}}{name}"


def p(name: str) -> str:
    """A name in PresentationML."""
    return f"{{{_P}}}{name}"


def c(name: str) -> str:
    """A name in the namespace of charts."""
    return f"{{{_C}}}{name}"


def r(name: str) -> str:
    """An attribute that names a relation."""
    return f"{{{_R}}}{name}"


def dgm(name: str) -> str:
    """A name in the namespace of diagrams."""
    return f"{{{_DGM}}}{name}"
