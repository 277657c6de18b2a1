"""What each way of cutting does to the answers: destroyed needles, truncated chunks, the price of headers.

    .venv/bin/python evaluation/run_chunking.py --out evaluation/results/chunking.json

The shipped handbook is parsed once and cut by every strategy, for both encoders' windows; nothing is embedded. A needle
is destroyed when no chunk holds it whole, and as good as lost when only chunks longer than the window hold it. fonte
halves what passes the window, so its own chunks are never truncated; ``unguarded`` counts what the same strategy
would have sent to the encoder to be cut silently (document A).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fonte.evaluation.destroyed import destroyed
from fonte.evaluation.golden import GoldenSet, anchored
from fonte.evaluation.golden_files import load_golden
from fonte.models.registry import make_embedder
from fonte.parsers.pool import ParserPool
from fonte.protocols import Embedder, Tokenizer
from fonte.sources.folder import open_source
from fonte.text.canonical import NORMALISER_VERSION, canonicalise
from fonte.text.chunking import make_chunker
from fonte.text.terms import Analyser
from fonte.types import BlockKind, Chunk, ChunkingRecipe, Document, Parsed, Recipe, Source
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
    "document C: blind 1200+200": _characters("blind", 1200, 200, header=False),
}


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


def judged(
    golden: GoldenSet, known: Sequence[Document], chunking: ChunkingRecipe, embedder: Embedder
) -> dict[str, object]:
    """Figures of one strategy and one encoder."""
    recipe = Recipe(PIPELINE_VERSION, NORMALISER_VERSION, chunking, Analyser().version, embedder.space)
    window = embedder.tokenizer.window

    def chunks(tokenizer: Tokenizer) -> dict[str, Sequence[Chunk]]:
        chunker = make_chunker(recipe, tokenizer)
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


def main() -> int:
    """Cut, count, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "sample" / "handbook")
    parser.add_argument("--golden", type=Path, default=ROOT / "evaluation" / "golden" / "handbook.yaml")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    known = list(documents(options.folder))
    golden = placed(load_golden(options.golden), known)
    figures = {}
    for source in MODELS:
        embedder = make_embedder(source)
        figures[source] = {name: judged(golden, known, how, embedder) for name, how in STRATEGIES.items()}
    for line in table(figures):
        print(line)
    if options.out:
        told = {
            "command": "evaluation/run_chunking.py",
            "golden": {"name": golden.name, "fingerprint": golden.fingerprint},
            "documents": len(known),
            "characters": sum(len(one.text) for one in known),
            "figures": figures,
        }
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
