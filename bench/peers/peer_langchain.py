"""LangChain: FAISS and BM25 in an ensemble."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.document_loaders import BSHTMLLoader, Docx2txtLoader, PyPDFLoader, TextLoader
from langchain_community.retrievers import BM25Retriever
from langchain_community.vectorstores import FAISS
from langchain_core.documents import Document as Text
from langchain_core.embeddings import Embeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter
from work import Document, Found, Piece, Read, Vectors

LOADERS = {".txt": TextLoader, ".md": TextLoader, ".pdf": PyPDFLoader, ".docx": Docx2txtLoader, ".html": BSHTMLLoader}


class _Given(Embeddings):
    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._vectors.passages(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        return self._vectors.query(text).tolist()


class LangChain:
    """Two retrievers over the same chunks, fused by rank with equal weights."""

    packages = ("langchain", "langchain-classic", "langchain-community", "langchain-text-splitters", "faiss-cpu")
    packages += ("rank-bm25", "pypdf", "docx2txt", "beautifulsoup4")
    options = (
        "EnsembleRetriever(weights .5/.5) over FAISS (flat, L2) and BM25Retriever (rank-bm25, split at blanks); "
        "RecursiveCharacterTextSplitter() with add_start_index; TextLoader, PyPDFLoader, Docx2txtLoader, BSHTMLLoader; "
        "BM25Retriever is made anew for an update and knows no filter, so that rights are those of FAISS alone"
    )

    def __init__(self, vectors: Vectors) -> None:
        self._embeddings = _Given(vectors)
        self._splitter = RecursiveCharacterTextSplitter(add_start_index=True)
        self._chunks: dict[str, list[Text]] = {}

    def _cut(self, document: Document) -> list[Text]:
        facts = {"document": document.id, "role": document.role}
        if document.chunks is None:
            texts = self._splitter.split_documents([Text(document.text, metadata=facts)])
        else:
            texts = [Text(text, metadata=dict(facts)) for text in document.chunks]
        for text in texts:
            text.id = uuid.uuid4().hex
        return texts

    def _ids(self, texts: Sequence[Text]) -> list[str]:
        return [str(text.id) for text in texts]

    def add(self, documents: Sequence[Document]) -> None:
        """Both legs."""
        for one in documents:
            self._chunks[one.id] = self._cut(one)
        texts = [text for some in self._chunks.values() for text in some]
        self._faiss = FAISS.from_documents(texts, self._embeddings, ids=self._ids(texts))
        self._bm25 = BM25Retriever.from_documents(texts)

    def settle(self) -> None:
        """Nothing goes on."""

    def replace(self, document: Document) -> None:
        """FAISS takes and gives rows; BM25 is made anew."""
        self._faiss.delete(self._ids(self._chunks[document.id]))
        self._chunks[document.id] = new = self._cut(document)
        self._faiss.add_documents(new, ids=self._ids(new))
        self._bm25 = BM25Retriever.from_documents([text for some in self._chunks.values() for text in some])

    def search(self, question: str, k: int, role: str | None = None) -> list[Found]:
        """The ensemble; of one role the vectors alone."""
        if role is not None:
            found = self._faiss.similarity_search(question, k, filter={"role": role})
        else:
            self._bm25.k = k
            legs: list[Any] = [self._bm25, self._faiss.as_retriever(search_kwargs={"k": k})]
            found = EnsembleRetriever(retrievers=legs, weights=[0.5, 0.5]).invoke(question)[:k]
        return [_found(text) for text in found]

    def read(self, path: Path) -> Read:
        """The loader of its kind."""
        loaded = LOADERS[path.suffix](str(path)).load()
        read = Read([text.page_content for text in loaded])
        for number, text in enumerate(loaded):
            page = text.metadata.get("page")
            for part in self._splitter.split_documents([text]):
                start = part.metadata["start_index"]
                end = start + len(part.page_content)
                pages = () if page is None else (page + 1,)
                read.pieces.append(Piece(part.page_content, number, start, end, pages))
        return read


def _found(text: Text) -> Found:
    start = text.metadata.get("start_index")
    end = None if start is None else start + len(text.page_content)
    return Found(text.metadata["document"], text.page_content, text.metadata["role"], start, end)


def make(vectors: Vectors, folder: Path, task: dict[str, Any], variant: str) -> LangChain:  # noqa: ARG001 - every peer's
    """The peer."""
    return LangChain(vectors)
