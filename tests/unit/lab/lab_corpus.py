"""A laboratory whose encoder and parsers are stand-ins, and stores whose filters are switched off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from fonte.config import load_settings
from fonte.lab.place import ROLES
from fonte.parts import Parts
from fonte.types import Principal, Query
from fonte.wiring import make_parts
from quick_corpus import WordEmbedder, quick_parts


class Words(WordEmbedder):
    """Each word's vector is made once."""

    def __init__(self) -> None:
        super().__init__()
        self._word = cache(self._word)  # type: ignore[method-assign]  # the same, remembered


MODEL = Words()


def make(home: Path, wanted: Mapping[str, object]) -> Parts:
    """Quick parts under settings, with the rights that stand beside the home."""
    real = make_parts(home, load_settings(None, home, {}, wanted))
    quick = quick_parts(home, embedder=MODEL)
    return replace(
        real,
        make_embedder=quick.make_embedder,
        make_pool=quick.make_pool,
        gate_for=quick.gate_for,
        extractors=quick.extractors,
    )


def everybody(tenant: str) -> Principal:
    """Somebody who may read all but one person's papers."""
    return Principal(tenant, {"serena": "livia", "meridian": "tom"}[tenant], ROLES)


@dataclass(frozen=True)
class BlindReader:
    """An index that looks at nobody's rights."""

    inner: Any
    tenant: str

    def bm25(self, terms: Sequence[str], query: Query, *, revoked: Sequence[str], k: int) -> Any:
        del revoked
        return self.inner.bm25(terms, replace(query, principal=everybody(self.tenant)), revoked=(), k=k)

    def dense(self, vector: Any, query: Query, *, revoked: Sequence[str], k: int) -> Any:
        del revoked
        return self.inner.dense(vector, replace(query, principal=everybody(self.tenant)), revoked=(), k=k)

    def chunks(self, ids: Sequence[str], principal: Principal, *, revoked: Sequence[str]) -> Any:
        del revoked
        return self.inner.chunks(ids, everybody(self.tenant), revoked=())

    def codes(self, ids: Sequence[str], principal: Principal, *, revoked: Sequence[str]) -> Any:
        del revoked
        return self.inner.codes(ids, everybody(self.tenant), revoked=())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@dataclass(frozen=True)
class Careless:
    """A catalog that lets everybody read, beside an index that looks at nobody's rights; as a store, and its parts."""

    inner: Any
    tenant: str

    @property
    def catalog(self) -> Careless:
        return Careless(self.inner.catalog, self.tenant)

    @property
    def index(self) -> Careless:
        return Careless(self.inner.index, self.tenant)

    def open(self, generation: Any) -> BlindReader:
        return BlindReader(self.inner.open(generation), self.tenant)

    def may_read(self, document_id: str, principal: Principal) -> bool:
        return True

    def save_answer(self, *_: object, **__: object) -> None:
        return None

    def revoked(self, generation_id: str, principal: Principal) -> tuple[str, ...]:
        return ()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@dataclass(frozen=True)
class CarelessStores:
    """Stores without filters."""

    inner: Any

    def tenant(self, name: str) -> Any:
        return Careless(self.inner.tenant(name), name)


@dataclass(frozen=True)
class MixedUpStores:
    """Stores that open the other tenant's, and do not notice."""

    inner: Any

    def tenant(self, name: str) -> Any:
        other = {"serena": "meridian", "meridian": "serena"}[name]
        return Careless(self.inner.tenant(other), other)
