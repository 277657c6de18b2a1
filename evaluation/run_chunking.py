"""What each way of cutting does to the answers: destroyed needles, truncated chunks, price of headers, what is found.

    .venv/bin/python evaluation/run_chunking.py --out evaluation/results/chunking.json
    .venv/bin/python evaluation/run_chunking.py --found --out evaluation/results/chunking-found.json

The shipped handbook is parsed once and cut by every strategy, for both encoders' windows. A needle is destroyed when no
chunk holds it whole, and as good as lost when only chunks longer than the window hold it. fonte halves what passes the
window, so its own chunks are never truncated; ``unguarded`` counts what the same strategy would have sent to the
encoder to be cut silently (document A).

With ``--found`` each is also embedded and asked the answerable questions of both of the handbook's sets, by the index's
own BM25 and exact cosine and their fusion, without rights, merging or reranking: whether one of the first five passages
holds the whole needle, and whether the passages that 4,000 characters hold do, which makes small and large chunks
comparable. Every strategy is paired with the default, after Holm over the strategies of a leg and measure. Vectors are
remembered in --work: a run that was ended goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fonte.embedding import embed_cached
from fonte.evaluation.destroyed import destroyed
from fonte.evaluation.golden import GoldenSet, anchored
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.measures import Retrieved
from fonte.evaluation.scoring import QueryKey, score
from fonte.evaluation.statistics import compare_all
from fonte.models.registry import make_embedder
from fonte.parsers.pool import ParserPool
from fonte.protocols import Embedder, Tokenizer
from fonte.sources.folder import open_source
from fonte.stores.sqlite_stores import SqliteVectorCache
from fonte.text.canonical import NORMALISER_VERSION, canonicalise
from fonte.text.chunking import make_chunker
from fonte.text.chunking.parents import parent_of
from fonte.text.chunking.semantic import Embed
from fonte.text.terms import Analyser
from fonte.types import BlockKind, Chunk, ChunkingRecipe, Document, Parsed, Recipe, Source, Vectors
from fonte.wiring import PIPELINE_VERSION

ROOT = Path(__file__).resolve().parents[1]
MODELS = ("package:multilingual-e5-small", "package:all-MiniLM-L6-v2")


def _characters(strategy: Literal["boundaries", "blind"], size: int, overlap: int, *, header: bool) -> ChunkingRecipe:
    return ChunkingRecipe(strategy, size, overlap, header, "characters")


STRATEGIES: Mapping[str, ChunkingRecipe] = {
    "default": ChunkingRecipe(),
    "A blind 512": _characters("blind", 512, 0, header=False),
    "B blind 512+64": _characters("blind", 512, 64, header=False),
    "C boundaries 512": _characters("boundaries", 512, 0, header=False),
    "D boundaries 512+64": _characters("boundaries", 512, 64, header=False),
    "E boundaries 512, header": _characters("boundaries", 512, 0, header=True),
    "F boundaries 512+64, header": _characters("boundaries", 512, 64, header=True),
    "document": ChunkingRecipe("document"),
    "recursive": ChunkingRecipe("recursive"),
    "parent_child": ChunkingRecipe("parent_child", 128, parent_characters=2000),
    "semantic": ChunkingRecipe("semantic", percentile=80),
    "tokens 256": ChunkingRecipe("tokens", header=False),
    "document C: blind 1200+200": _characters("blind", 1200, 200, header=False),
}
FOUND_K = 5
FOUND_CHARACTERS = 4000
"""What a context of some 1,250 tokens holds."""


@dataclass(frozen=True, slots=True)
class Boundless:
    """An encoder's tokens without its window: what a strategy that does not know the window would cut."""

    real: Tokenizer
    window: int = 1_000_000

    @property
    def overhead(self) -> int:
        """The real one's."""
        return self.real.overhead

    def count(self, text: str) -> int:
        """The real one's."""
        return self.real.count(text)

    def offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """The real one's."""
        return self.real.offsets(text)


def documents(folder: Path) -> Iterator[Document]:
    """Every document of a folder that can be read, as fonte stores it."""
    reader = open_source(str(folder))
    sources = [item for item in reader.scan() if isinstance(item, Source)]
    with ParserPool() as pool:
        for source, outcome in pool.parse_many(sources):
            if isinstance(outcome, Parsed):
                yield canonicalise(outcome, source, tenant="default")
            else:
                print(f"{source.name}: {outcome.message}", file=sys.stderr)


def placed(golden: GoldenSet, known: Sequence[Document]) -> GoldenSet:
    """The set with the range of every needle; SystemExit when one is not where it says."""
    headings = {
        one.name: [(span.start, span.end) for span in one.spans if span.kind is BlockKind.HEADING] for one in known
    }
    found, faults = anchored(golden, {one.name: one.text for one in known}, headings)
    lost = [fault for fault in faults if fault.code in {"no_needle", "many_needles", "no_document"}]
    for fault in lost:
        print(f"{fault.question}: {fault.message}", file=sys.stderr)
    if lost:
        raise SystemExit(1)
    return found


