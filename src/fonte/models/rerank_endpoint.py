"""Rerankers behind HTTP, in the three forms that servers speak: Cohere's, Jina's and that of TEI.

Cohere and Jina answer ``{"results": [{"index", "relevance_score"}]}`` to ``{"model", "query", "documents"}`` (so do
vLLM, llama.cpp, LiteLLM and others); Hugging Face's text-embeddings-inference answers ``[{"index", "score"}]`` to
``{"query", "texts"}``. All at ``/rerank`` below the base URL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from fonte.errors import BadModelOutput
from fonte.models.endpoint import Endpoint
from fonte.models.estimate import EstimatedTokenizer

Form: TypeAlias = Literal["cohere", "jina", "tei"]
_PATH = "/rerank"


class HttpPairs:
    """Implements ``fonte.models.pairs.PairModel``. Safe for several threads."""

    batch = 32
    """Most texts of one request: what text-embeddings-inference takes by default."""

    def __init__(self, model: str, form: Form, endpoint: Endpoint, window: int) -> None:
        """Nothing is sent yet. ``window`` is the model's documented longest input in tokens, question included."""
        self.id = f"http:{form}:{model}"
        self.tokenizer = EstimatedTokenizer(window)
        self._model = model
        self._form = form
        self._endpoint = endpoint

    def values(self, question: str, texts: Sequence[str]) -> list[float]:
        """The score of each text, whatever order the endpoint answers in.

        Raises:
            ModelUnavailable, ModelNotInstalled, BadModelOutput: also where indexes are no permutation.
        """
        rows, key = self._asked(question, texts)
        where = self._endpoint.where
        if len(rows) != len(texts):
            raise BadModelOutput(f"{where} gave {len(rows)} scores for {len(texts)} passages")
        scores: dict[int, float] = {}
        for row in rows:
            index = row.get("index") if isinstance(row, dict) else None
            value = row.get(key) if isinstance(row, dict) else None
            if type(index) is not int or not isinstance(value, int | float) or isinstance(value, bool):
                raise BadModelOutput(f"{where} gave a result without index or score")
            try:
                scores[index] = float(value)
            except OverflowError as error:
                raise BadModelOutput(f"{where} gave a number that is out of range") from error
        if sorted(scores) != list(range(len(texts))):
            raise BadModelOutput(f"{where} gave scores with wrong indexes")
        return [scores[index] for index in range(len(texts))]

    def _asked(self, question: str, texts: Sequence[str]) -> tuple[Sequence[object], str]:
        if self._form == "tei":
            # Raw scores: a squashed one of many good passages is 1. Never truncate: what is too long is an error.
            body = {"query": question, "texts": list(texts), "raw_scores": True, "truncate": False}
            return self._endpoint.post_list(_PATH, body), "score"
        asked: dict[str, object] = {
            "model": self._model,
            "query": question,
            "documents": list(texts),
            "top_n": len(texts),
        }
        if self._form == "jina":
            asked["return_documents"] = False
        results = self._endpoint.post(_PATH, asked).get("results")
        if not isinstance(results, list):
            raise BadModelOutput(f"{self._endpoint.where} gave no results")
        return results, "relevance_score"
