"""A draft to cited sentences: the generator writes [1]; the server attaches document, place, quote and hash.

A marker that was not handed out is removed and recorded. A quote is cut from stored canonical text and its hash is
checked by the Citation itself. What a draft lacks is given where the texts themselves say it: a sentence without a
marker, or with one whose passage does not hold it, is tied to the passage that surely does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fonte.support import SupportChecker, SupportPolicy, missing_figures
from fonte.text import markers
from fonte.text.drafts import DraftReader, Said, bare, ends_whole
from fonte.text.language import VERY_SURE, detect
from fonte.text.locate import fragment, label, locate
from fonte.text.orders import signs
from fonte.text.refusals import is_refusal
from fonte.text.sentences import sentences
from fonte.text.stop_words import STOP_WORDS
from fonte.types import UNKNOWN_LANGUAGE, Citation, Draft, Language, Passage, Sentence, Support, sha256_hex

Range = tuple[int, int]
MarkedRange = tuple[int, int, int]
Checked = tuple[Support, dict[str, str | float]]
_EQUAL = 0.05
"""Passages whose support of a sentence is this near to the best one's are all cited."""
_SURE = 0.6
"""Share of a sentence's words that must go back to a passage that it does not name before it is cited for it.

Measured by ``evaluation/run_uncited.py``: the least at which no wrong passage was cited.
"""
_FEWEST_WORDS = 2
"""Of a sentence that is compared with passages: a lone "No." or "40" stands everywhere."""
_EMPTY = frozenset(word for words in STOP_WORDS.values() for word in words)
_STOPS = ".!?…"
WORDS_ALONE = SupportChecker()
"""A checker without any model."""
_MOVED = "a citation was moved to the passage that holds the sentence"
_FOUND = "a citation was found for a sentence without one"
_TELLING = 60
"""Characters by which the language of an answer can be told."""
_MOST_RECORDED = 50
_LONGEST_RECORDED = 200


@dataclass(frozen=True, slots=True)
class Cited:
    """Sentences with their markers, the citations that are shown, and what was taken out of the draft."""

    text: str
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    removed: tuple[str, ...]
    refused: tuple[str, ...] = ()
    """Sentences that say what the sources do not hold: no claims, and not part of the text."""
    notes: tuple[str, ...] = ()
    """What was done to the draft, counted."""
    dropped: tuple[Sentence, ...] = ()
    """Sentences that the policy does not let be shown, since their passages do not support them."""


def mint(passage: Passage, said: Sequence[Range] = ()) -> Citation:
    """The citation of a passage: quote, hash and place all come from the stored document.

    Of a parent it quotes what was found, and on to what was ``said`` of the rest.
    """
    document, chunk = passage.document, passage.stored.chunk
    start, end = passage.found or (passage.start, passage.end)
    start, end = min([start, *(low for low, _ in said)]), max([end, *(high for _, high in said)])
    place = locate(document, start, end)
    quote = document.text[start:end]
    part = fragment(document, place)
    return Citation(
        index=passage.marker,
        chunk_id=chunk.id,
        chunk_index=chunk.index,
        document_id=document.id,
        document_name=document.name,
        source_uri=document.uri,
        source_version=document.version,
        quote=quote,
        quote_sha256=sha256_hex(quote),
        locator=place,
        label=label(document, place, chunk.section),
        fragment=part,
        url=document.uri if "#" in document.uri else document.uri + part,
        cosine_distance=passage.hit.dense_distance,
        duplicates=passage.copies,
        flags=signs(quote),
        valid_from=document.valid_from,
        valid_to=document.valid_to,
    )


