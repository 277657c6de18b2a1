"""fonte's values as the JSON that others rely on: one place for the command line, HTTP, MCP and stored answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from fonte.errors import FonteError
from fonte.types import (
    Abstained,
    Answer,
    Answered,
    Citation,
    Computed,
    Conversation,
    ConversationHead,
    CorpusStatus,
    Counts,
    Document,
    DocumentState,
    GateVerdict,
    Generation,
    Hold,
    LedgerEntry,
    Locator,
    QueryStep,
    SearchResult,
    SearchResults,
    Sentence,
    Stamp,
    SyncReport,
)

Json: TypeAlias = dict[str, object]


def locator(place: Locator) -> Json:
    """``from`` and ``to`` always; null where a field does not apply."""
    return {
        "from": place.start,
        "to": place.end,
        "page": place.page,
        "page_label": place.page_label,
        "page_end": place.page_end,
        "boxes": [[round(value, 2) for value in box] for box in place.boxes] or None,
        "slide": place.slide,
        "time": list(place.time) if place.time else None,
        "sheet": place.sheet,
        "range": place.range,
        "anchor": place.anchor,
        "lines": list(place.lines) if place.lines else None,
    }


def search_result(result: SearchResult) -> Json:
    """One row of ``results``."""
    stored, hit = result.stored, result.hit
    chunk = stored.chunk
    return {
        "rank": result.rank,
        "chunk_id": chunk.id,
        "document_id": chunk.document_id,
        "document_name": stored.document_name,
        "source_uri": stored.source_uri,
        "source_version": stored.source_version,
        "title": stored.title,
        "section": " > ".join(chunk.section),
        "chunk_index": chunk.index,
        "language": chunk.language,
        "content": result.content,
        "valid_from": stored.valid_from or None,
        "valid_to": stored.valid_to or None,
        "locator": locator(result.locator),
        "fragment": result.fragment,
        "label": result.label,
        "scores": {
            "bm25": hit.bm25,
            "dense_distance": hit.dense_distance,
            "rrf": hit.rrf,
            "rerank": hit.rerank,
            "fused": hit.fused,
        },
        "duplicates": _duplicates(result.duplicates),
        "flags": list(result.flags),
    }


def search_results(results: SearchResults) -> Json:
    """What ``search`` prints."""
    return {
        "query": results.query,
        "as_of": results.as_of.isoformat() if results.as_of else None,
        "generation": results.generation,
        "results": [search_result(result) for result in results.results],
        "timings_ms": _timings(results.timings_ms),
        "trace_id": results.trace_id,
        "steps": _steps(results.steps),
        "reranker": results.reranker or None,
        "notes": list(results.notes),
    }


def citation(one: Citation) -> Json:
    """A citation; with streaming also the ``citation`` event."""
    return {
        "index": one.index,
        "chunk_id": one.chunk_id,
        "chunk_index": one.chunk_index,
        "document_id": one.document_id,
        "document_name": one.document_name,
        "source_uri": one.source_uri,
        "source_version": one.source_version,
        "quote": one.quote,
        "quote_sha256": one.quote_sha256,
        "locator": locator(one.locator),
        "fragment": one.fragment,
        "label": one.label,
        "url": one.url,
        "cosine_distance": one.cosine_distance,
        "valid_from": one.valid_from or None,
        "valid_to": one.valid_to or None,
        "duplicates": _duplicates(one.duplicates),
        "flags": list(one.flags),
    }


def answer(one: Answer) -> Json:
    """What ``ask`` prints, and what is stored."""
    common: Json = {
        "question": one.question,
        "as_of": one.trace.as_of.isoformat() if one.trace.as_of else None,
        "answered": isinstance(one, Answered),
        "language": one.language,
        "gate": _gate(one.gate),
        "generation": one.generation,
        "generator": one.generator,
        "usage": {
            "prompt_tokens": one.prompt_tokens,
            "completion_tokens": one.completion_tokens,
            "cost": one.cost,
        },
        "timings_ms": _timings(one.trace.timings_ms),
        "trace_id": one.trace.id,
        "answer_id": one.answer_id,
        "conversation_id": one.trace.conversation or None,
        "notes": list(one.trace.notes),
        "dropped": [_sentence(sentence) for sentence in one.trace.dropped],
        "steps": _steps(one.trace.steps),
        "reranker": one.trace.reranker or None,
    }
    if isinstance(one, Abstained):
        return common | {
            "answer": one.message,
            "sentences": [],
            "citations": [],
            "abstention": {
                "reason": one.reason.value,
                "message": one.message,
                "nearest": [search_result(result) for result in one.nearest],
            },
            "missing": [],
            "computed": None,
        }
    return common | {
        "answer": one.text,
        "sentences": [_sentence(sentence) for sentence in one.sentences],
        "citations": [citation(each) for each in one.citations],
        "abstention": None,
        "missing": list(one.missing),
        "computed": _computed(one.computed) if one.computed else None,
    }


def conversation(one: Conversation) -> Json:
    """What ``conversation`` prints; an answer that is not served any more is null, its question stays."""
    return {
        "conversation_id": one.id,
        "turns": [
            {
                "question": turn.question,
                "asked_at": turn.asked_at.isoformat(),
                "answer_id": turn.answer_id,
                "answer": json.loads(turn.answer) if turn.answer is not None else None,
                "source_changed": list(turn.changed),
            }
            for turn in one.turns
        ],
    }


def conversation_head(one: ConversationHead) -> Json:
    """What a list of conversations tells of each."""
    return {
        "conversation_id": one.id,
        "question": one.question,
        "turns": one.turns,
        "begun_at": one.begun_at.isoformat(),
        "last_at": one.last_at.isoformat(),
    }


def sync_report(report: SyncReport) -> Json:
    """What ``sync`` prints."""
    return {
        "generation": report.generation,
        "published": report.published,
        "documents": dict(report.documents),
        "chunks": {"added": report.chunks_added, "removed": report.chunks_removed, "total": report.chunks_total},
        "embedded_texts": report.embedded_texts,
        "failures": [
            {
                "source_uri": failure.source_uri,
                "state": failure.state.value,
                "reason": failure.reason,
                "retryable": failure.retryable,
            }
            for failure in report.failures
        ],
        "moved": [{"from": before, "to": now} for before, now in report.moved],
        "seconds": round(report.seconds, 3),
        "notes": list(report.notes),
    }


def document_state(state: DocumentState, copy_of: tuple[str, float] | None = None, odd: Sequence[str] = ()) -> Json:
    """One row of ``documents``; ``copy_of`` is the id of the document that says the same, and how much the same."""
    return {
        "document_id": state.document_id,
        "document_name": state.name,
        "source_uri": state.uri,
        "state": state.status.value,
        "reason": state.reason,
        "retryable": state.retryable,
        "chunks": state.chunks,
        "pages": state.pages,
        "language": state.language,
        "roles": sorted(state.acl.roles),
        "source_version": state.version,
        "stamp": _stamp(state.stamp) if state.stamp else None,
        "ledger": _ledger(state.ledger) if state.ledger else None,
        "duplicate_of": copy_of[0] if copy_of else None,
        "similarity": copy_of[1] if copy_of else None,
        "outlier": list(odd),
    }


def shown_document(document: Document, state: DocumentState, place: Locator, ledger: LedgerEntry | None = None) -> Json:
    """What ``show`` prints: the characters of ``place``; with ``--ledger`` the ledger as well."""
    return {
        "document_id": document.id,
        "document_name": document.name,
        "source_uri": document.uri,
        "state": state.status.value,
        "from": place.start,
        "to": place.end,
        "text": document.text[place.start : place.end],
        "locator": locator(place),
        "media_type": document.media_type,
        "pages": document.pages,
        "characters": len(document.text),
        "metadata": dict(document.metadata),
        **({"ledger": _ledger(ledger)} if ledger else {}),
    }


def status(one: CorpusStatus) -> Json:
    """What ``status`` prints. ``stale`` is null where it is not known; ``stale_unknown`` then says why."""
    active = one.active
    stale = one.stale
    return {
        "tenant": one.tenant,
        "generation": active.id if active else None,
        "documents": dict(one.documents),
        "chunks": active.chunks if active else 0,
        "recipe": active.recipe.id if active else None,
        "embedding_model": active.recipe.space.model if active else None,
        "token_codec": (active.recipe.space.codec or None) if active else None,
        "token_code_bytes": one.token_code_bytes,
        "word_search": one.word_search,
        "dense_search": None if one.approximate is None else "approximate" if one.approximate else "exact",
        "candidates": list(one.candidates),
        "stale": None
        if stale is None
        else [
            {"document_id": state.document_id, "document_name": state.name, "differs": list(fields)}
            for state, fields in stale
        ],
        "stale_unknown": one.unknown_because or None,
        "duplicates": [
            {
                "document_id": copy.document_id,
                "document_name": copy.name,
                "duplicate_of": first.document_id,
                "duplicate_of_name": first.name,
                "similarity": similarity,
            }
            for copy, first, similarity in one.copies
        ],
        "outliers": [
            {"document_id": state.document_id, "document_name": state.name, "reasons": list(reasons)}
            for state, reasons in one.odd
        ],
        "held": _hold(one.held),
    }


def generations(
    active: Generation | None,
    known: Sequence[Generation],
    judged: Mapping[str, Json],
    checked: Mapping[str, Json],
    held: Hold | None,
) -> Json:
    """What ``generations`` prints; ``judged`` is what golden sets said of them, ``checked`` the data checks, by id."""
    return {
        "active": active.id if active else None,
        "held": _hold(held),
        "generations": [
            {
                "id": one.id,
                "state": one.state.value,
                "created_at": one.created_at.isoformat(),
                "documents": one.documents,
                "chunks": one.chunks,
                "recipe": one.recipe.id,
                "verdict": one.verdict,
                "checks": checked.get(one.id),
                "judgment": judged.get(one.id),
            }
            for one in known
        ],
    }


def _hold(held: Hold | None) -> Json | None:
    return {"left": held.left, "since": held.since.isoformat()} if held else None


def error(one: FonteError) -> Json:
    """An error, the same on every face."""
    return {
        "error": {"code": one.code, "message": one.message, "hint": one.hint, "retryable": one.retryable},
    }


def _computed(one: Computed) -> Json:
    return {
        "operation": one.operation,
        "expression": one.expression,
        "sql": one.sql,
        "parameters": [list(each) if isinstance(each, tuple) else each for each in one.parameters],
        "columns": dict(one.columns),
        "table": one.table,
        "document_id": one.document_id,
        "range": one.range,
        "locator": locator(one.locator),
        "rows": one.rows,
        "value": one.value,
    }


def _sentence(one: Sentence) -> Json:
    return {
        "text": one.text,
        "citations": list(one.citations),
        "support": one.support,
        "checks": dict(one.checks),
        "places": [{"citation": index, "from": start, "to": end} for index, start, end in one.places],
    }


def _gate(one: GateVerdict) -> Json:
    return {
        "calibrated": one.calibrated,
        "score": round(one.score, 4),
        "threshold": one.threshold,
        "stamp": one.stamp,
        "features": {name: round(value, 4) for name, value in one.features.items()},
    }


def _stamp(one: Stamp) -> Json:
    return {
        "embedding_model": one.embedding_model,
        "embedding_revision": one.embedding_revision,
        "dimensions": one.dimensions,
        "space": one.space,
        "pipeline": one.pipeline,
        "extractor": one.extractor,
        "chunking": one.chunking,
        "terms": one.terms,
        "codec": one.codec or None,
    }


def _ledger(one: LedgerEntry) -> Json:
    return {
        "balanced": one.balanced,
        "source": _counts(one.source),
        "parsed": _counts(one.parsed) if one.parsed else None,
        "canonical": _counts(one.canonical),
        "chunks": _counts(one.chunks),
        "index": _counts(one.index) if one.index else None,
        "truncated_chunks": one.truncated_chunks,
        "header_tokens": one.header_tokens,
        "embedded_tokens": one.embedded_tokens,
        "losses": [{"code": loss.code, "message": loss.message, "count": loss.count} for loss in one.losses],
    }


def _counts(one: Counts) -> Json:
    return {
        "characters": one.characters,
        "words": one.words,
        "numbers": one.numbers,
        "rows": one.rows,
        "pages": one.pages,
    }


def _duplicates(copies: Sequence[tuple[str, str]]) -> list[Json]:
    return [{"document_id": document, "source_uri": uri} for document, uri in copies]


def _steps(steps: Sequence[QueryStep]) -> list[Json]:
    """What query processing made of a question."""
    return [
        {"name": one.name, "outcome": one.outcome, "texts": list(one.texts), "documents": list(one.documents)}
        for one in steps
    ]


def _timings(timings: Mapping[str, float]) -> Json:
    return {name: round(value, 3) for name, value in timings.items()}
