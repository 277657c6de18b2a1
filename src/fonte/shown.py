"""What is told of passages beside an answer: results with their places, and what a reader should know of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from fonte.retrieve import Found
from fonte.text.locate import fragment, label, locate
from fonte.text.orders import signs
from fonte.types import Document, Passage, SearchResult


def results(found: Sequence[Found], documents: Mapping[str, Document]) -> Iterator[SearchResult]:
    """Ranked results, each with its exact slice and place. ``documents`` by id holds those of all."""
    for rank, one in enumerate(found, start=1):
        document = documents[one.stored.chunk.document_id]
        place = locate(document, one.start, one.end)
        content = document.text[one.start : one.end]
        yield SearchResult(
            rank=rank,
            stored=one.stored,
            hit=one.hit,
            content=content,
            locator=place,
            fragment=fragment(document, place),
            label=label(document, place, one.stored.chunk.section),
            duplicates=one.copies,
            flags=signs(content),
        )


def suspicious(passages: Iterable[Passage]) -> tuple[str, ...]:
    """What an answer says of the passages that its generator saw and that show signs of orders to it."""
    told = ((one.document.name, signs(one.content)) for one in passages)
    return tuple(
        dict.fromkeys(
            f"{name}: a passage reads like orders to a machine ({', '.join(why)})" for name, why in told if why
        )
    )
