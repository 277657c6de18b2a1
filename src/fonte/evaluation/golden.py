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


class Contradiction(ValueError):
    """What a question cannot be, with a stable code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


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
        if not self.id.strip() or not self.wordings or any(not wording.strip() for wording in self.wordings):
            raise Contradiction("incomplete", "a question needs an id and at least one wording, none of them empty")
        if self.answerable and not self.relevance:
            raise Contradiction("no_relevant", "an answerable question needs a needle or a relevant document")
        if not self.answerable and (self.needles or self.relevance):
            words = "a question that cannot be answered has no needle and no relevant document"
            raise Contradiction("not_answerable", words)
        if any(grade < 1 for grade in self.relevance.values()):
            raise Contradiction("grade", "a relevance grade is at least 1")
        for needle in self.needles:
            if needle.document not in self.relevance:
                raise Contradiction("not_relevant", f"a needle stands in {needle.document}, which is not relevant")


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """Questions in file order. ``corpus`` holds the texts that came with the set, by document; often none.

    ``file`` and ``needle_file`` name the files whose lines the questions and the needles know. ``origin`` is the
    fingerprint of the set that this one was anchored from.
    """

    name: str
    questions: tuple[Question, ...]
    corpus: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    needle_file: str = ""
    origin: str = ""

    def __post_init__(self) -> None:
        if not self.questions:
            raise ValueError("a golden set needs questions")
        if len({question.id for question in self.questions}) != len(self.questions):
            raise ValueError("two questions have one id")

    @property
    def fingerprint(self) -> str:
        """Hash of everything that is asked and expected: floors hold for one fingerprint only.

        Anchoring does not change it: where a needle was found follows from the documents.
        """
        if self.origin:
            return self.origin
        plain = [
            (
                question.id,
                question.wordings,
                question.answerable,
                [_expected(needle) for needle in question.needles],
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

    def part(self, name: str, ids: frozenset[str]) -> GoldenSet:
        """The questions of those ids as a set of its own, with its own fingerprint.

        Raises:
            ValueError: no question has one of the ids.
        """
        kept = tuple(question for question in self.questions if question.id in ids)
        return replace(self, name=f"{self.name} ({name})", questions=kept, origin="")

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
        others = frozenset(question.id for question in self.questions) - first
        return self.part(TUNE, frozenset(first)), self.part(HELD_OUT, others)

    def _drawn(self) -> set[str]:
        groups: dict[tuple[bool, str, str], list[str]] = {}
        for question in self.questions:
            groups.setdefault((question.answerable, question.segment, question.language), []).append(question.id)
        ordered = [name for _, names in sorted(groups.items()) for name in sorted(names, key=sha256_hex)]
        return set(ordered[::2])


def _expected(needle: Needle) -> tuple[object, ...]:
    """What of a needle the author wrote. Without a range it is as it was before ranges were written in sets."""
    if needle.start is None:
        return needle.document, needle.text
    return needle.document, needle.text, needle.start, needle.end


@dataclass(frozen=True, slots=True)
class GoldenFault:
    """Something wrong with a golden set: a stable code, the line (0: of no line), the question's id, words, advice.

    A ``warning`` does not make the set unfit: measures over it are still what they say.
    """

    code: str
    line: int
    question: str
    message: str
    hint: str = ""
    file: str = ""
    warning: bool = False

    def __str__(self) -> str:
        place = f"{self.file or 'golden set'}:{self.line}" if self.line else self.file or "golden set"
        who = f" question {self.question}:" if self.question else ""
        return f"{place}:{who} {self.message}"


HINTS: Mapping[str, str] = {
    "no_document": "name the document as fonte documents does, or sync it first",
    "no_needle": "copy the words from fonte show DOCUMENT",
    "many_needles": "take more words, so that they stand there once, or give the span",
    "heading": "take words of the text below the heading",
    "span_mismatch": "correct the span: half-open, in characters of the document's text",
    "no_answer_text": "correct must_include, or name the document that says it",
}


def anchored(
    golden: GoldenSet, texts: Mapping[str, str], headings: Mapping[str, Sequence[tuple[int, int]]] | None = None
) -> tuple[GoldenSet, tuple[GoldenFault, ...]]:
    """The set with every needle's range found in canonical texts (by document name), and what is wrong with it.

    ``headings`` gives the ranges of each document's headings. A needle that is not found exactly once keeps its words
    and loses its range (one that has no words is left as it is).

    Faults: ``no_document``, ``no_needle`` (not in its document), ``many_needles``, ``heading``, ``span_mismatch`` (the
    range does not hold the words), ``no_answer_text`` (must_include that stands in none of the relevant documents).
    """
    folded: dict[str, str] = {}
    faults: list[GoldenFault] = []
    questions: list[Question] = []
    for question in golden.questions:
        needles: list[Needle] = []
        for needle in question.needles:
            found = _anchor(needle, texts, golden.corpus, (headings or {}).get(needle.document, ()))
            if isinstance(found, Needle):
                needles.append(found)
                continue
            needles.append(replace(needle, start=None, end=None) if needle.text else needle)
            line, file = (needle.line, golden.needle_file) if needle.line else (question.line, golden.file)
            faults.append(_fault(found, line, question.id, file))
        problems = [*_documents_lost(question, texts), *_facts_lost(question, texts, folded)]
        faults += [_fault(problem, question.line, question.id, golden.file) for problem in problems]
        questions.append(replace(question, needles=tuple(needles)))
    return replace(golden, questions=tuple(questions), origin=golden.fingerprint), tuple(faults)


def _fault(problem: tuple[str, str], line: int, question: str, file: str) -> GoldenFault:
    code, message = problem
    return GoldenFault(code, line, question, message, HINTS.get(code, ""), file)


def _documents_lost(question: Question, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Relevant documents that are not there; those of needles are told of with the needle."""
    needled = {needle.document for needle in question.needles}
    for name in question.relevance:
        if name not in texts and name not in needled:
            yield "no_document", f"no document is called {name}"


