"""``fonte.toml`` and its environment: read, checked and turned into frozen settings.

Later wins: defaults, the file, ``FONTE_SECTION_KEY`` variables, the command line. An unknown key is refused with the
nearest known one; a name that a later version will know is refused as not built yet; a secret in the file is refused.
Every refusal is one ``ConfigError`` that names the file (or variable) and the key.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
import types as python_types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError, field_validator, model_validator

from fonte.errors import ConfigError
from fonte.question_settings import QuestionSettings, RerankerSettings, RetrievalSettings, SupportSettings
from fonte.serve_settings import AuditSettings, OidcSettings, ServeSettings
from fonte.source_settings import (
    Positive,
    QuerySettings,
    RuleSettings,
    ScheduleSettings,
    Seconds,
    Section,
    WatchSettings,
    WebSettings,
    plain_url,
)
from fonte.types import ChunkingRecipe, ChunkingStrategy

CONFIG_NAME = "fonte.toml"

Cost: TypeAlias = Annotated[float, Field(gt=0)]
_Raw: TypeAlias = dict[str, typing.Any]
"""What TOML gave: nothing is known of it until the models have looked."""

_SECRET = re.compile(r"api_?key|token|secret|passw(or)?d|credential|bearer|private_?key", re.IGNORECASE)
_SECRET_HINT = "take it out of the file; keys come from the environment"  # noqa: S105 - a hint's text
_SECRET_VARIABLE = re.compile(r"FONTE_[A-Z_]*?(API_KEY|TOKEN|SECRET|PASSWORD)(_FILE)?")
_ALIASES = {"FONTE_DATABASE_URL": ("store", "database_url")}


def _one_of(value: str, built: set[str], later: set[str]) -> str:
    if value in later:
        raise ValueError(f'"{value}" is not built yet in this version')
    if value not in built:
        raise ValueError("should be " + " or ".join(f'"{name}"' for name in sorted(built)))
    return value


class ChunkingSettings(Section):
    """How documents are cut. ``size``, ``header``, ``unit`` and what one strategy alone has default by strategy."""

    strategy: ChunkingStrategy = "boundaries"
    size: Positive | None = None
    overlap: Annotated[int, Field(ge=0)] = 0
    header: bool | None = None
    unit: Literal["tokens", "characters"] | None = None
    strip_bibliography: bool = False
    parent_characters: Positive | None = None
    percentile: Annotated[int, Field(ge=1, le=99)] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.strategy == "tokens" and self.unit == "characters":
            raise ValueError('strategy "tokens" counts tokens; use "blind" for characters')
        if self.parent_characters is not None and self.strategy != "parent_child":
            raise ValueError('parent_characters is a setting of strategy "parent_child"')
        if self.percentile is not None and self.strategy != "semantic":
            raise ValueError('percentile is a setting of strategy "semantic"')
        self.recipe()
        return self

    def recipe(self) -> ChunkingRecipe:
        """The recipe with every default filled in: blind cuts 512 characters, a child has 128 tokens, the others 256.

        ``blind`` with ``unit = "tokens"`` is the strategy ``tokens``. Blind strategies write no header unless told.
        """
        strategy = self.strategy
        unit = self.unit or ("characters" if strategy == "blind" else "tokens")
        if strategy == "blind" and unit == "tokens":
            strategy = "tokens"
        size = ChunkingRecipe().size if unit == "tokens" else 512
        if strategy == "parent_child":
            size //= 2
        return ChunkingRecipe(
            strategy=strategy,
            size=self.size or size,
            overlap=self.overlap,
            header=strategy not in ("blind", "tokens") if self.header is None else self.header,
            unit=unit,
            parent_characters=(self.parent_characters or 2000) if strategy == "parent_child" else 0,
            percentile=(self.percentile or 80) if strategy == "semantic" else 0,
            strip_bibliography=self.strip_bibliography,
        )


class EmbeddingSettings(Section):
    """Which model makes vectors. ``window`` and ``dimensions`` declare what an endpoint does not tell.

    ``token_codes``: whether the codes of tokens are kept, where the model has them, to rerank by late interaction.
    """

    source: str = "package:multilingual-e5-small"
    base_url: str | None = None
    window: Positive | None = None
    dimensions: Positive | None = None
    threads: Positive | None = None
    timeout_seconds: Seconds = 60.0
    token_codes: bool = True

    @field_validator("source")
    @classmethod
    def _scheme(cls, value: str) -> str:
        scheme, _, name = value.partition(":")
        if scheme not in {"package", "hf", "path", "openai"} or not name:
            raise ValueError('should be "package:NAME", "hf:NAME@REVISION", "path:DIR" or "openai:MODEL"')
        return value

    _url = field_validator("base_url")(plain_url)


class GateSettings(Section):
    """What a wrong answer and a needless refusal cost, in any unit; ``fonte calibrate`` weighs one with the other."""

    cost_wrong: Cost = 1.0
    cost_abstain: Cost = 1.0


class GenerationSettings(Section):
    """Who writes the draft. Prices are of a million tokens.

    ``openai`` needs ``base_url`` and ``model``, ``anthropic`` and ``gguf`` (whose model is a file) need ``model``;
    ``threads`` and ``context_tokens`` are of a local model.
    """

    name: str = "extractive"
    base_url: str | None = None
    model: str | None = None
    timeout_seconds: Seconds = 60.0
    max_tokens: Positive = 512
    prompt_price: Annotated[float, Field(ge=0)] = 0.0
    completion_price: Annotated[float, Field(ge=0)] = 0.0
    threads: Positive | None = None
    context_tokens: Annotated[int, Field(ge=512)] = 8192

    _url = field_validator("base_url")(plain_url)

    @field_validator("name")
    @classmethod
    def _known_name(cls, value: str) -> str:
        return _one_of(value, {"anthropic", "extractive", "gguf", "openai"}, set())

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.name == "openai" and (self.base_url is None or self.model is None):
            raise ValueError('name = "openai" needs base_url and model')
        if self.name in {"anthropic", "gguf"} and self.model is None:
            raise ValueError(f'name = "{self.name}" needs model')
        return self


def _postgres_url(url: str) -> str:
    """Refused without being repeated, for a password may stand in it."""
    if not url.startswith(("postgresql://", "postgres://")):
        raise ValueError("should be the address of a PostgreSQL database, postgresql://USER@HOST:5432/DATABASE")
    return url


class StoreSettings(Section):
    """Where the index lives: in the home, or in PostgreSQL, over at most ``connections`` at once of a process."""

    database_url: Annotated[Annotated[str, AfterValidator(_postgres_url)] | None, Field(repr=False)] = None
    connections: Annotated[int, Field(ge=2, le=1000)] = 16
    uri: str | None = None

    @model_validator(mode="after")
    def _built(self) -> Self:
        if self.uri is not None:
            raise ValueError("object storage is not built yet in this version")
        return self


class GoldenSettings(Section):
    """The golden set that judges candidates before they serve, and the file of its floors."""

    path: Annotated[str, Field(min_length=1)] | None = None
    floors: Annotated[str, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.floors is not None and self.path is None:
            raise ValueError("floors are of a golden set: path should name it")
        return self


class ParsingSettings(Section):
    """Limits of one parse in its child process, and what reads the text in pictures.

    ``ocr_languages`` are tesseract's names joined by ``+``; ``ocr_seconds`` is for all pictures of one document.
    """

    timeout_seconds: Seconds = 60.0
    ocr_languages: Annotated[str, Field(pattern=r"^[A-Za-z_]{3,20}(\+[A-Za-z_]{3,20})*$")] = "eng+ita"
    ocr_seconds: Seconds = 600.0
    memory_mb: Annotated[int, Field(ge=256)] = 1400
    max_file_mb: Positive = 200


class Settings(Section):
    """All settings. ``file`` is where they were read from, None when there was no file."""

    chunking: ChunkingSettings = ChunkingSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    query: QuestionSettings = QuestionSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    reranker: RerankerSettings = RerankerSettings()
    gate: GateSettings = GateSettings()
    generation: GenerationSettings = GenerationSettings()
    support: SupportSettings = SupportSettings()
    store: StoreSettings = StoreSettings()
    golden: GoldenSettings = GoldenSettings()
    parsing: ParsingSettings = ParsingSettings()
    web: WebSettings = WebSettings()
    watch: WatchSettings = WatchSettings()
    serve: ServeSettings = ServeSettings()
    audit: AuditSettings = AuditSettings()
    oidc: OidcSettings = OidcSettings()
    sources: tuple[RuleSettings, ...] = ()
    queries: tuple[QuerySettings, ...] = ()
    schedules: tuple[ScheduleSettings, ...] = ()
    file: Path | None = None


SECTIONS: Mapping[str, type[Section]] = python_types.MappingProxyType(
    {
        name: field.annotation
        for name, field in Settings.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section)
    }
)
"""Every section that is one table, by name."""
LISTS: Mapping[str, type[Section]] = python_types.MappingProxyType(
    {"sources": RuleSettings, "queries": QuerySettings, "schedules": ScheduleSettings}
)
"""Sections that are lists of tables, by name."""


def variables() -> dict[str, tuple[str, str]]:
    """Every environment variable that sets something, with its section and key."""
    keys = [(section, key) for section, model in SECTIONS.items() for key in model.model_fields]
    return {f"FONTE_{section}_{key}".upper(): (section, key) for section, key in keys} | _ALIASES


def find_config(home: Path) -> Path | None:
    """``fonte.toml`` in the home, else beside it, else None."""
    for folder in (home, home.absolute().parent):
        if (folder / CONFIG_NAME).is_file():
            return folder / CONFIG_NAME
    return None


def load_settings(
    config: Path | None, home: Path, environ: Mapping[str, str], overrides: Mapping[str, object] | None = None
) -> Settings:
    """Settings out of defaults, file, environment and overrides (``{"retrieval.k": 4}``), later ones winning.

    ``config`` None looks for ``fonte.toml`` in and beside ``home``; a file that was named must exist.

    Raises:
        ConfigError: a file that cannot be read, a key that is unknown, or a value that is wrong.
    """
    path = config if config is not None else find_config(home)
    raw = _read(path) if path is not None else {}
    _check_keys(raw, str(path))
    _check_address(raw, str(path))
    origins = dict.fromkeys(raw, str(path))
    for where, section, key, value in (*_from_environment(environ), *_from_overrides(overrides or {})):
        raw.setdefault(section, {})[key] = value
        origins[f"{section}.{key}"] = where
    try:
        settings = Settings.model_validate_json(json.dumps(raw, default=str), strict=True)
    except ValidationError as error:
        raise _one_line(error, raw, origins) from None
    return _anchored(settings, path)


def _read(path: Path) -> _Raw:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError(f"{path}: cannot be read: {reason}", hint="name a settings file that can be read") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 text (byte {error.start})", hint="save it as UTF-8") from error
    except ValueError as error:
        raise ConfigError(f"{path}: is not valid TOML: {error}", hint="correct that line") from error


def _check_keys(raw: _Raw, where: str) -> None:
    for name, part in raw.items():
        if name not in LISTS and name not in SECTIONS:
            raise _unknown(where, name, [f"[{known}]" for known in (*SECTIONS, *LISTS)], f"[{name}]")
        tables = part if isinstance(part, list) else [part]
        if isinstance(part, list) != (name in LISTS) or not all(isinstance(table, dict) for table in tables):
            shape = f"a list of tables, [[{name}]]" if name in LISTS else f"a table, [{name}]"
            raise ConfigError(f"{where}: {name} should be {shape}", hint="see the configuration reference")
        model = LISTS[name] if name in LISTS else SECTIONS[name]
        for table in tables:
            for key in table:
                if key not in model.model_fields:
                    raise _unknown(where, key, list(model.model_fields), f"[{name}] {key}")


def _check_address(raw: _Raw, where: str) -> None:
    """Without a password, which a file that is shown and copied must not hold."""
    url = raw.get("store", {}).get("database_url")
    if isinstance(url, str) and re.search(r"//[^/?#]*:[^/?#]*@|[?&]password=", url):
        hint = (
            "name the user alone; the password comes from FONTE_DATABASE_PASSWORD, or the whole URL from the variable"
        )
        raise ConfigError(f"{where}: [store] database_url holds a password", hint=hint)


def _unknown(where: str, key: str, known: list[str], shown: str) -> ConfigError:
    if _SECRET.search(key):
        return ConfigError(f"{where}: {shown} looks like a secret", hint=_SECRET_HINT)
    near = difflib.get_close_matches(shown if shown.startswith("[") and " " not in shown else key, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
    return ConfigError(f"{where}: {shown} is not a setting", hint=hint)


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, str, str, object]]:
    known = variables()
    for name in sorted(environ):
        if not name.startswith("FONTE_") or (name not in known and _SECRET_VARIABLE.fullmatch(name)):
            continue
        if name in known:
            section, key = known[name]
            yield name, section, key, _from_text(name, section, key, environ[name])
            continue
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.9)
        if near or any(name.startswith(f"FONTE_{section.upper()}_") for section in SECTIONS):
            hint = f"did you mean {near[0]}?" if near else "unset it, or see the configuration reference"
            raise ConfigError(f"environment: {name} is not a setting", hint=hint)


def _from_text(name: str, section: str, key: str, text: str) -> object:
    annotation = SECTIONS[section].model_fields[key].rebuild_annotation()
    if not text.strip() and type(None) in typing.get_args(annotation):
        return None
    try:
        value: object = TypeAdapter(annotation).validate_strings(text.strip())
    except ValidationError as error:
        raise ConfigError(f"environment: {name}: {_because(error)}", hint="correct or unset the variable") from None
    return _from_here(section, value)


def _from_here(section: str, value: object) -> object:
    """Paths that a variable or option names are relative to where the command runs."""
    if section == "golden" and isinstance(value, str) and value:
        return str(Path(value).expanduser().absolute())
    if isinstance(value, str) and value.startswith("path:"):
        return f"path:{Path(value.removeprefix('path:')).expanduser().absolute()}"
    return value


def _from_overrides(overrides: Mapping[str, object]) -> Iterator[tuple[str, str, str, object]]:
    for dotted, value in overrides.items():
        section, _, key = dotted.partition(".")
        if section not in SECTIONS or key not in SECTIONS[section].model_fields:
            raise ConfigError(f"command line: {dotted} is not a setting", hint="see fonte --help")
        yield "command line", section, key, _from_here(section, value)


def _because(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    message = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
    shown = first["input"]
    if first["type"] != "value_error" and isinstance(shown, str | int | float):
        message += f", not {shown!r}"
    more = error.error_count() - 1
    return f"{message} (and {more} more)" if more else message


def _one_line(error: ValidationError, raw: _Raw, origins: Mapping[str, str]) -> ConfigError:
    place = [str(part) for part in error.errors()[0]["loc"]]
    section, key = place[0], place[1] if len(place) > 1 else ""
    part = raw.get(section)
    # A fault of a whole section (two keys that do not fit) belongs to whoever spoke last about any of its keys.
    spoken = [key] if key else list(part) if isinstance(part, dict) else []
    wheres = [origins[name] for name in (f"{section}.{item}" for item in spoken) if name in origins]
    where = wheres[-1] if wheres else origins.get(section, "defaults")
    if section in LISTS:
        shown = f"[[{section}]] {int(key) + 1}" + "".join(f" {item}" for item in place[2:3])
    else:
        shown = f"[{section}] {key}".rstrip()
    return ConfigError(f"{where}: {shown}: {_because(error)}", hint=f"correct {shown}")


def _anchored(settings: Settings, path: Path | None) -> Settings:
    """Relative paths in a file are relative to the file's folder, wherever the command runs."""
    base = path.absolute().parent if path is not None else Path.cwd()
    embedding = settings.embedding.model_copy(update={"source": _below(settings.embedding.source, base)})
    reranker = settings.reranker.model_copy(update={"source": _below(settings.reranker.source, base)})
    files = {key: str(base / Path(value).expanduser()) for key, value in settings.golden if value is not None}
    golden = settings.golden.model_copy(update=files)
    queries = tuple(one.anchored(base) for one in settings.queries)
    generation = settings.generation
    if generation.name == "gguf" and generation.model is not None:
        generation = generation.model_copy(update={"model": str(base / Path(generation.model).expanduser())})
    support = settings.support
    if support.entailment is not None:
        support = support.model_copy(update={"entailment": _below(support.entailment, base)})
    updated = {
        "support": support,
        "generation": generation,
        "embedding": embedding,
        "reranker": reranker,
        "golden": golden,
        "queries": queries,
        "schedules": tuple(one.anchored(base) for one in settings.schedules),
        "file": path,
    }
    return settings.model_copy(update=updated)


def _below(source: str, base: Path) -> str:
    """A model's source, the folder of a ``path:`` told from ``base``."""
    return f"path:{base / Path(source.removeprefix('path:')).expanduser()}" if source.startswith("path:") else source
