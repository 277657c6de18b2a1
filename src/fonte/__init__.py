"""fonte: ask your documents; every sentence of the answer is tied to the place it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fonte.errors import FonteError
from fonte.types import Abstained, Answer, Answered, Citation, Locator, Principal

if TYPE_CHECKING:
    from fonte.corpus import SourceOptions
    from fonte.wiring import Corpus

__all__ = [
    "Abstained",
    "Answer",
    "Answered",
    "Citation",
    "Corpus",
    "FonteError",
    "Locator",
    "Principal",
    "SourceOptions",
]


def __getattr__(name: str) -> object:
    # The corpus brings the stores and models with it; `fonte --help` must not wait for them.
    if name == "Corpus":
        from fonte.wiring import Corpus

        return Corpus
    if name == "SourceOptions":
        from fonte.corpus import SourceOptions

        return SourceOptions
    raise AttributeError(name)
