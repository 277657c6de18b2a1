"""Golden sets made elsewhere: BEIR folders, SQuAD's JSON, TREC's topics and judgments.

Each import gives a whole set with the documents that came with it, or every fault and nothing: see `Imported`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fonte.evaluation.golden import Contradiction, GoldenFault, GoldenSet, Question
from fonte.evaluation.golden_beir import read_corpus, read_folder, read_qrels
from fonte.evaluation.golden_reading import TOO_MANY, Collected, Reading, read_text
from fonte.evaluation.squad import read_squad
from fonte.evaluation.trec_topics import topics_of
from fonte.types import UNKNOWN_LANGUAGE, Language


@dataclass(frozen=True, slots=True)
class Imported:
    """A set and its documents (title and text by name), or None and the faults. ``notes`` tell what was left out."""

    golden: GoldenSet | None
    documents: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    faults: tuple[GoldenFault, ...] = ()
    notes: tuple[str, ...] = ()


def import_beir(folder: Path, split: str | None = None) -> Imported:
    """A folder in BEIR layout; ``split`` names the judgments in ``qrels/``: train, dev, test."""
    reading = read_folder(folder, split)
    corpus = folder / "corpus.jsonl"
    documents = read_corpus(corpus, Collected(str(corpus))) if reading.golden is not None and corpus.exists() else {}
    return _imported(reading, documents)


def import_squad(path: Path, language: Language = UNKNOWN_LANGUAGE) -> Imported:
    """SQuAD's JSON, version 1.1 or 2.0: a document for every paragraph, a needle for every different answer."""
    collected = Collected(str(path))
    text = read_text(path, collected)
    documents = read_squad(text, collected, language) if text is not None else {}
    texts = {name: body for name, (_, body) in documents.items()}
    reading = collected.reading(path.stem, corpus=texts, needle_file=str(path))
    return _imported(reading, documents)


def import_trec(topics: Path, qrels: Path, language: Language = UNKNOWN_LANGUAGE) -> Imported:
    """TREC's topics (tagged, XML or two columns) with judgments; the documents stay where they are.

    Topics without a relevant document are left out, as trec_eval does: that nothing answers them was not judged.
    """
    collected = Collected(str(topics))
    text = read_text(topics, collected)
    judged = read_qrels(qrels, collected, trec=True)
    left_out = 0
    known: set[str] = set()
    for line, name, wording in topics_of(text, collected) if text is not None else ():
        if collected.full():
            collected.fault("too_large", line, TOO_MANY)
            break
        known.add(name)
        relevance = {document: grade for document, grade in judged.grades.get(name, {}).items() if grade > 0}
        if not relevance:
            left_out += 1
            continue
        try:
            collected.add(Question(name, (wording,), relevance=relevance, language=language, line=line))
        except Contradiction as error:
            collected.fault(error.code, line, str(error), question=name)
    unjudged = [name for name in judged.grades if name not in known]
    if unjudged and known:
        collected.notes.append(f"{len(unjudged)} judged topics that the topics do not hold ({unjudged[0]}, …)")
    if left_out:
        collected.notes.append(f"{left_out} topics without a relevant document")
    if left_out and not collected.questions and not collected.faults:
        collected.fault("empty_set", 1, f"none of the {left_out} topics has a relevant document in {qrels.name}")
    return _imported(collected.reading(topics.stem), {})


def _imported(reading: Reading, documents: Mapping[str, tuple[str, str]]) -> Imported:
    if reading.golden is None:
        return Imported(None, {}, reading.faults, reading.notes)
    return Imported(reading.golden, documents, (), reading.notes)
