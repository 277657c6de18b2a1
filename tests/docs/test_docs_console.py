from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from unit.models.stub_server import chat_script, stub_server

from console import Command, File, missing, run_page, steps, write

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("sample/*.md")])
WITH_COMMANDS = [page for page in PAGES if "```console" in page.read_text(encoding="utf-8")]


TUTORIAL = ROOT / "docs" / "tutorial.md"
MODEL = chat_script("You get 26 days of annual leave a year [1].")
"""What the model of the page on models writes."""


@pytest.mark.timeout(600)  # a page is up to a dozen commands, each a process of its own
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_the_docs_do_what_they_show(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    (tmp_path / "sample").symlink_to(ROOT / "sample", target_is_directory=True)
    if page.parent.name == "howto":
        # These pages go on with the folder of the tutorial.
        for step in steps(TUTORIAL.read_text(encoding="utf-8")):
            if isinstance(step, File) and step.name.startswith("notes/"):
                write(step, tmp_path)
    with stub_server(MODEL) as model:
        # A port that is free stands for the one that the page names.
        text = text.replace("8080", free_port()).replace("http://127.0.0.1:11434/v1", model.base_url)
        assert run_page(text, tmp_path) == []


def free_port() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


def test_some_page_has_commands() -> None:
    assert WITH_COMMANDS


def test_a_page_is_read_as_commands_with_their_output() -> None:
    page = (
        "x\n```console\n$ one \\\n  --two\nout\n$ three  # exits 3\n```\n```python\n$ no\n```\n"
        '```toml title="a/b.toml"\n$ c = 1\n```\n```console\n$ four  # until Ctrl-C\nso\n```\n'
    )
    assert list(steps(page)) == [
        Command(3, "one --two", ("out",)),
        Command(6, "three", (), 3),
        File(11, "a/b.toml", "$ c = 1\n"),
        Command(15, "four", ("so",), goes_on=True),
    ]
    with pytest.raises(ValueError, match="never ends"):
        list(steps("```console\n$ one\n"))


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


def test_files_of_a_page_are_written_and_what_goes_on_ends_with_it(tmp_path: Path) -> None:
    going = """trap 'echo gone >out; exit 0' TERM; echo up; while :; do sleep 0.1; done"""
    page = """```text title="d/a.txt"\nx\n```\n```console\n$ sh run.sh  # until Ctrl-C\nup\n$ cat d/a.txt\nx\n```\n"""
    (tmp_path / "run.sh").write_text(going, encoding="utf-8")
    assert run_page(page, tmp_path) == []
    assert (tmp_path / "out").read_text(encoding="utf-8") == "gone\n"
    (tmp_path / "run.sh").write_text("echo down; exit 1", encoding="utf-8")
    faults = run_page(page, tmp_path)
    assert ["exits 1" in faults[0], len(faults)] == [True, 1]
