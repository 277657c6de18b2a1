"""A retriever for LangChain (``pip install 'fonte[langchain]'``)."""

from __future__ import annotations

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from fonte.adapters.searching import Search


class FonteRetriever(BaseRetriever):
    """Passages as LangChain's documents, best first; ``metadata`` has the rest of their row, locator and label too."""

    search: Search
    k: int | None = None

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        del run_manager
        return [
            Document(id=row["chunk_id"], page_content=row.pop("content"), metadata=row)
            for row in self.search.rows(query, self.k)
        ]
