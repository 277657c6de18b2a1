"""A draft to cited sentences: the generator writes [1]; the server attaches document, place, quote and hash.

A marker that was not handed out is removed and recorded. A quote is cut from stored canonical text and its hash is
checked by the Citation itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fonte.support import check_sentence, missing_figures
from fonte.text.locate import fragment, label, locate
from fonte.text.sentences import sentences
from fonte.types import Citation, Draft, Language, Passage, Sentence, sha256_hex

Range = tuple[int, int]

_MARKER = re.compile(r"\s?[\[【]\s*(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\s*[\]】]")
_AFTER_STOP = re.compile(r"([.!?…]+)((?:\s*[\[【]\s*\d{1,4}(?:\s*[,;]\s*\d{1,4})*\s*[\]】])+)")
_ODD_MARKER = re.compile(
    r"\s?[\[【]\s*(?:/?(?:sources?|font[ei]|src|ref|doc|passage)\b[^\[\]【】]*|[\^#+-]*\d[\d,;:.\s-]*(?:[†|][^\[\]【】]*)?)?[\]】]",
    re.IGNORECASE,
)
"""What models write instead of a marker (``[^1]``, ``[1:2]``, ``[source 2]``), our own frame of a source, ``[]``."""
_LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)")
_URL = re.compile(r"\b(?:(?:https?|ftp|file|javascript|data):\S|www\.)\S*", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,500}>")
_TAG_START = re.compile(r"<(?=[a-zA-Z/!?])")
_STOPS = ".!?…"


@dataclass(frozen=True, slots=True)
class Cited:
    """Sentences with their markers, the citations that are shown, and what was taken out of the draft."""

    text: str
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    removed: tuple[str, ...]


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
        valid_from=document.valid_from,
        valid_to=document.valid_to,
    )


def cite(draft: Draft, passages: Sequence[Passage], *, language: Language) -> Cited:
    """Sentences and citations of a draft.

    Args:
        draft: what the generator wrote; ``taken`` sentences are checked against the stored text.
        passages: those that were handed out, with their markers.
        language: of the draft, for sentence boundaries.
    """
    by_marker = {passage.marker: passage for passage in passages}
    removed: list[str] = []
    pairs = _taken(draft, by_marker, removed) if draft.taken else _written(draft.text, by_marker, language, removed)
    finished = []
    for body, markers, verbatim in pairs:
        verdict, checks = check_sentence(body, [by_marker[marker] for marker in markers], verbatim=verbatim)
        finished.append(Sentence(_with_markers(body, markers), markers, verdict, checks))
    used = sorted({marker for sentence in finished for marker in sentence.citations})
    said = _said(draft, finished, by_marker)
    return Cited(
        text=" ".join(sentence.text for sentence in finished),
        sentences=tuple(finished),
        citations=tuple(mint(by_marker[marker], said[marker]) for marker in used),
        removed=tuple(removed),
    )


def _said(draft: Draft, finished: Sequence[Sentence], by_marker: dict[int, Passage]) -> dict[int, list[Range]]:
    """By marker, what of a parent the sentences rest on beside what was found: what was cut, or all for a figure."""
    said: dict[int, list[Range]] = {marker: [] for marker in by_marker}
    for one in draft.taken:
        shown = by_marker.get(one.marker)
        if shown is not None and shown.found is not None and shown.start <= one.start <= one.end <= shown.end:
            said[one.marker].append((one.start, one.end))
    for marker, shown in by_marker.items():
        if shown.found is None or draft.taken:
            continue
        found = f"{shown.stored.chunk.context}\n{shown.document.text[slice(*shown.found)]}"
        own = [_MARKER.sub("", sentence.text) for sentence in finished if marker in sentence.citations]
        if any(set(missing_figures(text, [found])) - set(missing_figures(text, [shown.content])) for text in own):
            said[marker].append((shown.start, shown.end))
    return said


def _taken(
    draft: Draft, by_marker: dict[int, Passage], removed: list[str]
) -> Iterable[tuple[str, tuple[int, ...], bool]]:
    """Sentences that were cut from passages: believed only where the stored text says the same."""
    grouped: dict[str, list[int]] = {}
    for one in draft.taken:
        passage = by_marker.get(one.marker)
        if passage is None or passage.document.text[one.start : one.end] != one.text:
            removed.append(f"[{one.marker}]")
            continue
        markers = grouped.setdefault(one.text, [])
        if one.marker not in markers:
            markers.append(one.marker)
    for text, markers in grouped.items():
        # A bracketed number that stands in the source would read as a marker of ours.
        yield _cleaned(text, removed), tuple(sorted(markers)), True


def _written(
    text: str, by_marker: dict[int, Passage], language: Language, removed: list[str]
) -> Iterable[tuple[str, tuple[int, ...], bool]]:
    """Sentences that a model wrote, with those of its markers that were handed out."""
    moved = _AFTER_STOP.sub(lambda match: f" {match.group(2).strip()}{match.group(1)}", _unlinked(text, removed))
    for start, end in sentences(moved, language):
        raw = moved[start:end]
        markers: list[int] = []
        for match in _MARKER.finditer(raw):
            for number in re.split(r"\s*[,;]\s*", match.group(1)):
                if int(number) not in by_marker:
                    removed.append(f"[{number}]")
                elif int(number) not in markers:
                    markers.append(int(number))
        body = _cleaned(_MARKER.sub("", raw), removed)
        if body.strip(_STOPS + " "):
            yield body, tuple(markers), False


def _unlinked(text: str, removed: list[str]) -> str:
    """The text without links and HTML that we did not make."""
    found = True
    while found:  # what is taken out may have stood inside another one
        found = False
        for pattern in (_LINK, _TAG, _URL):
            there = [match.group() for match in pattern.finditer(text)]
            removed.extend(there)
            found = found or bool(there)
            text = pattern.sub(lambda match: _link_text(match.group(1)) if match.re is _LINK else "", text)
    # A tag that never ends becomes text: with a space after its sign no reader takes it for a tag.
    return _TAG_START.sub("< ", text)


def _link_text(text: str) -> str:
    """What stays of a link. A model that links its marker means the marker, which is judged like any other."""
    marker = f"[{text}]"
    return marker if _MARKER.fullmatch(marker) else text


def _cleaned(text: str, removed: list[str]) -> str:
    """The text without anything that reads as a marker, on one line."""
    there = True
    while there:  # [[9]1] holds another one
        there = False
        for pattern in (_MARKER, _ODD_MARKER):
            found = [match.group().strip() for match in pattern.finditer(text)]
            removed.extend(found)
            there = there or bool(found)
            text = pattern.sub("", text)
    return " ".join(text.split())


def _with_markers(body: str, markers: Sequence[int]) -> str:
    if not markers:
        return body
    shown = "".join(f"[{marker}]" for marker in markers)
    stop = body[len(body.rstrip(_STOPS)) :]
    # A row or a list item has no stop of its own; a closing quote or bracket keeps what stands before it.
    return f"{body[: len(body) - len(stop)]} {shown}{stop or '.'}"
