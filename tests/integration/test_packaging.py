"""What a release holds: the wheel by itself, the source, its types, its licences and its bill of materials."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "fonte"


def _run(*words: str | Path, cwd: Path = ROOT) -> str:
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(one) for one in words], cwd=cwd, env=environ, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    build = ("wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation", "-w", place, ".")
    _run(sys.executable, "-m", "pip", *build)
    return next(place.glob("fonte-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment that has the wheel, and what fonte needs from here."""
    place = tmp_path_factory.mktemp("installed") / "env"
    _run(sys.executable, "-m", "venv", "--without-pip", place)
    _run(
        sys.executable,
        "-m",
        "pip",
        "-q",
        "--python",
        place / "bin" / "python",
        "install",
        "--no-deps",
        "--no-index",
        wheel,
    )
    here = next(Path(one) for one in sys.path if one.endswith("site-packages"))
    (next(place.glob("lib/*/site-packages")) / "needs.pth").write_text(f"{here}\n")
    return place / "bin"


def test_the_wheel_holds_every_file_of_the_package_its_types_and_its_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        about = opened.read(next(one for one in names if one.endswith(".dist-info/METADATA"))).decode()
    ours = {
        f"fonte/{path.relative_to(PACKAGE)}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert ours - names == set()
    assert "fonte/py.typed" in names
    assert {one for one in names if not one.startswith("fonte/")} == {
        f"fonte-0.1.0.dist-info/{one}"
        for one in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE", "licenses/NOTICE")
    }
    assert "License-Expression: Apache-2.0" in about
    assert "Requires-Python: >=3.11" in about


def test_the_wheel_alone_answers_with_a_citation_and_refuses(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "leave.md").write_text("# Leave\n\nEmployees have 26 days of leave every year.\n")
    where = _run(installed / "python", "-c", "import fonte; print(fonte.__file__)", cwd=tmp_path).strip()
    assert Path(where).is_relative_to(installed.parent)
    assert "usage: fonte" in _run(installed / "fonte", "--help", cwd=tmp_path)
    _run(installed / "fonte", "sync", "docs", "--allow", "public", cwd=tmp_path)
    asked = "How many days of leave do employees have?"
    answered = json.loads(_run(installed / "fonte", "ask", asked, "--json", cwd=tmp_path))
    assert answered["citations"][0]["quote"] == "Employees have 26 days of leave every year."
    refused = json.loads(_run(installed / "fonte", "ask", "How heavy is the moon?", "--json", cwd=tmp_path))
    assert not refused["answered"]
    assert refused["abstention"]["reason"]


def test_the_source_holds_what_builds_and_tests_it(tmp_path: Path) -> None:
    _run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path)
    with tarfile.open(next(tmp_path.glob("fonte-*.tar.gz"))) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    wanted = {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "NOTICE",
        "src/fonte/py.typed",
        "docs/status.md",
        "tests/conftest.py",
    }
    assert wanted - names == set()
    assert [one for one in names if ".venv" in one or "__pycache__" in one] == []


def test_a_program_that_uses_fonte_is_checked_strictly_against_its_types(installed: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from fonte import Abstained, Answer, Answered, Corpus, FonteError, Principal, SourceOptions\n\n\n"
        "def told(answer: Answer) -> str:\n"
        "    if isinstance(answer, Answered):\n"
        "        return ' '.join(one.quote for one in answer.citations)\n"
        "    reveal_type(answer)\n"
        "    return answer.reason\n\n\n"
        "def main() -> None:\n"
        "    with Corpus.open('.fonte') as corpus:\n"
        "        corpus.sync('docs', options=SourceOptions(allow=('public',)))\n"
        "        print(told(corpus.ask('Why?', principal=Principal(user='ada'))))\n"
        "        corpus.ask('Why?')\n"
    )
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", installed / "python", program],
        cwd=tmp_path, capture_output=True, text=True, timeout=170, check=False,
    )  # fmt: skip
    told = re.sub(r"^.*program\.py:", "", checked.stdout, flags=re.MULTILINE).splitlines()
    assert told[0] == '7: note: Revealed type is "fonte.types.Abstained"'
    assert told[1].startswith('15: error: Missing named argument "principal"')
    assert told[-1].startswith("Found 1 error")


@pytest.fixture(scope="module")
def licences() -> dict[str, Callable[..., object]]:
    return runpy.run_path(str(ROOT / "scripts" / "licences"))


def test_every_package_that_fonte_brings_states_a_permissive_licence_and_is_listed(
    licences: dict[str, Callable[..., object]],
) -> None:
    names = licences["locked"]((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    assert isinstance(names, list)
    assert len(names) > 50
    _, odd = licences["page"](names)  # type: ignore[misc]  # a script's functions have no types here
    assert odd == []
    listed = re.findall(
        r"^\| ([a-z0-9][\w.-]*) \| ", (ROOT / "docs" / "licences.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert listed[1:] == names, "run scripts/licences"


def test_the_bill_of_materials_names_every_package_with_its_hashes(tmp_path: Path) -> None:
    written = tmp_path / "fonte.cdx.json"
    _run("make", "-s", "sbom", f"SBOM={written}", f"VENV={Path(sys.prefix)}")
    told = json.loads(written.read_text())
    assert told["bomFormat"] == "CycloneDX"
    assert told["metadata"]["component"]["name"] == "fonte"
    locked = set(re.findall(r"^([A-Za-z0-9._-]+)==", (ROOT / "requirements.lock").read_text(), flags=re.MULTILINE))
    assert {one["name"] for one in told["components"]} == locked
    assert all(one["version"] and one["purl"].startswith("pkg:pypi/") for one in told["components"])
    assert all(one["externalReferences"][0]["hashes"] for one in told["components"])
