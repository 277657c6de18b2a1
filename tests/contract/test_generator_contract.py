"""What every Generator keeps. Add an implementation by adding a maker to ``GENERATORS``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import pytest
from unit.models.stub_server import chat_script, stub_server
from unit.models.test_models_anthropic import script

from fonte.models.registry import make_anthropic, make_chat
from fonte.protocols import Generator
from fonte.types import Acl, Chunk, Document, Draft, Hit, Passage, Principal, Query, StoredChunk

TEXT = "Employees get 25 days of leave a year. The request goes to the office of personnel."
QUERY = Query("How many days of leave do employees get?", Principal())


def passages() -> tuple[Passage, ...]:
    """One passage with the answer."""
    acl = Acl(frozenset({"public"}))
    document = Document("d1", "default", "file:///leave.md", "leave.md", "v1", "Leave", TEXT, acl)
    chunk = Chunk("c1", "d1", 0, 0, len(TEXT), TEXT, language="en")
    stored = StoredChunk(chunk, "leave.md", "file:///leave.md", "v1", "Leave", frozenset({"public"}), "text/markdown")
    return (Passage(1, stored, document, 0, len(TEXT), Hit("c1", "d1", 1.0)),)


@contextmanager
def _openai() -> Iterator[Generator]:
    def render(query: Query, passages: Sequence[Passage], language: str) -> list[dict[str, str]]:
        shown = "\n".join(f"[{one.marker}] {one.content}" for one in passages)
        system = f"Answer in {language}.\n{shown}"
        return [{"role": "system", "content": system}, {"role": "user", "content": query.text}]

    with stub_server(chat_script("Employees get 25 days of leave a year [1].")) as stub:
        yield make_chat("stub", render, base_url=stub.base_url)


@contextmanager
def _anthropic() -> Iterator[Generator]:
    def render(query: Query, passages: Sequence[Passage], language: str) -> list[dict[str, str]]:
        return [{"role": "system", "content": language}, {"role": "user", "content": query.text}]

    with stub_server(script("Employees get 25 days of leave a year [1].")) as stub:
        yield make_anthropic("stub", render, base_url=stub.base_url)


GENERATORS: dict[str, Callable[[], AbstractContextManager[Generator]]] = {"openai": _openai, "anthropic": _anthropic}


@pytest.fixture(params=sorted(GENERATORS))
def generator(request: pytest.FixtureRequest) -> Iterator[Generator]:
    with GENERATORS[request.param]() as made:
        yield made


def test_it_has_a_name(generator):
    assert generator.name.strip()


def test_a_draft_carries_the_markers_of_its_passages(generator):
    draft = generator.draft(QUERY, passages(), language="en")
    assert isinstance(draft, Draft)
    assert not draft.declined
    assert "25 days" in draft.text
    assert "[1]" in draft.text


def test_the_stream_ends_in_the_draft_that_its_pieces_make(generator):
    *pieces, last = generator.stream(QUERY, passages(), language="en")
    assert isinstance(last, Draft)
    assert all(isinstance(piece, str) for piece in pieces)
    assert "".join(pieces) == last.text
    assert last == generator.draft(QUERY, passages(), language="en")


def test_extracted_sentences_are_slices_of_their_passage(generator):
    draft = generator.draft(QUERY, passages(), language="en")
    for sentence in draft.taken:
        (passage,) = (one for one in passages() if one.marker == sentence.marker)
        assert passage.document.text[sentence.start : sentence.end] == sentence.text
        assert passage.start <= sentence.start < sentence.end <= passage.end
