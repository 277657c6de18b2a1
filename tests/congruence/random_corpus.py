"""Random corpora and what a sync does to them, the same in every store."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from contract.store_making import CODED, question, random_codes, random_units, sealed, stored

from fonte.types import Generation

ROLES = ("public", "staff", "hr", "legal")


class Corpus:
    """Random documents whose words follow Zipf's law, and random questions over them."""

    def __init__(self, seed: int, documents: int = 20) -> None:
        self.random = random.Random(seed)
        self.names = [f"d{at}" for at in range(documents)]
        self.words = [f"it:w{at}" for at in range(60)]
        self.weights = [1 / (at + 1) for at in range(60)]
        self.version = 0

    def document(self, name: str) -> tuple[list[Any], list[list[str]], Any, list[Any]]:
        self.version += 1
        roles = self.random.sample(ROLES, self.random.randint(0, 2))
        language = self.random.choice(["it", "en"])
        size = self.random.randint(1, 4)
        days = [f"202{year}-0{month}-15" for year in range(6) for month in (1, 7)]
        first, last = sorted(self.random.choices(days, k=2))
        valid = {"valid_from": self.random.choice(["", first]), "valid_to": self.random.choice(["", last])}
        chunks = [
            stored(f"{name}-{self.version}-{at}", name, roles, f"text {at}", index=at, language=language, **valid)
            for at in range(size)
        ]
        terms = [self.random.choices(self.words, self.weights, k=self.random.randint(0, 25)) for _ in chunks]
        codes = random_codes([self.random.randint(0, 40) for _ in chunks], self.random.randint(0, 2**31))
        return chunks, terms, random_units(size, self.random.randint(0, 2**31)), codes

    def questions(self, count: int) -> list[tuple[list[str], Any, Any, list[str]]]:
        return [
            (
                self.random.choices(self.words, self.weights, k=self.random.randint(1, 6)),
                random_units(1, self.random.randint(0, 2**31))[0],
                replace(
                    question(
                        self.random.sample(ROLES, self.random.randint(0, 3)),
                        languages=self.random.choice([(), ("it",), ("it", "en")]),
                    ),
                    as_of=self.random.choice([None, date(2021, 7, 15), date(2023, 3, 1)]),
                ),
                self.random.sample(self.names, self.random.randint(0, 3)),
            )
            for _ in range(count)
        ]


def evolve(corpus: Corpus, stores: Sequence[Any], bases: Sequence[Generation | None], name: str) -> list[Generation]:
    """One sync: some documents go, some change, some change their roles, the same in every store."""
    documents = corpus.names
    gone = corpus.random.sample(documents, len(documents) // 5)
    changed = corpus.random.sample(documents, 3 * len(documents) // 10)
    roles = {one: frozenset(corpus.random.sample(ROLES, 1)) for one in corpus.random.sample(documents, 3)}
    new = [corpus.document(one) for one in (documents if bases[0] is None else changed)]
    after = []
    for store, base in zip(stores, bases):
        writer = store.begin(CODED, base)
        writer.set_roles(roles)
        writer.remove_documents(gone)
        for chunks, terms, vectors, codes in new:
            writer.remove_documents([chunks[0].chunk.document_id])
            writer.add(chunks, terms, vectors, codes)
        after.append(sealed(writer, name, CODED))
    return after
