"""Settings to a corpus: the only file that names concrete parts."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from fonte.answer import AnswerSettings
from fonte.config import EmbeddingSettings, Settings, load_settings
from fonte.context import render_messages
from fonte.corpus import OpenCorpus, Parts, SourceOptions
from fonte.errors import ConfigError
from fonte.evaluation.calibrating import Costs
from fonte.evidence import EvidenceScorer
from fonte.gate import gate_for
from fonte.homes import stores_of
from fonte.judging import GoldenFiles
from fonte.models import registry
from fonte.models.extractive import ExtractiveGenerator
from fonte.models.writing import Prices, Render
from fonte.processing import Processing
from fonte.protocols import (
    Chunker,
    Embedder,
    Entailer,
    Generator,
    Reranker,
    Rewriter,
    SourceReader,
    Unpacker,
)
from fonte.reranking import Deferred, Resting
from fonte.retrieve import LATE, RetrievalSettings
from fonte.rewriting import ModelRewriter, render_rewriting
from fonte.support import DeferredEntailer
from fonte.text.canonical import NORMALISER_VERSION
from fonte.text.chunking import make_chunker
from fonte.text.terms import Analyser
from fonte.types import Recipe

if TYPE_CHECKING:
    from fonte.parsers.pool import ParserPool
    from fonte.sources.opening import Opener
    from fonte.sources.rules import SourceRule
    from fonte.sources.sql import RowQuery
    from fonte.sources.uploaded import Uploads

PIPELINE_VERSION = "6"
"""Raised whenever fonte builds other index entries from the same parsed document."""


DRAWING_SECONDS = 15.0
"""The longest that one page is drawn, while somebody waits for it; most take a tenth of a second."""


class Corpus(OpenCorpus):
    """Documents, their index and the questions asked of them."""

    @classmethod
    def open(
        cls, home: str | Path = ".fonte", *, config: Path | None = None, environ: Mapping[str, str] | None = None
    ) -> Corpus:
        """The corpus that lives in ``home``; the first sync makes the folder.

        Args:
            home: a folder.
            config: a ``fonte.toml``; without it the one in or beside the home, if there is one.
            environ: where FONTE_SECTION_KEY variables are read (default: the process's environment).

        Raises:
            ConfigError: a setting that is unknown or wrong.
        """
        folder = Path(home)
        settings = load_settings(config, folder, os.environ if environ is None else environ)
        path, floors = settings.golden.path, settings.golden.floors
        golden = GoldenFiles(Path(path), Path(floors) if floors else None) if path else None
        return cls(make_parts(folder, settings), golden)


def make_parts(home: Path, settings: Settings) -> Parts:
    """Every concrete part, by the settings."""
    terms, stores = Analyser(), stores_of(home, settings)

    def make_recipe(embedder: Embedder) -> Recipe:
        return Recipe(PIPELINE_VERSION, NORMALISER_VERSION, settings.chunking.recipe(), terms.version, embedder.space)

    def chunker(recipe: Recipe, embedder: Embedder) -> Chunker:
        return make_chunker(recipe, embedder.tokenizer, embedder.embed_passages)

    def generator(name: str | None, scorer: EvidenceScorer) -> Generator:
        return _generator(name or settings.generation.name, settings, scorer)

    def pool(workers: int, most_seconds: float = math.inf) -> ParserPool:
        from fonte.parsers.pool import ParserPool

        return ParserPool(
            workers=workers,
            timeout_seconds=min(settings.parsing.timeout_seconds, most_seconds),
            memory_bytes=settings.parsing.memory_mb * 2**20,
            ocr_languages=settings.parsing.ocr_languages,
            ocr_seconds=settings.parsing.ocr_seconds,
        )

    def source(spec: str, options: SourceOptions, tenant: str) -> SourceReader:
        folder = stores.folder(tenant) / "fetched"
        opener = _opener(options, settings, folder, lambda listings: _unpacking(pool(1), listings))
        return replace(opener, uploads=uploads(tenant)).open(spec)

    def uploads(tenant: str) -> Uploads:
        from fonte.sources.uploaded import Uploads

        return Uploads(stores.folder(tenant) / "uploads", lambda: stores.prepare(tenant))

    return Parts(
        stores=stores,
        make_embedder=lambda: embedder_of(settings.embedding),
        embedding=settings.embedding.model_dump_json(exclude={"threads", "timeout_seconds"}),
        embedder_from=lambda told: _remembered_embedder(told, settings.embedding),
        make_recipe=make_recipe,
        make_chunker=chunker,
        make_generator=generator,
        make_rewriter=lambda: _rewriter(settings),
        make_pool=pool,
        make_pictures=lambda: pool(1, DRAWING_SECONDS),
        uploads=uploads,
        open_source=source,
        terms=terms,
        gate_for=gate_for,
        extractors=lambda: _extractors(settings),
        answers=AnswerSettings(
            retrieval=_retrieval(settings),
            processing=_processing(settings),
            support=settings.support.policy,
        ),
        costs=Costs(settings.gate.cost_wrong, settings.gate.cost_abstain),
        reranker=reranker_of(settings),
        entailer=entailer_of(settings),
    )


def _processing(settings: Settings) -> Processing:
    wanted = settings.query
    return Processing(
        history=wanted.history,
        aliases=wanted.aliases,
        variants=wanted.variants,
        filters=wanted.filters,
        parts=wanted.parts,
    )


def _retrieval(settings: Settings) -> RetrievalSettings:
    wanted = settings.retrieval
    return RetrievalSettings(
        k=wanted.k,
        candidates=wanted.candidates,
        mode=wanted.mode,
        per_document=wanted.per_document,
        near_once=wanted.near_copies == "once",
        max_distance=wanted.max_distance,
        fusion=wanted.fusion,
        dense_weight=wanted.dense_weight,
        rerank=wanted.rerank,
        rerank_depth=settings.reranker.depth,
        rerank_required=settings.reranker.required,
    )


def reranker_of(settings: Settings) -> Reranker | None:
    """What reads passages to order them anew, loaded when it is first needed; None for late interaction."""
    wanted = settings.reranker
    if wanted.source == LATE:
        return None

    def load() -> Reranker:
        from fonte.models.rerankers import WINDOW, Served, make_reranker

        served = None
        if wanted.base_url is not None and wanted.form is not None:
            served = Served(wanted.base_url, wanted.form, wanted.window or WINDOW)
        return make_reranker(
            wanted.source, served=served, threads=wanted.threads, timeout_seconds=wanted.timeout_seconds
        )

    return Resting(Deferred(wanted.source, load))


def entailer_of(settings: Settings) -> Entailer | None:
    """What judges whether a source says a sentence, loaded when it is first asked; None where none is set."""
    wanted = settings.support
    source = wanted.entailment
    if source is None:
        return None

    def load() -> Entailer:
        from fonte.models.entailers import make_entailer

        return make_entailer(
            source, base_url=wanted.base_url, threads=wanted.threads, timeout_seconds=wanted.timeout_seconds
        )

    return DeferredEntailer(source, load)


def _remembered_embedder(told: str, now: EmbeddingSettings) -> Embedder:
    """The model of an index that was built under other settings than those of now."""
    try:
        wanted = EmbeddingSettings.model_validate_json(told)
    except ValueError as error:
        message = "the settings that this index's model was made by are of another version of fonte"
        raise ConfigError(message, hint="run fonte sync with the settings of now") from error
    if wanted.source.startswith("openai:") and wanted.base_url != now.base_url:
        # The key is of the endpoint that the settings name: it must not be sent to another.
        message = f"the index was built with {wanted.source} at {wanted.base_url or 'its own address'}, not as now set"
        raise ConfigError(message, hint="leave a server with the old settings running until the new index is published")
    return embedder_of(wanted.model_copy(update={"threads": now.threads, "timeout_seconds": now.timeout_seconds}))


def embedder_of(wanted: EmbeddingSettings) -> Embedder:
    """The encoder of these settings. Raises ConfigError, ModelError."""
    remote = registry.Remote(timeout_seconds=wanted.timeout_seconds, dimensions=wanted.dimensions)
    if wanted.base_url is not None:
        remote = replace(remote, base_url=wanted.base_url)
    if wanted.window is not None:
        remote = replace(remote, window=wanted.window)
    return registry.make_embedder(wanted.source, remote=remote, threads=wanted.threads, token_codes=wanted.token_codes)


def _rewriter(settings: Settings) -> Rewriter | None:
    if settings.query.history != "model":
        return None
    name = settings.generation.name
    if name == "extractive":
        raise ConfigError('[query] history = "model" needs a model', hint="set [generation] name to one that writes")
    return ModelRewriter(_writer(name, settings, render_rewriting))


def _generator(name: str, settings: Settings, scorer: EvidenceScorer) -> Generator:
    if name == "extractive":
        return ExtractiveGenerator(lambda query, passages: scorer.score(query, passages).scored)
    return _writer(name, settings, render_messages)


def _writer(name: str, settings: Settings, render: Render) -> Generator:
    wanted = settings.generation
    limits: _Limits = {"timeout_seconds": wanted.timeout_seconds, "max_tokens": wanted.max_tokens}
    prices = Prices(wanted.prompt_price, wanted.completion_price)
    if name == "openai" and wanted.base_url is not None and wanted.model is not None:
        return registry.make_chat(wanted.model, render, base_url=wanted.base_url, prices=prices, **limits)
    if name == "anthropic" and wanted.model is not None:
        # The address is of the generator that the settings name: another one's key must not be sent there.
        base_url = wanted.base_url if wanted.name == name else None
        return registry.make_anthropic(wanted.model, render, base_url=base_url, prices=prices, **limits)
    if name == "gguf" and wanted.name == name and wanted.model is not None:
        return registry.make_gguf(
            Path(wanted.model),
            render,
            threads=wanted.threads,
            context_tokens=wanted.context_tokens,
            **limits,
        )
    if name not in _GENERATORS:
        raise ConfigError(f"there is no generator {name!r}", hint=f"use {' or '.join(_GENERATORS)}")
    raise ConfigError(f"generator {name!r} needs {_GENERATORS[name][0]}", hint=_GENERATORS[name][1])


class _Limits(TypedDict):
    timeout_seconds: float
    max_tokens: int


_GENERATORS = {
    "extractive": ("nothing", ""),
    "openai": (
        "an endpoint and a model",
        "set [generation] base_url and model in fonte.toml, or FONTE_GENERATION_BASE_URL and _MODEL",
    ),
    "anthropic": ("a model", "set [generation] model in fonte.toml, or FONTE_GENERATION_MODEL"),
    "gguf": ("to be named with its file", 'set [generation] name = "gguf" and model to a .gguf file'),
}
"""What each generator needs beside its name, and what to do."""


def _extractors(settings: Settings) -> Mapping[str, str]:
    from fonte.parsers.registry import extractors

    return extractors(settings.parsing.ocr_languages)


def _unpacking(pool: ParserPool, folder: Path) -> AbstractContextManager[Unpacker]:
    from fonte.parsers.containers.remembered import remembering

    return remembering(pool, folder)


def _opener(
    options: SourceOptions,
    settings: Settings,
    folder: Path,
    unpacking: Callable[[Path], AbstractContextManager[Unpacker]],
) -> Opener:
    from fonte.sources.opening import Opener
    from fonte.sources.taking import Taking

    return Opener(
        folder,
        Taking(
            options.include,
            options.exclude,
            _rules(settings),
            frozenset(options.allow),
            settings.parsing.max_file_mb * 2**20,
        ),
        records=options.records,
        unpacking=unpacking,
        web=settings.web,
        queries=_queries(settings),
    )


def _queries(settings: Settings) -> tuple[RowQuery, ...]:
    from fonte.sources.own import KEYS
    from fonte.sources.sql import RowQuery

    return tuple(
        RowQuery(
            one.name,
            one.url,
            one.query,
            one.id,
            one.text,
            {key: column for key in KEYS if (column := getattr(one, key)) is not None},
        )
        for one in settings.queries
    )


def _rules(settings: Settings) -> tuple[SourceRule, ...]:
    from fonte.sources.rules import SourceRule

    return tuple(
        SourceRule(
            glob,
            None if rule.roles is None else frozenset(rule.roles),
            rule.language,
            rule.title,
            rule.tenant,
            rule.valid_from.isoformat() if rule.valid_from else None,
            rule.valid_to.isoformat() if rule.valid_to else None,
        )
        for rule in settings.sources
        for glob in rule.match
    )
