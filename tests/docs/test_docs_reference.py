from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import fonte
from fonte.cli.arguments import build_parser
from fonte.config import LISTS, SECTIONS
from fonte.errors import FonteError

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("**/*.md"), *ROOT.glob("sample/*.md")])


def tree(root: type[FonteError]) -> Iterator[type[FonteError]]:
    yield root
    for child in root.__subclasses__():
        yield from tree(child)


def test_every_error_stands_in_the_docs_with_its_statuses() -> None:
    for module in pkgutil.walk_packages(fonte.__path__, "fonte."):
        if not module.name.endswith(("__main__", "child")):
            importlib.import_module(module.name)
    page = (DOCS / "errors.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (\d) \| (\d{3}) \| (yes|no) \| (.+) \|$", page, flags=re.MULTILINE)
    documented = {(code, name, int(exits), int(http), again == "yes") for code, name, exits, http, again, _ in rows}
    kinds = [kind for kind in tree(FonteError) if kind.__module__.startswith("fonte.")]
    actual = {(kind.code, kind.__name__, kind.exit_status, kind.http_status, kind.retryable) for kind in kinds}
    assert documented == actual
    assert len(rows) == len(kinds) == len({kind.code for kind in kinds})


def test_every_setting_stands_in_the_docs() -> None:
    section = ""
    documented: set[tuple[str, str]] = set()
    for line in (DOCS / "configuration.md").read_text(encoding="utf-8").split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 4:
            continue
        section = re.sub(r"[`\[\]]", "", cells[0]) or section
        documented |= {(section, key) for key in re.findall(r"`(\w+)`", cells[1])}
    actual = {(name, key) for name, model in SECTIONS.items() for key in model.model_fields}
    actual |= {(name, key) for name, model in LISTS.items() for key in model.model_fields}
    assert documented == actual


def test_every_command_stands_in_the_docs_and_leads_to_its_options() -> None:
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| \[`fonte (\w+)[^`]*`\]\(reference/commands\.md#fonte-(\w+)\) \| .+ \|$", page, flags=re.MULTILINE
    )
    common = set(re.findall(r"`(--[\w-]+)`", page.split("\n| command", 1)[0].split("after any command:", 1)[1]))
    subparsers = next(action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction))
    assert [name for name, _ in rows] == [target for _, target in rows]
    assert {name for name, _ in rows} == set(subparsers.choices)
    for name, parser in subparsers.choices.items():
        options = {option for action in parser._actions for option in action.option_strings}
        assert common <= options, name


def test_the_reference_is_what_the_code_says() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "reference", "--check"],
        capture_output=True, text=True, encoding="utf-8", timeout=150, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:|#", target):
            assert (page.parent / target.split("#")[0]).exists(), f"{page.name}: {target}"


def test_every_decision_is_listed_and_its_number_is_its_own() -> None:
    index = (DOCS / "adr" / "README.md").read_text(encoding="utf-8")
    pages = sorted(path.name for path in (DOCS / "adr").glob("0*.md"))
    assert re.findall(r"\((0\d{3}-[\w-]+\.md)\)", index) == pages
    numbers = [int(name[:4]) for name in pages]
    assert numbers == sorted(set(numbers))
    for name in pages:
        text = (DOCS / "adr" / name).read_text(encoding="utf-8")
        assert text.startswith(f"# {name[:4]} ")
        for heading in ("**Decision.**", "**Why", "**Cost.**"):
            assert heading in text, (name, heading)


def test_the_architecture_page_names_every_part_of_the_tree() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    package = ROOT / "src" / "fonte"
    names = [path.name for path in package.glob("*.py") if not path.name.startswith("__")]
    names += [f"{path.parent.name}/" for path in package.glob("*/__init__.py")]
    assert [name for name in names if name not in page] == []


def test_python_examples_of_the_docs_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "evaluation.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "docs/evaluation.md", "exec"), {})
