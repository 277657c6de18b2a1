"""Questions whose answer is computed over a table, by the whole way of a question: right and cited, or refused."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest
import yaml

from fonte import contract
from fonte.answer import asked_query
from fonte.computed.step import Answer as Computation
from fonte.computed.step import Reach, Refusal, over_tables
from fonte.corpus import OpenCorpus
from fonte.errors import NotFound
from fonte.text.locate import locate
from fonte.types import Abstained, AbstentionReason, Answered, Citation, DocumentStatus, Filters, Principal
from quick_corpus import Shelf, Shelves, WordEmbedder, quick_corpus

ROOT = Path(__file__).parents[3]
QUESTIONS = yaml.safe_load((ROOT / "evaluation/golden/tables.yaml").read_text("utf-8"))["questions"]
HANDBOOK = ("safety/incident-codes.csv", "it/codici-errore-gora.tsv", "quality/methods-and-prices.xlsx")
PUBLIC, GUARDS = frozenset({"public"}), frozenset({"guards"})
WHO = Principal()
TEN = "Bin,Colour,Litres\n" + "".join(
    f"B{number},{'red' if number % 2 else 'blue'},{number}0\n" for number in range(10)
)


class Remembering(WordEmbedder):
    """Makes each word's vector once: most of the time of a question would go into them."""

    known: ClassVar[dict[str, np.ndarray]] = {}

    def _word(self, word: str) -> np.ndarray:
        if word not in self.known:
            self.known[word] = super()._word(word)
        return self.known[word]


def script(name: str) -> ModuleType:
    """A script of evaluation/, which is no package."""
    sys.path.insert(0, str(ROOT / "evaluation"))
    try:
        spec = importlib.util.spec_from_file_location(name, ROOT / "evaluation" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.pop(0)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OpenCorpus, Mapping[str, str], ModuleType]]:
    folder = tmp_path_factory.mktemp("tables")
    runner = script("run_tables")
    truth = runner.make_tables(folder / "files", 60)
    for name in HANDBOOK:
        (folder / "files" / Path(name).name).write_bytes((ROOT / "sample/handbook" / name).read_bytes())
    corpus = quick_corpus(folder / "home", embedder=Remembering())
    report = corpus.sync(str(folder / "files"))
    assert not [one for one in report.failures if one.state is not DocumentStatus.PARTIAL]
    return corpus, truth, runner


@pytest.mark.parametrize("question", QUESTIONS, ids=[one["id"] for one in QUESTIONS])
def test_a_table_question_is_right_and_cited_or_refused(
    question: dict[str, str], asked: tuple[OpenCorpus, Mapping[str, str], ModuleType]
) -> None:
    corpus, truth, runner = asked
    answer = corpus.ask(question["ask"], principal=WHO)
    outcome, wanted, came = runner.judge(question, answer, truth)
    assert outcome == ("refused" if "refused" in question else "right"), (wanted, came)
    for citation in answer.citations if isinstance(answer, Answered) else ():
        document = corpus.document(citation.document_id, principal=WHO)
        start, end = citation.locator.start, citation.locator.end
        assert citation.quote == document.text[start:end]
        assert citation.locator == locate(document, start, end)


def shelved(home: Path, texts: Mapping[str, tuple[str, frozenset[str]]]) -> OpenCorpus:
    corpus = quick_corpus(home, Shelves({"s": Shelf(texts)}), embedder=Remembering())
    corpus.sync("memory://s")
    return corpus


def answered(corpus: OpenCorpus, question: str) -> Answered:
    answer = corpus.ask(question, principal=WHO)
    assert isinstance(answer, Answered), answer
    assert answer.computed is not None
    return answer


def test_case_81_how_many_rows_are_counted_over_the_table_and_cited_as_its_range(tmp_path: Path) -> None:
    corpus = shelved(tmp_path, {"bins.csv": (TEN, PUBLIC), "a.md": ("# A\n\nNothing of bins here.\n", PUBLIC)})
    answer = answered(corpus, "How many rows?")
    assert answer.computed is not None
    assert (answer.computed.value, answer.computed.range, answer.computed.sql) == (
        "10",
        "A1:C11",
        "SELECT count(*) FROM t",
    )
    assert answer.text.startswith("bins.csv has 10 rows [1].")
    assert answer.citations[0].locator.range == "A1:C11"
    assert answer.citations[0].label == "bins.csv, A1:C11"


def test_case_12_a_count_names_the_items_counted_and_cites_each(tmp_path: Path) -> None:
    six = "Bin,Colour\n" + "".join(f"B{number},{'red' if number < 6 else 'blue'}\n" for number in range(9))
    corpus = shelved(tmp_path, {"bins.csv": (six, PUBLIC)})
    answer = answered(corpus, "How many red rows are in the table?")
    counted, items = answer.sentences
    assert counted.text == "bins.csv has 6 rows where Colour is “red” [1]."
    assert items.text == "They are: B0 [2], B1 [3], B2 [4], B3 [5], B4 [6], B5 [7]."
    assert [one.locator.range for one in answer.citations[1:]] == [f"A{row}:B{row}" for row in range(2, 8)]
    assert {one.support for one in answer.sentences} == {"supported"}


