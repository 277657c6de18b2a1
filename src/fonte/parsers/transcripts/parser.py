"""Captions to text that can be read: turns of one speaker, each cue with its time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from fonte.errors import ParseError
from fonte.parsers.counting import count_text, count_words
from fonte.parsers.encodings import normalise_newlines
from fonte.parsers.plain import decoded_body, undecoded
from fonte.parsers.transcripts.cues import Captions, Cue, Line, read_cues
from fonte.types import Block, BlockKind, Loss, Parsed, Place, Source

_NAMED = re.compile(r"((?:[A-ZÀ-ÖØ-Þ][\w.'’-]*)(?: (?:[A-ZÀ-ÖØ-Þ0-9][\w.'’-]*|(?:de|di|da|van|von|la|le)))*):\s+(?=\S)")
_LONGEST_NAME = 40
_TURN = re.compile(r"(?:[-–—]\s*|>>+\s*)(?=\S)")
_ENDS = re.compile(r"[.!?…][\"”»)’']?$")
_LONG = 500
"""Characters after which a turn is cut at the next end of a sentence."""
_TOO_LONG = 900
"""Characters after which a turn without sentence ends is cut at the next cue."""
_PAUSE = 2.5
"""Seconds of silence that end a paragraph where a sentence ends (or none ever does)."""
_NEAR = 1.5
"""Seconds between two captions of which the second may repeat the first."""
_ROLLING_SHARE = 0.25
"""Share of captions that begin with what the one before ended with, from which the file is one of rolling captions."""
_SHOWN = 20


@dataclass(slots=True)
class _Turn:
    """What one speaker says, growing: the name before it, and the pieces with their times and lines."""

    name: str | None
    voiced: bool
    """Whether a tag named the speaker, so that a line without a tag is another's."""
    dashed: bool = False
    """Whether it began with a dash, as one of two that speak by turns."""
    pieces: list[tuple[str, Cue, int]] = field(default_factory=list)
    length: int = 0

    def add(self, text: str, cue: Cue, line: int) -> None:
        self.pieces.append((text, cue, line))
        self.length += len(text) + 1

    def block(self) -> Block:
        """The turn as a paragraph; each cue's words have its time, the speaker's name that of the first."""
        text = f"{self.name}: " if self.name else ""
        places: list[Place] = []
        for index, (piece, cue, line) in enumerate(self.pieces):
            start = len(text) if index else 0
            text += piece
            places.append(Place(start, len(text), time=(cue.start, cue.end), lines=(line, line)))
            text += " "
        return Block(BlockKind.PARAGRAPH, text[:-1], places=tuple(places))


class TranscriptParser:
    """VTT, SRT and SBV: a paragraph for each turn."""

    name = "transcript/1"

    def parse(self, source: Source) -> Parsed:
        """Turns in order.

        Raises:
            ParseError: not text, or no line of times in it.
        """
        decoded = decoded_body(source)
        text = normalise_newlines(decoded.text)
        captions = read_cues(text)
        header = " ".join(captions.header)
        if not captions.cues and (captions.early or not header.startswith("WEBVTT")):
            raise ParseError(f"{source.name}: no line of it holds two times, as captions do", uri=source.uri)
        said = "\n".join(line.text for cue in captions.cues for line in cue.lines)
        kept, repeated = _without_repeats(captions.cues)
        turns, names = _turns(kept)
        blocks = tuple(turn.block() for turn in turns)
        losses = [*undecoded(decoded), *_losses(captions, repeated, names)]
        return Parsed(
            blocks=blocks,
            parser=self.name,
            title=_title(captions.header),
            media_type=source.media_type or "text/vtt",
            source_counts=count_text(said),
            losses=tuple(losses),
            metadata={"encoding": decoded.encoding, **_metadata(captions)},
            empty_reason=None if blocks else "empty",
        )


def _title(header: Sequence[str]) -> str | None:
    """What stands after WEBVTT on the first line."""
    rest = header[0][len("WEBVTT") :].strip(" \t-–") if header else ""
    return rest or None


def _metadata(captions: Captions) -> dict[str, str]:
    found = {"cues": str(len(captions.cues))}
    for line in captions.header[1:]:
        key, colon, value = line.partition(":")
        if colon and key in ("Language", "Kind") and value.strip():
            found[key.lower()] = value.strip()
    return found


def _losses(captions: Captions, repeated: int, names: int) -> Iterator[Loss]:
    if captions.comments:
        yield Loss("comments", f"{captions.comments} lines of comments left out", captions.comments)
    if repeated:
        yield Loss("boilerplate", f"{repeated} words that captions repeat while they roll were taken once", repeated)
    if names:
        yield Loss("boilerplate", f"{names} words of speakers' names stand once for each of their turns", names)
    for code, lines, what in (
        ("untimed_text", captions.untimed, "text without times, kept with the nearest cue"),
        ("bad_time", captions.bad_times, "times that cannot be read; their text is kept with the nearest cue"),
    ):
        if lines:
            some = ", ".join(map(str, lines[:_SHOWN]))
            yield Loss(code, f"{what}, on line{'s' if len(lines) > 1 else ''} {some}", len(lines))


