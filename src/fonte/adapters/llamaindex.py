"""A retriever for LlamaIndex (``pip install 'fonte[llamaindex]'``)."""

from __future__ import annotations

import asyncio
from typing import Final

from llama_index.core.callbacks import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from fonte.adapters.searching import Row, Search

_FOR_PROMPTS: Final = {"document_name", "section", "label"}
"""What of a row is read by a model beside the passage; the rest would crowd the prompt."""


class FonteRetriever(BaseRetriever):
    """Passages as LlamaIndex's nodes, best first; ``metadata`` has the rest of their row, locator and label too.

    ``start_char_idx`` and ``end_char_idx`` are places in the canonical text of the document.
    """

    def __init__(self, search: Search, k: int | None = None, callback_manager: CallbackManager | None = None) -> None:
        super().__init__(callback_manager=callback_manager)
        self._search = search
        self._k = k

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=_node(row)) for row in self._search.rows(query_bundle.query_str, self._k)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _node(row: Row) -> TextNode:
    place, text = row["locator"], row.pop("content")
    crowding = sorted(set(row) - _FOR_PROMPTS)
    return TextNode(
        id_=row["chunk_id"],
        text=text,
        start_char_idx=place["from"],
        end_char_idx=place["to"],
        metadata=row,
        excluded_llm_metadata_keys=crowding,
        excluded_embed_metadata_keys=crowding,
    )
