"""LlamaIndex: a vector store index and a BM25 retriever, fused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core import Document as Whole
from llama_index.core import MockEmbedding, Settings, SimpleDirectoryReader, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters
from llama_index.retrievers.bm25 import BM25Retriever
from pydantic import PrivateAttr
from work import DIMENSIONS, Document, Found, Piece, Read, Vectors

OURS = ["document", "role"]


class _Given(BaseEmbedding):
    _vectors: Vectors = PrivateAttr()

    def __init__(self, vectors: Vectors) -> None:
        super().__init__(model_name="given", embed_batch_size=2048)
        self._vectors = vectors

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._vectors.query(query).tolist()

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._vectors.passages([text])[0].tolist()

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._vectors.passages(texts).tolist()


class LlamaIndex:
    """Two retrievers over the same nodes."""

    packages = ("llama-index-core", "llama-index-retrievers-bm25", "llama-index-readers-file", "bm25s", "pypdf")
    packages += ("docx2txt",)
    options = (
        "QueryFusionRetriever(mode reciprocal_rerank, num_queries 1) over VectorStoreIndex (SimpleVectorStore) and "
        "BM25Retriever (bm25s, English stems); SentenceSplitter(); SimpleDirectoryReader; metadata kept out of what is "
        "embedded; BM25Retriever is made anew for an update"
    )

    def __init__(self, vectors: Vectors) -> None:
        Settings.llm = MockLLM()
        Settings.embed_model = MockEmbedding(embed_dim=DIMENSIONS)
        self._embedding = _Given(vectors)
        self._splitter = SentenceSplitter()
        self._nodes: dict[str, list[Any]] = {}
        self._bm25: dict[str | None, BM25Retriever] = {}

    def _cut(self, document: Document) -> list[Any]:
        facts = {"document": document.id, "role": document.role}
        if document.chunks is None:
            whole = Whole(text=document.text, id_=document.id, metadata=facts)
            whole.excluded_embed_metadata_keys = OURS
            return self._splitter.get_nodes_from_documents([whole])
        source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=document.id)}
        return [
            TextNode(text=text, metadata=dict(facts), excluded_embed_metadata_keys=OURS, relationships=source)
            for text in document.chunks
        ]

    def _all(self) -> list[Any]:
        return [node for some in self._nodes.values() for node in some]

    def add(self, documents: Sequence[Document]) -> None:
        """Both legs."""
        for one in documents:
            self._nodes[one.id] = self._cut(one)
        self._index = VectorStoreIndex(self._all(), embed_model=self._embedding)
        self._words(None)

    def _words(self, role: str | None, k: int = 10) -> BM25Retriever:
        if role not in self._bm25:
            nodes = self._all()
            filters = _of(role)
            self._bm25[role] = BM25Retriever(nodes=nodes, similarity_top_k=min(k, len(nodes)), filters=filters)
        retriever = self._bm25[role]
        retriever.similarity_top_k = min(k, len(retriever.corpus))
        return retriever

    def settle(self) -> None:
        """Nothing goes on."""

    def replace(self, document: Document) -> None:
        """The index takes and gives nodes; BM25 is made anew."""
        self._index.delete_ref_doc(document.id)
        self._nodes[document.id] = new = self._cut(document)
        self._index.insert_nodes(new)
        self._bm25.clear()
        self._words(None)

    def search(self, question: str, k: int, role: str | None = None) -> list[Found]:
        """Fused by reciprocal ranks."""
        dense = self._index.as_retriever(similarity_top_k=k, filters=_of(role))
        legs: list[Any] = [dense, self._words(role, k)]
        fused = QueryFusionRetriever(legs, similarity_top_k=k, num_queries=1, mode="reciprocal_rerank", use_async=False)
        return [_found(one.node) for one in fused.retrieve(question)]

    def read(self, path: Path) -> Read:
        """Whatever reader it takes for that kind of file."""
        loaded = SimpleDirectoryReader(input_files=[str(path)], raise_on_error=True).load_data()
        read = Read([one.text for one in loaded])
        places = {one.id_: number for number, one in enumerate(loaded)}
        for node in self._splitter.get_nodes_from_documents(loaded):
            page = node.metadata.get("page_label")
            pages = (int(page),) if page is not None and str(page).isdigit() else ()
            at = places[node.ref_doc_id]
            read.pieces.append(Piece(node.text, at, node.start_char_idx, node.end_char_idx, pages))
        return read


def _of(role: str | None) -> MetadataFilters | None:
    return None if role is None else MetadataFilters(filters=[MetadataFilter(key="role", value=role)])


def _found(node: Any) -> Found:
    facts = node.metadata
    return Found(facts["document"], node.text, facts["role"], node.start_char_idx, node.end_char_idx)


def make(vectors: Vectors, folder: Path, task: dict[str, Any], variant: str) -> LlamaIndex:  # noqa: ARG001 - every peer's
    """The peer."""
    return LlamaIndex(vectors)
