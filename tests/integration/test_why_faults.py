"""why names the layer that lost it: faults planted one by one in small corpora with real stores and parsers."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

import fonte.ingest
from fonte.answer import AnswerSettings
from fonte.corpus import OpenCorpus, Parts
from fonte.gate import GateModel
from fonte.retrieve import RetrievalSettings
from fonte.text.expected import read_expected
from fonte.types import (
    Chunk,
    ChunkingRecipe,
    Codes,
    Document,
    Draft,
    Passage,
    Principal,
    Query,
    Recipe,
    Vectors,
    chunk_id,
)
from fonte.why import LAYERS, Why
from quick_corpus import Shelf, Shelves, WordEmbedder, quick_parts

PUBLIC = frozenset({"public"})
BOARD = frozenset({"board"})
NEEDLE = "Employees have 26 days of paid holiday every year."
ASKED = "How many days of paid holiday do employees have?"
OTHERS = {
    f"other-{at}.md": (f"# Page {at}\n\n{text}\n", PUBLIC)
    for at, text in enumerate(
        (
            "The canteen opens at noon and serves soup.",
            "Parking permits are handed out at the gate.",
            "The fire alarm is tested on the first Monday.",
            "Visitors sign the book at the reception desk.",
            "Printers on the third floor use recycled paper.",
            "The archive keeps contracts for ten years.",
        )
    )
}
RIVALS = {
    f"rival-{at}.md": (f"How many days of paid holiday do employees have? Ask office {at} about it.\n", PUBLIC)
    for at in range(8)
}
NEIGHBORS = {
    f"neighbor-{at}.md": (f"# Table {at}\n\nMany employees have days of soup at table {at}.\n", PUBLIC)
    for at in range(3)
}
HOLIDAY = {"holiday.md": (f"# Rest\n\n{NEEDLE}\n", PUBLIC)}
NO_GATE = GateModel(weights={}, intercept=-9.0, threshold=0.5)


class Misled(WordEmbedder):
    """Turns away from every passage that holds the word; with ``codes`` only its token codes do."""

    def __init__(self, word: str, *, codes: bool = False) -> None:
        super().__init__()
        self._word_missed, self._codes_only = word, codes

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        rows = super().embed_passages(texts)
        missed = np.array([self._word_missed in text for text in texts])
        return rows if self._codes_only else np.where(missed[:, None], -self.embed_query(ASKED), rows)

    def encode_passages(self, texts: Sequence[str]) -> tuple[Vectors, list[Codes]]:
        vectors, codes = super().encode_passages(texts)
        turned = [-one if self._word_missed in text else one for text, one in zip(texts, codes, strict=True)]
        return vectors, turned if self._codes_only else codes


class WholeDocument:
    """Cuts nothing, whatever the encoder's window is."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe

    def chunk(self, document: Document) -> list[Chunk]:
        text = document.text.rstrip()
        identity = chunk_id(document.id, document.version, self._recipe.id, 0, len(text))
        return [Chunk(identity, document.id, 0, 0, len(text), text, language="en", tokens=len(text.split()) + 600)]


@dataclass(frozen=True)
class Says:
    """A generator that writes the same whatever it reads."""

    text: str
    declined: bool = False
    name: str = "says"

    def draft(self, query: Query, passages: Sequence[Passage], *, language: str) -> Draft:
        return Draft(self.text, self.declined)


@dataclass(frozen=True)
class Case:
    """One planted fault and the layer that is to be named."""

    name: str
    layer: str | None
    texts: Mapping[str, tuple[str | bytes, frozenset[str]]]
    expect: str = NEEDLE
    question: str = ASKED
    document: str = ""
    admin: bool = False
    embedder: Callable[[], WordEmbedder] = WordEmbedder
    retrieval: Mapping[str, object] = field(default_factory=dict)
    chunking: ChunkingRecipe | None = None
    whole: bool = False
    budget: int = 3000
    gate: GateModel | None = None
    says: Says | None = None
    then: Callable[[OpenCorpus, Shelf], None] | None = None
    canonical_drops: str = ""
    advice: str = ""


