"""Settings to parts: a name that nothing answers to is refused, whoever says it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fonte.config import load_settings
from fonte.corpus import Parts
from fonte.errors import ConfigError
from fonte.evidence import EvidenceScorer
from fonte.models.openai_chat import OpenAIChat
from fonte.text.terms import Analyser
from fonte.wiring import make_parts
from quick_corpus import WordEmbedder


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    """Parts whose settings name an endpoint, which nothing reaches for."""
    environ = {"FONTE_GENERATION_BASE_URL": "http://127.0.0.1:9/v1", "FONTE_GENERATION_MODEL": "m"}
    return make_parts(tmp_path, load_settings(None, tmp_path, environ))


@pytest.mark.parametrize("name", ["anthropic", "gguf", "OpenAI", "http://other.example"])
def test_an_unknown_generator_is_refused_and_never_the_endpoint(parts: Parts, name: str) -> None:
    with pytest.raises(ConfigError, match="no generator") as caught:
        parts.make_generator(name, EvidenceScorer(WordEmbedder(), Analyser()))
    assert "extractive or openai" in caught.value.hint


def test_known_generators_are_made(parts: Parts) -> None:
    scorer = EvidenceScorer(WordEmbedder(), Analyser())
    assert parts.make_generator(None, scorer).name == "extractive"
    assert isinstance(parts.make_generator("openai", scorer), OpenAIChat)
