"""A retriever for Haystack's pipelines (``pip install 'fonte[haystack]'``)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict

from fonte.adapters.searching import Search, as_plain, from_plain


@component
class FonteRetriever:
    """Passages as Haystack's documents, best first; ``meta`` has the rest of their row, locator and label too."""

    def __init__(self, search: Search, top_k: int | None = None) -> None:
        self.search = search
        self.top_k = top_k

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """Search. Raises FonteError."""
        rows = self.search.rows(query, top_k or self.top_k)
        return {"documents": [Document(id=row["chunk_id"], content=row.pop("content"), meta=row) for row in rows]}

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """The same beside other work."""
        return await asyncio.to_thread(self.run, query, top_k)

    def to_dict(self) -> dict[str, Any]:
        """To be written down. Raises ConfigError: a key that stands in it."""
        written: dict[str, Any] = default_to_dict(self, search=as_plain(self.search), top_k=self.top_k)
        return written

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> FonteRetriever:
        """What ``to_dict`` wrote down."""
        parameters: Mapping[str, Any] = data["init_parameters"]
        made: FonteRetriever = default_from_dict(
            cls, {**data, "init_parameters": {**parameters, "search": from_plain(parameters["search"])}}
        )
        return made
