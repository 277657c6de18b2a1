"""Trains a reader (docs/reader.md), and says how well it reads what it never saw.

    pip install torch==2.13.0        # for this script alone; fonte itself never needs it
    .venv/bin/python evaluation/train_reader.py evaluation/reader ../shared/data --out reader.npz --minutes 90

Its passages and questions: our own (``evaluation/reader/*.jsonl``) and squad2-adversarial, squad-it, xquad-en and
cross-it-en, all split by article or passage, never by question. The encoder stays as it is: its states behind
``TAP`` layers are computed once, and copies of the layers above are trained to read both texts together.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import sys
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - everybody's name for it
from torch import nn

from fonte.models.cards import E5_WEIGHTS
from fonte.models.e5_file import read_e5
from fonte.models.graph_cache import default_cache
from fonte.models.packaged import e5_small
from fonte.types import TokenVectors

PUBLIC = (("squad2-adversarial", "squad2-adversarial"), ("squad-it", "squad-it"), ("xquad-en", "xquad-en"))
CROSS = ("cross-it-en", "xquad-en")
"""Italian questions, and the set whose English paragraphs they ask."""
HELD_OUT = frozenset({"Force", "Harvard University", "Ossigeno", "Oxygen", "Doctor Who", "Reno", "Rhine"})
"""Articles that are never trained on; of our own passages every seventh, by a hash of its id."""
PUBLIC_SHARE = 0.5
"""Of the public questions in each round: users' documents are unlike an encyclopedia."""
HARD_SHARE = 0.4
"""Of the answered questions that are also asked of the passage that looks most like theirs."""
TAP, LAYERS = 9, 3
"""The states that it goes on from stand behind so many layers; it has a copy of each of those above."""
BETA = (10.0,) * 3 + (5.0,) * 3 + (0.0,) * 6
"""What the heads of each layer start from in attending to the tokens of the other text by their cosine."""
FAST = 30.0
"""By how much faster the weights of cosines learn, which start from nothing."""
BATCH = 16
CROP = 64
"""Tokens of a passage that are read in most of the training, around an answer or where it looks most like one."""
RANDOM_CROP = 0.3
"""Of the passages without an answer."""
WHOLE_FROM = 0.8
"""From this share of the time on passages are read whole, as they are in use."""
SEED = 20261130
DROPOUT = 0.1
WARM_UP = 50
NEVER = -1e9
DENSE = ("query", "key", "value", "attention_output", "inner", "output")
NORMS = ("attention_norm", "output_norm")


@dataclass(frozen=True)
class Text:
    """A passage: where it is from, and what the encoder read of it."""

    source: str
    article: str
    body: str
    tokens: TokenVectors
    start: int
    """Characters of the header and the line end before the passage."""


@dataclass(frozen=True)
class Example:
    """A question asked of a passage; ``spans`` are its answers there, None when there is none."""

    source: str
    article: str
    question: str
    passage: str
    spans: tuple[tuple[int, int], ...] | None
    answers: tuple[str, ...] = ()

    @property
    def held_out(self) -> bool:
        """Whether it is only measured on."""
        own = self.source == "own" and zlib.crc32(self.article.encode()) % 7 == 0
        return own or self.article in HELD_OUT


@dataclass
class Data:
    """All that is trained and measured on."""

    examples: list[Example] = field(default_factory=list)
    passages: dict[str, tuple[str, str, str, str]] = field(default_factory=dict)
    """By id: source, article, title, text."""


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def read_own(folder: Path, data: Data) -> None:
    """Our own passages, each with questions that it answers and near misses.

    Of a pair of like passages each is also asked what only the other answers. Both are on one side of the split.
    """
    lines = [one for path in sorted(folder.glob("*.jsonl")) for one in _lines(path)]
    pairs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in lines:
        pairs[one.get("pair", one["id"])].append(one)
        title = " > ".join(part for part in (one["title"], one.get("section", "")) if part)
        data.passages[f"own:{one['id']}"] = ("own", one["id"], title, one["text"])
    for article, passages in pairs.items():
        for one in passages:
            key, text = f"own:{one['id']}", one["text"]
            for asked in one["questions"]:
                answer = asked["answer"]
                if answer is None:
                    data.examples.append(Example("own", article, asked["q"], key, None))
                    continue
                spans = tuple(match.span() for match in re.finditer(re.escape(answer), text))
                data.examples.append(Example("own", article, asked["q"], key, spans, (answer,)))
                others = [f"own:{other['id']}" for other in passages if other is not one]
                data.examples += [Example("own", article, asked["q"], other, None) for other in others]


