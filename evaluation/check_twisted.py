"""Whether our own twisted questions are what they say, as far as rules tell: one line for each fault, exit 1 on faults.

    .venv/bin/python evaluation/check_twisted.py evaluation/golden/twisted-it.jsonl ../shared/data/squad-it

A line is {"id", "source_query", "doc", "question", "changed", "note"}. A question must be made from an answerable one
of squad-it, ask about its gold passage, differ from every question of the set, and not be answered by the sentence
that answers its source: something that it names must be missing there, or it must ask for another kind of thing. Where
rules only suspect (``far``, ``answered``) a line is listed for people to read, and is no fault.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fonte.evaluation.near_duplicates import near_duplicates
from fonte.ranking.evidence import Word, coverage
from fonte.text.sentences import sentences
from fonte.text.terms import Analyser
from fonte.types import Principal, Query
from fonte.words import question_words

FIELDS = ("id", "source_query", "doc", "question", "changed", "note")
CHANGES = frozenset({"entity", "number", "date", "relation"})
FEWEST = 200
NEAR = 0.4
"""Share of the question's words that stand in its passage or its source: below it the right passage is not there."""
ANSWERED = 0.9
"""Share that stands in the sentence which answers its source: from there on nothing was changed."""
TWICE = 0.9
_ASKS = re.compile(
    r"\b(?:chi|che cosa|cosa|che|quale?|quali|quant[oiae]|quando|dove|perché|come|in che anno|in quale anno)\b",
    re.IGNORECASE,
)
_ANALYSER = Analyser()


SUSPICIONS = frozenset({"far", "answered"})
"""What people must decide."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a line (0: with the file), or looks so."""

    line: int
    question: str
    code: str
    message: str

    def __str__(self) -> str:
        return f"line {self.line} {self.question}: {self.code}: {self.message}"


@dataclass(frozen=True)
class Sources:
    """Questions of squad-it, texts by document, and the spans that answer each question, by document."""

    questions: Mapping[str, dict[str, Any]]
    texts: Mapping[str, tuple[str, str]]
    """Title and text."""
    spans: Mapping[str, Mapping[str, Sequence[tuple[int, int]]]]

    @classmethod
    def of(cls, folder: Path) -> Sources:
        """A folder's corpus, questions and spans."""
        spans: dict[str, dict[str, list[tuple[int, int]]]] = {}
        for one in _rows(folder / "spans.jsonl"):
            spans.setdefault(one["query_id"], {}).setdefault(one["doc"], []).append((one["start"], one["end"]))
        return cls(
            {one["_id"]: one for one in _rows(folder / "queries.jsonl")},
            {one["_id"]: (one["title"], one["text"]) for one in _rows(folder / "corpus.jsonl")},
            spans,
        )

    def answering(self, query: str, document: str) -> str:
        """The sentences of a document that hold an answer."""
        text = self.texts[document][1]
        kept = [
            text[first:last]
            for first, last in sentences(text, "it")
            if any(first < end and last > start for start, end in self.spans[query][document])
        ]
        return " ".join(kept)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def plain(text: str) -> str:
    """A text as its words alone."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def named(question: str) -> list[Word]:
    """The words that say something, each weighing the same."""
    return question_words(Query(question, Principal(), languages=("it",)), _ANALYSER, {}, 1)


def held(text: str) -> set[str]:
    """Terms that a text holds."""
    return set(_ANALYSER.document_terms(text, "it"))


def read(path: Path) -> tuple[list[tuple[int, dict[str, Any]]], list[Fault]]:
    """The file's rows with their lines, and the lines that are no rows."""
    rows, faults = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            faults.append(Fault(number, "", "json", error.msg))
            continue
        row = row if isinstance(row, dict) else {}
        lacking = [name for name in FIELDS if not isinstance(row.get(name), str) or not row[name].strip()]
        if lacking:
            faults.append(Fault(number, "", "fields", f"lacks {', '.join(lacking)}"))
        else:
            rows.append((number, row))
    return rows, faults


def check_row(row: Mapping[str, str], sources: Sources, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Faults of one row as (code, message); ``known`` are the set's questions by their words, with their ids."""
    question = row["question"]
    if row["changed"] not in CHANGES:
        yield "changed", f"{row['changed']!r} is none of {', '.join(sorted(CHANGES))}"
    if not question.rstrip().endswith("?"):
        yield "no_question", "it does not end in a question mark"
    source = sources.questions.get(row["source_query"])
    if source is None:
        yield "no_source", f"squad-it has no question {row['source_query']}"
    elif source.get("answerable") is False:
        yield "source_not_answerable", f"{source['_id']} has no answer itself"
    elif row["doc"] not in sources.spans.get(row["source_query"], {}):
        yield "not_gold", f"{row['doc']} does not answer {row['source_query']}"
    elif plain(question) in known:
        yield "not_changed", f"squad-it asks the same: {known[plain(question)]}"
    else:
        title, text = sources.texts[row["doc"]]
        near = coverage(named(question), held(f"{title}\n{text}\n{source['text']}"))
        if near < NEAR:
            yield "far", f"{near:.0%} of its words stand in its passage or its source"
        there = coverage(named(question), held(sources.answering(row["source_query"], row["doc"])))
        if there >= ANSWERED and asked(question) == asked(source["text"]):
            yield (
                "answered",
                f"{there:.0%} of its words stand in the sentence that answers its source; it asks the same",
            )


def asked(text: str) -> str:
    """What it asks with, without number and gender."""
    found = _ASKS.search(text)
    return found.group().casefold()[:4] if found else ""


def check(rows: Sequence[tuple[int, dict[str, Any]]], sources: Sources, fewest: int = FEWEST) -> list[Fault]:
    """All faults, in order of lines; first those of the whole file."""
    known = {plain(one["text"]): name for name, one in sources.questions.items()}
    faults = [
        Fault(line, row["id"], code, message) for line, row in rows for code, message in check_row(row, sources, known)
    ]
    seen: dict[str, int] = {}
    for line, row in rows:
        if row["id"] in seen:
            faults.append(Fault(line, row["id"], "id_twice", f"also in line {seen[row['id']]}"))
        seen.setdefault(row["id"], line)
    for pair in near_duplicates([(line, "", row["question"]) for line, row in rows], threshold=TWICE)[0]:
        line, row = rows[pair.later]
        faults.append(Fault(line, row["id"], "duplicate", f"nearly the words of line {rows[pair.earlier][0]}"))
    if len(rows) < fewest:
        faults.append(Fault(0, "", "too_few", f"{len(rows)} questions, {fewest} are wanted"))
    return sorted(faults, key=lambda one: one.line)


def main(arguments: Sequence[str] | None = None) -> int:
    """Tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("twisted", type=Path)
    parser.add_argument("squad_it", type=Path)
    parser.add_argument("--fewest", type=int, default=FEWEST)
    options = parser.parse_args(arguments)
    rows, faults = read(options.twisted)
    sources = Sources.of(options.squad_it)
    faults += check(rows, sources, options.fewest)
    for fault in faults:
        print(fault)
    changed = Counter(row["changed"] for _, row in rows)
    articles = Counter(sources.texts[row["doc"]][0] for _, row in rows if row["doc"] in sources.texts)
    wrong = [fault for fault in faults if fault.code not in SUSPICIONS]
    print(f"{len(rows)} questions, {len(wrong)} faults, {len(faults) - len(wrong)} to be read by people")
    print(f"changed: {dict(changed)}; articles: {dict(articles)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
