"""Damaged files of every format: the parser's child stays alive, nothing hangs, no success without text, books balance.

A seeded sample here; 5,000 by ``make soak``, with a table of what became of them.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pytest
from property.strategies import WordTokenizer, recipe

from fonte.errors import EncryptedSource, FonteError, ParseError, ParserCrashed, ParseTimeout, SourceTooLarge
from fonte.parsers.ocr.engine import find_engine
from fonte.parsers.pool import ParserPool
from fonte.text.canonical import canonicalise
from fonte.text.chunking import make_chunker
from fonte.text.ledger import BENIGN, balance
from fonte.types import Acl, ChunkingRecipe, Parsed, Source, sha256_hex
from mutants import Mutant, mutants, seeds

WINDOW = 256
SECONDS = 40
SAMPLE = 320
_BUG = re.compile(r"[A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt): ")
"""How the child's edge tells of an error that no parser foresaw."""


@dataclass
class Tally:
    """What became of the files."""

    states: Counter[str] = field(default_factory=Counter)
    by_format: dict[str, Counter[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    slowest: list[tuple[float, str]] = field(default_factory=list)

    def take(self, mutant: Mutant, state: str) -> None:
        self.states[state] += 1
        self.by_format.setdefault(mutant.name.rsplit(".", 1)[1], Counter())[state] += 1


def source(name: str, body: bytes) -> Source:
    return Source(f"file:///{name}", name, sha256_hex(body), Acl(frozenset({"public"})), body=body)


def state_of(parsed: Parsed, taken: Source) -> str:
    """The state that a sync would give, after its own checks."""
    document = canonicalise(parsed, taken, tenant="t")
    chunks = make_chunker(recipe(ChunkingRecipe(), WINDOW), WordTokenizer(WINDOW)).chunk(document)
    ledger = balance(parsed, document, chunks, window=WINDOW)
    assert all(chunk.content == document.text[chunk.start : chunk.end] for chunk in chunks)
    told = any(loss.code == "not_in_chunks" for loss in ledger.losses)  # a heading too long to be carried by a chunk
    assert told or ledger.chunks.words == ledger.canonical.words, ledger.losses
    assert bool(chunks) is bool(document.text.strip())
    assert ledger.balanced == all(loss.code in BENIGN for loss in ledger.losses)
    if not chunks:
        assert parsed.source_counts.words == 0 or ledger.losses, "no text, and nobody says that there was some"
        return parsed.empty_reason or "empty"
    return "ready" if ledger.balanced else "partial"


def outcomes(pool: ParserPool, files: Iterable[Mutant]) -> Iterator[tuple[Mutant, Source, Parsed | FonteError, float]]:
    """Every file as a sync meets it: what it holds is listed and read too."""
    for mutant in files:
        whole = source(mutant.name, mutant.body)
        began = time.monotonic()
        try:
            contents = pool.contents(whole) if pool.may_hold(mutant.body[:1024], mutant.name) else None
        except FonteError as error:
            yield mutant, whole, error, time.monotonic() - began
            continue
        inner = [] if contents is None else [one for one in contents.members if one.error is None]
        for member in inner[:5]:
            name = member.inside[-1]
            opened = Source(
                f"{whole.uri}!/{name}", name, member.content_hash, whole.acl, None, whole.body, inside=member.inside
            )
            began = time.monotonic()
            yield mutant, opened, parsed(pool, opened), time.monotonic() - began
        if contents is None or contents.itself:
            began = time.monotonic()
            yield mutant, whole, parsed(pool, whole), time.monotonic() - began


def parsed(pool: ParserPool, taken: Source) -> Parsed | FonteError:
    try:
        return pool.parse(taken)
    except FonteError as error:
        return error


def judged(files: Iterable[Mutant]) -> Tally:
    tally = Tally()
    with ParserPool(timeout_seconds=SECONDS) as pool:
        for mutant, taken, outcome, seconds in outcomes(pool, files):
            told = f"{mutant.name} ({mutant.how})"
            tally.slowest = sorted([*tally.slowest, (round(seconds, 2), told)], reverse=True)[:8]
            if isinstance(outcome, ParserCrashed | ParseTimeout) or _BUG.match(getattr(outcome, "message", "")):
                tally.faults.append(f"{told}: {type(outcome).__name__} {getattr(outcome, 'message', '')}")
                tally.take(mutant, type(outcome).__name__)
                keep(mutant)
                continue
            if isinstance(outcome, FonteError):
                assert isinstance(outcome, ParseError | EncryptedSource | SourceTooLarge) or outcome.code, told
                assert outcome.message, told
                tally.take(mutant, outcome.code)
                continue
            try:
                tally.take(mutant, state_of(outcome, taken))
            except (AssertionError, ValueError) as fault:
                tally.faults.append(f"{told}: {fault!r}"[:400])
                keep(mutant)
    return tally


def keep(mutant: Mutant) -> None:
    """Put a file that found a fault where FONTE_MUTANTS says, so that it can be looked at."""
    folder = os.environ.get("MUTANTS_KEPT")
    if folder:
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - one line
        with open(os.path.join(folder, mutant.name), "wb") as file:  # noqa: PTH118, PTH123 - one line
            file.write(mutant.body)


def test_every_format_is_among_the_seeds() -> None:
    wanted = "txt md html csv json jsonl rst adoc vtt srt sbv ipynb eml msg docx xlsx pptx epub xls ods pdf png zip tar"
    assert set(wanted.split()) <= {ending for ending, _ in seeds()}
    assert [one.body for one in mutants(60, 1)] == [one.body for one in mutants(60, 1)]


@pytest.mark.slow
def test_a_sample_of_damaged_files() -> None:
    tally = judged(mutants(SAMPLE, 7))
    assert tally.faults == []
    assert len(tally.by_format) > 25
    assert tally.states["partial"] and tally.states["parse_failed"], tally.states


@pytest.mark.soak
@pytest.mark.timeout(6000)
def test_5000_damaged_files() -> None:
    began = time.monotonic()
    tally = judged(mutants(5000, 11))
    told = {
        "seconds": round(time.monotonic() - began),
        "ocr": find_engine("eng") is not None,
        "states": tally.states.most_common(),
        "by_format": {name: dict(states) for name, states in sorted(tally.by_format.items())},
        "slowest": tally.slowest,
        "faults": tally.faults,
    }
    print(json.dumps(told, indent=1))
    assert tally.faults == []
