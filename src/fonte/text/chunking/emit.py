"""Ranges to finished chunks: headers, exact token counts, language, and the encoder's window as a hard limit."""

from __future__ import annotations

from fonte.protocols import Tokenizer
from fonte.text.chunking.header import fitting_header, heading_line
from fonte.text.cuts import safe_cut, trim, word_cut
from fonte.text.language import SURE, VERY_SURE, detect
from fonte.text.normalise import search_form
from fonte.types import UNKNOWN_LANGUAGE, Chunk, Document, Language, Recipe, chunk_id

_OWN_LANGUAGE_CHARACTERS = 200
"""From this many characters a chunk's own language is detected; shorter ones take the document's."""
_MIXED_CHARACTERS = 60
"""The same for a document whose own language is not known."""
_LANGUAGE_SAMPLE = 320
"""Characters in a chunk's middle that tell its language: detection would cost more than all the rest otherwise."""


class Emitter:
    """Collects the chunks of one document."""

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer, document: Document) -> None:
        self._recipe = recipe
        self._id = recipe.id
        self._tokenizer = tokenizer
        self._document = document
        self._headers: dict[tuple[str, ...], tuple[str, int]] = {}
        self._ranges: set[tuple[int, int]] = set()
        self._counted = ("", 0)
        chunking = recipe.chunking
        self.in_tokens = chunking.unit == "tokens" or chunking.strategy == "tokens"
        window = tokenizer.window - tokenizer.overhead
        self.limit = min(chunking.size - tokenizer.overhead, window) if self.in_tokens else window
        """Tokens for header and content together; in characters mode the encoder's window, size counting content."""
        self.chunks: list[Chunk] = []

    def count(self, text: str) -> int:
        """Tokens of a text without prefix and special tokens."""
        return self._tokenizer.count(text)

    def context(self, path: tuple[str, ...]) -> str:
        """The section's header, shortened to half the budget; "" when the recipe wants none."""
        return self._header(path)[0]

    def header_cost(self, path: tuple[str, ...]) -> int:
        """Tokens of the section's header."""
        return self._header(path)[1]

    def is_whole(self, path: tuple[str, ...]) -> bool:
        """Whether the section's header holds every heading of its path unshortened."""
        return bool(path) and self.context(path) == heading_line(self._document.title, path)

    def emit(self, start: int, end: int, path: tuple[str, ...], context: str) -> None:
        """Add the chunk of a range, trimmed; halved, and halved again, where it passes the encoder's window.

        A range that is there already (two overlapping windows that differ in white space only) is not added twice,
        and one of invisible characters only not at all: there is nothing to search.
        """
        text = self._document.text
        start, end = trim(text, start, end)
        if start >= end or (start, end) in self._ranges:
            return
        content = text[start:end]
        if not any(map(str.isalnum, content)) and not search_form(content):
            return
        tokens = self._tokens(content, context)
        if tokens > self._tokenizer.window:
            if end - start > 1:
                cut = self._middle(start, end)
                self.emit(start, cut, path, context)
                self.emit(cut, end, path, context)
                return
            if context:
                self.emit(start, end, path, "")
                return
        self._ranges.add((start, end))
        self.chunks.append(
            Chunk(
                id=chunk_id(self._document.id, self._document.version, self._id, start, end),
                document_id=self._document.id,
                index=len(self.chunks),
                start=start,
                end=end,
                content=content,
                context=context,
                section=path,
                language=self._language(content),
                tokens=tokens,
                header_tokens=self._tokenizer.count(context) if context else 0,
            )
        )

    def fits(self, start: int, end: int, context: str) -> bool:
        """Whether the encoder reads the range with its header in one window."""
        return self._tokens(self._document.text[start:end], context) <= self._tokenizer.window

    def _tokens(self, content: str, context: str) -> int:
        """Tokens of what is embedded: of its search form, which NFKC can make longer, and the encoder's own."""
        embedded = f"{context}\n{content}" if context else content
        if embedded != self._counted[0]:
            self._counted = embedded, self._tokenizer.count(search_form(embedded)) + self._tokenizer.overhead
        return self._counted[1]

    def _middle(self, start: int, end: int) -> int:
        """A cut near the middle, at white space when there is some, that leaves both halves something."""
        text, middle = self._document.text, (start + end) // 2
        cut = word_cut(text, start, middle)
        if cut - start < (end - start) // 4:
            cut = safe_cut(text, start, middle)
        return cut if start < cut < end else max(start + 1, middle)

    def _header(self, path: tuple[str, ...]) -> tuple[str, int]:
        if not self._recipe.chunking.header:
            return "", 0
        known = self._headers.get(path)
        if known is None:
            known = fitting_header(self._document.title, path, self.limit // 2, self._tokenizer.count)
            self._headers[path] = known
        return known

    def _language(self, content: str) -> Language:
        # A document in several languages has none; each of its chunks is judged by what it is.
        mixed = self._document.language == UNKNOWN_LANGUAGE
        if len(content) < (_MIXED_CHARACTERS if mixed else _OWN_LANGUAGE_CHARACTERS):
            return self._document.language
        middle = max(0, (len(content) - _LANGUAGE_SAMPLE) // 2)
        sample = content[middle : middle + _LANGUAGE_SAMPLE]
        return detect(sample, default=self._document.language, sureness=SURE if mixed else VERY_SURE)
