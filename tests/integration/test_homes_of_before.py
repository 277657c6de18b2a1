"""Homes that earlier versions made are opened by this one (scripts/keep-home makes one for each release)."""

from __future__ import annotations

import json
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fonte import Corpus, Principal, SourceOptions
from fonte.access.keys import identify
from fonte.stores.checking import check
from fonte.stores.home import Home

HOMES = sorted((Path(__file__).parents[1] / "data" / "homes").glob("*.tar.xz"))
ADA, HR = Principal(user="ada"), Principal(user="ada", roles=frozenset({"hr"}))
LEAVE = "How many days of leave are there?"


def test_this_version_is_kept_or_was_never_released() -> None:
    assert HOMES, "scripts/keep-home makes one"


@pytest.mark.parametrize("kept", HOMES, ids=[one.name.removesuffix(".tar.xz") for one in HOMES])
def test_a_home_of_an_earlier_version_answers_and_goes_on(kept: Path, tmp_path: Path) -> None:
    with tarfile.open(kept) as packed:
        packed.extractall(tmp_path, filter="data")
    made = json.loads((tmp_path / "made.json").read_text())
    home = tmp_path / ".fonte"
    assert list(check(home)) == []
    keys = Home(home).keys()
    assert identify(keys, made["key"], now=datetime.now(UTC)).principal == HR
    keys.close()
    with Corpus.open(home, environ={}) as corpus:
        found = corpus.search(LEAVE, principal=ADA, mode="hybrid").results
        assert (found[0].stored.document_name, "26 days" in found[0].content) == ("rules.md", True)
        pay = "What is the director paid?"
        assert "pay.md" not in {one.stored.document_name for one in corpus.search(pay, principal=ADA).results}
        assert corpus.search(pay, principal=HR).results[0].stored.document_name == "pay.md"
        assert json.loads(corpus.answer(made["answer"], principal=ADA))["citations"][0]["document_name"] == "rules.md"
        assert corpus.show("parts.csv", principal=ADA)[0].text.count("Valve")
        corpus.rollback()
        corpus.rollback()
        assert "24 days" in corpus.search(LEAVE, principal=ADA).results[0].content
        (tmp_path / "new").mkdir()
        (tmp_path / "new" / "note.md").write_text("# Note\n\nThe lift carries nine people.\n")
        report = corpus.sync(str(tmp_path / "new"), options=SourceOptions(allow=("public",)))
        assert report.published
        assert corpus.search("lift", principal=ADA, mode="bm25").results[0].stored.document_name == "note.md"
    assert list(check(home)) == []