def read_public(folder: Path, texts: str, data: Data) -> None:
    """A set of ../shared/data; ``texts`` names the set that holds its paragraphs."""
    titles = {one["_id"]: one["title"] for one in _lines(folder / "corpus.jsonl")}
    for one in _lines(folder / "corpus.jsonl"):
        data.passages[f"{texts}:{one['_id']}"] = (texts, one["title"], one["title"], one["text"])
    spans: dict[str, dict[str, set[tuple[int, int]]]] = defaultdict(lambda: defaultdict(set))
    for one in _lines(folder / "spans.jsonl"):
        spans[one["query_id"]][one["doc"]].add((one["start"], one["end"]))
    for one in _lines(folder / "queries.jsonl"):
        if one.get("answerable", True):
            for document, places in spans[one["_id"]].items():
                data.examples.append(
                    Example(
                        folder.name,
                        titles[document],
                        one["text"],
                        f"{texts}:{document}",
                        tuple(sorted(places)),
                        tuple(one.get("answers") or ()),
                    )
                )
        else:
            document = one["source_doc"]
            data.examples.append(Example(folder.name, titles[document], one["text"], f"{texts}:{document}", None))


class ReaderLayer(nn.Module):
    """One encoder layer, as fonte.models.onnx_graph writes it."""

    def __init__(self, layer: Any, heads: int, epsilon: float) -> None:
        super().__init__()
        self.heads = heads
        for name in DENSE:
            dense = getattr(layer, name)
            linear = nn.Linear(dense.weight.shape[1], dense.weight.shape[0])
            linear.weight.data, linear.bias.data = torch.tensor(dense.weight), torch.tensor(dense.bias)
            setattr(self, name, linear)
        for name in NORMS:
            norm = getattr(layer, name)
            scaled = nn.LayerNorm(norm.weight.shape[0], eps=epsilon)
            scaled.weight.data, scaled.bias.data = torch.tensor(norm.weight), torch.tensor(norm.bias)
            setattr(self, name, scaled)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """States (batch, length, hidden) behind the layer; ``mask`` is added to the attention's scores."""
        batch, length, hidden = x.shape

        def split(part: torch.Tensor) -> torch.Tensor:
            return part.view(batch, length, self.heads, hidden // self.heads).transpose(1, 2)

        attended = F.scaled_dot_product_attention(
            split(self.query(x)), split(self.key(x)), split(self.value(x)), attn_mask=mask
        )
        attended = self.attention_output(attended.transpose(1, 2).reshape(batch, length, hidden))
        x = self.attention_norm(x + F.dropout(attended, DROPOUT, self.training))
        inner = self.output(F.gelu(self.inner(x)))
        return self.output_norm(x + F.dropout(inner, DROPOUT, self.training))


class ReaderNet(nn.Module):
    """The encoder's layers above the tap, over both texts; two numbers for each token, and two for "nowhere"."""

    def __init__(self, layers: Sequence[Any], heads: int, epsilon: float, mean: Any) -> None:
        super().__init__()
        hidden = len(mean)
        self.register_buffer("mean", torch.tensor(mean))
        self.beta = nn.Parameter(torch.tensor([BETA] * len(layers)))
        self.near = nn.Linear(2, hidden)
        nn.init.normal_(self.near.weight, std=0.1)
        self.layers = nn.ModuleList([ReaderLayer(layer, heads, epsilon) for layer in layers])
        self.segments = nn.Parameter(torch.zeros(2, hidden))
        self.span, self.null = nn.Linear(hidden, 2), nn.Linear(hidden, 2)
        nn.init.normal_(self.span.weight, std=0.02)
        nn.init.normal_(self.null.weight, std=0.02)

    def forward(self, both: torch.Tensor, segments: torch.Tensor, mask: torch.Tensor, own: torch.Tensor) -> Any:
        """(batch, 1 + length, 2): first "nowhere", then each token; tokens that cannot answer are shut out."""
        states, vectors = both.chunk(2, dim=-1)
        vectors = F.normalize(vectors - self.mean, dim=-1) * mask[:, :, None]
        across = segments[:, :, None] != segments[:, None, :]
        cosines = vectors @ vectors.transpose(1, 2) * across
        nearest = cosines.max(dim=2).values
        x = states + self.segments[segments] + self.near(torch.stack([nearest, nearest * segments], -1))
        shut = torch.where(mask, 0.0, NEVER)[:, None, None, :]
        for at, layer in enumerate(self.layers):
            x = layer(x, shut + self.beta[at][None, :, None, None] * cosines[:, None])
        spans = self.span(x).masked_fill(~own[:, :, None], NEVER)
        return torch.cat([self.null(x[:, 0])[:, None], spans], 1)


@dataclass
class Prepared:
    """Examples with the states of their texts."""

    texts: dict[str, Text]
    questions: dict[str, TokenVectors]
    hard: dict[str, list[str]]

    def item(self, question: str, passage: str, spans: Sequence[tuple[int, int]] | None) -> Any | None:
        """States of both, rows that may answer, and the answers' first and last rows; None where an answer is cut."""
        text = self.texts[passage]
        places = [
            (row, first - text.start, last - text.start)
            for row, (first, last) in zip(text.tokens.rows, text.tokens.offsets, strict=True)
            if last > text.start
        ]
        gold = None
        if spans is not None:
            touched = [[row for row, a, b in places if a < end and b > start] for start, end in spans]
            gold = [(rows[0], rows[-1]) for rows in touched if rows]
            if not gold:
                return None
        return self.questions[question].states, text.tokens.states, [row for row, _, _ in places], gold


def prepare(data: Data) -> Prepared:
    """The states of every text, by the encoder that fonte ships, and for each question passages that look right."""
    embedder = e5_small(cache=default_cache(), threads=None, notify=lambda line: print(line, file=sys.stderr), tap=TAP)
    keys = list(data.passages)
    headed = [f"[{data.passages[key][2]}]\n{data.passages[key][3]}" for key in keys]
    seen: list[TokenVectors] = []
    for start in range(0, len(keys), 256):
        seen += embedder.passage_tokens(headed[start : start + 256])
        print(f"\r{len(seen)} of {len(keys)} passages", end="", file=sys.stderr)
    texts = {
        key: Text(data.passages[key][0], data.passages[key][1], data.passages[key][3], tokens, len(text) - len(body))
        for key, text, tokens, body in zip(keys, headed, seen, (data.passages[key][3] for key in keys), strict=True)
    }
    questions = {one: embedder.question_tokens(one) for one in sorted({one.question for one in data.examples})}

    def whole(tokens: TokenVectors) -> Any:
        mean = tokens.vectors.mean(axis=0)
        return mean / np.linalg.norm(mean)

    matrix = np.array([whole(texts[key].tokens) for key in keys])
    sources = np.array([texts[key].source for key in keys])
    right: dict[str, set[str]] = defaultdict(set)
    for one in data.examples:
        right[one.question].add(one.passage)
    hard = {}
    for one in data.examples:
        if one.spans is None:
            continue
        near = np.where(sources == texts[one.passage].source, matrix @ whole(questions[one.question]), -9.0)
        looks = [keys[at] for at in np.argsort(-near)[:12]]
        hard[one.question] = [
            key
            for key in looks
            if key not in right[one.question]
            and not any(answer.casefold() in texts[key].body.casefold() for answer in one.answers)
        ][:6]
    return Prepared(texts, questions, hard)


def batches(items: list[Any], rng: random.Random) -> Iterator[list[Any]]:
    """Items of like length together, in random order."""
    for start in range(0, len(items), BATCH * 32):
        part = sorted(items[start : start + BATCH * 32], key=lambda one: len(one[0]) + len(one[1]))
        groups = [part[at : at + BATCH] for at in range(0, len(part), BATCH)]
        rng.shuffle(groups)
        yield from groups


def padded(items: Sequence[Any]) -> tuple[torch.Tensor, ...]:
    """Tensors of a batch: states, segments, mask, tokens that may answer, and where the answers start and end."""
    longest = max(len(question) + len(text) for question, text, *_ in items)
    hidden = items[0][0].shape[1]
    states = torch.zeros(len(items), longest, hidden)
    segments = torch.ones(len(items), longest, dtype=torch.long)
    mask = torch.zeros(len(items), longest, dtype=torch.bool)
    own = torch.zeros(len(items), longest, dtype=torch.bool)
    gold = torch.zeros(len(items), 1 + longest, 2)
    for row, (question, text, places, answers) in enumerate(items):
        head = len(question)
        states[row, :head] = torch.from_numpy(question)
        states[row, head : head + len(text)] = torch.from_numpy(text)
        segments[row, :head] = 0
        mask[row, : head + len(text)] = True
        own[row, torch.tensor(places) + head] = True
        if answers is None:
            gold[row, 0] = 1
        for first, last in answers or ():
            gold[row, 1 + head + first, 0] = 1
            gold[row, 1 + head + last, 1] = 1
    return states, segments, mask, own, gold


def cropped(item: Any, mean: Any, rng: random.Random) -> Any:
    """The item with ``CROP`` tokens of its passage, under its header.

    They hold one of the answers; where there is none, they are the likeliest by the question's tokens, or any.
    """
    question, text, places, answers = item
    room = len(places) - CROP
    if room <= 0:
        return item
    if answers:
        first, last = rng.choice(answers)
        low, high = max(0, places.index(last) - CROP + 1), min(room, places.index(first))
        start = rng.randint(low, high) if low <= high else min(room, places.index(first))
    elif rng.random() < RANDOM_CROP:
        start = rng.randint(0, room)
    else:
        hidden = text.shape[1] // 2
        asked, held = question[:, hidden:] - mean, text[places, hidden:] - mean
        asked /= np.linalg.norm(asked, axis=1, keepdims=True)
        held /= np.linalg.norm(held, axis=1, keepdims=True)
        nearest = np.concatenate([[0.0], np.cumsum((asked @ held.T).max(axis=0))])
        start = int(np.argmax(nearest[CROP:] - nearest[:-CROP]))
    kept = [*range(places[0]), *places[start : start + CROP]]
    at = {row: place for place, row in enumerate(kept)}
    gold = None
    if answers is not None:
        gold = [(at[first], at[last]) for first, last in answers if first in at and last in at]
        if not gold:
            gold = [(at[places[start]], at[places[start + CROP - 1]])]
    return question, text[kept], list(range(places[0], len(kept))), gold


def round_of(examples: Sequence[Example], ready: Prepared, rng: random.Random) -> list[Any]:
    """One round's items: all of our own, some public ones, and right questions asked of wrong passages."""
    items = []
    for one in examples:
        if one.source != "own" and rng.random() > PUBLIC_SHARE:
            continue
        items.append(ready.item(one.question, one.passage, one.spans))
        if one.spans is not None and ready.hard[one.question] and rng.random() < HARD_SHARE:
            items.append(ready.item(one.question, rng.choice(ready.hard[one.question]), None))
    rng.shuffle(items)
    return [one for one in items if one is not None]


def train(
    net: ReaderNet, examples: Sequence[Example], ready: Prepared, kept: Path, *, minutes: float, rate: float
) -> None:
    """AdamW, a short warm-up, then a linear fall to nothing at the end of the time; ``kept`` is a way to go on."""
    rng = random.Random(SEED)  # noqa: S311 - an order is no secret
    fast = [net.beta, *net.near.parameters()]
    slow = [one for one in net.parameters() if all(one is not other for other in fast)]
    groups = [
        {"params": [one for one in slow if one.ndim > 1], "weight_decay": 0.01, "times": 1.0},
        {"params": [one for one in slow if one.ndim <= 1], "weight_decay": 0.0, "times": 1.0},
        {"params": fast, "weight_decay": 0.0, "times": FAST},
    ]
    optimiser = torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98))
    mean = net.mean.numpy()
    began, step, losses = time.monotonic(), 0, []
    net.train()
    while True:
        for batch in batches(round_of(examples, ready, rng), rng):
            passed = (time.monotonic() - began) / (60 * minutes)
            if passed >= 1:
                torch.save(net.state_dict(), kept)
                return
            for group in optimiser.param_groups:
                group["lr"] = group["times"] * rate * min(1.0, (step + 1) / WARM_UP) * max(0.02, 1 - passed)
            if passed < WHOLE_FROM:
                *given, gold = padded([cropped(one, mean, rng) for one in batch])
            else:
                *given, gold = padded(batch)
            odds = F.log_softmax(net(*given), 1)
            loss = -torch.logsumexp(odds.masked_fill(gold == 0, NEVER), 1).mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimiser.step()
            losses.append(loss.item())
            step += 1
            if step % 500 == 0:
                torch.save(net.state_dict(), kept)
            if step % 50 == 0:
                told = f"step {step}: loss {np.mean(losses[-50:]):.3f}, {100 * passed:.0f} %"
                print(told, file=sys.stderr, flush=True)


