"""Documents, chunks and passages for the tests of the use cases."""

from __future__ import annotations

from fonte.types import Acl, Chunk, Document, Hit, Passage, Section, StoredChunk, chunk_id, document_id, sha256_hex

PUBLIC = Acl(frozenset({"public"}))


def document(text: str, name: str = "policy.md", *, language: str = "en") -> Document:
    """A document that is one section of plain text."""
    uri = f"file:///docs/{name}"
    return Document(
        document_id("default", uri),
        "default",
        uri,
        name,
        sha256_hex(text),
        name,
        text,
        PUBLIC,
        language=language,
        sections=(Section((), 0, 0, len(text)),),
    )


def passage(
    source: Document, marker: int = 1, start: int = 0, end: int | None = None, distance: float = 0.2
) -> Passage:
    """A stretch of a document, handed out under a marker."""
    last = len(source.text) if end is None else end
    identity = chunk_id(source.id, source.version, "r", start, last)
    chunk = Chunk(identity, source.id, 0, start, last, source.text[start:last], language=source.language)
    stored = StoredChunk(chunk, source.name, source.uri, source.version, source.title, source.acl.roles, "text/plain")
    return Passage(marker, stored, source, start, last, Hit(identity, source.id, 1 - distance, dense_distance=distance))
