"""Document A in its own form: six ways of cutting (A to F), by BM25, dense and hybrid, in pairs.

    .venv/bin/python evaluation/run_document_a.py --sets sample --out evaluation/results
    .venv/bin/python evaluation/run_document_a.py --data ../shared/data --sets chroma-chunking covidqa --out …

A result is right when one returned chunk holds the whole needle, judged by its characters. Nothing is merged,
reranked, capped or filtered: the legs are the index's own BM25 and exact cosine over all chunks, hybrid is their
reciprocal rank fusion (k = 60), every ranking whole. Rights play no part: everybody reads everything here.

Vectors are remembered in --work, so that a second run embeds nothing; each set and encoder gives one file of results,
which evaluation/tell_document_a.py turns into docs/document-a.md.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from run_chunking import STRATEGIES, Boundless, documents, placed

from fonte.embedding import embed_cached, fitted
from fonte.evaluation.destroyed import destroyed
from fonte.evaluation.floors import corpus_fingerprint
from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.golden_files import load_golden
from fonte.evaluation.index_facts import bytes_under, timings
from fonte.evaluation.measures import Needle, Retrieved, characters_of
from fonte.evaluation.scoring import QueryKey, Scores, score
from fonte.evaluation.statistics import Comparison, Interval, bootstrap_mean, compare_all
from fonte.models.registry import make_embedder
from fonte.parsers.plain import verbatim_blocks
from fonte.protocols import Chunker, Embedder
from fonte.ranking.fusion import fuse
from fonte.stores.lance_index import LanceIndex
from fonte.stores.lance_reader import LanceReader
from fonte.stores.sqlite_stores import SqliteVectorCache
from fonte.text.canonical import NORMALISER_VERSION, canonicalise
from fonte.text.chunking import make_chunker
from fonte.text.language import question_languages
from fonte.text.terms import Analyser
from fonte.types import (
    DEFAULT_TENANT,
    PUBLIC_ROLE,
    Acl,
    Block,
    BlockKind,
    Chunk,
    Document,
    Generation,
    GenerationState,
    Hit,
    Parsed,
    Principal,
    Query,
    Recipe,
    Source,
    StoredChunk,
    Vector,
    sha256_hex,
)
from fonte.wiring import PIPELINE_VERSION

ROOT = Path(__file__).resolve().parents[1]
FORMS = {name[0]: recipe for name, recipe in STRATEGIES.items() if name[1] == " "}
"""A to F."""
ENCODERS = {"minilm": "package:all-MiniLM-L6-v2", "e5": "package:multilingual-e5-small"}
MEASURES = ("needle@1", "needle@4", "needle@8", "needle@20")
PAIRS = (("B", "A"), ("E", "A"), ("E", "C"), ("F", "E"))
"""The first against the second, as document A compares them."""
LEGS = ("bm25", "dense", "hybrid")
LEG_PAIRS = (("hybrid", "bm25"), ("hybrid", "dense"), ("dense", "bm25"))
SPANS_K = 5
"""Chunks whose characters are judged."""
BATCH = 256
TERMS = Analyser()
_HEADING = re.compile(r" (?P<marks>(?:= )+)(?P<name>[^;\n]+?)(?: =)+ ")
"""A heading of WikiText; with a semicolon it is a table's legend."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is asked of what: documents, and a set whose needles lie in them by their characters."""

    name: str
    documents: Sequence[Document]
    golden: GoldenSet

    @property
    def fingerprint(self) -> str:
        """Of the set and of the texts that it asks about."""
        return corpus_fingerprint(self.golden, {one.name: one.text_hash for one in self.documents})


# --- what is asked ---------------------------------------------------------------------------------------------------


def sample(name: str) -> Corpus:
    """The shipped handbook with the answerable questions of both its sets; sample-en: English ones of English texts."""
    known = list(documents(ROOT / "sample" / "handbook"))
    sets = [load_golden(ROOT / "evaluation" / "golden" / file) for file in ("handbook.yaml", "handbook-2.yaml")]
    questions = [question for one in sets for question in one.questions if question.answerable]
    if name == "sample-en":
        others = {one.name for one in known if one.language != "en"}
        questions = [one for one in questions if one.language == "en" and others.isdisjoint(one.relevance)]
    return Corpus(name, known, placed(GoldenSet("handbook + handbook-2", tuple(questions)), known))


