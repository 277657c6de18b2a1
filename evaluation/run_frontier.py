"""Characters found at an equal budget of characters shown, over sizes of chunks: ours against plain recursive cuts.

    .venv/bin/python evaluation/run_frontier.py ../shared/data/chroma-chunking --out evaluation/results

Every cut is indexed and asked by the default retrieval (both legs, fused, reranked, overlaps merged, cap for each
document), and the first 4,000 characters of what it ranks are shown, the last passage cut there. Recall, precision and
IoU are of characters (Smith and Troynikov, Chroma, 2024), in pairs with recursive-800 over the questions.

``recursive`` is the splitter that most systems start from (LangChain's RecursiveCharacterTextSplitter with the
separators of that study): paragraphs, else lines, else sentences, else words, packed to a size. ``boundaries`` is
fonte's own cut, by characters here, and ``default`` what it ships, by tokens. Vectors are remembered in --work.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from run_document_a import TERMS, Corpus, build, public

from fonte.answer import with_languages
from fonte.evaluation.measures import Characters, Retrieved, characters_of, first_characters
from fonte.evaluation.statistics import bootstrap_mean, compare, compare_all
from fonte.models.registry import make_embedder
from fonte.protocols import Embedder, Tokenizer
from fonte.retrieve import RetrievalSettings, Retriever
from fonte.stores.lance_reader import LanceReader
from fonte.stores.sqlite_stores import SqliteVectorCache
from fonte.text.canonical import NORMALISER_VERSION
from fonte.text.chunking.emit import Emitter
from fonte.types import Chunk, ChunkingRecipe, Document, Principal, Query, Recipe
from fonte.wiring import PIPELINE_VERSION

ROOT = Path(__file__).resolve().parents[1]
ENCODER = "package:multilingual-e5-small"
BUDGET = 4000
SIZES = (200, 400, 800, 1200, 1600)
BASE = "recursive 800"
SEPARATORS = ("\n\n", "\n", ".", "?", "!", " ")
PASSAGES = 60
"""Asked for, so that the smallest chunks fill the budget."""
SETTINGS = RetrievalSettings(k=PASSAGES, candidates=PASSAGES, rerank=True)
"""The defaults but for how many come back."""
MEASURES = ("recall", "precision", "iou")
Facts: TypeAlias = dict[str, Any]
"""Of one cut, as they are written down."""


def recursive_ranges(text: str, size: int) -> list[tuple[int, int]]:
    """Ranges of at most ``size`` characters that cover a text, as the recursive splitter parts and packs them."""
    return list(_parted(text, 0, len(text), size, SEPARATORS))


def _parted(text: str, start: int, end: int, size: int, separators: Sequence[str]) -> Iterator[tuple[int, int]]:
    """One stretch by the first separator that it holds; each separator stays at the head of what follows it."""
    at = next((place for place, one in enumerate(separators) if one in text[start:end]), len(separators))
    if at == len(separators):
        yield from ((first, min(first + size, end)) for first in range(start, end, size))
        return
    separator = separators[at]
    edges = [start]
    while (found := text.find(separator, edges[-1] + len(separator) if len(edges) > 1 else start, end)) >= 0:
        edges.append(found)
    open_ = start
    for left, right in zip(edges, [*edges[1:], end], strict=True):
        if right - open_ <= size:
            continue
        if left > open_:
            yield open_, left
        open_ = left
        if right - left > size:
            yield from _parted(text, left, right, size, separators[at + 1 :])
            open_ = right
    if open_ < end:
        yield open_, end


@dataclass(frozen=True, slots=True)
class RecursiveCharacters:
    """The plain recursive splitter as a Chunker: no headers, no sections."""

    recipe: Recipe
    tokenizer: Tokenizer

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """Chunks in document order, ``content == document.text[start:end]``, none empty."""
        emitter = Emitter(self.recipe, self.tokenizer, document)
        for start, end in recursive_ranges(document.text, self.recipe.chunking.size):
            emitter.emit(start, end, (), "")
        return emitter.chunks


def cuts() -> dict[str, ChunkingRecipe]:
    """What is compared, by name."""
    recursive = {
        f"recursive {size}": ChunkingRecipe("recursive", size, header=False, unit="characters") for size in SIZES
    }
    ours = {f"boundaries {size}": ChunkingRecipe("boundaries", size, unit="characters") for size in SIZES}
    return {"default": ChunkingRecipe(), **ours, **recursive}


def asked(corpus: Corpus, reader: LanceReader, embedder: Embedder) -> Iterator[list[Retrieved]]:
    """What the default retrieval ranks for each question, best first."""
    retriever, names = Retriever(reader, embedder, TERMS), {one.id: one for one in corpus.documents}
    for _, _, text in corpus.golden.queries():
        found = retriever.retrieve(with_languages(Query(text, Principal())), (), SETTINGS).found
        documents = [names[one.stored.chunk.document_id] for one in found]
        yield [
            Retrieved(document.name, one.start, one.end, document.text[one.start : one.end])
            for document, one in zip(documents, found, strict=True)
        ]


def measured(corpus: Corpus, chunking: ChunkingRecipe, work: Path) -> tuple[Facts, list[Characters]]:
    """Facts of one cut, and what it shows for each question."""
    embedder, cache = make_embedder(ENCODER), SqliteVectorCache(work / "vectors.sqlite")
    recipe = Recipe(PIPELINE_VERSION, NORMALISER_VERSION, chunking, TERMS.version, embedder.space)
    plain = RecursiveCharacters(recipe, embedder.tokenizer) if chunking.strategy == "recursive" else None
    with tempfile.TemporaryDirectory(dir=work) as place:
        built = build(corpus, recipe, embedder, cache, Path(place) / "index", plain)
        shown = [first_characters(one, BUDGET) for one in asked(corpus, built.reader, embedder)]
    cache.close()
    needles = [question.needles for question, _, _ in corpus.golden.queries()]
    values = [characters_of(one, of) for one, of in zip(shown, needles, strict=True)]
    lengths = [len(one.content) for one in built.places.values()]
    facts: Facts = {
        "chunks": len(lengths),
        "characters of a chunk": round(sum(lengths) / len(lengths)),
        "characters shown": round(sum(one.end - one.start for found in shown for one in found) / len(shown)),
    }
    return facts | {name: _interval([getattr(one, name) for one in values], corpus) for name in MEASURES}, values


def _interval(values: Sequence[float], corpus: Corpus) -> dict[str, float]:
    one = bootstrap_mean(values, groups=[question.id for question, _, _ in corpus.golden.queries()])
    return {"value": round(one.value, 4), "low": round(one.low, 4), "high": round(one.high, 4), "n": one.n}


def paired(values: Mapping[str, Sequence[Characters]]) -> dict[str, object]:
    """The default against the base alone, and after Holm every other cut against it."""

    def pair(name: str, measure: str) -> tuple[list[float], list[float]]:
        return [getattr(one, measure) for one in values[BASE]], [getattr(one, measure) for one in values[name]]

    told: dict[str, object] = {}
    for measure in MEASURES:
        others = compare_all({name: pair(name, measure) for name in values if name not in {BASE, "default"}})
        for name, one in {"default": compare(*pair("default", measure)), **others}.items():
            told[f"{name} against {BASE} by {measure}"] = {
                "wins": one.wins,
                "losses": one.losses,
                "difference": round(one.difference.value, 4),
                "low": round(one.difference.low, 4),
                "high": round(one.difference.high, 4),
                "p": one.p_adjusted,
                "p_permutation": one.p_permutation,
                "verdict": one.verdict,
            }
    return told


def picture(told: Mapping[str, Facts], path: Path) -> None:
    """Recall at the budget over the mean length of a chunk, with intervals."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    for name, color in (("default", "#009E73"), ("boundaries", "#0072B2"), ("recursive", "#D55E00")):
        some = [one for cut, one in told.items() if cut.split()[0] == name]
        recall = [one["recall"] for one in some]
        values = [one["value"] for one in recall]
        reach = [[one["value"] - one["low"] for one in recall], [one["high"] - one["value"] for one in recall]]
        places = [one["characters of a chunk"] for one in some]
        axes.errorbar(places, values, yerr=reach, color=color, marker="o", markersize=4, linewidth=1, label=name)
    axes.set(xlabel="mean characters of a chunk", ylabel=f"recall of characters in {BUDGET:,} shown", ylim=(0, 1.02))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right", frameon=False)
    figure.savefig(path, dpi=80, metadata={"Software": None})


def main() -> int:
    """Measure, tell, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--work", type=Path, default=Path(".fonte-bench"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    corpus = public(options.folder)
    facts: dict[str, Facts] = {}
    values: dict[str, list[Characters]] = {}
    for name, chunking in cuts().items():
        facts[name], values[name] = measured(corpus, chunking, options.work)
        print(f"{name}: {json.dumps(facts[name])}", file=sys.stderr)
    told = {
        "set": corpus.name,
        "fingerprint": corpus.golden.fingerprint,
        "encoder": ENCODER,
        "budget": BUDGET,
        "questions": len(values[BASE]),
        "cuts": facts,
        "paired": paired(values),
    }
    text = json.dumps(told, indent=1) + "\n"
    print(text)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / f"frontier-{corpus.name}.json").write_text(text, encoding="utf-8")
    if options.picture:
        picture(facts, options.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