class Citing:
    """One draft, cited while it is written.

    ``feed`` and ``close`` give what may be shown now, in order: each citation before the first sentence that carries
    it, and again where a later sentence makes its quote longer (the last of an index counts). Nothing is given before
    the first sentence with a citation, for a draft without any is no answer.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        *,
        language: Language,
        echoes: Iterable[str] = (),
        checker: SupportChecker = WORDS_ALONE,
        policy: SupportPolicy = "flag",
    ) -> None:
        """``passages`` with the markers that were handed out; ``echoes``: sentences of the prompt.

        ``policy``: what becomes of a sentence that the ``checker`` finds unsupported: ``flag`` shows it as such,
        ``drop`` leaves it out, and with ``abstain`` nothing is given before the end, and nothing at all with one of
        them.
        """
        self._passages = passages
        self._language = language
        self._checker = checker
        self._policy = policy
        self._dropped: list[Sentence] = []
        self._by_marker = {passage.marker: passage for passage in passages}
        names = (name for one in passages for name in (one.document.name, one.document.title, one.document.uri))
        self._reader = DraftReader(language, frozenset(map(bare, echoes)), frozenset(map(bare, names)))
        self._sentences: list[Sentence] = []
        self._held: list[Sentence] = []
        self._citations: dict[int, Citation] = {}
        self._quoted: dict[int, list[Range]] = {marker: [] for marker in self._by_marker}
        self._refused: list[str] = []
        self._cut = False
        self._known: dict[tuple[str, tuple[int, ...], bool], Checked] = {}

    @property
    def began(self) -> bool:
        """Whether something was given to be shown."""
        return bool(self._citations)

    def feed(self, piece: str) -> list[Citation | Sentence]:
        """What the piece makes whole."""
        return self._shown(self._reader.feed(piece))

    def close(self, *, broken: bool = False) -> list[Citation | Sentence]:
        """What is left when the draft has ended; of one that ``broken`` off the last sentence is no whole one."""
        return self._shown(self._reader.end(broken=broken)) + self._kept_back()

    def take(self, draft: Draft) -> list[Citation | Sentence]:
        """All of a draft whose sentences were cut from passages."""
        self._cut = True
        self._quote_cut(draft)
        shown: list[Citation | Sentence] = []
        for body, places in _cut(draft, self._by_marker, self._reader.removed):
            numbers = tuple(dict.fromkeys(marker for marker, _, _ in places))
            shown += self._judged(body, numbers, cut_from=places)
        return shown + self._kept_back()

    def whole(self, draft: Draft) -> Cited:
        """The result of a draft that came all at once."""
        if draft.taken:
            self.take(draft)
        else:
            self.feed(draft.text)
            self.close(broken=ends_early(draft))
        return self.result()

    def result(self) -> Cited:
        """All sentences and citations, and what became of the rest; without citations, what was never shown."""
        counted = [what if times == 1 else f"{what} ({times} times)" for what, times in self._reader.notes.items()]
        withheld = bool(self._policy == "abstain" and self._dropped)
        sentences = () if withheld else (*self._sentences, *self._held)
        counted += self._foreign(" ".join(sentence.text for sentence in sentences))
        counted += self._checker.notes
        removed = [_shortened(one) for one in self._reader.removed]
        if len(removed) > _MOST_RECORDED:
            counted.append(f"of {len(removed)} removals the first {_MOST_RECORDED} are recorded")
        return Cited(
            text=" ".join(sentence.text for sentence in sentences),
            sentences=sentences,
            citations=() if withheld else tuple(self._citations[index] for index in sorted(self._citations)),
            removed=tuple(removed[:_MOST_RECORDED]),
            refused=tuple(self._refused),
            notes=tuple(counted),
            dropped=tuple(self._dropped),
        )

    def _foreign(self, text: str) -> list[str]:
        """A note where a model surely wrote in another language than it was asked to."""
        if self._cut or len(text) < _TELLING:
            return []
        found = detect(markers.MARKER.sub("", text), sureness=VERY_SURE)
        return (
            [] if found in (self._language, UNKNOWN_LANGUAGE) else [f"written in {found}, asked for {self._language}"]
        )

    def _shown(self, said: Iterable[Said]) -> list[Citation | Sentence]:
        shown: list[Citation | Sentence] = []
        for one in said:
            if is_refusal(one.text):
                self._refused.append(one.text)
                continue
            named = [number for number in one.markers if number in self._by_marker]
            self._reader.removed += [f"[{number}]" for number in one.markers if number not in self._by_marker]
            shown += self._judged(one.text, self._settled(one.text, tuple(named)))
        return shown

    def _settled(self, body: str, named: tuple[int, ...]) -> tuple[int, ...]:
        """The markers that a sentence carries: those that it names, unless others' passages support it and theirs not.

        So a sentence without a marker gets those of the passages that support it alone, the best and its equals.
        """
        words = bare(body).split()
        if len(words) < _FEWEST_WORDS or _EMPTY.issuperset(words) or (named and self._support(body, named) > 0):
            return named
        alone = {number: self._support(body, (number,)) for number in self._by_marker}
        best = max(alone.values(), default=0.0)
        if best < _SURE:
            return named
        found = tuple(number for number, support in alone.items() if support >= best - _EQUAL)
        self._reader.note(_MOVED if named else _FOUND)
        self._reader.removed += [f"[{number}]" for number in named if number not in found]
        return found

    def _support(self, body: str, numbers: tuple[int, ...]) -> float:
        """Share of a sentence's words that go back to the passages, where they support it; else 0."""
        verdict, checks = self._checked(body, numbers, entail=False)
        share = checks.get("alignment", 1.0)  # word for word has none
        return float(share) if verdict == "supported" else 0.0

    def _checked(self, body: str, numbers: tuple[int, ...], *, verbatim: bool = False, entail: bool = True) -> Checked:
        """What the checker says of a sentence and the passages of these markers, asked once.

        ``entail``: with its entailment model, which is too dear to find out by whose passages a sentence stands.
        """
        key = (body, numbers, entail and self._checker.entails)
        if key not in self._known:
            cited = [self._by_marker[number] for number in numbers]
            self._known[key] = self._checker.check(
                body, cited, language=self._language, verbatim=verbatim, entail=entail
            )
        return self._known[key]

    def _judged(
        self, body: str, numbers: tuple[int, ...], *, cut_from: tuple[MarkedRange, ...] = ()
    ) -> list[Citation | Sentence]:
        cited = [self._by_marker[number] for number in numbers]
        verbatim = bool(cut_from)
        verdict, checks = self._checked(body, numbers, verbatim=verbatim)
        if verdict == "supported" and not verbatim and len(bare(body).split()) < _FEWEST_WORDS:
            verdict, checks = "not_checked", {**checks, "words": "too few to be compared"}
        if verdict == "supported" and _rests_on_orders(body, cited, self._language):
            verdict, checks = "partial", {**checks, "orders": "it rests on words that read like orders to a machine"}
        places = cut_from or tuple(_places(body, cited))
        sentence = Sentence(_with_markers(body, numbers), numbers, verdict, checks, places)
        if verdict == "unsupported" and self._policy != "flag":
            self._dropped.append(sentence)
            return []
        minted = list(self._minted(body, numbers, verbatim=verbatim))
        self._held.append(sentence)
        if not self.began or self._policy == "abstain":
            return []
        shown: list[Citation | Sentence] = [*minted, *self._held]
        self._held = []
        self._sentences += [one for one in shown if isinstance(one, Sentence)]
        return shown

    def _kept_back(self) -> list[Citation | Sentence]:
        """What waited for the end."""
        if self._policy != "abstain" or self._dropped or not self.began:
            return []
        shown: list[Citation | Sentence] = [*self._citations.values(), *self._held]
        self._sentences, self._held = [*self._sentences, *self._held], []
        return shown

    def _minted(self, body: str, numbers: tuple[int, ...], *, verbatim: bool) -> Iterable[Citation]:
        """Citations that are new or quote more because of this sentence."""
        for number in numbers:
            shown = self._by_marker[number]
            if not verbatim and shown.found is not None and not self._quoted[number] and _needs_rest(body, shown):
                self._quoted[number].append((shown.start, shown.end))
            citation = mint(shown, self._quoted[number])
            if self._citations.get(number) != citation:
                self._citations[number] = citation
                yield citation

    def _quote_cut(self, draft: Draft) -> None:
        """Of a parent what was cut is quoted beside what was found."""
        for one in draft.taken:
            shown = self._by_marker.get(one.marker)
            if shown is not None and shown.found is not None and shown.start <= one.start <= one.end <= shown.end:
                self._quoted[one.marker].append((one.start, one.end))


