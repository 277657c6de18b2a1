"""Steps of query processing through search: what they add, what they narrow, and that rights and the question stay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluating_making import PUBLIC, synced
from fonte.config import load_settings
from fonte.corpus import OpenCorpus
from fonte.types import Principal, Query

WHO = Principal()
TEXTS = {
    "rules-2024.md": ("# Rules 2024\n\nA hotel night in Rome is paid up to 120 euros.\n", PUBLIC),
    "rules-2026.md": ("# Rules 2026\n\nA hotel night in Rome is paid up to 140 euros.\n", PUBLIC),
    "secret-2022.md": ("# Rules 2022\n\nA hotel night in Rome is paid up to 90 euros.\n", frozenset({"guards"})),
    "holiday.md": ("# Holiday\n\nEverybody has 27 days of paid vacation.\n", PUBLIC),
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> OpenCorpus:
    return synced(tmp_path_factory.mktemp("steps") / "home", TEXTS)


def asking(corpus: OpenCorpus, text: str, who: Principal = WHO, **steps: Any) -> Any:
    asker = corpus.asker(who)
    assert asker is not None
    wanted = replace(asker.settings.processing, **steps)
    return replace(asker, settings=replace(asker.settings, processing=wanted)).search(Query(text, who))


def names(found: Any) -> list[str]:
    return [one.stored.document_name for one in found.results]


def test_looked_at_first_is_what_the_question_names_and_the_rest_stays(corpus: OpenCorpus) -> None:
    found = asking(corpus, "In the rules 2024, how much is a hotel night in Rome?", filters="first")
    assert names(found)[0] == "rules-2024.md"
    assert "rules-2026.md" in names(found)
    (step,) = found.steps
    assert step.outcome == "looked for first in documents rules-2024.md"
    assert found.query == "In the rules 2024, how much is a hotel night in Rome?"


def test_only_looks_nowhere_else_and_says_so(corpus: OpenCorpus) -> None:
    found = asking(corpus, "In the rules 2024, how much is a hotel night in Rome?", filters="only")
    assert names(found) == ["rules-2024.md"]
    assert found.steps[0].outcome.startswith("looked for only in")


def test_first_never_comes_back_with_nothing(corpus: OpenCorpus) -> None:
    found = asking(corpus, "In the Italian documents, how much is a hotel night in Rome?", filters="first")
    assert names(found)
    assert asking(corpus, "In the Italian documents, how much is a hotel night?", filters="only").results == ()


def test_a_document_that_the_asker_may_not_read_is_not_named(corpus: OpenCorpus) -> None:
    text = "In secret-2022.md, how much is a hotel night in Rome?"
    assert asking(corpus, text, filters="only").steps == ()
    assert "secret-2022.md" not in names(asking(corpus, text, filters="first"))
    guard = Principal(roles={"guards"})
    assert names(asking(corpus, text, guard, filters="only")) == ["secret-2022.md"]


def test_aliases_find_what_the_organisation_calls_otherwise(corpus: OpenCorpus) -> None:
    table = {"PTO": ("paid vacation",)}
    assert names(asking(corpus, "PTO", aliases=table))[0] == "holiday.md"
    (step,) = asking(corpus, "PTO", aliases=table).steps
    assert (step.name, step.texts) == ("aliases", ("paid vacation",))


def test_no_step_that_is_off_leaves_a_trace(corpus: OpenCorpus) -> None:
    assert asking(corpus, "In the rules 2024, who pays PTO and where is it?", parts=False).steps == ()


def test_every_wording_is_looked_for_under_the_same_rights(corpus: OpenCorpus) -> None:
    found = asking(corpus, "How much is a hotel night in Rome?", variants=True)
    assert found.steps[0].name == "variants"
    assert "secret-2022.md" not in names(found)


def test_a_home_that_sets_steps_takes_them(tmp_path: Path) -> None:
    config = tmp_path / "fonte.toml"
    config.write_text(
        '[query]\nfilters = "only"\naliases = {PTO = "paid time off", ferie = ["annual leave", "leave"]}\n'
    )
    wanted = load_settings(config, tmp_path / "home", {}).query
    assert wanted.filters == "only"
    assert wanted.aliases == {"PTO": ("paid time off",), "ferie": ("annual leave", "leave")}
    told = load_settings(None, tmp_path / "home", {"FONTE_QUERY_ALIASES": "PTO = paid time off; a=b,c"}).query.aliases
    assert told == {"PTO": ("paid time off",), "a": ("b", "c")}