class Bytes(Shelf):
    """A shelf whose texts may be bytes."""

    def scan(self):
        for source in Shelf({name: ("", roles) for name, (_, roles) in self.texts.items()}, self.root).scan():
            body = self.texts[source.name][0]
            body = body if isinstance(body, bytes) else body.encode()
            yield replace(source, body=body, content_hash=fonte.types.sha256_hex(body))


def parts_of(case: Case, home: Path, shelf: Shelf) -> Parts:
    parts = quick_parts(home, Shelves({"shelf": shelf}), embedder=case.embedder())
    settings = AnswerSettings(RetrievalSettings(**{"rerank": True, **case.retrieval}), case.budget)
    parts = replace(parts, answers=settings)
    if case.chunking is not None:
        made = parts.make_recipe
        parts = replace(parts, make_recipe=lambda embedder: replace(made(embedder), chunking=case.chunking))
    if case.whole:
        parts = replace(parts, make_chunker=lambda recipe, _embedder: WholeDocument(recipe))
    if case.gate is not None:
        parts = replace(parts, gate_for=lambda _space: case.gate)
    if case.says is not None:
        parts = replace(parts, make_generator=lambda _name, _scorer: case.says)
    return parts


def explained(case: Case, home: Path, monkeypatch: pytest.MonkeyPatch) -> Why:
    shelf = Bytes(dict(case.texts))
    with OpenCorpus(parts_of(case, home, shelf)) as corpus:
        if case.canonical_drops:
            made = fonte.ingest.canonicalise
            monkeypatch.setattr(
                fonte.ingest,
                "canonicalise",
                lambda parsed, source, *, tenant: _without(made(parsed, source, tenant=tenant), case.canonical_drops),
            )
        corpus.sync("shelf")
        if case.then is not None:
            case.then(corpus, shelf)
        expected = read_expected(case.expect, case.document)
        return corpus.why(case.question, expected, principal=Principal(), tell_access=case.admin)


def _without(document: Document, words: str) -> Document:
    return replace(document, text=document.text.replace(words, "-" * len(words)))


def _delete(corpus: OpenCorpus, _shelf: Shelf) -> None:
    corpus.delete("holiday.md")


def _change(_corpus: OpenCorpus, shelf: Shelf) -> None:
    shelf.texts = {**shelf.texts, "holiday.md": (f"# Rest\n\nNew. {NEEDLE}\n", PUBLIC)}


def _add(_corpus: OpenCorpus, shelf: Shelf) -> None:
    shelf.texts = {**shelf.texts, "added.md": (f"{NEEDLE}\n", PUBLIC)}


