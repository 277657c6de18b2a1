"""What is narrowed or deleted is unseen by the very next question: at any step of a sync, a publish, a rollback or a
migration that runs beside, and in every generation that is active afterwards; stored answers that cite it are gone.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from faults.small_life import OPERATIONS, SECOND, copied, make, opened
from faults.stepping import stepping

from fonte import contract
from fonte.corpus import OpenCorpus
from fonte.errors import FonteError, NotFound
from fonte.types import Acl, Answered, GenerationState, Principal, document_id

WHO = Principal(user="ada")
NAME = "tiger.txt"
DOCUMENT = document_id("default", f"memory://shelf/{NAME}")
QUESTION = "In which hall does the tiger live?"
BESIDE = ("sync", "publish", "rollback", "migration")
STEPS = 2
"""Of an operation, for each way of taking away, in the run that is not the long one."""


def delete(corpus: OpenCorpus) -> None:
    corpus.delete(NAME)


def narrow(corpus: OpenCorpus) -> None:
    corpus._store_of("default").catalog.narrow(DOCUMENT, Acl(frozenset({"hr"})))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("life") / "home"
    make(home)
    return home


class Asked:
    """Somebody who was told of the document while that was allowed."""

    def __init__(self, corpus: OpenCorpus) -> None:
        told = corpus.ask(QUESTION, principal=WHO, conversation="new")
        assert isinstance(told, Answered)
        assert DOCUMENT in {one.document_id for one in told.citations}
        self.answer, self.conversation = told.answer_id, told.trace.conversation
        self.sees(corpus)

    def sees(self, corpus: OpenCorpus) -> None:
        """It is there, on every way that ``is_blind`` looks at."""
        assert any(one.stored.chunk.document_id == DOCUMENT for one in corpus.search("tiger", principal=WHO).results)
        assert corpus.document(NAME, principal=WHO)
        assert corpus.answer(self.answer, principal=WHO)
        assert DOCUMENT in " ".join(corpus.answers(principal=WHO))
        (turn,) = corpus.conversation(self.conversation, principal=WHO).turns[:1]
        assert turn.answer is not None
        assert NAME in {one.name for one in corpus.readable(principal=WHO)}

    def is_blind(self, corpus: OpenCorpus) -> None:
        """Nothing is left of it, for this asker, on any way."""
        for mode in ("bm25", "dense", "hybrid"):
            found = corpus.search("the keeper of the tiger", principal=WHO, mode=mode, k=50)
            assert found.results, "the others are found"
            assert DOCUMENT not in {one.stored.chunk.document_id for one in found.results}
            assert DOCUMENT not in {document for one in found.results for document, _ in one.duplicates}
        for conversation in (None, self.conversation):
            told = corpus.ask(QUESTION, principal=WHO, conversation=conversation)
            assert NAME not in json.dumps(contract.answer(told))
            assert DOCUMENT not in json.dumps(contract.answer(told))
        with pytest.raises(NotFound):
            corpus.answer(self.answer, principal=WHO)
        with pytest.raises(NotFound):
            corpus.document(NAME, principal=WHO)
        assert DOCUMENT not in " ".join(corpus.answers(principal=WHO))
        turns = corpus.conversation(self.conversation, principal=WHO).turns
        assert [one.answer for one in turns[:1]] == [None]
        assert DOCUMENT not in " ".join(one.answer or "" for one in turns)
        assert NAME not in {one.name for one in corpus.readable(principal=WHO)}


def in_every_generation(corpus: OpenCorpus, look: Callable[[], None]) -> int:
    """Publish each generation that is kept, and look; how many there are."""
    known = [one.id for one in corpus.generations()[1] if one.state is not GenerationState.REJECTED]
    for one in known:
        corpus.publish(one, override="a test")
        look()
    return len(known)


def taken_away_beside(
    template: Path, place: Path, name: str, how: Callable[[OpenCorpus], None], most: int | None
) -> None:
    operation = OPERATIONS[name]
    home = copied(template, place / "whole")
    with stepping(home, lambda _at, _what: None) as steps, operation.on(home) as corpus:
        operation.do(corpus)
    # Inside of another one's commit a delete waits for its end.
    numbers = [at for at, what in enumerate(steps.names, 1) if not what.startswith("sqlite")]
    if how is narrow and "before add" in steps.names:  # what a sync's own source says holds over what was said before
        numbers = [at for at in numbers if at > steps.names.index("before add")]
    if most is not None:
        numbers = random.Random(f"{name} {how.__name__}").sample(numbers, min(most, len(numbers)))
    for number in numbers:
        home = copied(template, place / str(number))
        with opened(home) as beside:
            asked = Asked(beside)

            def at_step(at: int, _what: str, number: int = number, asked: Asked = asked) -> None:
                if at == number:
                    how(beside)
                    asked.is_blind(beside)

            with stepping(home, at_step), operation.on(home) as corpus:
                try:
                    operation.do(corpus)
                except FonteError as error:
                    pytest.fail(f"{name} at step {number} of {steps.names}: {error.message}")
            asked.is_blind(beside)
            assert in_every_generation(beside, lambda asked=asked: asked.is_blind(beside)) >= 2


@pytest.mark.parametrize("how", [delete, narrow])
@pytest.mark.parametrize("name", BESIDE)
def test_taken_away_while_something_runs(
    template: Path, tmp_path: Path, name: str, how: Callable[[OpenCorpus], None]
) -> None:
    taken_away_beside(template, tmp_path, name, how, STEPS)


@pytest.mark.soak
@pytest.mark.parametrize("how", [delete, narrow])
@pytest.mark.parametrize("name", BESIDE)
def test_taken_away_at_every_step(template: Path, tmp_path: Path, name: str, how: Callable[[OpenCorpus], None]) -> None:
    taken_away_beside(template, tmp_path, name, how, None)


@pytest.mark.parametrize("publish", [True, False])
def test_a_sync_that_narrows_hides_before_it_builds(template: Path, tmp_path: Path, publish: bool) -> None:
    """Whoever asks at any step sees what was before or nothing; from the first written chunk on, nothing."""
    home = copied(template, tmp_path / "home")
    shelf = SECOND.by_name["docs"]
    texts = {name: (text, frozenset({"hr"}) if name == NAME else roles) for name, (text, roles) in shelf.texts.items()}
    with opened(home) as beside:
        asked, blind = Asked(beside), []

        def at_step(_at: int, what: str) -> None:
            if not what.startswith("sqlite"):
                seen = beside.readable(principal=WHO, document=DOCUMENT)
                blind.append((what, not seen))
                (asked.sees if seen else asked.is_blind)(beside)

        shelves = type(SECOND)({"docs": type(shelf)(texts)})
        with stepping(home, at_step), opened(home, shelves) as corpus:
            assert corpus.sync("docs", publish=publish).published == publish
        steps = [done for _, done in blind]
        assert steps == sorted(steps), "once hidden it stays hidden"
        assert dict(blind)["before begin"], "before anything is built"
        asked.is_blind(beside)
        assert in_every_generation(beside, lambda: asked.is_blind(beside)) >= 2
