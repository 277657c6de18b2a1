from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from console import Command, commands, missing, run_page

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("sample/*.md")])
WITH_COMMANDS = [page for page in PAGES if "```console" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_the_docs_do_what_they_show(page: Path, tmp_path: Path) -> None:
    (tmp_path / "sample").symlink_to(ROOT / "sample", target_is_directory=True)
    assert run_page(page.read_text(encoding="utf-8"), tmp_path) == []


def test_some_page_has_commands() -> None:
    assert WITH_COMMANDS


def test_a_page_is_read_as_commands_with_their_output() -> None:
    page = "x\n```console\n$ one \\\n  --two\nout\n$ three  # exits 3\n```\n```python\n$ no\n```\n"
    assert list(commands(page)) == [Command(3, "one --two", ("out",)), Command(6, "three", (), 3)]
    with pytest.raises(ValueError, match="never ends"):
        list(commands("```console\n$ one\n"))


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        (("a", "c"), None),
        (("a…", "…"), None),
        (("c", "a"), "a"),
        (("b",), "b"),
        (("b…e",), None),
        (("",), None),
    ],
)
def test_shown_lines_must_be_printed_in_order(shown: tuple[str, ...], line: str | None) -> None:
    assert missing(shown, "a\nb d e\nc\n") == line


def test_a_command_that_lies_is_found(tmp_path: Path) -> None:
    page = "```console\n$ echo 1\n2\n$ false\n$ exit 3  # exits 3\n$ make demo\n```\n"
    faults = run_page(page, tmp_path)
    assert ["line 2" in faults[0], "line 4" in faults[1], len(faults)] == [True, True, 2]
