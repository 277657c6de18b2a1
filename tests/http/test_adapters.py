"""Retrievers for LangChain, LlamaIndex and Haystack, with the real packages, over a home and over a server."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")  # read when it is imported
os.environ.setdefault("LANGSMITH_TRACING", "false")

from haystack import Pipeline
from haystack.components.builders import PromptBuilder
from langchain_core.runnables import RunnableLambda
from llama_index.core.schema import MetadataMode

from fonte import Corpus
from fonte.access.identity import Action
from fonte.access.keys import mint
from fonte.adapters import haystack, langchain, llamaindex
from fonte.adapters.searching import HomeSearch, Search, SearchOptions, ServerSearch
from fonte.answer import now
from fonte.corpus import SourceOptions
from fonte.errors import ConfigError, InvalidQuery, NotPermitted, StoreUnavailable, Unauthenticated
from fonte.http.app import create_app
from fonte.http.served import Served
from fonte.stores.home import Home
from fonte.types import Principal
from fonte.working import Worker
from running import listening

QUESTION = "At what pressure does the pump run?"
OPEN = "# Pumps\n\nThe pump of the north tower runs at seven bar.\n\n# Lifts\n\nThe lift carries nine people.\n"
CLOSED = "# Pressure\n\nThe secret pump of the director runs at ninety bar.\n"
EVA = Principal(user="eva", roles=frozenset({"hr"}))
Searches = Callable[[str], tuple[HomeSearch, ServerSearch]]


@dataclass
class Place:
    home: Path
    address: str
    keys: dict[str, str]
    text: str
    """Canonical text of the open document."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("adapters")
    home, shared, closed = folder / ".fonte", folder / "shared", folder / "closed"
    shared.mkdir()
    closed.mkdir()
    (shared / "towers.md").write_text(OPEN)
    (closed / "director.md").write_text(CLOSED)
    with Corpus.open(home) as corpus:
        corpus.sync(str(shared))
        corpus.sync(str(closed), options=SourceOptions(allow=("hr",)))
        text = corpus.show("towers.md", principal=Principal())[0].text
        stores = Home(home)
        keys = {
            "ada": mint(stores.keys(), Principal(user="ada"), (Action.READ,), now=now()).text,
            "eva": mint(stores.keys(), EVA, (Action.READ,), now=now()).text,
            "tool": mint(stores.keys(), Principal(user="tool"), (Action.WRITE,), now=now()).text,
        }
        work = Worker(corpus, stores.jobs)
        served = Served(
            corpus, stores.keys(), stores.sessions(), stores.audit(), None, work=work, feedback=stores.feedback
        )
        with listening(create_app(served)) as address:
            yield Place(home, address, keys, text)
        work.close()


@pytest.fixture
def closing() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def searches(place: Place, closing: ExitStack) -> Searches:
    """Both kinds of search for a user, closed at the end."""

    def made(user: str) -> tuple[HomeSearch, ServerSearch]:
        who = EVA if user == "eva" else Principal(user=user)
        both = HomeSearch(str(place.home), who), ServerSearch(place.address, place.keys[user])
        for one in both:
            closing.callback(one.close)
        return both

    return made


Found = list[tuple[str, str, dict[str, Any]]]
"""Id, text and metadata."""


def _langchain(search: Search, k: int | None) -> Found:
    found = langchain.FonteRetriever(search=search, k=k).invoke(QUESTION)
    return [(str(one.id), one.page_content, one.metadata) for one in found]


def _llamaindex(search: Search, k: int | None) -> Found:
    found = llamaindex.FonteRetriever(search, k).retrieve(QUESTION)
    return [(one.node.id_, one.node.get_content(), one.node.metadata) for one in found]


def _haystack(search: Search, k: int | None) -> Found:
    found = haystack.FonteRetriever(search, k).run(QUESTION)["documents"]
    return [(one.id, str(one.content), one.meta) for one in found]


KINDS = pytest.mark.parametrize("ask", [_langchain, _llamaindex, _haystack])


@KINDS
def test_passages_slice_out_of_their_document_and_the_metadata_cites_them(
    place: Place, searches: Searches, ask: Callable[[Search, int | None], Found]
) -> None:
    mine, theirs = (ask(search, None) for search in searches("ada"))
    assert [one[:2] for one in mine] == [one[:2] for one in theirs]
    for each in (mine, theirs):
        _, text, about = each[0]
        span = about["locator"]
        assert "seven bar" in text
        assert place.text[span["from"] : span["to"]] == text
        assert (about["document_name"], about["rank"]) == ("towers.md", 1)
        assert about["fragment"].startswith("#char=")
        assert about["generation"]
        assert "content" not in about


@KINDS
def test_a_retriever_gives_only_what_its_principal_may_read(
    searches: Searches, ask: Callable[[Search, int | None], Found]
) -> None:
    for ada, eva in zip(searches("ada"), searches("eva"), strict=True):
        assert {about["document_name"] for _, _, about in ask(ada, None)} == {"towers.md"}
        assert {about["document_name"] for _, _, about in ask(eva, None)} == {"towers.md", "director.md"}
        assert len(ask(eva, 1)) == 1


