"""PaperQA: its retrieval; what reads and writes there is a language model, and none is run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cannot import Cannot
from lmi import EmbeddingModel, EmbeddingModes, HybridEmbeddingModel, SparseEmbeddingModel
from paperqa import Doc, Docs, Settings, Text
from paperqa.readers import read_doc
from pydantic import PrivateAttr
from work import DIMENSIONS, Document, Found, Piece, Read, Vectors


class _Given(EmbeddingModel):
    name: str = "given"
    ndim: int | None = DIMENSIONS
    _vectors: Vectors = PrivateAttr()
    _mode: EmbeddingModes = PrivateAttr(default=EmbeddingModes.DOCUMENT)

    def __init__(self, vectors: Vectors) -> None:
        super().__init__()
        self._vectors = vectors

    def set_mode(self, mode: EmbeddingModes) -> None:
        self._mode = mode

    async def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if self._mode is EmbeddingModes.QUERY:
            return [self._vectors.query(text).tolist() for text in texts]
        return self._vectors.passages(texts).tolist()


class PaperQA:
    """Texts of documents, vectors in numpy."""

    packages = ("paper-qa", "paper-qa-pypdf", "fhlmi", "pypdf", "unstructured")
    options = (
        "Docs.retrieve_texts; HybridEmbeddingModel of the given vectors and its SparseEmbeddingModel; "
        "read_doc() with its default chunks (5,000 characters, overlap 250); no language model, so nothing of what it "
        "does with one (summaries, answers, refusals)"
    )

    def __init__(self, vectors: Vectors, folder: Path) -> None:
        self._model = HybridEmbeddingModel(models=[_Given(vectors), SparseEmbeddingModel()])
        self._settings = Settings(parsing={"use_doc_details": False, "multimodal": False})
        self._docs = Docs()
        self._folder = folder
        self._loop = asyncio.new_event_loop()
        self._facts: dict[str, tuple[str, str]] = {}
        self._number = 0

    def _done(self, work: Any) -> Any:
        return self._loop.run_until_complete(work)

    def _cut(self, path: Path, doc: Doc) -> list[Text]:
        config = self._settings.parsing.reader_config
        return self._done(read_doc(path, doc, parse_pdf=self._settings.parsing.parse_pdf, **config))

    def _put(self, document: Document) -> None:
        self._number += 1
        name = f"d{self._number}"
        doc = Doc(docname=name, citation=document.id, dockey=name)
        self._facts[name] = document.id, document.role
        if document.chunks is None:
            file = self._folder / "text.txt"
            file.write_text(document.text, encoding="utf-8")
            texts = self._cut(file, doc)
        else:
            texts = [Text(text=text, name=f"{name} chunk {n}", doc=doc) for n, text in enumerate(document.chunks, 1)]
        self._done(self._docs.aadd_texts(texts, doc, self._settings, self._model))

    def add(self, documents: Sequence[Document]) -> None:
        """One by one, as it takes them."""
        for one in documents:
            self._put(one)
        self._done(self._docs._build_texts_index(self._model))  # noqa: SLF001 - else the first search would do it

    def settle(self) -> None:
        """Nothing goes on."""

    def replace(self, document: Document) -> None:
        """Old one out, new one in."""
        [old] = [name for name, (known, _) in self._facts.items() if known == document.id]
        self._docs.delete(docname=old)
        del self._facts[old]
        self._put(document)

    def search(self, question: str, k: int, role: str | None = None) -> list[Found]:
        """Texts alone: it has no filter."""
        if role is not None:
            raise Cannot("retrieve_texts takes no filter")
        found = self._done(self._docs.retrieve_texts(question, k, self._settings, self._model))
        return [Found(*_swap(self._facts[one.doc.docname], one.text)) for one in found]

    def read(self, path: Path) -> Read:
        """Its reader of that kind."""
        read = Read()
        for one in self._cut(path, Doc(docname="d", citation="c", dockey="d")):
            _, _, last = one.name.partition(" pages ")
            numbers = [int(each) for each in last.split("-") if each.isdigit()]
            pages = tuple(range(numbers[0], numbers[-1] + 1)) if numbers and path.suffix == ".pdf" else ()
            read.pieces.append(Piece(one.text, pages=pages))
        return read


def _swap(facts: tuple[str, str], text: str) -> tuple[str, str, str]:
    return facts[0], text, facts[1]


def make(vectors: Vectors, folder: Path, task: dict[str, Any], variant: str) -> PaperQA:  # noqa: ARG001 - every peer's
    """The peer."""
    return PaperQA(vectors, folder)