def public(folder: Path) -> Corpus:
    """A set in BEIR layout with spans."""
    lines = (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    known = [record(json.loads(line)) for line in lines]
    golden = load_golden(folder)
    questions = tuple(bare(one) for one in golden.questions if one.answerable)
    return Corpus(folder.name, known, placed(replace(golden, questions=questions), known))


def bare(question: Question) -> Question:
    """Needles without outer white space, which no chunk has."""
    return replace(question, needles=tuple(map(_bare, question.needles)))


def _bare(needle: Needle) -> Needle:
    if needle.start is None or not needle.text.strip():
        return needle
    start = needle.start + len(needle.text) - len(needle.text.lstrip())
    text = needle.text.strip()
    return replace(needle, text=text, start=start, end=start + len(text))


def record(row: Mapping[str, str]) -> Document:
    """A document with exactly the record's text. One without a title has its first line for one."""
    text, name = row["text"], row["_id"]
    blocks, tail = blocks_of(text)
    title = row.get("title") or text.strip().split("\n", 1)[0]
    source = Source(f"record:{name}", name, sha256_hex(text), Acl(frozenset({PUBLIC_ROLE})), body=text.encode())
    document = canonicalise(Parsed(blocks, "record", title=title, tail=tail), source, tenant=DEFAULT_TENANT)
    if document.text != text:
        raise SystemExit(f"{name}: spans would not fit its canonical text")
    sections = [replace(one, path=tuple(part.strip("= ") for part in one.path)) for one in document.sections]
    return replace(document, sections=tuple(sections))


def blocks_of(text: str) -> tuple[tuple[Block, ...], str]:
    """Paragraphs; where a text has WikiText's headings, headings and lines, as that format means them."""
    lines = text.splitlines(keepends=True)
    if not any(_HEADING.fullmatch(line.rstrip("\n")) for line in lines):
        return verbatim_blocks(text)
    blocks: list[Block] = []
    done = at = 0
    for line in lines:
        body = line.strip()
        if body:
            first = at + len(line) - len(line.lstrip())
            heading = _HEADING.fullmatch(line.rstrip("\n"))
            level = heading["marks"].count("=") if heading else 0
            kind = BlockKind.HEADING if heading else BlockKind.PARAGRAPH
            blocks.append(Block(kind, body, level=level, before=text[done:first]))
            done = first + len(body)
        at += len(line)
    return tuple(blocks), text[done:]


# --- an index of each form -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Built:
    """One form's index, and what it took: ``new`` of the texts had to be embedded, in ``seconds`` all in all."""

    reader: LanceReader
    places: Mapping[str, Retrieved]
    """Chunks by id."""
    chunks: Mapping[str, Sequence[Chunk]]
    """Chunks by document name."""
    size: int
    seconds: float
    new: int
    new_tokens: int


def build(
    corpus: Corpus,
    recipe: Recipe,
    embedder: Embedder,
    cache: SqliteVectorCache,
    place: Path,
    chunker: Chunker | None = None,
) -> Built:
    """Cut (by the recipe's chunker unless one is given), embed and index all documents of a corpus."""
    began = time.perf_counter()
    chunker = chunker or make_chunker(
        recipe, embedder.tokenizer, lambda texts: embed_cached(texts, embedder, cache).vectors
    )
    index = LanceIndex(place)
    cut = {one.name: chunker.chunk(one) for one in corpus.documents}
    stored = [
        StoredChunk.of(one, chunk, frozenset({PUBLIC_ROLE})) for one in corpus.documents for chunk in cut[one.name]
    ]
    writer = index.begin(recipe, None)
    new = new_tokens = 0
    for start in range(0, len(stored), BATCH):
        batch = stored[start : start + BATCH]
        texts = [fitted(one.chunk, embedder) for one in batch]
        keys = [sha256_hex(text) for text in texts]
        known = cache.get(embedder.space.key, keys)
        new_tokens += sum(one.chunk.tokens for one, key in zip(batch, keys, strict=True) if key not in known)
        made = embed_cached(texts, embedder, cache)
        words = [TERMS.document_terms(one.chunk.text, one.chunk.language) for one in batch]
        writer.add(batch, words, made.vectors, made.codes)
        new += made.new
    version, count = writer.seal()
    generation = Generation(
        "measured",
        DEFAULT_TENANT,
        GenerationState.ACTIVE,
        recipe,
        writer.table,
        version,
        datetime.now(UTC),
        chunks=count,
    )
    places = {
        one.chunk.id: Retrieved(one.document_name, one.chunk.start, one.chunk.end, one.chunk.content) for one in stored
    }
    return Built(index.open(generation), places, cut, bytes_under(place), time.perf_counter() - began, new, new_tokens)


def ask(built: Built, question: str, vector: Vector) -> tuple[dict[str, list[Hit]], dict[str, float]]:
    """The whole ranking of each leg, and the milliseconds of the two that search."""
    query = Query(question, Principal(), languages=question_languages(question))
    every, began = len(built.places), time.perf_counter()
    words = built.reader.bm25(TERMS.query_terms(question, query.languages), query, revoked=(), k=every)
    between = time.perf_counter()
    near = built.reader.dense(vector, query, revoked=(), k=every)
    took = {"bm25": 1000 * (between - began), "dense": 1000 * (time.perf_counter() - between)}
    return {"bm25": words, "dense": near, "hybrid": fuse({"bm25": words, "dense": near})}, took


# --- what it was worth -----------------------------------------------------------------------------------------------


def measure(corpus: Corpus, built: Built, vectors: Mapping[str, Vector]) -> tuple[dict[str, Scores], dict[str, object]]:
    """Scores of each leg, and what else is told of it."""
    found: dict[str, dict[QueryKey, list[Retrieved]]] = {leg: {} for leg in LEGS}
    spans: dict[str, list[tuple[float, float, float]]] = {leg: [] for leg in LEGS}
    took: dict[str, list[float]] = {"bm25": [], "dense": []}
    deepest = max(int(name.partition("@")[2]) for name in MEASURES)
    asked: list[str] = []
    for question, number, text in corpus.golden.queries():
        rankings, milliseconds = ask(built, text, vectors[text])
        asked.append(question.id)
        for leg, hits in rankings.items():
            first = [built.places[hit.chunk_id] for hit in hits[:deepest]]
            found[leg][question.id, number] = first
            spans[leg].append(characters_of(first[:SPANS_K], question.needles))
        for leg, one in milliseconds.items():
            took[leg].append(one)
    scores = {leg: score(corpus.golden, found[leg], MEASURES) for leg in LEGS}
    legs = {leg: {name: _interval(one) for name, one in scores[leg].summary().items()} for leg in LEGS}
    for leg, values in spans.items():
        for name, of in zip(("recall", "precision", "IoU"), zip(*values, strict=True), strict=True):
            legs[leg][f"{name} of characters@{SPANS_K}"] = _interval(bootstrap_mean(of, groups=asked))
    return scores, {"legs": legs, "median ms": {leg: round(timings(ms).p50, 2) for leg, ms in took.items()}}


def lost(corpus: Corpus, built: Built, recipe: Recipe, embedder: Embedder) -> dict[str, object]:
    """What the form costs and destroys, as fonte cuts it and as what knows no window would."""
    window = embedder.tokenizer.window
    own = destroyed(corpus.golden, built.chunks, window)
    chunker = make_chunker(recipe, Boundless(embedder.tokenizer))
    raw = destroyed(corpus.golden, {one.name: chunker.chunk(one) for one in corpus.documents}, window)
    size = recipe.chunking.size
    return {
        "destroyed": len(own.split),
        "of needles": own.needles,
        "longer than a chunk": sum(len(needle.text) > size for _, needle in own.split),
        "questions that lose one": len(own.questions),
        "truncated": own.truncated_chunks,
        "truncated, were chunks not halved at the window": raw.truncated_chunks,
        "needles beyond the window, were they not": len(raw.beyond_window),
        "header tokens": own.header_tokens,
        "tokens": own.tokens,
        "header share": round(own.header_tokens / own.tokens, 4),
        "chunks": own.chunks,
        "bytes": built.size,
        "seconds": round(built.seconds, 1),
        "embedded now": built.new,
        "tokens embedded now": built.new_tokens,
    }


def paired(values: Mapping[str, Scores], pairs: Sequence[tuple[str, str]]) -> dict[str, object]:
    """Each pair by each measure, after Holm over the pairs of a measure."""
    told: dict[str, object] = {}
    for name in MEASURES:
        queries = list(next(iter(values.values())).values[name])
        listed = {one: [scores.values[name][query] for query in queries] for one, scores in values.items()}
        compared = compare_all(
            {f"{new} against {old}": (listed[old], listed[new]) for new, old in pairs},
            groups={f"{new} against {old}": [question for question, _ in queries] for new, old in pairs},
        )
        told[name] = {pair: _comparison(one) for pair, one in compared.items()}
    return told


def _comparison(one: Comparison) -> dict[str, object]:
    return {
        "wins": one.wins,
        "losses": one.losses,
        "difference": _interval(one.difference),
        "p": one.p,
        "p after Holm": one.p_adjusted,
        "could show": one.detectable,
        "verdict": one.verdict,
    }


def _interval(one: Interval) -> dict[str, float]:
    return {"value": round(one.value, 4), "low": round(one.low, 4), "high": round(one.high, 4), "n": one.n}


def evaluate(corpus: Corpus, encoder: str, work: Path) -> dict[str, object]:
    """Everything of one set and one encoder."""
    embedder = make_embedder(ENCODERS[encoder])
    cache = SqliteVectorCache(work / "vectors.sqlite")
    texts = dict.fromkeys(text for _, _, text in corpus.golden.queries())
    vectors = {text: embedder.embed_query(text) for text in texts}
    scores: dict[str, dict[str, Scores]] = {}
    forms: dict[str, object] = {}
    for form, chunking in FORMS.items():
        recipe = Recipe(PIPELINE_VERSION, NORMALISER_VERSION, chunking, TERMS.version, embedder.space)
        with tempfile.TemporaryDirectory(dir=work) as place:
            built = build(corpus, recipe, embedder, cache, Path(place) / "index")
            scores[form], told = measure(corpus, built, vectors)
            forms[form] = lost(corpus, built, recipe, embedder) | told
        print(f"{corpus.name} {encoder} {form}: {built.seconds:.0f} s, {len(built.places)} chunks", file=sys.stderr)
    cache.close()
    return {
        "set": corpus.name,
        "encoder": embedder.space.model,
        "command": f"evaluation/run_document_a.py --data ../shared/data --sets {corpus.name} --encoders {encoder}",
        "golden": {"name": corpus.golden.name, "fingerprint": corpus.golden.fingerprint},
        "corpus_fingerprint": corpus.fingerprint,
        "documents": len(corpus.documents),
        "characters": sum(len(one.text) for one in corpus.documents),
        "sections": sum(bool(section.path) for one in corpus.documents for section in one.sections),
        "questions": len(corpus.golden.questions),
        "queries": len(list(corpus.golden.queries())),
        "window": embedder.tokenizer.window,
        "forms": forms,
        "pairs": {leg: paired({form: of[leg] for form, of in scores.items()}, PAIRS) for leg in LEGS},
        "leg_pairs": {form: paired(of, LEG_PAIRS) for form, of in scores.items()},
    }


def corpora(names: Sequence[str], data: Path | None) -> Iterator[Corpus]:
    """The sets that are there; those that are not are told."""
    for name in names:
        if name in {"sample", "sample-en"}:
            yield sample(name)
        elif data is not None and (data / name / "corpus.jsonl").is_file():
            yield public(data / name)
        else:
            print(f"{name}: absent, not measured", file=sys.stderr)


def main() -> int:
    """One file of results for each set and encoder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets", nargs="+", default=["sample"])
    parser.add_argument("--encoders", nargs="+", choices=ENCODERS, default=list(ENCODERS))
    parser.add_argument("--work", type=Path, default=Path(".fonte-bench"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    for encoder in options.encoders:
        for corpus in corpora(options.sets, options.data):
            found = evaluate(corpus, encoder, options.work)
            text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
            if options.out:
                options.out.mkdir(parents=True, exist_ok=True)
                (options.out / f"document-a-{corpus.name}-{encoder}.json").write_text(text, encoding="utf-8")
            else:
                print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
