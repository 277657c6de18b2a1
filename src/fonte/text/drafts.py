"""What a model writes to the sentences that it says, while it writes: the same ones however the text is cut.

The text is read character by character and every decision rests on characters alone, so the pieces in which it came
change nothing. A sentence is given out when the next one has begun and nothing that began in it (a marker, a link, a
tag) can still go on; what is no sentence of an answer is left out and told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from fonte.text import markers
from fonte.text.sentences import sentences
from fonte.types import Language

_HEAD = 48
"""Characters of a line by which it is told what it is."""
_LISTED_HEAD = 160
"""The same of a line that begins like an entry of a list of sources."""
_LONGEST = 2000
"""Characters after which a sentence that does not end is given out all the same."""
_LONGEST_LINK = 600
_LONGEST_MARKER = 200
_LONGEST_SCRIPT = 4000
_SCRIPTS = re.compile(r"<(script|style|iframe|svg|object|template)\b|<!--", re.IGNORECASE)

_WORDS = (
    r"(?:sources?(?:\s+(?:used|cited))?|references?|citations?|footnotes?|bibliography|works\s+cited|"
    r"font[ei](?:\s+(?:usate|citate))?|riferimenti(?:\s+bibliografici)?|bibliografia|citazioni)"
)
_LIST_TITLE = re.compile(rf"[\W_]*{_WORDS}[\W_]*", re.IGNORECASE)
_LIST_LINE = re.compile(rf"[\W_]*{_WORDS}\s*[*_]*\s*:[\s*_]*(?P<rest>\S.*)", re.IGNORECASE)
_ENTRY = re.compile(
    r"\s*(?:[-*+•>]\s*)?(?:\[\^?\d{1,4}\]|\(?\d{1,3}[.)](?:\s|$)|https?:|www\.|sources?\b|font[ei]\b)", re.IGNORECASE
)
_BULLET = re.compile(r"\s*[-*+•]\s")
_MARKED = re.compile(r"\s*(?:[-*+•]\s*)?\[\^?\d{1,4}\]:?\s*(?P<rest>.*)")
_FRAME = re.compile(r"\W*\[\s*(?:SOURCE|FONTE)\s+\d+\s*(?:\||\s[0-9a-f]{6,}|[^\]]*\|)", re.IGNORECASE)
_FRAME_END = re.compile(r"\W*\[?\s*/\s*(?:SOURCE|FONTE)\s+\d+", re.IGNORECASE)
_ASKED = re.compile(r"[\W_]*(?:question|domanda)\s*[*_]*\s*:", re.IGNORECASE)
_FENCE = re.compile(r"\s*(?:```|~~~)\s*\w*\s*")
_ANSWERING = re.compile(
    r"[\s*_#]*(?:(?:(?:the\s+)?(?:final\s+)?answer(?:\s+is)?|(?:la\s+)?risposta(?:\s+finale)?(?:\s+è)?)\s*[*_]*\s*:|"
    r"(?:the\s+)?answer\s+to\s+(?:this|the|your)\s+question\s+is(?:\s+that\b|\s*:)?|"
    r"(?:la\s+)?risposta\s+(?:alla|a\s+questa)\s+domanda\s+è(?:\s+che\b|\s*:)?)[\s*_]*",
    re.IGNORECASE,
)
"""Words that frame an answer and are none of it: they would count as words that a passage holds."""
_MARKUP = re.compile(r"^(?:\s*(?:#{1,6}\s+|>\s+|[-*+•]\s+))+")
_STRONG = re.compile(r"(?<!\d)\*\*(?!\d)|(?<!\w)__(?=\w)|(?<=\w)__(?!\w)")
_LETTERS = re.compile(r"[^\W_]+")
_ENDED = re.compile(r"[^\d\s][.!?…][\"'”’»)*_]*(?:\s*\[\^?\d{1,4}\])*\s*\Z")
_BEGINS = re.compile(r"[\W_]*[^\W_]")


def ends_whole(text: str) -> bool:
    """Whether a text that was cut off ends where a sentence does: with a stop that no figure can go on from."""
    return _ENDED.search(text) is not None


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence without its markers, and the numbers that it carried, as written: nothing is known of them."""

    text: str
    markers: tuple[int, ...]


def bare(text: str) -> str:
    """The words of a text, in small letters: what two texts are compared by."""
    return " ".join(_LETTERS.findall(text.casefold()))