def test_a_table_that_may_not_be_read_is_not_there(tmp_path: Path) -> None:
    texts = {"bins.csv": (TEN, GUARDS), "a.md": ("# A\n\nThe red bins stand in the yard.\n", PUBLIC)}
    corpus = shelved(tmp_path, texts)
    answer = corpus.ask("How many red rows are in bins?", principal=WHO)
    assert "bins.csv" not in json.dumps(contract.answer(answer))
    assert contract.answer(answer)["computed"] is None
    guard = corpus.ask("How many red rows are in bins?", principal=Principal(roles=GUARDS))
    assert isinstance(guard, Answered)
    assert guard.computed is not None
    assert guard.computed.value == "5"


def test_a_table_without_a_name_among_several_is_asked_back_for(tmp_path: Path) -> None:
    corpus = shelved(tmp_path, {"bins.csv": (TEN, PUBLIC), "tubs.csv": (TEN.replace("B", "T"), PUBLIC)})
    answer = corpus.ask("How many rows?", principal=WHO)
    assert isinstance(answer, Abstained)
    assert answer.reason is AbstentionReason.UNSUPPORTED
    assert "bins.csv" in answer.message
    assert "tubs.csv" in answer.message


def test_copies_of_a_table_are_one_table_and_all_named(tmp_path: Path) -> None:
    corpus = shelved(tmp_path, {"bins.csv": (TEN, PUBLIC), "bins-copy.csv": (TEN, PUBLIC)})
    answer = answered(corpus, "How many red bins are there?")
    assert answer.computed is not None
    assert answer.computed.value == "5"
    assert len(answer.citations[0].duplicates) == 1


def test_what_is_streamed_is_what_is_stored(tmp_path: Path) -> None:
    corpus = shelved(tmp_path, {"bins.csv": (TEN, PUBLIC)})
    *shown, last = corpus.stream("How many red bins are there?", principal=WHO)
    assert isinstance(last, Answered)
    assert tuple(one for one in shown if isinstance(one, Citation)) == last.citations
    assert "".join(one for one in shown if isinstance(one, str)) == last.text
    stored = json.loads(corpus.answer(last.answer_id, principal=WHO))
    assert stored["computed"]["sql"] == "SELECT count(DISTINCT c0) FROM t WHERE list_contains(?, c1)"
    assert stored["computed"]["parameters"] == [["red"]]
    assert stored["answer"] == last.text
    assert stored["generator"] == "table"


def test_names_and_cells_that_look_like_sql_are_only_text(tmp_path: Path) -> None:
    table = 'Bin,"x""; DROP TABLE t; --"\nB1,"\'); SELECT 1; --"\nB2,plain\n'
    corpus = shelved(tmp_path, {"bins.csv": (table, PUBLIC)})
    answer = answered(corpus, "How many rows are '); SELECT 1; --?")
    assert answer.computed is not None
    assert answer.computed.value == "1"
    assert answer.computed.sql == "SELECT count(*) FROM t WHERE list_contains(?, c1)"
    assert answer.computed.parameters == (("'); SELECT 1; --",),)


def test_an_ordinary_question_about_a_number_in_prose_is_left_alone(tmp_path: Path) -> None:
    texts = {"bins.csv": (TEN, PUBLIC), "a.md": ("# Passwords\n\nA password has at least 14 characters.\n", PUBLIC)}
    answer = shelved(tmp_path, texts).ask("How many characters must a password have?", principal=WHO)
    assert contract.answer(answer)["computed"] is None
    assert contract.answer(answer)["answered"]


def test_a_document_that_was_not_read_whole_gives_no_figure(tmp_path: Path) -> None:
    corpus = shelved(tmp_path, {"bins.csv": (TEN, PUBLIC)})
    asker = corpus.asker(WHO)
    assert asker is not None
    asked = asker.prepare(asked_query("How many red bins are there?", WHO, Filters()))
    (document,) = asked.documents.values()
    state = asker.catalog.state(asker.reader.generation.id, document.id)
    assert state is not None
    for status, kind in ((DocumentStatus.READY, Computation), (DocumentStatus.PARTIAL, Refusal)):
        known = replace(state, status=status)
        reach = Reach(lambda _: document, lambda _, known=known: known, lambda _: iter((document.id,)))
        assert isinstance(over_tables(asked.query, "en", asked.retrieved, reach), kind)


RANGES = "# How many rows {at}\n\nHow many red rows are there in all? How many rows, how many red rows {at}.\n"
MONEY = "Name,Colour,Cost\nAnna,red,10 EUR\nBob,red,20 USD\n"