def remembered(embed: Embed) -> Embed:
    """The same, each list of texts embedded once."""
    known: dict[tuple[str, ...], Vectors] = {}

    def again(texts: Sequence[str]) -> Vectors:
        if tuple(texts) not in known:
            known[tuple(texts)] = embed(texts)
        return known[tuple(texts)]

    return again


def judged(
    golden: GoldenSet, known: Sequence[Document], chunking: ChunkingRecipe, embedder: Embedder
) -> dict[str, object]:
    """Figures of one strategy and one encoder."""
    recipe = Recipe(PIPELINE_VERSION, NORMALISER_VERSION, chunking, Analyser().version, embedder.space)
    window, embed = embedder.tokenizer.window, remembered(embedder.embed_passages)

    def chunks(tokenizer: Tokenizer) -> dict[str, Sequence[Chunk]]:
        chunker = make_chunker(recipe, tokenizer, embed)
        return {one.name: chunker.chunk(one) for one in known}

    own = destroyed(golden, chunks(embedder.tokenizer), window)
    bare = destroyed(golden, chunks(Boundless(embedder.tokenizer)), window)
    return {
        "chunks": own.chunks,
        "needles": own.needles,
        "destroyed": len(own.split),
        "beyond_window": len(own.beyond_window),
        "questions_lost": list(own.questions),
        "truncated_chunks": own.truncated_chunks,
        "header_token_share": round(own.header_tokens / own.tokens, 4) if own.tokens else 0.0,
        "tokens": own.tokens,
        "unguarded": {
            "chunks": bare.chunks,
            "truncated_chunks": bare.truncated_chunks,
            "destroyed": len(bare.split),
            "beyond_window": len(bare.beyond_window),
        },
    }


def table(figures: Mapping[str, Mapping[str, dict[str, object]]]) -> Iterator[str]:
    """Lines for people."""
    heads = ("chunks", "needles", "destroyed", "truncated", "unguarded trunc.", "unguarded lost", "header share")
    yield f"{'':40}" + "".join(f"{head:>18}" for head in heads)
    for model, by_strategy in figures.items():
        yield model
        for name, one in by_strategy.items():
            bare = one["unguarded"]
            if not isinstance(bare, dict):
                raise TypeError(name)
            cells = (
                one["chunks"],
                one["needles"],
                one["destroyed"],
                one["truncated_chunks"],
                bare["truncated_chunks"],
                bare["destroyed"] + bare["beyond_window"],
                f"{100 * float(str(one['header_token_share'])):.1f} %",
            )
            yield f"  {name:38}" + "".join(f"{cell!s:>18}" for cell in cells)


# --- what is found ---------------------------------------------------------------------------------------------------


def shown(found: Sequence[Retrieved], known: Mapping[str, Document], chunking: ChunkingRecipe) -> list[Retrieved]:
    """What is shown for chunks, best first: themselves, or each parent once."""
    ranges = {}
    for one in found:
        document = known[one.document]
        start, end = parent_of(document, chunking, one.start, one.end)
        ranges[one.document, start, end] = Retrieved(one.document, start, end, document.text[start:end])
    return list(ranges.values())


def within(found: Sequence[Retrieved], characters: int) -> list[Retrieved]:
    """The first passages that so many characters hold; the first of all at any length."""
    kept: list[Retrieved] = []
    for one in found:
        if kept and sum(len(other.content) for other in kept) + len(one.content) > characters:
            break
        kept.append(one)
    return kept


