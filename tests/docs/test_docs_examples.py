"""Settings and clients' files that the pages show, given to what reads them."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from fonte.config import load_settings

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
CLIENTS = ROOT / "docs" / "howto" / "mcp-clients.md"


def blocks(page: Path, language: str) -> list[str]:
    """The texts of a page's fenced blocks of one language."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}[^\n]*\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def test_every_example_of_settings_is_accepted(tmp_path: Path) -> None:
    read = 0
    for page in PAGES:
        for example in blocks(page, "toml"):
            if "[[configurations]]" in example or "name = " in example.split("[", 1)[0]:
                continue  # an experiment, which is no file of settings
            file = tmp_path / "fonte.toml"
            file.write_text(example, encoding="utf-8")
            load_settings(file, tmp_path, {})
            read += 1
    assert read > 10


@pytest.mark.timeout(300)
@pytest.mark.parametrize("readme", ["README.md", "README.it.md"])
def test_the_program_of_the_readme_answers(readme: str, tmp_path: Path) -> None:
    program = blocks(ROOT / readme, "python")[0]
    folder = tmp_path / re.findall(r'corpus\.sync\("(\w+)/"', program)[0]
    folder.mkdir()
    (folder / "ferie.md").write_text("# Ferie\n\nI dipendenti hanno 26 giorni di ferie all'anno.\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", timeout=250,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("I dipendenti hanno 26 giorni di ferie all'anno [1].")


def started() -> list[dict[str, object]]:
    """What the clients' files start: command and arguments."""
    found = []
    for example in blocks(CLIENTS, "json"):
        said = json.loads(example)
        found += [one for one in (said.get("mcpServers") or said["servers"]).values() if "command" in one]
    return found


@pytest.mark.parametrize("one", started(), ids=lambda one: str(one.get("type", "plain")))
def test_what_a_clients_file_starts_offers_the_tools(one: dict[str, list[str]], tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    assert str(one["command"]).endswith("/fonte")
    arguments = ["-m", "fonte", *(str(home) if word == "/srv/fonte" else word for word in one["args"])]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))

    async def offered() -> set[str]:
        async with Client(server) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert asyncio.run(offered()) == {"search", "fetch", "ask", "list_documents"}


def test_there_are_such_files() -> None:
    assert len(started()) > 1