def test_a_stored_refusal_goes_with_the_table_that_it_tells_of(tmp_path: Path) -> None:
    texts = {f"note{at}.md": (RANGES.format(at=at), PUBLIC) for at in range(6)}
    corpus = shelved(tmp_path, texts | {"falcon.csv": (MONEY, PUBLIC), "bins.csv": (TEN, PUBLIC)})
    answer = corpus.ask("How many rows are red in falcon with purple?", principal=WHO)
    assert isinstance(answer, Abstained)
    assert "falcon.csv" in answer.message
    falcon = next(one.document_id for one in corpus.documents() if one.name == "falcon.csv")
    assert answer.trace.read == (falcon,)
    assert falcon not in {one.stored.chunk.document_id for one in answer.nearest}
    assert "falcon.csv" in corpus.answer(answer.answer_id, principal=WHO)
    corpus.delete("falcon.csv")
    with pytest.raises(NotFound):
        corpus.answer(answer.answer_id, principal=WHO)


def test_a_refusal_over_a_table_that_may_not_be_read_any_more_tells_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = shelved(tmp_path, {"falcon.csv": (MONEY, PUBLIC), "a.md": ("# A\n\nNothing\n", PUBLIC)})

    def narrowing(*given: Any) -> Computation | Refusal | None:
        outcome = over_tables(*given)
        assert isinstance(outcome, Refusal)
        corpus.delete("falcon.csv")
        return outcome

    monkeypatch.setattr("fonte.answer.over_tables", narrowing)
    answer = corpus.ask("What is the total cost in falcon?", principal=WHO)
    assert isinstance(answer, Abstained)
    assert answer.reason is AbstentionReason.NOTHING_RETRIEVED
    told = json.dumps(contract.answer(answer))
    assert not [word for word in ("falcon.csv", "EUR", "USD") if word in told]


def test_a_table_that_a_leg_alone_found_is_cited_with_a_place_of_its_own(tmp_path: Path) -> None:
    prose = {
        f"n{at}.md": (f"# Section{at}\n\nHow many red bins are there? How many red bins are there {at}.\n", PUBLIC)
        for at in range(4)
    }
    corpus = shelved(tmp_path, prose | {"bins.csv": (TEN, PUBLIC)})
    answer = corpus.ask("How many red bins are there?", principal=WHO, k=2)
    assert isinstance(answer, Answered)
    assert answer.computed is not None
    asker = corpus.asker(WHO)
    assert asker is not None
    chunks = {one.chunk.id: one.chunk for one in asker.reader.stored_chunks()}
    for citation in answer.citations:
        assert citation.document_name == "bins.csv"
        assert "Section" not in citation.label
        assert chunks[citation.chunk_id].document_id == citation.document_id
        assert chunks[citation.chunk_id].index == citation.chunk_index


def test_where_nothing_was_found_nothing_is_computed(tmp_path: Path) -> None:
    corpus = shelved(tmp_path, {"bins.csv": (TEN, PUBLIC)})
    answer = corpus.ask("How many red bins are there?", principal=WHO, max_distance=0.0001)
    assert isinstance(answer, Abstained)
    assert answer.reason is AbstentionReason.NOTHING_RETRIEVED


TWO = {"bins.csv": (TEN, PUBLIC), "tubs.csv": (TEN.replace("B", "T"), PUBLIC)}


def test_the_one_table_that_a_filter_leaves_is_meant(tmp_path: Path) -> None:
    corpus = shelved(tmp_path, TWO)
    answer = corpus.ask("How many rows?", principal=WHO, filters=Filters(documents=("bins.csv",)))
    assert isinstance(answer, Answered)
    assert answer.computed is not None
    assert answer.computed.value == "10"
    assert {one.document_name for one in answer.citations} == {"bins.csv"}


def test_two_tables_that_a_filter_leaves_are_asked_back_for(tmp_path: Path) -> None:
    corpus = shelved(tmp_path, {**TWO, "cans.csv": (TEN.replace("B", "C"), PUBLIC)})
    answer = corpus.ask("How many rows?", principal=WHO, filters=Filters(documents=("bins.csv", "tubs.csv")))
    assert isinstance(answer, Abstained)
    assert "cans.csv" not in answer.message


def test_a_kind_of_file_may_leave_one_table(tmp_path: Path) -> None:
    prose = {f"note{number}.md": (f"Rows of note {number} are sown in May.", PUBLIC) for number in range(3)}
    corpus = shelved(tmp_path, {"bins.csv": (TEN, PUBLIC), **prose})
    question = "How many rows are there?"
    answer = corpus.ask(question, principal=WHO, filters=Filters(media_types=("text/csv",)))
    assert isinstance(answer, Answered)
    assert answer.computed is not None
    assert answer.computed.value == "10"


def test_a_table_that_a_filter_admits_and_nothing_found_is_not_passed_over(tmp_path: Path) -> None:
    corpus = shelved(tmp_path, TWO)
    answer = corpus.ask("How many rows?", principal=WHO, filters=Filters(documents=("bins.csv", "tubs.csv")), k=1)
    assert isinstance(answer, Abstained)