def office(**members: str) -> bytes:
    """A DOCX whose parts beside the body are given."""
    main = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    body = f'<w:document xmlns:w="{main}"><w:body><w:p><w:r><w:t>Nothing here.</w:t></w:r></w:p></w:body></w:document>'
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" '
            'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
        )
        archive.writestr(
            "_rels/.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'<Relationship Id="r1" Type="{kinds}/officeDocument" Target="word/document.xml"/></Relationships>',
        )
        archive.writestr("word/document.xml", body)
        for name, text in members.items():
            first, last = text[: len(text) // 2], text[len(text) // 2 :]
            runs = f"<w:r><w:t>{first}</w:t></w:r><w:r><w:t>{last}</w:t></w:r>"
            archive.writestr(f"word/{name}.xml", f'<w:x xmlns:w="{main}"><w:p>{runs}</w:p></w:x>')
    return packed.getvalue()


def page(inner: str) -> dict[str, tuple[str | bytes, frozenset[str]]]:
    html = f"<html><body><h1>Rest</h1><p>Ask the office.</p>{inner}</body></html>"
    return {**OTHERS, "holiday.html": (html, PUBLIC)}


LONG = " ".join(f"Clause {at} says that item {at} is kept in room {at}." for at in range(120))
MANY = {
    "holiday.md": (
        "\n\n".join(
            [f"# Part {at}\n\nPaid holiday days of employees, part {at}.\n" for at in range(2)] + [f"# End\n\n{NEEDLE}"]
        ),
        PUBLIC,
    )
}

CASES = (
    # what the parser left out, failed on, or never saw
    Case("in a script", "parse", page(f"<script>var a = '{NEEDLE}'</script>")),
    Case("in a comment of HTML", "parse", page(f"<!-- {NEEDLE} -->")),
    Case("in an attribute", "parse", page(f'<p data-note="{NEEDLE}">Look.</p>')),
    Case("in a comment of an office file", "parse", {**OTHERS, "h.docx": (office(comments=NEEDLE), PUBLIC)}),
    Case("in a file that no parser reads", "parse", {**OTHERS, "h.bin": (b"\0\1\2\3" + NEEDLE.encode(), PUBLIC)}),
    Case(
        "in a broken file that is named", "parse", {**OTHERS, "h.pdf": (b"%PDF-1.7\nbroken", PUBLIC)}, document="h.pdf"
    ),
    Case("in an empty file that is named", "parse", {**OTHERS, "h.md": ("\n", PUBLIC)}, document="h.md"),
    Case("came after the sync", "parse", {**OTHERS, "holiday.md": ("# Rest\n\nOld.\n", PUBLIC)}, then=_change),
    Case("in a new source", "parse", OTHERS, then=_add),
    # what no text holds
    Case("nowhere", "canonical", OTHERS),
    Case("another number", "canonical", {**OTHERS, **HOLIDAY}, expect=NEEDLE.replace("26", "25")),
    Case("not in the document named", "canonical", {**OTHERS, **HOLIDAY}, document="other-1.md"),
    Case("in a document that is not there", "canonical", {**OTHERS, **HOLIDAY}, document="none.md"),
    Case("beyond the text", "canonical", {**OTHERS, **HOLIDAY}, expect="holiday.md#char=9000,9010"),
    Case("lost between blocks and text", "canonical", {**OTHERS, **HOLIDAY}, canonical_drops=NEEDLE),
    Case("forbidden, for the asker", "canonical", {**OTHERS, "holiday.md": (NEEDLE, BOARD)}),
    # rights, for whoever runs the corpus
    Case("forbidden", "access", {**OTHERS, "holiday.md": (NEEDLE, BOARD)}, admin=True),
    Case("readable by nobody", "access", {**OTHERS, "holiday.md": (NEEDLE, frozenset())}, admin=True),
    Case("deleted", "access", {**OTHERS, **HOLIDAY}, then=_delete, admin=True),
    # cut
    Case(
        "cut blindly",
        "chunking",
        {**OTHERS, **HOLIDAY},
        chunking=ChunkingRecipe("blind", 30, header=False, unit="characters"),
    ),
    Case("cut by tokens", "chunking", {**OTHERS, **HOLIDAY}, chunking=ChunkingRecipe("tokens", 12, header=False)),
    Case("longer than a chunk", "chunking", {**OTHERS, "long.md": (LONG, PUBLIC)}, expect="long.md#char=0,4000"),
    Case(
        "a heading",
        "chunking",
        {**OTHERS, "holiday.md": ("# Rest and leave\n\nSee below.\n", PUBLIC)},
        expect="Rest and leave",
    ),
    # beyond the window
    Case(
        "beyond the window",
        "window",
        {**OTHERS, "long.md": (f"{LONG} {NEEDLE}", PUBLIC)},
        whole=True,
        retrieval={"mode": "dense", "k": 1, "rerank": False},
    ),
    Case(
        "beyond the window, hybrid",
        "window",
        {**OTHERS, "long.md": (f"{LONG} {NEEDLE}", PUBLIC)},
        whole=True,
        question="soup in the canteen at noon",
        retrieval={"k": 1},
    ),
    # a leg
    Case(
        "no word in common", "bm25", {**OTHERS, **HOLIDAY}, question="Vacation allowance?", retrieval={"mode": "bm25"}
    ),
    Case("below other words", "bm25", {**RIVALS, **HOLIDAY}, retrieval={"mode": "bm25", "candidates": 3, "k": 3}),
    Case(
        "far for the encoder",
        "dense",
        {**OTHERS, **HOLIDAY},
        embedder=lambda: Misled("26"),
        retrieval={"mode": "dense", "candidates": 3, "k": 3},
    ),
    Case(
        "no word, and far",
        "dense",
        {**OTHERS, **HOLIDAY},
        question="Vacation allowance?",
        embedder=lambda: Misled("26"),
        retrieval={"candidates": 3, "k": 3},
    ),
    Case(
        "both legs, words nearer",
        "bm25",
        {**RIVALS, **HOLIDAY, **OTHERS},
        embedder=lambda: Misled("26"),
        retrieval={"candidates": 3, "k": 3},
    ),
    # the common order
    Case("few passages", "fusion", {**RIVALS, **HOLIDAY}, retrieval={"k": 2, "rerank": False}),
    Case(
        "one leg against",
        "fusion",
        {**RIVALS, **HOLIDAY},
        embedder=lambda: Misled("26"),
        retrieval={"k": 3, "rerank": False},
    ),
    Case(
        "cut by distance",
        "fusion",
        {**OTHERS, **HOLIDAY},
        embedder=lambda: Misled("26"),
        retrieval={"max_distance": 0.9},
    ),
    Case(
        "its document said enough",
        "fusion",
        {**MANY, **OTHERS},
        retrieval={"k": 5, "per_document": 1, "rerank": False},
        question="Paid holiday days of employees, part 1.",
        advice="per_document",
    ),
    Case(
        "its document said enough, reranked",
        "rerank",
        {**MANY, **OTHERS},
        retrieval={"k": 5, "per_document": 1},
        question="Paid holiday days of employees, part 1.",
        advice="per_document",
    ),
    Case(
        "reranked away",
        "rerank",
        {**OTHERS, **NEIGHBORS, **HOLIDAY},
        embedder=lambda: Misled("26", codes=True),
        retrieval={"k": 2},
    ),
    Case(
        "reranked below rivals",
        "rerank",
        {**RIVALS, **HOLIDAY},
        embedder=lambda: Misled("26", codes=True),
        retrieval={"k": 4},
    ),
    # passages, gate, generator
    Case("no room", "context", {**RIVALS, **HOLIDAY}, budget=80, retrieval={"k": 9}),
    Case("too weak", "gate", {**OTHERS, **HOLIDAY}, gate=NO_GATE),
    Case("too weak among rivals", "gate", {**RIVALS, **HOLIDAY}, gate=NO_GATE, retrieval={"k": 9}),
    Case("declined", "answer", {**OTHERS, **HOLIDAY}, says=Says("NO_ANSWER", declined=True)),
    Case("answers something else", "answer", {**OTHERS, **HOLIDAY}, says=Says("The canteen serves soup.")),
    # What a source says is cited without a marker too: these add what none says.
    Case("no marker", "citation", {**OTHERS, **HOLIDAY}, says=Says(f"Beside 40 pizzas, {NEEDLE}")),
    Case("a marker of its own", "citation", {**OTHERS, **HOLIDAY}, says=Says(f"Beside 40 pizzas, {NEEDLE} [77]")),
    Case("another number is cited", "support", {**OTHERS, **HOLIDAY}, says=Says("Employees have 99 days. [1]")),
    # nothing lost
    Case("found", None, {**OTHERS, **HOLIDAY}),
    Case("found without a marker", None, {**OTHERS, **HOLIDAY}, says=Says(NEEDLE)),
    Case("found with a marker of its own", None, {**OTHERS, **HOLIDAY}, says=Says(f"{NEEDLE} [77]")),
    Case("found, written otherwise", None, {**OTHERS, **HOLIDAY}, expect="employees  have 26 DAYS of paid\nholiday"),
    Case(
        "found in a copy", None, {**OTHERS, **HOLIDAY, "copy.md": (f"# Rest\n\n{NEEDLE}\n", PUBLIC)}, document="copy.md"
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_layer_that_lost_it_is_named(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = explained(case, tmp_path / "home", monkeypatch)
    told = "\n".join(f"{one.layer:10} {one.present} {one.rank} {one.score} {one.detail}" for one in found.layers)
    print(told, found.reason, found.next, found.counterfactual)
    assert found.lost_at == case.layer, told
    first = next((one.layer for one in found.layers if one.present is False), None)
    if case.layer in (None, "gate", "context", "answer", "citation", "support"):
        assert first in (case.layer, "bm25", "dense"), "a leg may miss what the other finds"
    if case.layer is not None:
        assert found.reason
        assert case.advice in found.next
        assert found.next
    if found.counterfactual is not None and found.counterfactual.tried and found.counterfactual.rank is not None:
        assert found.counterfactual.rank >= 1


def test_every_layer_has_its_planted_faults() -> None:
    assert {case.layer for case in CASES} == {*LAYERS, None}
    assert len(CASES) >= 40
