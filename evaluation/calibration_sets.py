"""The questions of calibration: answerable ones, and three kinds that nothing answers.

*Absent*: the question's whole article taken away. *Near miss*: only its gold passage hidden, its siblings there. Both
are made from every answerable question of squad-it, xquad-en and the sample. *Twisted*: the right passage is there and
does not answer: those of squad2-adversarial, written by people, and Italian ones of our own (golden/twisted-it.jsonl).
"""

from __future__ import annotations

import ast
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fonte.evaluation.golden import Question
from fonte.evaluation.golden_files import load_golden

HERE = Path(__file__).resolve().parent
SAMPLE = ("handbook.yaml", "handbook-2.yaml")
TWISTED_IT = HERE / "golden" / "twisted-it.jsonl"
SEED = 20261130

ANSWERABLE, ABSENT, NEAR_MISS, TWISTED = "answerable", "absent", "near_miss", "twisted"
HIDING = (NEAR_MISS, ABSENT)

SAME_ARTICLE: Mapping[str, str] = {
    "Docente": "Teacher",
    "Fresno (California)": "Fresno, California",
    "Gengis Khan": "Genghis Khan",
    "Jacksonville": "Jacksonville, Florida",
    "Martin Lutero": "Martin Luther",
    "Metodismo": "United Methodist Church",
    "Morte Nera": "Black Death",
    "Ossigeno": "Oxygen",
    "Reno": "Rhine",
    "Scuola privata": "Private school",
    "Università di Chicago": "University of Chicago",
}
"""Italian titles of squad-it and the English titles of xquad-en: one article, which no fold may divide."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One question to ask. ``gold`` are the documents that answer it (or look as if), ``answers`` what they say.

    ``hidden`` documents are out of sight while it is asked, and so are chunks that touch a needle, (document, text)
    each. ``article`` is what no fold divides, and empty where only asking tells (that of the nearest passage).
    ``source`` is the question that it was made from: itself where it is answerable.
    """

    set: str
    id: str
    kind: str
    text: str
    article: str
    source: str
    gold: tuple[str, ...]
    answers: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    needles: tuple[tuple[str, str], ...] = ()
    roles: frozenset[str] = frozenset()
    all_answers: bool = False
    """Whether only all the answers together answer."""

    @property
    def key(self) -> str:
        """Its id among all probes."""
        return f"{self.set}/{self.id}/{self.kind}"


def lines_of(path: Path) -> list[dict[str, Any]]:
    """A JSONL file's objects."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def held_out() -> frozenset[str]:
    """Articles that the reader was never trained on, as its script names them (which is not imported: torch)."""
    tree = ast.parse((HERE / "train_reader.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "HELD_OUT":
            return frozenset(ast.literal_eval(ast.unparse(node.value).removeprefix("frozenset(").removesuffix(")")))
    raise ValueError("train_reader.py names no HELD_OUT")


@dataclass(frozen=True)
class Public:
    """A set of the shared data: titles and texts of its paragraphs, and its questions."""

    name: str
    titles: Mapping[str, str]
    texts: Mapping[str, str]
    questions: Mapping[str, dict[str, Any]]
    gold: Mapping[str, tuple[str, ...]]
    """By question: the documents that answer it."""

    @classmethod
    def read(cls, folder: Path) -> Public:
        """A folder's corpus, questions and spans."""
        corpus = lines_of(folder / "corpus.jsonl")
        found: dict[str, set[str]] = defaultdict(set)
        for one in lines_of(folder / "spans.jsonl"):
            found[one["query_id"]].add(one["doc"])
        return cls(
            folder.name,
            {one["_id"]: one["title"] for one in corpus},
            {one["_id"]: one["text"] for one in corpus},
            {one["_id"]: one for one in lines_of(folder / "queries.jsonl")},
            {query: tuple(sorted(documents)) for query, documents in found.items()},
        )

    def of_article(self, title: str) -> tuple[str, ...]:
        """Its paragraphs."""
        return tuple(name for name, own in self.titles.items() if own == title)

    def probe(self, query: str) -> Probe:
        """A question as it is, answerable or not."""
        one = self.questions[query]
        can = one.get("answerable") is not False
        gold = self.gold[query] if can else (one["source_doc"],)
        answers = tuple(one.get("answers") or ())
        kind = ANSWERABLE if can else TWISTED
        return Probe(self.name, query, kind, one["text"].strip(), self.titles[gold[0]], query, gold, answers)

    def drawn(self, each: int | None) -> list[Probe]:
        """At most ``each`` questions of every kind and article, drawn with a fixed seed, in the set's order."""
        by_article: dict[tuple[str, str], list[Probe]] = defaultdict(list)
        for query in self.questions:
            probe = self.probe(query)
            by_article[probe.article, probe.kind].append(probe)
        kept = set()
        for place, probes in sorted(by_article.items()):
            shuffled = random.Random(f"{SEED} {place}").sample(probes, len(probes))  # noqa: S311 - no secret
            kept |= {probe.key for probe in shuffled[:each]}
        return [probe for query in self.questions if (probe := self.probe(query)).key in kept]


