"""Golden sets: questions with needles anchored in documents, and what is wrong with a set.

A document is named as the index names it (``document_name``). A needle is only worth something when it stands exactly
once in its document and is not a heading: otherwise a chunker that copies headings gives itself points (document A).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fonte.evaluation.measures import Needle
from fonte.types import DEFAULT_TENANT, UNKNOWN_LANGUAGE, Language, sha256_hex

TUNE = "tune"
HELD_OUT = "held_out"


@dataclass(frozen=True, slots=True)
class Question:
    """One thing to find out, in one or more wordings.

    ``relevance`` grades documents, above 0 (those of the needles count 1 when no grades were given). ``roles`` are the
    asker's. ``half`` is ``tune`` or ``held_out`` where the set's author divided it, ``line`` where the question stands
    in its file.
    """

    id: str
    wordings: tuple[str, ...]
    answerable: bool = True
    needles: tuple[Needle, ...] = ()
    relevance: Mapping[str, int] = field(default_factory=dict)
    tenant: str = DEFAULT_TENANT
    user: str | None = None
    roles: frozenset[str] = frozenset()
    segment: str = ""
    language: Language = UNKNOWN_LANGUAGE
    reference_answer: str | None = None
    must_include: tuple[str, ...] = ()
    must_not_include: tuple[str, ...] = ()
    half: str = ""
    note: str = ""
    line: int = 0

    def __post_init__(self) -> None:
        if not self.id or not self.wordings or any(not wording.strip() for wording in self.wordings):
            raise ValueError("a question needs an id and at least one wording, none of them empty")
        if self.answerable and not self.relevance:
            raise ValueError("an answerable question needs a needle or a relevant document")
        if not self.answerable and (self.needles or self.relevance):
            raise ValueError("a question that cannot be answered has no needle and no relevant document")
        if any(grade < 1 for grade in self.relevance.values()):
            raise ValueError("a relevance grade is at least 1")


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """Questions in file order. ``corpus`` holds the texts that came with the set, by document; often none."""

    name: str
    questions: tuple[Question, ...]
    corpus: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.questions:
            raise ValueError("a golden set needs questions")
        if len({question.id for question in self.questions}) != len(self.questions):
            raise ValueError("two questions have one id")

    @property
    def fingerprint(self) -> str:
        """Hash of everything that is asked and expected: floors hold for one fingerprint only."""
        plain = [
            (
                question.id,
                question.wordings,
                question.answerable,
                [(needle.document, needle.text) for needle in question.needles],
                sorted(question.relevance.items()),
                (question.tenant, question.user, sorted(question.roles)),
                (question.segment, question.language, question.reference_answer),
                (question.must_include, question.must_not_include),
            )
            for question in self.questions
        ]
        return sha256_hex(repr(plain))[:16]

    def queries(self) -> Iterator[tuple[Question, int, str]]:
        """Every wording of every question: the question, the wording's number from 0, and its text."""
        for question in self.questions:
            for number, wording in enumerate(question.wordings):
                yield question, number, wording

    def halves(self) -> tuple[GoldenSet, GoldenSet]:
        """The set in two: one to tune on, one not to be looked at while tuning.

        As its author divided it (``half``), else by hash of the ids, evenly in every kind of question.

        Raises:
            ValueError: only some questions are divided, or a half is empty or is called something else.
        """
        named = {question.half for question in self.questions}
        if named == {""}:
            first = self._drawn()
        elif named == {TUNE, HELD_OUT}:
            first = {question.id for question in self.questions if question.half == TUNE}
        else:
            raise ValueError(f"halves should be {TUNE} and {HELD_OUT} for every question, not {sorted(named)}")
        tune = tuple(question for question in self.questions if question.id in first)
        held_out = tuple(question for question in self.questions if question.id not in first)
        return replace(self, name=f"{self.name} ({TUNE})", questions=tune), replace(
            self, name=f"{self.name} ({HELD_OUT})", questions=held_out
        )

    def _drawn(self) -> set[str]:
        groups: dict[tuple[bool, str, str], list[str]] = {}
        for question in self.questions:
            groups.setdefault((question.answerable, question.segment, question.language), []).append(question.id)
        ordered = [name for _, names in sorted(groups.items()) for name in sorted(names, key=sha256_hex)]
        return set(ordered[::2])


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with a golden set: the question, its line, a stable code and words."""

    question: str
    line: int
    code: str
    message: str


def anchored(
    golden: GoldenSet, texts: Mapping[str, str], headings: Mapping[str, Sequence[tuple[int, int]]] | None = None
) -> tuple[GoldenSet, tuple[Fault, ...]]:
    """The set with every needle's range found in canonical texts (by document name), and what is wrong with it.

    ``headings`` gives the ranges of each document's headings. A needle that is not found exactly once keeps its words
    and loses its range.

    Faults: ``no_document``, ``no_needle`` (not in its document), ``many_needles``, ``heading``, ``no_answer_text``
    (must_include that stands in none of the question's relevant documents).
    """
    faults: list[Fault] = []
    questions: list[Question] = []
    for question in golden.questions:
        needles: list[Needle] = []
        for needle in question.needles:
            found = _anchor(needle, texts, golden.corpus, (headings or {}).get(needle.document, ()))
            if isinstance(found, Needle):
                needles.append(found)
                continue
            needles.append(replace(needle, start=None, end=None))
            faults.append(Fault(question.id, question.line, *found))
        faults.extend(
            Fault(question.id, question.line, "no_document", f"no document is called {name}")
            for name in question.relevance
            if name not in texts and all(needle.document != name for needle in question.needles)
        )
        relevant = [texts[name].casefold() for name in question.relevance if name in texts]
        faults.extend(
            Fault(question.id, question.line, "no_answer_text", f"{fact!r} stands in no relevant document")
            for fact in question.must_include
            if relevant and all(fact.casefold() not in text for text in relevant)
        )
        questions.append(replace(question, needles=tuple(needles)))
    return replace(golden, questions=tuple(questions)), tuple(faults)


def _anchor(
    needle: Needle, texts: Mapping[str, str], corpus: Mapping[str, str], headings: Sequence[tuple[int, int]]
) -> Needle | tuple[str, str]:
    text = texts.get(needle.document)
    if text is None:
        return "no_document", f"no document is called {needle.document}"
    start = _by_range(needle, text, corpus.get(needle.document))
    if start is None:
        start = text.find(needle.text)
        if start < 0:
            return "no_needle", f"{needle.document} does not hold {needle.text!r}"
        if text.find(needle.text, start + 1) >= 0:
            return "many_needles", f"{needle.document} holds {needle.text!r} more than once"
    end = start + len(needle.text)
    if any(low <= start and end <= high for low, high in headings):
        return "heading", f"{needle.text!r} is a heading of {needle.document}"
    return replace(needle, start=start, end=end)


def _by_range(needle: Needle, text: str, original: str | None) -> int | None:
    """Where a needle that came with a range begins in canonical text, which may put a title before the original."""
    if needle.start is None or needle.end is None:
        return None
    shifts = [0] if original is None else [text.find(original), 0]
    for shift in shifts:
        if shift >= 0 and text[needle.start + shift : needle.end + shift] == needle.text:
            return needle.start + shift
    return None
