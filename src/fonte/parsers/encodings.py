"""Bytes to text: the whole file is looked at, never only its head.

Order: byte order mark, UTF-8, the NUL pattern of UTF-16 and UTF-32, what the file declares, UTF-8 with a few broken
bytes, Windows-1252 where its accented letters make sense, and charset-normalizer over every line that is not ASCII.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE_BYTES = 65_536
_CONTROLS = bytes([*range(1, 9), *range(14, 27), *range(28, 32), 127])
_BINARY_SHARE = 0.01
_STRAY_NULS = 4
_MANY, _SOME, _FEW = 0.7, 0.3, 0.02
"""Shares of NULs at one position of two or four bytes."""
_ACCENTED_SHARE = 0.25
_FREE_ACCENTS = 3
_WESTERN = frozenset(
    "àâäáãåæçèéêëìíîïñòóôöõøùúûüýÿßœšžÀÂÄÁÃÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÖÕØÙÚÛÜÝŒ“”‘’‚„–—…•€«»‹›°§©®™·£½¼¾²³¹ªº¿¡±×÷µ¶´¨\u00a0\u00ad"
)
_SIGN_INSIDE_WORD = re.compile(r"[a-zà-ÿ][¹³¿¼¾£±¶§][a-zà-ÿ]")
_UTF8_MULTIBYTE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text out of bytes, its encoding, and how many bytes had to be replaced by U+FFFD."""

    text: str
    encoding: str
    replaced: int = 0


def decode(body: bytes, *, declared: str | None = None) -> Decoded | None:
    """The text of ``body``, or None when it is not text.

    Args:
        body: the whole file.
        declared: an encoding that the file claims (HTML's meta, for instance); it is believed only when it fits.
    """
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return _decode_marked(body, encoding)
    if b"\0" in body:
        return _decode_with_nuls(body)
    return None if _looks_binary(body) else _decode_unmarked(body, declared)


def _decode_unmarked(body: bytes, declared: str | None = None) -> Decoded:
    codec = _known_codec(declared)
    if codec in {"iso2022_jp", "hz"}:  # seven-bit encodings are valid UTF-8 too
        decoded = _strict(body, codec)
        if decoded is not None:
            return decoded
    decoded = _strict(body, "utf-8")
    if decoded is not None:
        return decoded
    if codec is not None:
        decoded = _strict(body, codec)
        if decoded is not None and not _has_c1_controls(decoded.text):
            return decoded
    return _damaged_utf8(body) or _western(body) or _guessed(body)


def normalise_newlines(text: str) -> str:
    r"""The text with ``\r\n`` and ``\r`` as ``\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _strict(body: bytes, encoding: str) -> Decoded | None:
    try:
        return Decoded(body.decode(encoding), encoding)
    except (UnicodeError, LookupError):
        return None


def _decode_marked(body: bytes, encoding: str) -> Decoded:
    strict = _strict(body, encoding)
    if strict is not None:
        return strict
    text = body.decode(encoding, "replace")
    return Decoded(text, encoding, max(1, text.count("\ufffd")))


def _decode_with_nuls(body: bytes) -> Decoded | None:
    """UTF-32 and UTF-16 by where the NULs stand; else text with stray NULs, else None."""
    shares = [body[offset::4].count(0) / max(1, len(body[offset::4])) for offset in range(4)]
    if min(shares[1:]) > _MANY and shares[0] < _SOME:
        return _strict(body, "utf-32-le") or _strict(body[: len(body) // 4 * 4], "utf-32-le")
    if min(shares[:3]) > _MANY and shares[3] < _SOME:
        return _strict(body, "utf-32-be")
    even, odd = (shares[0] + shares[2]) / 2, (shares[1] + shares[3]) / 2
    for low, high, encoding in ((even, odd, "utf-16-le"), (odd, even, "utf-16-be")):
        surely = high > _SOME or (high > _FEW and _strict(body, "utf-8") is None)  # East Asian text has few NULs
        if surely and low < high / 10:
            decoded = _strict(body, encoding)
            if decoded is not None and not _mostly_odd(decoded.text):
                return decoded
    nuls = body.count(0)
    few = nuls <= _BINARY_SHARE * len(body) or (nuls <= _STRAY_NULS and nuls < len(body) / 8)
    if not few or _looks_binary(body.replace(b"\0", b"")):
        return None
    decoded = _decode_unmarked(body.replace(b"\0", b"\x1a"))  # SUB: a control character that text does not use either
    stray = decoded.text.count("\x1a")
    return Decoded(decoded.text.replace("\x1a", "\ufffd"), decoded.encoding, decoded.replaced + stray)


def _mostly_odd(text: str) -> bool:
    """Whether text of a two-byte encoding holds what no writer writes: unassigned and private characters."""
    odd = sum(1 for character in text[:_SAMPLE_BYTES] if not character.isprintable() and not character.isspace())
    return odd > 0.05 * min(len(text), _SAMPLE_BYTES)


def _looks_binary(body: bytes) -> bool:
    controls = len(body) - len(body.translate(None, _CONTROLS))
    return controls > _BINARY_SHARE * len(body)


def _known_codec(name: str | None) -> str | None:
    """Python's name of a declared encoding; Latin-1 means Windows-1252, as in every browser."""
    if not name:
        return None
    try:
        codec = codecs.lookup(name.strip().strip("\"'")).name
    except (LookupError, ValueError):
        return None
    if not codecs.lookup(codec)._is_text_encoding:  # noqa: SLF001 - the only way to tell rot13 and zlib from encodings
        return None
    return {"iso8859-1": "cp1252", "ascii": "cp1252"}.get(codec, codec)


def _has_c1_controls(text: str) -> bool:
    return re.search(r"[\x80-\x84\x86-\x9f]", text) is not None


def _damaged_utf8(body: bytes) -> Decoded | None:
    """UTF-8 in which a few bytes are broken: many whole sequences, few others."""
    whole = sum(1 for _ in _UTF8_MULTIBYTE.finditer(body))
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd") - body.count(b"\xef\xbf\xbd")
    return Decoded(text, "utf-8", broken) if whole >= 10 * broken else None


def _western(body: bytes) -> Decoded | None:
    """Windows-1252, when its letters beyond ASCII are few and are those of western languages."""
    decoded = _strict(body, "cp1252")
    if decoded is None:
        return None
    others = [character for character in decoded.text if character > "\x7f"]
    letters = sum(map(str.isalpha, decoded.text))
    accented = sum(map(str.isalpha, others))
    if not _WESTERN.issuperset(others) or accented > max(_FREE_ACCENTS, _ACCENTED_SHARE * letters):
        return None
    lowered = decoded.text.lower()
    return None if _SIGN_INSIDE_WORD.search(lowered) else decoded


def _guessed(body: bytes) -> Decoded:
    """What charset-normalizer makes of every line that is not ASCII (spread over the file when they are many)."""
    from charset_normalizer import from_bytes

    for match in from_bytes(_telling_lines(body)):
        decoded = _strict(body, match.encoding)
        if decoded is not None and not _has_c1_controls(decoded.text):
            return decoded
    text = body.decode("cp1252", "replace")
    return Decoded(text, "cp1252", text.count("\ufffd"))


def _telling_lines(body: bytes) -> bytes:
    lines = [line for line in body.splitlines(keepends=True) if not line.isascii()]
    size = sum(map(len, lines))
    if size > _SAMPLE_BYTES:
        step = size // _SAMPLE_BYTES + 1
        lines = [line[:_SAMPLE_BYTES] for line in lines[::step]]
    return b"".join(lines)[: 4 * _SAMPLE_BYTES]
