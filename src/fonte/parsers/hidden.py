"""Text that readers of the original do not see: kept, and marked where it stands, so that nobody takes it for shown."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fonte.parsers.counting import count_words

BEGINS, ENDS = "[Not visible: ", "]"
_MARKED = re.compile(r"\[Not visible: ([^\]]*)")
_SPACE = re.compile(r"\s+|/\*.*?\*/", re.DOTALL)
_DECLARATION = re.compile(r"([\w-]+):([^;]*)")
_NOTHING = re.compile(r"0+(?:\.0*)?(?:[a-z]+|%)?(?:!important)?")
_COLOR = re.compile(r"#[0-9a-f]{3,8}|rgba?\([^)]*\)|[a-z]+")
_NAMED = {"white": "#ffffff", "black": "#000000", "rgb(255,255,255)": "#ffffff", "rgb(0,0,0)": "#000000"}
_WHITE = "#ffffff"


def marked(text: str) -> str:
    """The text with the mark around it."""
    return f"{BEGINS}{text}{ENDS}" if text else text


def marked_words(text: str) -> int:
    """How many words of a text stand inside a mark."""
    return sum(map(count_words, _MARKED.findall(text)))


def say_hidden(text: str, pieces: list[str]) -> None:
    """Add text that is not seen to the pieces of a paragraph; what follows such text stands inside the same mark."""
    if pieces and pieces[-1] == ENDS:
        pieces[-1:] = [text, ENDS]
    else:
        pieces += [BEGINS, text, ENDS] if text.strip() else [text]


class Grounds:
    """What the open elements of a page of HTML are painted on, as far as they say it themselves."""

    def __init__(self) -> None:
        self._own: list[tuple[int, str]] = []
        """(how many elements are open around it, color) of each that has a ground of its own."""
        self._has_sheet = False
        """A style sheet may paint anything: then the page's ground is not known to be white."""

    def hides(self, tag: str, attributes: Mapping[str, str], around: int) -> bool:
        """Whether an element that begins inside ``around`` others is not shown: by itself, its size, or its color."""
        self._has_sheet = self._has_sheet or tag == "style" or "stylesheet" in attributes.get("rel", "").lower()
        style = _declared(attributes)
        own = _ground(attributes, style)
        if own is not None:
            self._own.append((around, own))
        ground = self._own[-1][1] if self._own else "" if self._has_sheet else _WHITE
        return (
            "hidden" in attributes
            or style.get("display", "").startswith("none")
            or style.get("visibility", "").startswith(("hidden", "collapse"))
            or any(_NOTHING.fullmatch(style.get(name, "")) is not None for name in ("font-size", "opacity"))
            or ("color" in style and _color(style["color"]) == ground)
        )

    def end(self, around: int) -> None:
        """An element inside ``around`` others ends."""
        while self._own and self._own[-1][0] >= around:
            self._own.pop()


def _declared(attributes: Mapping[str, str]) -> dict[str, str]:
    """What the ``style`` of an element declares, without spaces and in lower case."""
    style = _SPACE.sub("", attributes.get("style", "").lower())
    return dict(_DECLARATION.findall(style))


def _ground(attributes: Mapping[str, str], style: Mapping[str, str]) -> str | None:
    """The color, or ``?`` for any other ground, that an element is painted on; None where it has none of its own."""
    said = style.get("background-color") or style.get("background") or attributes.get("bgcolor", "").lower()
    if not said or said.startswith(("none", "transparent", "inherit")):
        return None
    return _color(said) if _COLOR.fullmatch(said) else "?"


def _color(said: str) -> str:
    said = said.removesuffix("!important")
    said = _NAMED.get(said, said)
    short = re.fullmatch("#([0-9a-f])([0-9a-f])([0-9a-f])", said)
    return f"#{short[1] * 2}{short[2] * 2}{short[3] * 2}" if short else said