def test_options_reach_the_search_of_a_home_and_of_a_server_alike(place: Place, closing: ExitStack) -> None:
    options = SearchOptions(k=3, mode="bm25", documents=("towers.md",), languages=("en",))
    home = HomeSearch(str(place.home), EVA, options)
    server = ServerSearch(place.address, place.keys["eva"], options=options)
    closing.callback(home.close)
    closing.callback(server.close)
    mine, theirs = home.rows(QUESTION), server.rows(QUESTION)
    told = ("chunk_id", "content", "locator", "scores", "generation")
    assert [[one[name] for name in told] for one in mine] == [[one[name] for name in told] for one in theirs]
    assert {one["document_name"] for one in mine} == {"towers.md"}
    assert all(one["scores"]["dense_distance"] is None for one in mine)


def _closed_after(closing: ExitStack, search: ServerSearch) -> ServerSearch:
    closing.callback(search.close)
    return search


def test_errors_keep_their_type_over_the_wire(
    place: Place, searches: Searches, closing: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, kind in (("fonte_nothing", Unauthenticated), (place.keys["tool"], NotPermitted)):
        with pytest.raises(kind):
            _closed_after(closing, ServerSearch(place.address, key)).rows(QUESTION)
    for search in searches("ada"):
        with pytest.raises(InvalidQuery):
            search.rows(" ")
    with pytest.raises(StoreUnavailable, match="does not answer") as refused:
        _closed_after(closing, ServerSearch("http://127.0.0.1:9")).rows(QUESTION)
    assert refused.value.retryable
    monkeypatch.delenv("FONTE_TEST_KEY", raising=False)
    with pytest.raises(ConfigError, match="FONTE_TEST_KEY is not set"):
        ServerSearch(place.address, key_variable="FONTE_TEST_KEY").rows(QUESTION)
    assert place.keys["ada"] not in repr(ServerSearch(place.address, place.keys["ada"]))


def test_the_examples_of_the_docs_run(
    place: Place, closing: ExitStack, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place.home.parent)
    page = (Path(__file__).parents[2] / "docs" / "adapters.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(examples) == 4
    names: dict[str, Any] = {}
    for example in examples:
        exec(example.replace('languages=("it",)', 'languages=("en",)'), names)
    closing.callback(names["here"].close)
    assert capsys.readouterr().out.count("towers.md") >= 2


def test_langchain_pipes_documents_on(searches: Searches) -> None:
    retriever = langchain.FonteRetriever(search=searches("ada")[1])
    chain = retriever | RunnableLambda(lambda found: [one.metadata["label"] for one in found])
    assert chain.invoke(QUESTION)[0].startswith("towers.md")
    assert asyncio.run(retriever.ainvoke(QUESTION))[0].page_content == retriever.invoke(QUESTION)[0].page_content


def test_llamaindex_reads_the_place_in_prompts_and_no_more(searches: Searches) -> None:
    retriever = llamaindex.FonteRetriever(searches("ada")[0])
    best = retriever.retrieve(QUESTION)[0]
    assert (best.node.start_char_idx, best.node.end_char_idx) == tuple(
        best.node.metadata["locator"][one] for one in ("from", "to")
    )
    prompt = best.node.get_content(MetadataMode.LLM)
    assert "towers.md" in prompt
    assert best.node.metadata["trace_id"] not in prompt
    assert asyncio.run(retriever.aretrieve(QUESTION))[0].node.id_ == best.node.id_
    assert best.score is None, "a score of rank fusion says nothing to a threshold"


def test_haystack_writes_a_pipeline_down_without_secrets_and_runs_it_again(
    place: Place, closing: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FONTE_TEST_KEY", place.keys["ada"])
    named = ServerSearch(place.address, key_variable="FONTE_TEST_KEY", options=SearchOptions(k=2, languages=("en",)))
    for search in (named, HomeSearch(str(place.home), EVA, SearchOptions(k=2))):
        pipeline = Pipeline()
        pipeline.add_component("retriever", haystack.FonteRetriever(search))
        pipeline.add_component(
            "prompt", PromptBuilder("{% for one in documents %}{{ one.meta.label }}: {{ one.content }}\n{% endfor %}")
        )
        pipeline.connect("retriever.documents", "prompt.documents")
        written = pipeline.dumps()
        assert place.keys["ada"] not in written
        again = Pipeline.loads(written, allowed_modules=["fonte.adapters.haystack"])
        assert again.get_component("retriever").search == search
        closing.callback(again.get_component("retriever").search.close)
        assert "seven bar" in again.run({"retriever": {"query": QUESTION}})["prompt"]["prompt"]
    with pytest.raises(ConfigError, match="not written down"):
        haystack.FonteRetriever(ServerSearch(place.address, place.keys["ada"])).to_dict()
