"""The analyser is shared by all threads of a server."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from fonte.text.terms import Analyser

WORDS = [
    f"{stem}{end}"
    for stem in ("organizz", "regolament", "nation", "relat", "vacanz", "condition", "valu", "happi", "contratt")
    for end in ("azione", "ational", "amenti", "iveness", "o", "ing", "izations", "are", "abilmente", "ness", "ed")
]


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_get_the_terms_that_one_alone_gets(restless: None) -> None:
    texts = [" ".join(WORDS[at:] + WORDS[:at]) for at in range(0, len(WORDS), 3)]
    languages = ("en", "it")
    alone = [Analyser().query_terms(text, languages) for text in texts]
    shared = Analyser()
    with ThreadPoolExecutor(8) as pool:
        for _ in range(6):
            assert list(pool.map(lambda text: shared.query_terms(text, languages), texts)) == alone