def cite(
    draft: Draft,
    passages: Sequence[Passage],
    *,
    language: Language,
    checker: SupportChecker = WORDS_ALONE,
    policy: SupportPolicy = "flag",
) -> Cited:
    """Sentences and citations of a whole draft, the same as if it had come in pieces.

    Args:
        draft: what the generator wrote; ``taken`` sentences are checked against the stored text.
        passages: those that were handed out, with their markers.
        language: of the draft, for sentence boundaries.
        checker: what judges each sentence.
        policy: what becomes of those that their passages do not support.

    Raises:
        ModelUnavailable, BadModelOutput: the checker's encoder failed.
    """
    return Citing(passages, language=language, checker=checker, policy=policy).whole(draft)


def ends_early(draft: Draft) -> bool:
    """Whether the last sentence of a draft may be half of one."""
    return bool(draft.broken) or (draft.cut and not ends_whole(draft.text))


def _rests_on_orders(body: str, cited: Sequence[Passage], language: Language) -> bool:
    """Whether the passages' sentence that shares most words with this one reads like an order to a machine.

    That a document orders something does not make it so: what was said because of it is not called supported.
    """
    if not any(signs(one.content) for one in cited):
        return False
    words = set(bare(body).split()) - _EMPTY
    held = [one.content[start:end] for one in cited for start, end in sentences(one.content, language)]
    shared = [(len(words & set(bare(text).split())), not signs(text)) for text in held]
    return bool(shared) and not max(shared)[1]