def auroc(right: Sequence[float], wrong: Sequence[float]) -> float | None:
    """Share of pairs in the right order; None without pairs."""
    if not right or not wrong:
        return None
    a, b = np.array(right)[:, None], np.array(wrong)[None]
    return float((a > b).mean() + 0.5 * (a == b).mean())


def _kind(one: Example) -> str:
    return "null" if one.spans is None else "right"


@torch.no_grad()
def measure(net: ReaderNet, examples: Sequence[Example], ready: Prepared) -> dict[str, Any]:
    """For each set: answered against near misses, against passages that look right, and whether it points right."""
    net.eval()
    jobs = [(one.source, _kind(one), one.question, one.passage, one.spans) for one in examples]
    jobs += [
        (one.source, "hard", one.question, ready.hard[one.question][0], None)
        for one in examples
        if one.spans is not None and ready.hard[one.question]
    ]
    odds: dict[tuple[str, str], list[float]] = defaultdict(list)
    points: dict[str, list[bool]] = defaultdict(list)
    known = [(*job[:2], ready.item(*job[2:])) for job in jobs]
    asked = sorted((one for one in known if one[2] is not None), key=lambda one: len(one[2][0]) + len(one[2][1]))
    for first in range(0, len(asked), BATCH):
        part = asked[first : first + BATCH]
        for (source, kind, item), out in zip(part, net(*padded([one[2] for one in part])[:4]), strict=True):
            found = out[1:]
            odds[source, kind].append(float(found[:, 0].max() + found[:, 1].max() - out[0].sum()))
            if item[3] is not None:
                at = int(found[:, 0].argmax()) - len(item[0])
                points[source].append(any(start <= at <= end for start, end in item[3]))
    return {
        source: {
            "n": len(odds[source, "right"]),
            "auroc_near_miss": auroc(odds[source, "right"], odds[source, "null"]),
            "auroc_other_passage": auroc(odds[source, "right"], odds[source, "hard"]),
            "points_into_the_answer": float(np.mean(points[source])) if points[source] else None,
        }
        for source in sorted({one.source for one in examples})
    }