@dataclass(slots=True)
class DraftReader:
    """One draft, read as it comes. ``removed`` and ``notes`` tell what was left out, in order."""

    language: Language
    echoes: frozenset[str] = frozenset()
    """Sentences of the prompt (as ``bare`` gives them), which a model may repeat and an answer does not hold."""
    names: frozenset[str] = frozenset()
    """Names and titles of the sources (as ``bare``), as a list of sources holds them."""
    removed: list[str] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)
    """What was done to the draft, and how often."""
    _line: str = ""
    """Of the present line, what is held until it is known what it is."""
    _flowing: bool = False
    _dropping: bool = False
    """The rest of the present line is left out."""
    _skipping: str = ""
    """``source`` in a copied source, ``list`` in a list of sources."""
    _pending: str = ""
    _worded: bool = False
    """Whether a letter or figure came since a sentence was last looked for: without one, none has begun."""
    _heard: set[str] = field(default_factory=set)

    def feed(self, piece: str) -> list[Said]:
        """Sentences that are whole with this piece."""
        found: list[Said] = []
        for raw in piece:
            character = markers.plain(raw)
            if not character:
                if raw != "\r":
                    self.note("characters that are not seen were removed")
                continue
            self._worded = self._worded or character.isalnum()
            if self._take(character) and self._worded:
                self._worded = False
                found += self._whole(last=False)
        return found

    def end(self, *, broken: bool = False) -> list[Said]:
        """What is left when the draft has ended; of one that broke off the last sentence is not given out."""
        if not self._flowing and not self._dropping:
            self._decide(ended=not broken)
        return self._whole(last=not broken)

    def note(self, what: str) -> None:
        """Count something that was done to the draft."""
        self.notes[what] = self.notes.get(what, 0) + 1

    # --- lines -----------------------------------------------------------------------------------------------------

    def _take(self, character: str) -> bool:
        """Take one character in; whether a sentence may have become whole."""
        if character == "\n":
            if not self._flowing and not self._dropping:
                self._decide(ended=True)
            if not self._dropping:
                self._end_line()
            self._line, self._flowing, self._dropping = "", False, False
            return True
        if self._dropping:
            self.removed[-1] += character
            return False
        if self._flowing:
            self._pending += character
            return character == " "
        self._line += character
        if len(self._line) >= (_LISTED_HEAD if _ENTRY.match(self._line) else _HEAD):
            self._decide(ended=False)
        return False

    def _end_line(self) -> None:
        """Blank lines behind the first say nothing more, and a model that rambles writes thousands."""
        kept = self._pending.rstrip(" ")
        self._pending = kept if kept.endswith("\n\n") else (kept if kept.endswith("\n") else self._pending) + "\n"

    def _decide(self, *, ended: bool) -> None:
        """What the present line is, by what is held of it: it flows on, or it is dropped."""
        line, self._line = self._line, ""
        why = self._unwanted(line, ended=ended)
        if why:
            self._dropping = True
            self.removed.append(line)
            self.note(why)
        else:
            self._flowing = True
            self._pending += line

    def _unwanted(self, line: str, *, ended: bool) -> str:
        """Why the line is no part of an answer; empty when it is one."""
        if self._skipping == "source":
            if _FRAME_END.match(line):
                self._skipping = ""
            return "a copied source was removed"
        if self._skipping == "list" and line.strip():
            if _ENTRY.match(line) or _BULLET.match(line) or self._names_source(line):
                return "a list of sources was removed"
            self._skipping = ""
        if _FRAME.match(line):
            self._skipping = "source"
            return "a copied source was removed"
        if _FRAME_END.match(line):
            return "a copied source was removed"
        if _ASKED.match(line):
            return "the prompt repeated was removed"
        if ended and _FENCE.fullmatch(line):
            return "a fence was removed"
        return self._listing(line, ended=ended)

    def _listing(self, line: str, *, ended: bool) -> str:
        told = "a list of sources was removed"
        if ended and _LIST_TITLE.fullmatch(line):
            self._skipping = "list"
            return told
        titled = _LIST_LINE.match(line)
        if titled and (_ENTRY.match(titled.group("rest")) or self._names_source(titled.group("rest"))):
            self._skipping = "list"
            return told
        marked = _MARKED.match(line)
        if marked and (self._names_source(marked.group("rest")) or marked.group("rest").startswith(("http", "<http"))):
            return told
        return ""

    def _names_source(self, text: str) -> bool:
        words = bare(text)
        return any(words == name or words.startswith(f"{name} p ") for name in self.names if name)

    # --- sentences -------------------------------------------------------------------------------------------------

    def _whole(self, *, last: bool) -> list[Said]:
        if not last and (len(self._pending) < _LONGEST and _open(self._pending)):
            return []
        text = markers.normalised(markers.unlinked(self._pending, self.removed.append), self.removed.append)
        spans = sentences(text, self.language)
        if last:
            self._pending = ""
            return list(self._said(text[start:end] for start, end in spans))
        going_on = spans[-1] if spans else (len(text), len(text))
        begun = len(spans) > 1 and _BEGINS.match(markers.MARKER.sub("", text[going_on[0] :]))
        if not begun and len(text) > _LONGEST:
            going_on = (len(text), len(text))
        elif not begun:
            self._pending = text
            return []
        self._pending = text[going_on[0] :]
        return list(self._said(text[start:end] for start, end in spans if start < going_on[0]))

    def _said(self, raw: Iterable[str]) -> Iterator[Said]:
        for one in raw:
            unmarked = _STRONG.sub("", _ANSWERING.sub("", _MARKUP.sub("", one), count=1))
            body, numbers = markers.taken(unmarked, self.removed.append)
            words = bare(body)
            if not words:
                continue
            if words in self.echoes:
                self._drop(one, "the prompt repeated was removed")
            elif words in self._heard:
                self._drop(one, "a sentence said again was removed")
            else:
                self._heard.add(words)
                yield Said(body, numbers)

    def _drop(self, text: str, why: str) -> None:
        self.removed.append(text.strip())
        self.note(why)


def _open(text: str) -> bool:
    """Whether something at the end of the text may still go on: a marker, a link, a tag."""
    at = text.rfind("[")
    if at > text.rfind("]") and len(text) - at < _LONGEST_MARKER:
        return True
    at = text.rfind("](")
    if at >= 0 and ")" not in text[at:] and len(text) - at < _LONGEST_LINK:
        return True
    for match in _SCRIPTS.finditer(text):
        ending = f"</{match.group(1)}" if match.group(1) else "-->"
        if ending not in text[match.end() :].lower() and len(text) - match.start() < _LONGEST_SCRIPT:
            return True
    at = text.rfind("<")
    begun = at >= 0 and text[at + 1 : at + 2].strip("/!?abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
    return begun and ">" not in text[at:] and len(text) - at < _LONGEST_LINK
