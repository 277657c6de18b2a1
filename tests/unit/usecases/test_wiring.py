"""Settings to parts: a name that nothing answers to is refused, whoever says it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fonte.config import load_settings
from fonte.corpus import Parts
from fonte.doctor import Check, _generates
from fonte.errors import ConfigError
from fonte.evidence import EvidenceScorer
from fonte.models.anthropic import AnthropicMessages
from fonte.models.openai_chat import OpenAIChat
from fonte.text.terms import Analyser
from fonte.wiring import make_parts
from quick_corpus import WordEmbedder


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    """Parts whose settings name an endpoint, which nothing reaches for."""
    environ = {"FONTE_GENERATION_BASE_URL": "http://127.0.0.1:9/v1", "FONTE_GENERATION_MODEL": "m"}
    return make_parts(tmp_path, load_settings(None, tmp_path, environ))


@pytest.mark.parametrize("name", ["OpenAI", "http://other.example"])
def test_an_unknown_generator_is_refused_and_never_the_endpoint(parts: Parts, name: str) -> None:
    with pytest.raises(ConfigError, match="no generator") as caught:
        parts.make_generator(name, EvidenceScorer(WordEmbedder(), Analyser()))
    assert "extractive or openai or anthropic or gguf" in caught.value.hint


def test_known_generators_are_made(parts: Parts) -> None:
    scorer = EvidenceScorer(WordEmbedder(), Analyser())
    assert parts.make_generator(None, scorer).name == "extractive"
    assert isinstance(parts.make_generator("openai", scorer), OpenAIChat)
    assert isinstance(parts.make_generator("anthropic", scorer), AnthropicMessages)


def test_the_address_of_one_endpoint_is_not_anothers(tmp_path: Path) -> None:
    """Or the one's key would be sent there."""
    scorer = EvidenceScorer(WordEmbedder(), Analyser())
    named = {"FONTE_GENERATION_BASE_URL": "http://127.0.0.1:9/v1", "FONTE_GENERATION_MODEL": "m"}
    for name, host in (("openai", "api.anthropic.com"), ("anthropic", "127.0.0.1:9")):
        environ = {**named, "FONTE_GENERATION_NAME": name}
        generator = make_parts(tmp_path, load_settings(None, tmp_path, environ)).make_generator("anthropic", scorer)
        assert isinstance(generator, AnthropicMessages)
        assert generator._endpoint.host == host


def test_a_generator_without_what_it_needs_is_refused(tmp_path: Path) -> None:
    parts = make_parts(tmp_path, load_settings(None, tmp_path, {}))
    for name in ("openai", "anthropic", "gguf"):
        with pytest.raises(ConfigError, match="needs") as caught:
            parts.make_generator(name, EvidenceScorer(WordEmbedder(), Analyser()))
        assert "[generation]" in caught.value.hint


def test_doctor_tells_of_the_generator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(**environ: str) -> Check:
        for name in ("NAME", "MODEL", "BASE_URL", "API_KEY"):
            monkeypatch.delenv(f"FONTE_GENERATION_{name}", raising=False)
        for name, value in environ.items():
            monkeypatch.setenv(f"FONTE_GENERATION_{name}", value)
        return _generates(load_settings(None, tmp_path, os.environ))

    assert (told().ok, told().detail) == (True, "extractive, without a model")
    there = told(NAME="anthropic", MODEL="claude", API_KEY="sk-x")
    assert there.detail == "anthropic, claude at its own address, with a key, not asked"
    assert "without a key in FONTE_GENERATION_API_KEY or ANTHROPIC_API_KEY" in told(NAME="anthropic", MODEL="c").detail
    missing = told(NAME="gguf", MODEL="/nowhere/m.gguf")
    assert (missing.ok, missing.required) == (False, True)
    assert "m.gguf" in missing.detail + missing.hint
