"""The codec of multilingual-e5-small's token vectors: their mean and first principal components, out of many texts.

    .venv/bin/python evaluation/fit_token_codec.py ../shared/data

Fitted once over token vectors of the sample handbook and of paragraphs of public sets (no question, no judgement is
looked at). Only numbers are written, to src/fonte/models/data; the id that is printed belongs into the model's card.
fit_token_weights.py comes after it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fonte.errors import FonteError
from fonte.models.cards import E5_SMALL
from fonte.models.graph_cache import default_cache
from fonte.models.packaged import e5_small
from fonte.parsers.pool import ParserPool
from fonte.ranking.late import TokenCodec
from fonte.sources.folder import open_source
from fonte.text.canonical import canonicalise
from fonte.text.normalise import search_form
from fonte.types import Source

ROOT = Path(__file__).resolve().parents[1]
HANDBOOK = ROOT / "sample" / "handbook"
OUT = ROOT / "src" / "fonte" / "models" / "data" / "multilingual-e5-small-tokens.npz"
WIDTH = 128
TEXTS = {"squad-it": 160, "xquad-en": 69, "scifact-train": 120}
"""Paragraphs taken of each set, evenly over its file; of the handbook all sections."""
LONGEST = 1200
"""Characters of a text that are read."""
BATCH = 32


def texts(data: Path) -> Iterator[str]:
    """Every text, in a fixed order."""
    with ParserPool(workers=1) as pool:
        for source, parsed in pool.parse_many(
            one for one in open_source(str(HANDBOOK)).scan() if isinstance(one, Source)
        ):
            if isinstance(parsed, FonteError):
                raise parsed
            text = canonicalise(parsed, source, tenant="default").text
            yield from (text[at : at + LONGEST] for at in range(0, len(text), LONGEST))
    for name, wanted in TEXTS.items():
        lines = (data / name / "corpus.jsonl").read_text("utf-8").splitlines()
        for at in np.linspace(0, len(lines) - 1, min(wanted, len(lines))).astype(int):
            yield str(json.loads(lines[at])["text"])[:LONGEST]


def fit(rows: Iterator[npt.NDArray[np.float32]], width: int) -> tuple[TokenCodec, float, int]:
    """The codec over rows of token vectors, the share of variance that it keeps, and how many tokens there were."""
    total, count = np.zeros(0), 0
    products = np.zeros((0, 0))
    for part in rows:
        wide = part.astype(np.float64)
        if not count:
            total, products = np.zeros(wide.shape[1]), np.zeros((wide.shape[1], wide.shape[1]))
        total += wide.sum(axis=0)
        products += wide.T @ wide
        count += len(wide)
    mean = total / count
    values, columns = np.linalg.eigh(products / count - np.outer(mean, mean))
    order = np.argsort(-values)[:width]
    chosen = columns[:, order]
    # An eigenvector's sign is anybody's: the largest coordinate is positive, so that a second fit gives the same file.
    chosen = chosen * np.sign(chosen[np.abs(chosen).argmax(axis=0), np.arange(width)])
    half = [array.astype(np.float16).astype(np.float32) for array in (mean, chosen)]
    return TokenCodec(*half, np.zeros(width, np.float32)), float(values[order].sum() / values.sum()), count


def main() -> int:
    """Fit, write, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    options = parser.parse_args()
    encoder = e5_small(cache=default_cache(), threads=1, notify=print, card=replace(E5_SMALL, codec="", code_width=0))

    def rows() -> Iterator[npt.NDArray[np.float32]]:
        every = [form for text in texts(options.data) if (form := search_form(text)).strip()]
        for start in range(0, len(every), BATCH):
            yield np.concatenate([one.vectors for one in encoder.passage_tokens(every[start : start + BATCH])])
            print(f"{start + BATCH} of {len(every)}", file=sys.stderr)

    codec, kept, tokens = fit(rows(), WIDTH)
    OUT.parent.mkdir(exist_ok=True)
    with OUT.open("wb") as file:
        parts = {"mean": codec.mean, "projection": codec.projection, "importance": codec.importance}
        np.savez(file, **{name: part.astype(np.float16) for name, part in parts.items()})
    print(json.dumps({"id": codec.id, "tokens": tokens, "variance_kept": round(kept, 4), "file": OUT.name}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
