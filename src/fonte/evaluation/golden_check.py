"""What is wrong with a golden set, beside what hindered its reading: against its documents, and in itself."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from fonte.evaluation.golden import HELD_OUT, TUNE, GoldenFault, GoldenSet, Question, anchored
from fonte.evaluation.near_duplicates import near_duplicates
from fonte.types import Acl, BlockKind, Document, Principal


@dataclass(slots=True)
class _Library:
    """The documents of one tenant by name."""

    texts: dict[str, str] = field(default_factory=dict)
    headings: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    acls: dict[str, Acl] = field(default_factory=dict)
    copies: Counter[str] = field(default_factory=Counter)

    def add(self, document: Document) -> None:
        self.copies[document.name] += 1
        self.texts[document.name] = document.text
        self.acls[document.name] = document.acl
        self.headings[document.name] = [
            (span.start, span.end) for span in document.spans if span.kind is BlockKind.HEADING
        ]


def check_golden(golden: GoldenSet, documents: Iterable[Document] | None = None) -> list[GoldenFault]:
    """Every fault of a set in the order of its lines; none at all is what a set should have.

    ``documents`` are those of the index, of every tenant that the set asks. Without them only what can be seen in the
    set itself is checked: with the texts that came with it its spans too.

    Faults: those of `anchored`; ``several_documents`` (of one name), ``not_readable`` (answerable, but the asker may
    read none of the relevant documents), ``bad_asker``, ``halves``, ``contradiction`` (one wording, answerable and
    not). Warnings: ``no_segment``, ``small_segment``, ``same_wording``, ``near_duplicate``, ``one_kind`` (nothing that
    cannot be answered, or nothing else), ``unchecked``.
    """
    faults = [*_askers(golden), *_halves(golden), *_segments(golden), *_kinds(golden), *_alike(golden)]
    if documents is not None:
        libraries: dict[str, _Library] = defaultdict(_Library)
        for document in documents:
            libraries[document.tenant].add(document)
        faults += _against(golden, libraries)
    elif golden.corpus:
        faults += anchored(golden, golden.corpus)[1]
    else:
        told = "no documents were given, so needles and spans were not looked for"
        faults.append(_of_set(golden, "unchecked", told, "sync the documents first, or name their --home"))
    places = {golden.file: 0, golden.needle_file: 1}
    return sorted(faults, key=lambda one: (places.get(one.file, 2), one.line, one.question, one.code))


def _of_set(golden: GoldenSet, code: str, message: str, hint: str) -> GoldenFault:
    return GoldenFault(code, 0, "", message, hint, golden.file, warning=True)


def _of(golden: GoldenSet, question: Question, code: str, message: str, hint: str) -> GoldenFault:
    return GoldenFault(code, question.line, question.id, message, hint, golden.file)


def _asker(question: Question) -> Principal | str:
    """Who asks, or why nobody can."""
    try:
        return Principal(question.tenant, question.user, question.roles)
    except ValueError as error:
        return str(error)


def _askers(golden: GoldenSet) -> Iterator[GoldenFault]:
    for question in golden.questions:
        asker = _asker(question)
        if isinstance(asker, str):
            yield _of(golden, question, "bad_asker", asker, "correct tenant, user and roles")


def _halves(golden: GoldenSet) -> Iterator[GoldenFault]:
    named = {question.half for question in golden.questions}
    if named == {""}:
        return
    hint = f"give every question half: {TUNE} or half: {HELD_OUT}, or none of them"
    for question in golden.questions:
        if question.half not in (TUNE, HELD_OUT):
            told = f"half is {question.half!r}" if question.half else "has no half, where others have one"
            yield _of(golden, question, "halves", told, hint)
    if len(named & {TUNE, HELD_OUT}) == 1:
        yield replace(_of_set(golden, "halves", "one half is empty", hint), warning=False)


def _segments(golden: GoldenSet) -> Iterator[GoldenFault]:
    """Questions without segment, and segments of one question: no figure can be told for them."""
    sizes = Counter(question.segment for question in golden.questions)
    if set(sizes) == {""}:
        told = "no question has a segment, so nothing can be told by segment"
        yield _of_set(golden, "no_segment", told, "name kinds of questions: lexical, semantic, multi-hop and so on")
        return
    for question in golden.questions:
        if not question.segment:
            fault = _of(golden, question, "no_segment", "has no segment", "name its kind, as the others do")
            yield replace(fault, warning=True)
        elif sizes[question.segment] == 1:
            told = f"is the only question of segment {question.segment}"
            yield replace(
                _of(golden, question, "small_segment", told, "is it misspelt, or are more to come?"), warning=True
            )


def _kinds(golden: GoldenSet) -> Iterator[GoldenFault]:
    kinds = {question.answerable for question in golden.questions}
    if kinds == {True}:
        told = "every question can be answered, so bluffs cannot be measured"
        yield _of_set(golden, "one_kind", told, "add questions that the documents do not answer")
    elif kinds == {False}:
        told = "no question can be answered, so retrieval cannot be measured"
        yield _of_set(golden, "one_kind", told, "add questions with needles")


def _alike(golden: GoldenSet) -> Iterator[GoldenFault]:
    """Wordings that are the same within a question, and nearly the same in two questions of one kind of asker."""
    asked: list[tuple[str, tuple[object, ...], str]] = []
    whose: list[Question] = []
    for question in golden.questions:
        kept = {" ".join(wording.casefold().split()) for wording in question.wordings}
        if len(kept) < len(question.wordings):
            fault = _of(golden, question, "same_wording", "has one wording twice", "word it otherwise, or leave it out")
            yield replace(fault, warning=True)
        for wording in question.wordings:
            asked.append((question.id, (question.tenant, question.user, question.roles), wording))
            whose.append(question)
    pairs, complete = near_duplicates(asked)
    told_of: set[tuple[str, str]] = set()
    for pair in pairs:
        later, earlier = whose[pair.later], whose[pair.earlier]
        if (later.id, earlier.id) in told_of:
            continue
        told_of.add((later.id, earlier.id))
        if later.answerable != earlier.answerable:
            if pair.similarity == 1:
                told = f"is worded as {earlier.id}, and only one of the two can be answered"
                yield _of(golden, later, "contradiction", told, "decide whether the documents answer it")
            continue  # Questions twisted until nothing answers them look like their models on purpose.
        same = "is worded as" if pair.similarity == 1 else f"is nearly ({pair.similarity:.0%} of the words) worded as"
        place = f"{earlier.id} (line {earlier.line})" if earlier.line else earlier.id
        hint = "leave one out: near copies make the set look larger than it is"
        yield replace(_of(golden, later, "near_duplicate", f"{same} {place}", hint), warning=True)
    if not complete:
        told = "too many questions are alike: not all pairs were compared"
        yield _of_set(golden, "unchecked", told, "divide the set to have all compared")


def _against(golden: GoldenSet, libraries: Mapping[str, _Library]) -> Iterator[GoldenFault]:
    """Faults against the documents, tenant by tenant: a name may stand for another document in each."""
    by_tenant: dict[str, list[Question]] = defaultdict(list)
    for question in golden.questions:
        by_tenant[question.tenant].append(question)
    for tenant, questions in by_tenant.items():
        library = libraries.get(tenant, _Library())
        part = replace(golden, questions=tuple(questions))
        yield from anchored(part, library.texts, library.headings)[1]
        for question in questions:
            yield from _rights(golden, question, library)


def _rights(golden: GoldenSet, question: Question, library: _Library) -> Iterator[GoldenFault]:
    for name in question.relevance:
        if library.copies[name] > 1:
            told = f"{library.copies[name]} documents are called {name}"
            yield _of(golden, question, "several_documents", told, "give the documents names of their own")
    asker = _asker(question)
    known = [library.acls[name] for name in question.relevance if name in library.acls]
    if known and isinstance(asker, Principal) and not any(acl.admits(asker) for acl in known):
        told = (
            f"can be answered, but who asks (roles {', '.join(sorted(asker.held_roles))}) may read no relevant document"
        )
        yield _of(golden, question, "not_readable", told, "give roles that may, or say answerable: false")
