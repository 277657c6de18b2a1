"""A source that holds nothing says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from fonte.parts import SourceOptions
from quick_corpus import quick_corpus


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    folder = tmp_path / "shelf"
    folder.mkdir()
    (folder / "lamps.txt").write_text("The green lamp burns at midnight.\n")
    (folder / "cats.jsonl").write_text("\n".join(f'{{"id": "{n}", "text": "Cat {n} sleeps."}}' for n in range(2)))
    return folder


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        ("empty", SourceOptions(), "holds no file to read"),
        ("shelf/*.pdf", SourceOptions(), "matches /*.pdf"),
        ("shelf", SourceOptions(include=("*.docx",)), "--include admits (*.docx)"),
        ("shelf", SourceOptions(exclude=("*.txt", "*.jsonl")), "--exclude leaves (*.txt, *.jsonl)"),
    ],
)
def test_a_source_that_holds_nothing_says_so(
    tmp_path: Path, shelf: Path, source: str, options: SourceOptions, said: str
) -> None:
    (tmp_path / "empty").mkdir()
    with quick_corpus(tmp_path / "home") as corpus:
        report = corpus.sync(str(shelf / "lamps.txt"), str(tmp_path / source), options=options)
        assert any(said in note for note in report.notes), report.notes
