"""A question of a conversation rewritten by a model: any generator, asked for a question instead of an answer.

It is shown what was asked before and nothing of the answers: text of documents gives it no orders, and what it writes
holds nothing that its asker did not say or it did not make up.
"""

from __future__ import annotations

from collections.abc import Sequence

from fonte.errors import BadModelOutput
from fonte.protocols import Generator
from fonte.text.normalise import is_text
from fonte.types import Language, Passage, Query

_INSTRUCTIONS = (
    "Rewrite the last question so that it can be understood without the questions before it. Keep its language and its "
    "meaning, add nothing else, do not answer it. If it can be understood as it is, repeat it. Write the question only."
)
_LONGEST = 400
"""Characters of a question that a model may write; more is no question."""


class ModelRewriter:
    """Implements ``fonte.protocols.Rewriter`` by a generator that was made with ``render_rewriting``."""

    def __init__(self, generator: Generator) -> None:
        self._generator = generator

    def rewrite(self, query: Query) -> str:
        """The model's question.

        Raises:
            ModelUnavailable. BadModelOutput: no question, or more than one line.
        """
        text = self._generator.draft(query, (), language="en").text.strip()
        if not text or len(text) > _LONGEST or "\n" in text or not is_text(text):
            raise BadModelOutput(f"{self._generator.name} wrote no question")
        return text


def render_rewriting(query: Query, passages: Sequence[Passage], language: Language) -> list[dict[str, str]]:
    """Messages that ask for a question; passages and language say nothing here."""
    del passages, language
    before = "\n".join(f"- {one.text}" for one in query.history)
    return [
        {"role": "system", "content": _INSTRUCTIONS},
        {"role": "user", "content": f"QUESTIONS BEFORE:\n{before}\n\nLAST QUESTION: {query.text}"},
    ]