def hiding(public: Public, each: int | None) -> Iterator[Probe]:
    """Answerable questions, each also with its passage hidden and with its article taken away."""
    for probe in public.drawn(each):
        if probe.kind == ANSWERABLE:
            yield probe
            yield replace(probe, kind=NEAR_MISS, hidden=probe.gold)
            yield replace(probe, kind=ABSENT, hidden=public.of_article(probe.article))


def adversarial(public: Public, each: int | None) -> Iterator[Probe]:
    """A set's own twisted questions, and those that it answers."""
    yield from public.drawn(each)


def twisted_italian(public: Public, path: Path = TWISTED_IT) -> Iterator[Probe]:
    """Our own twisted questions, and each question that one of them was made from."""
    rows = lines_of(path)
    for source in dict.fromkeys(row["source_query"] for row in rows):
        yield replace(public.probe(source), set="twisted-it")
    for row in rows:
        title = public.titles[row["doc"]]
        text = row["question"].strip()
        yield Probe("twisted-it", row["id"], TWISTED, text, title, row["source_query"], (row["doc"],))


def sample(names: Sequence[str] = SAMPLE) -> tuple[list[Probe], str]:
    """The sample's questions, every wording; those that it answers also with their passages and documents hidden.

    Documents that answer one question together are one article. Also the fingerprint of both sets.
    """
    sets = [load_golden(HERE / "golden" / name) for name in names]
    leader: dict[str, str] = {}
    for golden in sets:
        for question in golden.questions:
            first, *others = sorted(question.relevance) or [""]
            for name in others:
                leader[_led(leader, name)] = _led(leader, first)
    probes: list[Probe] = []
    for golden in sets:
        for question, number, text in golden.queries():
            probes += _of_sample(golden.name, question, number, text, leader)
    return probes, "+".join(golden.fingerprint for golden in sets)


def _led(leader: Mapping[str, str], name: str) -> str:
    while name in leader and leader[name] != name:
        name = leader[name]
    return name


def _of_sample(golden: str, question: Question, number: int, text: str, leader: Mapping[str, str]) -> Iterator[Probe]:
    gold = tuple(sorted(question.relevance))
    plain = Probe(
        "sample",
        f"{golden}:{question.id}:{number}",
        ANSWERABLE if question.answerable else f"own {question.segment}",
        text.strip(),
        _led(leader, gold[0]) if gold else "",
        f"{golden}:{question.id}",
        gold,
        question.must_include,
        roles=question.roles - {"public"},
        all_answers=True,
    )
    yield plain
    if question.answerable and question.needles:
        yield replace(plain, kind=NEAR_MISS, needles=tuple((one.document, one.text) for one in question.needles))
        yield replace(plain, kind=ABSENT, hidden=gold)
