"""What the benches share: real words in made-up texts, spreads, and what a figure has to be read with."""

from __future__ import annotations

import json
import math
import os
import platform
import random
import re
import resource
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import accumulate
from pathlib import Path
from typing import TypeAlias

import numpy as np

from fonte.protocols import Embedder, TokenCoder, Tokenizer
from fonte.types import Codes, Space, TokenWeights, Vector, Vectors, sha256_hex

Figures: TypeAlias = dict[str, float | int | str]
ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
SETS = {"it": ("squad-it",), "en": ("xquad-en", "covidqa")}
LENGTH = 62
"""Words of a made-up text: about 400 characters."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words of one language with the frequencies that they really have."""

    language: str
    words: tuple[str, ...]
    cumulative: tuple[int, ...]

    def text(self, chance: random.Random, words: int = LENGTH) -> str:
        """Words drawn by their frequency, in sentences of eight to twenty."""
        drawn = chance.choices(self.words, cum_weights=self.cumulative, k=words)
        sentences = []
        while drawn:
            size = min(len(drawn), chance.randint(8, 20))
            sentences.append(" ".join(drawn[:size]).capitalize() + ".")
            drawn = drawn[size:]
        return " ".join(sentences)

    def question(self, chance: random.Random, text: str) -> str:
        """A few words that stand in a text, as a person might remember them."""
        words = [word for word in _WORD.findall(text) if len(word) > 3] or text.split()  # noqa: PLR2004 - content words
        return " ".join(chance.sample(words, min(len(words), chance.randint(3, 7))))


def vocabularies() -> tuple[list[Vocabulary], str]:
    """Italian and English words from the public sets beside the project, else from the sample; and from where."""
    found = []
    for language, names in SETS.items():
        paths = [DATA / name / "corpus.jsonl" for name in names if (DATA / name / "corpus.jsonl").is_file()]
        texts = [json.loads(line)["text"] for path in paths for line in path.read_text("utf-8").splitlines() if line]
        if texts:
            found.append(_counted(language, texts))
    if found:
        return found, "words of " + ", ".join(name for names in SETS.values() for name in names)
    texts = [path.read_text("utf-8") for path in sorted((ROOT / "sample" / "handbook").rglob("*.md"))]
    return [_counted("en", texts)], "words of the sample handbook: ../shared/data is not here"


def _counted(language: str, texts: Sequence[str]) -> Vocabulary:
    counts = Counter(word for text in texts for word in _WORD.findall(text))
    words = sorted(counts)
    return Vocabulary(language, tuple(words), tuple(accumulate(counts[word] for word in words)))


def write_records(path: Path, count: int) -> tuple[list[str], str]:
    """Made-up records, half in each language; a question out of some of them, and where the words come from."""
    known, origin = vocabularies()
    chance = random.Random(11)  # noqa: S311 - made-up text
    questions = []
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            one = known[number % len(known)]
            text = one.text(chance)
            file.write(json.dumps({"_id": f"r{number}", "title": f"Record {number}", "text": text}) + "\n")
            if number % max(1, count // 200) == 0:
                questions.append(one.question(chance, text))
    return questions, origin


def real_records(path: Path, count: int) -> str:
    """Records of public sets where they are, filled up with made-up ones; says what was written."""
    lines: list[str] = []
    for name in (one for names in SETS.values() for one in names):
        source = DATA / name / "corpus.jsonl"
        if source.is_file():
            lines += [
                json.dumps({**json.loads(line), "_id": f"{name}-{number}"}, ensure_ascii=False)
                for number, line in enumerate(source.read_text("utf-8").splitlines())
                if len(line) < 4000  # noqa: PLR2004 - paragraphs, no whole articles
            ]
    random.Random(5).shuffle(lines)  # noqa: S311 - an order
    real = lines[:count]
    path.write_text("".join(line + "\n" for line in real), encoding="utf-8")
    if len(real) == count:
        return f"{count} records of public sets"
    made = path.with_suffix(".made")
    _, origin = write_records(made, count - len(real))
    with path.open("a", encoding="utf-8") as file:
        file.write(made.read_text("utf-8"))
    made.unlink()
    return f"{len(real)} records of public sets, {count - len(real)} made up ({origin})"


@dataclass
class InstantEncoder:
    """The real encoder's tokens, space and questions; passages get vectors that cost nothing and mean nothing."""

    real: Embedder
    instant_questions: bool = False

    @property
    def space(self) -> Space:
        """The real one's."""
        return self.real.space

    @property
    def tokenizer(self) -> Tokenizer:
        """The real one's."""
        return self.real.tokenizer

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """A unit row for each text."""
        return np.stack([self._vector(text) for text in texts])

    @property
    def codec(self) -> str:
        """The real one's."""
        return self.space.codec

    @property
    def weighing(self) -> str:
        """The real one's."""
        return self.real.weighing if isinstance(self.real, TokenCoder) else ""

    def token_weights(self, codes: Codes) -> TokenWeights:
        """The real ones."""
        return self.real.token_weights(codes) if isinstance(self.real, TokenCoder) else np.ones(len(codes))

    def encode_passages(self, texts: Sequence[str]) -> tuple[Vectors, list[Codes]]:
        """A unit row for each text, and a code for each of its tokens."""
        return self.embed_passages(texts), [self._codes(text, self.tokenizer.count(text)) for text in texts]

    def encode_query(self, text: str) -> tuple[Vector, Codes]:
        """The real ones, unless the bench leaves the encoder out."""
        if self.instant_questions or not isinstance(self.real, TokenCoder):
            return self._vector(text), self._codes(text, self.tokenizer.count(text))
        return self.real.encode_query(text)

    def _codes(self, text: str, tokens: int) -> Codes:
        seed = int(sha256_hex(text)[:8], 16)
        return np.random.default_rng(seed).integers(-40, 41, (tokens, self.space.code_width), np.int8)

    def embed_query(self, text: str) -> Vector:
        """The real vector, unless the bench leaves the encoder out."""
        return self._vector(text) if self.instant_questions else self.real.embed_query(text)

    def _vector(self, text: str) -> Vector:
        seed = int(sha256_hex(text)[:8], 16)
        vector = np.random.default_rng(seed).standard_normal(self.space.dimensions).astype(np.float32)
        return vector / np.linalg.norm(vector)


def spread(name: str, values: Sequence[float]) -> Figures:
    """p50 and p95."""
    ordered = sorted(values)
    return {
        f"{name}_p50": round(statistics.median(ordered), 2),
        f"{name}_p95": round(ordered[math.ceil(0.95 * len(ordered)) - 1], 2),
    }


def cpu_seconds(who: int = resource.RUSAGE_SELF) -> float:
    """Processor time of this process, every thread, or of its children that have ended."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def peak_mb() -> int:
    """Most memory that this process ever held, in MiB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def slowdown() -> float:
    """How much longer the same small work takes than at its quickest: above 1 the processor is shared."""
    spent = []
    for _ in range(200):
        began = time.process_time()
        sum(range(60_000))
        spent.append(time.process_time() - began)
    return round(statistics.median(spent) / min(spent), 2)


def machine() -> dict[str, object]:
    """What a figure has to be read with: the machine, its load, versions. Ratios travel, seconds do not."""
    packages = ("fonte", "lancedb", "onnxruntime", "numpy", "tokenizers", "pyarrow")
    return {
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "processor_slowdown": slowdown(),
        "load_1_5_15_minutes": [round(one, 2) for one in os.getloadavg()],
        "python": platform.python_version(),
        "versions": {name: version(name) for name in packages},
        "when": time.strftime("%Y-%m-%d %H:%M", time.gmtime()),
    }