def _facts_lost(question: Question, texts: Mapping[str, str], folded: dict[str, str]) -> Iterator[tuple[str, str]]:
    if not question.must_include:
        return
    names = [name for name in question.relevance if name in texts]
    for name in names:
        if name not in folded:
            folded[name] = texts[name].casefold()
    for fact in question.must_include:
        if names and all(fact.casefold() not in folded[name] for name in names):
            yield "no_answer_text", f"{fact!r} stands in no relevant document"


def _anchor(
    needle: Needle, texts: Mapping[str, str], corpus: Mapping[str, str], headings: Sequence[tuple[int, int]]
) -> Needle | tuple[str, str]:
    text = texts.get(needle.document)
    if text is None:
        return "no_document", f"no document is called {needle.document}"
    if needle.start is not None and needle.end is not None:
        found = _by_range(needle, needle.start, needle.end, text, corpus.get(needle.document))
    else:
        found = _by_words(needle, text)
    if isinstance(found, Needle) and found.start is not None and found.end is not None:
        start, end = found.start, found.end
        if any(low <= start and end <= high for low, high in headings):
            return "heading", f"{found.text!r} is a heading of {needle.document}"
    return found


def _by_words(needle: Needle, text: str) -> Needle | tuple[str, str]:
    start = text.find(needle.text)
    if start < 0:
        return "no_needle", f"{needle.document} does not hold {needle.text!r}"
    if text.find(needle.text, start + 1) >= 0:
        return "many_needles", f"{needle.document} holds {needle.text!r} more than once"
    return replace(needle, start=start, end=start + len(needle.text))


def _by_range(needle: Needle, start: int, end: int, text: str, original: str | None) -> Needle | tuple[str, str]:
    """A needle with a range, in canonical text.

    The range counts in the text that came with the set, where one came: canonical text may put a title before it, or
    write it otherwise, and then the words alone must find the place.
    """
    source = text if original is None else original
    held = source[start:end]
    if len(held) != end - start or (needle.text and held != needle.text):
        told = f"{needle.document} holds {held!r} at {start}..{end}"
        return "span_mismatch", f"{told}, not {needle.text!r}" if needle.text else f"{told}: it ends before"
    if not held.strip():
        return "span_mismatch", f"{needle.document} holds only white space at {start}..{end}"
    whole = replace(needle, text=held)
    shift = 0 if original is None or original == text else text.find(original)
    if shift >= 0:
        return replace(whole, start=start + shift, end=end + shift)
    if text[start:end] == held:
        return whole
    return _by_words(replace(whole, start=None, end=None), text)
