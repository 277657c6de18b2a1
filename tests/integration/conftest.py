"""Every command of a test opens its own corpus; the model that they share is loaded once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fonte.models import registry
from fonte.protocols import Embedder

_loaded: dict[str, Embedder] = {}
_make = registry.make_embedder


def _made_once(source: str, **settings: object) -> Embedder:
    if not source.startswith("package:"):
        return _make(source, **settings)  # type: ignore[arg-type]
    if source not in _loaded:
        _loaded[source] = _make(source, **settings)  # type: ignore[arg-type]
    return _loaded[source]


@pytest.fixture(autouse=True)
def _one_model(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "make_embedder", _made_once)
    yield
