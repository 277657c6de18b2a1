"""How much each token of a question counts in late interaction: a direction of codes, fitted to our own questions.

    .venv/bin/python evaluation/fit_token_weights.py

The passages and questions of evaluation/reader (English and Italian, written for this project, none of them of the
sample or of a public set) are indexed; each question's first 25 fused passages are scored as ``Retriever`` does, and
the direction is chosen that makes the right passage likely among them: a softmax over the 25, with a penalty on the
direction's length. Written to src/fonte/models/data beside the codec; the id that is printed belongs into the model's
card. ADR 28 tells what it is worth.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from fonte import Corpus, Principal, SourceOptions
from fonte.answer import Asker, with_languages
from fonte.models.cards import E5_SMALL
from fonte.protocols import TokenCoder
from fonte.ranking.evidence import coverage
from fonte.ranking.late import COVERAGE_WEIGHT, SCALE, SHIFT_WEIGHT, TokenCodec
from fonte.retrieve import RetrievalSettings, Retriever
from fonte.types import Query
from fonte.words import terms_of, weighted_words

ROOT = Path(__file__).resolve().parents[1]
FILES = [f"{name}.jsonl" for name in "abcdefg"] + [f"pairs-{name}.jsonl" for name in "abcdef"]
OUT = ROOT / "src" / "fonte" / "models" / "data" / f"{E5_SMALL.name}-tokens.npz"
SEED = 7
QUESTIONS = 4200
DEPTH = 25
HELD_OUT = 8
"""One of so many questions is not fitted to."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """What one question gives to learn from."""

    tokens: Floats
    """Codes of its tokens (t, width)."""
    products: Floats
    """Of its tokens the best product with each of n passages (n, t)."""
    rest: Floats
    """What else a passage scores (n,)."""
    right: npt.NDArray[np.bool_]


def written(folder: Path) -> tuple[Path, list[tuple[str, str]]]:
    """A corpus file of all passages, and each answerable question with its passage's name."""
    asked = []
    corpus = folder / "corpus.jsonl"
    with corpus.open("w", encoding="utf-8") as out:
        for name in FILES:
            for line in (ROOT / "evaluation" / "reader" / name).read_text(encoding="utf-8").splitlines():
                one = json.loads(line)
                identity = f"{Path(name).stem}-{one['id']}"
                title = " > ".join(part for part in (one["title"], one.get("section")) if part)
                out.write(json.dumps({"_id": identity, "title": title, "text": one["text"]}, ensure_ascii=False) + "\n")
                asked += [(question["q"], identity) for question in one["questions"] if question.get("answer")]
    random.Random(SEED).shuffle(asked)  # noqa: S311 - a sample, no secret
    return corpus, asked[:QUESTIONS]


def row(asker: Asker, text: str, name: str) -> Row | None:
    """What one question gives to learn from; None where the right passage is not among others."""
    embedder = asker.embedder
    if not isinstance(embedder, TokenCoder):
        raise TypeError("the encoder keeps no token codes")
    query = with_languages(Query(text, Principal()))
    settings = RetrievalSettings(k=DEPTH, per_document=0)
    found = Retriever(asker.reader, embedder, asker.terms).retrieve(query, (), settings)
    _, codes = embedder.encode_query(text)
    kept = asker.reader.codes([one.stored.chunk.id for one in found.found], query.principal, revoked=())
    words = weighted_words(query, asker.terms, asker.reader)
    products, rest, right = [], [], []
    for one in found.found:
        chunk = one.stored.chunk
        if not len(kept[chunk.id]):
            continue
        products.append((codes.astype(np.float32) @ kept[chunk.id].astype(np.float32).T).max(axis=1))
        held = coverage(words, terms_of(asker.terms, chunk.text, query, chunk.language))
        rest.append(SHIFT_WEIGHT * found.shifts.get(chunk.language, 0.0) + COVERAGE_WEIGHT * held)
        right.append(one.stored.document_name == name)
    if not any(right) or all(right):
        return None
    wide = np.array(products, np.float64) / (SCALE * SCALE)
    return Row(codes.astype(np.float64) / SCALE, wide, np.array(rest), np.array(right))


def loss(rows: list[Row], parameters: Floats, penalty: float) -> tuple[float, Floats]:
    """Mean negative log likelihood of the right passages, with its gradient. Last of the parameters: log of 1/heat."""
    direction, sharp = parameters[:-1], float(np.exp(parameters[-1]))
    total, slope = 0.0, np.zeros_like(parameters)
    for one in rows:
        weights = np.exp(np.clip(one.tokens @ direction, -3, 3))
        share = weights / weights.sum()
        mean = one.products @ share
        scores = sharp * (mean + one.rest)
        likely = np.exp(scores - scores.max())
        likely /= likely.sum()
        among = np.where(one.right, likely, 0.0)
        total -= float(np.log(among.sum()))
        change = likely - among / among.sum()
        slope[:-1] += sharp * (change @ ((one.products - mean[:, None]) * share)) @ one.tokens
        slope[-1] += float(change @ scores)
    value = total / len(rows) + penalty * float(direction @ direction)
    slope /= len(rows)
    slope[:-1] += 2 * penalty * direction
    return value, slope


def firsts(rows: list[Row], direction: Floats) -> float:
    """Share of questions whose first passage is right."""
    right = 0
    for one in rows:
        weights = np.exp(np.clip(one.tokens @ direction, -3, 3))
        right += bool(one.right[np.argmax(one.products @ weights / weights.sum() + one.rest)])
    return right / len(rows)


def gathered(home: Path) -> Iterator[Row]:
    """What every question gives."""
    corpus_file, asked = written(home)
    corpus = Corpus.open(home / "home")
    corpus.sync(str(corpus_file), options=SourceOptions(records=True))
    asker = corpus.asker(Principal())
    if asker is None:
        raise SystemExit("nothing was published")
    for done, (text, name) in enumerate(asked, start=1):
        if (one := row(asker, text, name)) is not None:
            yield one
        if done % 500 == 0:
            print(f"{done} of {len(asked)} questions", file=sys.stderr)


def main() -> int:
    """Fit, tell, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, help="kept between runs; a folder for this run alone without it")
    parser.add_argument("--penalty", type=float, default=0.003)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        home = options.home or Path(scratch)
        home.mkdir(parents=True, exist_ok=True)
        rows = list(gathered(home))
    held, fitted = rows[::HELD_OUT], [one for at, one in enumerate(rows) if at % HELD_OUT]
    start = np.append(np.zeros(rows[0].tokens.shape[1]), 3.0)
    found = minimize(
        lambda point: loss(fitted, point, options.penalty), start, jac=True, method="L-BFGS-B", options={"maxiter": 100}
    )
    direction = found.x[:-1].astype(np.float16).astype(np.float32)
    print(f"fitted to {len(fitted)} questions, {len(held)} held out")
    print(f"loss {loss(fitted, start, 0)[0]:.4f} -> {found.fun:.4f}")
    wide = direction.astype(np.float64)
    print(f"right passage first, held out: {firsts(held, start[:-1]):.4f} -> {firsts(held, wide):.4f}")
    with np.load(OUT, allow_pickle=False) as parts:
        mean, projection = parts["mean"], parts["projection"]
    np.savez_compressed(OUT, mean=mean, projection=projection, importance=direction.astype(np.float16))
    print("weighing", TokenCodec(mean.astype(np.float32), projection.astype(np.float32), direction).weighing)
    return 0


if __name__ == "__main__":
    sys.exit(main())
