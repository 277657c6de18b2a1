"""What every test runs under: capped threads, no network, derandomised Hypothesis, homes of its own, no child left."""

from __future__ import annotations

import os

# Read by BLAS, OpenMP and the tokenizers when they are first loaded, so before anything imports numpy.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "LANCE_CPU_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["HF_HUB_OFFLINE"] = "1"
# Says that pages must be opened in a browser: without one the tests fail, where they are skipped else.
_BROWSER_REQUIRED = os.environ.get("FONTE_REQUIRE_BROWSER", "") not in ("", "0")
# Says that text in pictures must be read: without an OCR engine the tests fail, where they are skipped else.
_OCR_REQUIRED = os.environ.get("FONTE_REQUIRE_OCR", "") not in ("", "0")
# A developer's own settings must not reach the tests; the cache of built models may, and where pictures go.
_KEPT = ("FONTE_CACHE", "FONTE_SHOTS")
for _name in [name for name in os.environ if name.startswith("FONTE_") and name not in _KEPT]:
    del os.environ[_name]

import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from hypothesis import HealthCheck, settings
from postgres_server import Server

settings.register_profile(
    "ci", derandomize=True, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

_GRACE_SECONDS = 5.0
_children_by_module: dict[str, set[int]] = {}


def _children() -> dict[int, str]:
    """Our child processes and theirs, by id; Python's own resource tracker lives as long as we do and is left out."""
    found: dict[int, str] = {}
    for child in psutil.Process().children(recursive=True):
        try:
            command = " ".join(child.cmdline())
            if child.status() != psutil.STATUS_ZOMBIE and "resource_tracker" not in command:
                found[child.pid] = command
        except psutil.NoSuchProcess:
            continue
    return found


@pytest.fixture(autouse=True, scope="module")
def _children_of_module(request: pytest.FixtureRequest) -> Iterator[None]:
    """Remember which module's run a child came from, for the guard at the end."""
    before = set(_children())
    yield
    _children_by_module[request.node.nodeid] = set(_children()) - before


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run if a test left a child process behind."""
    deadline = time.monotonic() + _GRACE_SECONDS
    while (left := _children()) and time.monotonic() < deadline:
        time.sleep(0.05)
    if not left:
        return
    for pid, command in left.items():
        modules = [name for name, pids in _children_by_module.items() if pid in pids] or ["an unknown test"]
        session.config.get_terminal_writer().line(f"\nleft running by {modules[0]}: process {pid}: {command}", red=True)
        psutil.Process(pid).kill()
    session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The path of a home that does not exist yet."""
    return tmp_path / "home"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """A PostgreSQL that runs until the tests end."""
    server = Server()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def _postgres_emptied(postgres_server: Server) -> Iterator[str]:
    name = postgres_server.database()
    yield name
    postgres_server.drop(name)


@pytest.fixture
def postgres_url(postgres_server: Server, _postgres_emptied: str) -> Iterator[str]:
    """A database with fonte's tables and nothing in them, as the application logs in. It is emptied after the test."""
    yield postgres_server.url(_postgres_emptied)
    postgres_server.empty(_postgres_emptied)


@pytest.fixture(scope="module")
def postgres_module_url(postgres_server: Server) -> Iterator[str]:
    """The same, once for all tests of a file."""
    name = postgres_server.database()
    yield postgres_server.url(name)
    postgres_server.drop(name)


@pytest.fixture(scope="session")
def browser_required() -> bool:
    """Whether a test that needs a browser fails where there is none."""
    return _BROWSER_REQUIRED


@pytest.fixture(scope="session")
def ocr_engine() -> str:
    """The OCR engine's name and version; without one the test is skipped, or fails where one is required."""
    from fonte.parsers.ocr.engine import HINT, find_engine

    engine = find_engine("eng+ita")
    if engine is None or engine.missing or not engine.knows_orientation:
        if _OCR_REQUIRED:
            pytest.fail(HINT)
        pytest.skip(HINT)
    return engine.name


@pytest.fixture(scope="session")
def project_root() -> Path:
    """The folder that holds pyproject.toml."""
    return Path(__file__).resolve().parent.parent