def export(net: ReaderNet, path: Path) -> str:
    """Write the file that fonte.models.reader reads; its SHA-256. Matrices as int8 with a scale for each row."""
    held: dict[str, Any] = {
        "segments": net.segments.detach().numpy(),
        "beta": net.beta.detach().numpy(),
        "mean": net.mean.numpy(),
    }

    def dense(name: str, linear: Any) -> None:
        weight = linear.weight.detach().numpy()
        scale = np.abs(weight).max(axis=1) / 127
        held[f"{name}.weight"] = np.round(weight / scale[:, None]).astype(np.int8)
        held[f"{name}.scale"] = scale.astype(np.float32)
        held[f"{name}.bias"] = linear.bias.detach().numpy()

    for at, layer in enumerate(net.layers):
        for name in DENSE:
            dense(f"{at}.{name}", getattr(layer, name))
        for name in NORMS:
            norm = getattr(layer, name)
            held[f"{at}.{name}.weight"], held[f"{at}.{name}.bias"] = (
                norm.weight.detach().numpy(),
                norm.bias.detach().numpy(),
            )
    for name in ("span", "null", "near"):
        linear = getattr(net, name)
        held[f"{name}.weight"], held[f"{name}.bias"] = linear.weight.detach().numpy(), linear.bias.detach().numpy()
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **held)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> int:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("own", type=Path)
    parser.add_argument("public", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=2.5e-4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--start", type=Path, help="go on from the .pt that an earlier run wrote beside its --out")
    options = parser.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(options.threads)
    data = Data()
    read_own(options.own, data)
    for name, texts in (*PUBLIC, CROSS):
        if (options.public / name / "corpus.jsonl").is_file():
            read_public(options.public / name, texts, data)
        else:
            print(f"{name}: absent, not trained on", file=sys.stderr)
    place = find_spec(E5_WEIGHTS.package)
    if place is None or not place.submodule_search_locations:
        raise SystemExit(f"the encoder is missing: {E5_WEIGHTS.install}")
    weights = read_e5((Path(place.submodule_search_locations[0]) / E5_WEIGHTS.path).read_bytes()).weights
    ready = prepare(data)
    hidden = weights.positions.shape[1]
    mean = np.concatenate([text.tokens.states[:, hidden:] for text in ready.texts.values()]).mean(axis=0)
    net = ReaderNet(weights.layers[TAP : TAP + LAYERS], weights.heads, weights.epsilon, mean)
    if options.start:
        net.load_state_dict(torch.load(options.start, weights_only=True))
    seen = [one for one in data.examples if not one.held_out]
    train(net, seen, ready, options.out.with_suffix(".pt"), minutes=options.minutes, rate=options.rate)
    report = measure(net, [one for one in data.examples if one.held_out], ready)
    report["sha256"] = export(net, options.out)
    text = json.dumps(report, indent=1)
    print(text)
    if options.report:
        options.report.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
