"""Caption files to cues: VTT, SRT and SBV by one reading, whatever the header says.

A line with two times opens a cue, whose text goes on to an empty line or to the next line of times. What stands
elsewhere is a name of the next cue, a comment, or text that lost its time, which stays with the cue before and is told.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field

_TIME = r"(?:(\d{1,4}):)?(\d{1,3}):(\d{1,2})(?:[.,](\d{1,3}))?"
_ARROW = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?$")
_COMMA = re.compile(rf"\s*{_TIME}\s*,\s*{_TIME}\s*$")
_LOOKS_TIMED = re.compile(r"\s*\d[\d:.,a-zA-Z]*\s*-->|\s*\d+:\d\d:[\d.a-zA-Z]+,\d+:\d\d:")
_ASIDE = re.compile(r"(NOTE|STYLE|REGION)(?:\s|$)")
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?(?:[ \t]+([^<>]*))?>")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<\d[\d:.]*>|</>|\{\\[^{}]*\}")
_RUBY = re.compile(r"<rt[^<>]*>.*?(?:</rt>|$)", re.DOTALL)


@dataclass(slots=True)
class Line:
    """One line of a cue, without tags: its text, who says it where a tag tells, and its number in the file from 1."""

    text: str
    voice: str | None
    number: int


@dataclass(slots=True)
class Cue:
    """What is shown from ``start`` to ``end`` seconds."""

    start: float
    end: float
    lines: list[Line] = field(default_factory=list)


@dataclass(slots=True)
class Captions:
    """A file of captions as read."""

    cues: list[Cue] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    comments: int = 0
    untimed: list[int] = field(default_factory=list)
    """Lines whose text has no time of its own."""
    bad_times: list[int] = field(default_factory=list)
    """Lines of times that cannot be read."""
    early: list[Line] = field(default_factory=list)
    """Text before the first cue; the first cue takes it."""


def read_cues(text: str) -> Captions:
    """The cues of a file, in its order."""
    found = Captions()
    lines = text.split("\n")
    at = 0
    if lines[0].lstrip("\ufeff").startswith("WEBVTT"):
        while at < len(lines) and lines[at].strip() and _times(lines[at]) is None:
            found.header.append(lines[at].lstrip("\ufeff"))
            at += 1
    inside = False  # a cue's text may go on
    aside: str | None = None
    voice: str | None = None
    for index in range(at, len(lines)):
        line = lines[index].rstrip("\r")
        times = _times(line)
        if times is not None:
            found.cues.append(Cue(*times, lines=found.early))
            found.early = []
            inside, aside, voice = True, None, None
        elif not line.strip():
            inside, aside = False, None
        elif aside is not None:
            found.comments += aside == "NOTE"
        elif not inside and (opened := _ASIDE.match(line)) is not None:
            aside = opened[1]
            found.comments += aside == "NOTE" and line.strip() != "NOTE"
        elif _LOOKS_TIMED.match(line) is not None:
            found.bad_times.append(index + 1)
            inside = True
        elif not _names_next(lines, index, inside=inside, words=bool(found.header)):
            if not inside:
                found.untimed.append(index + 1)
            voice = _take(found, line, index + 1, voice)
    return found


def _take(found: Captions, line: str, number: int, voice: str | None) -> str | None:
    """Add a line of text to the cue that is open; the voice that it ends with."""
    said, last = _runs(line, voice)
    lines = found.cues[-1].lines if found.cues else found.early
    lines += [Line(text, who, number) for who, text in said]
    return last


def _runs(line: str, voice: str | None) -> tuple[list[tuple[str | None, str]], str | None]:
    """((voice, clean text) of each part of a line, the voice at its end)."""
    pieces = _VOICE.split(_RUBY.sub("", line))
    runs = [(voice, _clean(pieces[0]))]
    for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
        voice = " ".join(html.unescape(name or "").split()) or voice
        runs.append((voice, _clean(text)))
    return [(who, text) for who, text in runs if text], voice


def _clean(text: str) -> str:
    """Text without tags, entities decoded once, white space collapsed."""
    return " ".join(html.unescape(_TAG.sub("", text).replace(r"\h", " ").replace(r"\N", " ")).split())


def _names_next(lines: list[str], index: int, *, inside: bool, words: bool) -> bool:
    """Whether a line is the number (in VTT also the name) of the cue that the next line opens, not text."""
    following = lines[index + 1] if index + 1 < len(lines) else ""
    if _times(following) is not None or _LOOKS_TIMED.match(following) is not None:
        return (words and not inside) or lines[index].strip().isdigit()
    # A number alone before text: a cue that has lost its times, or its text.
    return not inside and lines[index].strip().isdigit()


def _times(line: str) -> tuple[float, float] | None:
    """(from, to) in seconds of a line of times; an end before the start counts as the start."""
    if "-->" not in line and "," not in line:
        return None
    match = _ARROW.match(line) or _COMMA.match(line)
    if match is None:
        return None
    start, end = _seconds(*match.groups()[:4]), _seconds(*match.groups()[4:])
    return start, max(start, end)


def _seconds(hours: str | None, minutes: str, seconds: str, fraction: str | None) -> float:
    whole = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
    return whole + int((fraction or "0").ljust(3, "0")) / 1000
