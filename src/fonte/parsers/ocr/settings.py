"""What a parser process is told of OCR, and how it asks its parent for the time that OCR needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

DEFAULT_LANGUAGES: Final = "eng+ita"
DEFAULT_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class OcrSettings:
    """Languages in tesseract's names joined by ``+``, and limits.

    ``seconds`` is for all pages of one document, ``page_seconds`` for one run of the engine, ``memory_bytes`` the
    address space of one run.
    """

    languages: str = DEFAULT_LANGUAGES
    seconds: float = DEFAULT_SECONDS
    page_seconds: float = 120.0
    memory_bytes: int = 1 << 30


class _Process:
    """What holds in this process."""

    settings = OcrSettings()
    ask: Callable[[], None] | None = None


def configure(settings: OcrSettings, ask: Callable[[], None] | None = None) -> None:
    """Set what holds from now on; ``ask`` is called whenever a document begins to be read by OCR."""
    _Process.settings, _Process.ask = settings, ask


def current() -> OcrSettings:
    """What holds now."""
    return _Process.settings


def ask_for_time() -> None:
    """Tell the parent, where there is one, that this document takes the time of OCR."""
    if _Process.ask is not None:
        _Process.ask()