# --- captions that repeat


def _without_repeats(cues: Sequence[Cue]) -> tuple[list[Cue], int]:
    """Cues in order of time without what they repeat of the one before, and the words so left out.

    In rolling captions a cue begins with the last lines of the cue before. Elsewhere only a cue shown at the same time
    with the same words counts as a repeat: people do say things twice.
    """
    ordered = sorted((cue for cue in cues if cue.lines), key=lambda cue: cue.start)
    rolling = _is_rolling(ordered)
    kept: list[Cue] = []
    repeated = 0
    shown: list[str] = []
    for before, cue in pairwise([None, *ordered]):
        texts = [line.text for line in cue.lines] if cue is not None else []
        if cue is None:
            continue
        lines = list(cue.lines)
        near = before is not None and cue.start - before.end < _NEAR
        if near and rolling:
            lines = _rolled(shown, lines)
        elif before is not None and texts == shown and cue.start < before.end:
            lines = []
        left = "\n".join(line.text for line in lines)
        repeated += count_words("\n".join(texts)) - count_words(left)
        if lines:
            kept.append(Cue(cue.start, cue.end, lines))
        shown = texts
    return kept, repeated


def _is_rolling(cues: Sequence[Cue]) -> bool:
    pairs = [(one, other) for one, other in pairwise(cues) if other.start - one.end < _NEAR]
    begun = sum(other.lines[0].text.startswith(one.lines[-1].text) for one, other in pairs)
    return begun > _ROLLING_SHARE * max(len(cues) - 1, 1) and begun > 1


def _rolled(shown: Sequence[str], lines: list[Line]) -> list[Line]:
    """Lines without the longest beginning that ``shown`` ends with, a line that only grew without what was there."""
    for size in range(min(len(shown), len(lines)), 0, -1):
        if [line.text for line in lines[:size]] == list(shown[-size:]):
            return lines[size:]
    first, last = lines[0], shown[-1] if shown else ""
    if last and first.text.startswith(f"{last} "):
        return [Line(first.text[len(last) + 1 :], first.voice, first.number), *lines[1:]]
    return lines


# --- cues to turns


def _turns(cues: Sequence[Cue]) -> tuple[list[_Turn], int]:
    """Paragraphs, and the words of names that are not repeated inside them.

    A new one begins where the speaker changes, and in a long turn at a pause or the end of a sentence.
    """
    punctuated = sum(bool(_ENDS.search(cue.lines[-1].text)) for cue in cues) > len(cues) / 10
    turns: list[_Turn] = []
    before: Cue | None = None
    names = 0
    for cue in cues:
        for line in cue.lines:
            said = _speaker(line)
            last = turns[-1] if turns else None
            if last is None or said.fresh or _changes(last, said, same_cue=cue is before):
                turns.append(_Turn(said.name, said.voiced, said.dashed))
            elif _full(last, before, cue, punctuated=punctuated):
                turns.append(_Turn(last.name, last.voiced))
            elif said.name is not None and not said.voiced:
                names += count_words(said.name)
            turns[-1].add(said.text, cue, line.number)
            before = cue
    return turns, names


@dataclass(frozen=True, slots=True)
class _Said:
    """A line of a cue: its words, the speaker where named (``voiced``: by a tag), and whether a new turn is marked."""

    text: str
    name: str | None = None
    voiced: bool = False
    fresh: bool = False
    dashed: bool = False


def _speaker(line: Line) -> _Said:
    turn = _TURN.match(line.text)
    text = line.text[turn.end() :] if turn is not None else line.text
    if line.voice is not None:
        return _Said(text, line.voice, voiced=True, fresh=turn is not None)
    named = _NAMED.match(text)
    if named is not None and len(named[1]) <= _LONGEST_NAME:
        return _Said(text[named.end() :], named[1])
    dashed = turn is not None and not turn[0].startswith(">")
    return _Said(line.text if dashed else text, fresh=turn is not None, dashed=dashed)


def _changes(turn: _Turn, said: _Said, *, same_cue: bool) -> bool:
    """Whether somebody else speaks. A name before the words holds until the next one, a tag only for its own words."""
    if said.name is None:
        return turn.voiced or (turn.dashed and not same_cue and _ENDS.search(turn.pieces[-1][0]) is not None)
    return said.name != turn.name or said.voiced != turn.voiced


def _full(turn: _Turn, before: Cue | None, cue: Cue, *, punctuated: bool) -> bool:
    ended = not punctuated or _ENDS.search(turn.pieces[-1][0]) is not None
    paused = before is not None and cue is not before and cue.start - before.end > _PAUSE
    return (ended and (paused or turn.length > (_LONG if punctuated else _TOO_LONG))) or turn.length > 3 * _TOO_LONG