def _needs_rest(body: str, shown: Passage) -> bool:
    """Whether a figure of the sentence stands in the parent and not in what was found of it."""
    if shown.found is None:
        return False
    found = f"{shown.stored.chunk.context}\n{shown.document.text[slice(*shown.found)]}"
    return bool(set(missing_figures(body, [found])) - set(missing_figures(body, [shown.content])))


def _places(body: str, cited: Sequence[Passage]) -> Iterable[MarkedRange]:
    """Of each cited passage the sentence that shares most words with this one; none where no word is shared."""
    words = set(bare(body).split()) - _EMPTY
    for one in cited:
        low, high = one.found or (one.start, one.end)
        quoted = one.document.text[low:high]
        held = sentences(quoted, one.stored.chunk.language)
        shared = [(len(words & set(bare(quoted[start:end]).split())), -start, end) for start, end in held]
        count, start, end = max(shared, default=(0, 0, 0))
        if count:
            yield one.marker, low - start, low + end


def _cut(
    draft: Draft, by_marker: dict[int, Passage], removed: list[str]
) -> Iterable[tuple[str, tuple[MarkedRange, ...]]]:
    """Sentences that were cut from passages: believed only where the stored text says the same."""
    grouped: dict[str, list[MarkedRange]] = {}
    for one in draft.taken:
        passage = by_marker.get(one.marker)
        if passage is None or passage.document.text[one.start : one.end] != one.text:
            removed.append(f"[{one.marker}]")
            continue
        places = grouped.setdefault(one.text, [])
        if (one.marker, one.start, one.end) not in places:
            places.append((one.marker, one.start, one.end))
    for text, places in grouped.items():
        # A bracketed number that stands in the source would read as a marker of ours.
        yield markers.cleaned(text, removed.append), tuple(sorted(places))


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_RECORDED else text[:_LONGEST_RECORDED] + "…"


def _with_markers(body: str, numbers: Sequence[int]) -> str:
    if not numbers:
        return body
    shown = "".join(f"[{number}]" for number in numbers)
    stop = body[len(body.rstrip(_STOPS)) :]
    # A row or a list item has no stop of its own; a closing quote or bracket keeps what stands before it.
    return f"{body[: len(body) - len(stop)].rstrip()} {shown}{stop or '.'}"