def asked(work: Path, strategies: Mapping[str, ChunkingRecipe]) -> dict[str, object]:
    """Each strategy on the sample by every leg, paired with the default."""
    # That script imports this one.
    from run_document_a import LEGS, ask, build, sample

    corpus, embedder = sample("sample"), make_embedder(MODELS[0])
    known = {one.name: one for one in corpus.documents}
    cache = SqliteVectorCache(work / "vectors.sqlite")
    vectors = {text: embedder.embed_query(text) for text in {text for _, _, text in corpus.golden.queries()}}
    told: dict[str, dict[str, object]] = {}
    values: dict[str, dict[str, dict[str, Mapping[QueryKey, float]]]] = {}
    for name, chunking in strategies.items():
        recipe = Recipe(PIPELINE_VERSION, NORMALISER_VERSION, chunking, Analyser().version, embedder.space)
        began = time.process_time()
        chunker = make_chunker(recipe, embedder.tokenizer, lambda texts: embed_cached(texts, embedder, cache).vectors)
        for one in corpus.documents:
            chunker.chunk(one)
        cutting = time.process_time() - began
        with tempfile.TemporaryDirectory(dir=work) as place:
            built = build(corpus, recipe, embedder, cache, Path(place) / "index")
            lists: dict[str, dict[QueryKey, list[Retrieved]]] = {leg: {} for leg in LEGS}
            for question, number, text in corpus.golden.queries():
                for leg, hits in ask(built, text, vectors[text])[0].items():
                    first = [built.places[hit.chunk_id] for hit in hits[: 8 * FOUND_K]]
                    lists[leg][question.id, number] = shown(first, known, chunking)
        values[name] = {leg: _values(corpus.golden, found) for leg, found in lists.items()}
        widths = [sum(len(one.content) for one in found[:FOUND_K]) for found in lists["hybrid"].values()]
        own = destroyed(corpus.golden, built.chunks, embedder.tokenizer.window)
        told[name] = {
            "chunks": len(built.places),
            "needles": own.needles,
            "destroyed": len(own.split),
            "truncated_chunks": own.truncated_chunks,
            "header_token_share": round(own.header_tokens / own.tokens, 4),
            "bytes": built.size,
            "cpu seconds to cut": round(cutting, 1),
            "tokens": own.tokens,
            f"characters of the first {FOUND_K}": round(sum(widths) / len(widths)),
            "found": {leg: {key: _mean(of) for key, of in by.items()} for leg, by in values[name].items()},
        }
        print(f"{name}: {len(built.places)} chunks, {cutting:.1f} s to cut", file=sys.stderr)
    cache.close()
    return {
        "golden": {"name": corpus.golden.name, "fingerprint": corpus.golden.fingerprint},
        "encoder": embedder.space.model,
        "queries": len(vectors),
        "strategies": told,
        "against the default": _paired(values),
    }


def _values(golden: GoldenSet, found: Mapping[QueryKey, list[Retrieved]]) -> dict[str, Mapping[QueryKey, float]]:
    """For each query, the share of its needles that is shown."""
    deep = f"needle@{8 * FOUND_K}"
    first = score(golden, found, [f"needle@{FOUND_K}"]).values[f"needle@{FOUND_K}"]
    narrow = {key: within(one, FOUND_CHARACTERS) for key, one in found.items()}
    return {
        f"needle@{FOUND_K}": first,
        f"needle in {FOUND_CHARACTERS} characters": score(golden, narrow, [deep]).values[deep],
    }


def _mean(values: Mapping[QueryKey, float]) -> float:
    return round(sum(values.values()) / len(values), 4)


def _paired(values: Mapping[str, Mapping[str, Mapping[str, Mapping[QueryKey, float]]]]) -> object:
    """By leg and measure, each strategy against the default."""
    base = values["default"]
    told: dict[str, dict[str, object]] = {}
    for leg, by in base.items():
        for measure, old in by.items():
            others = {
                name: (list(old.values()), [of[leg][measure][query] for query in old])
                for name, of in values.items()
                if name != "default"
            }
            compared = compare_all(others, groups={name: [question for question, _ in old] for name in others})
            told[f"{leg}, {measure}"] = {
                name: {
                    "wins": one.wins,
                    "losses": one.losses,
                    "difference": round(one.difference.value, 4),
                    "low": round(one.difference.low, 4),
                    "high": round(one.difference.high, 4),
                    "p after Holm": one.p_adjusted,
                    "verdict": one.verdict,
                }
                for name, one in compared.items()
            }
    return told


def main() -> int:
    """Cut, count, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "sample" / "handbook")
    parser.add_argument("--golden", type=Path, default=ROOT / "evaluation" / "golden" / "handbook.yaml")
    parser.add_argument("--found", action="store_true", help="embed and ask; the handbook with both of its sets")
    parser.add_argument("--only", nargs="+", choices=list(STRATEGIES), help="with --found: these beside the default")
    parser.add_argument("--work", type=Path, default=Path(".fonte-bench"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.found:
        options.work.mkdir(parents=True, exist_ok=True)
        some = {name: how for name, how in STRATEGIES.items() if name in {"default", *(options.only or STRATEGIES)}}
        only = "".join(f' "{name}"' for name in options.only or ())
        command = "evaluation/run_chunking.py --found" + (f" --only{only}" if only else "")
        _write({"command": command, **asked(options.work, some)}, options.out)
        return 0
    known = list(documents(options.folder))
    golden = placed(load_golden(options.golden), known)
    figures = {}
    for source in MODELS:
        embedder = make_embedder(source)
        figures[source] = {name: judged(golden, known, how, embedder) for name, how in STRATEGIES.items()}
    for line in table(figures):
        print(line)
    told = {
        "command": "evaluation/run_chunking.py",
        "golden": {"name": golden.name, "fingerprint": golden.fingerprint},
        "documents": len(known),
        "characters": sum(len(one.text) for one in known),
        "figures": figures,
    }
    if options.out:
        _write(told, options.out)
    return 0


def _write(told: Mapping[str, object], out: Path | None) -> None:
    text = json.dumps(told, indent=1, ensure_ascii=False) + "\n"
    if out is None:
        print(text)
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
