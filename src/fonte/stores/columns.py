"""Many small records as a few columns of bytes: a 500-page PDF has a quarter of a million places.

Nothing is compressed here; whoever keeps the columns compresses them together.
"""

from __future__ import annotations

import json
import struct
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

_Numbers = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]
_SCALES = (1, 100, 1000)
"""Decimal fractions that are tried before a column is kept as 64-bit floats."""


def pack(parts: Sequence[bytes]) -> bytes:
    """Byte strings as one, each behind its length."""
    return b"".join(struct.pack("<I", len(part)) + part for part in parts)


def unpack(data: bytes) -> list[bytes]:
    """The byte strings of ``pack``.

    Raises:
        ValueError: lengths that do not fit.
    """
    parts, at = [], 0
    while at < len(data):
        if at + 4 > len(data):
            raise ValueError("a packed column is cut")
        (size,) = struct.unpack_from("<I", data, at)
        at += 4
        if at + size > len(data):
            raise ValueError("a packed column is cut")
        parts.append(data[at : at + size])
        at += size
    return parts


def put_integers(values: Iterable[int]) -> bytes:
    """Integers as deltas."""
    numbers = np.fromiter(values, np.int64)
    if not numbers.size:
        return b"i"
    deltas = numbers.copy()
    deltas[1:] -= numbers[:-1]
    narrow = bool(np.abs(deltas).max() < 2**31)
    kind = b"i" if narrow else b"q"
    return kind + deltas.astype("<i4" if narrow else "<i8").tobytes()


def get_integers(data: bytes) -> npt.NDArray[np.int64]:
    """The integers of ``put_integers``."""
    raw = np.frombuffer(data, "<i4" if data[:1] == b"i" else "<i8", offset=1)
    return np.cumsum(raw, dtype=np.int64)


def put_floats(values: Sequence[float]) -> bytes:
    """Floats, to the last bit: as scaled integers where every one is a short decimal fraction, else as they are."""
    if not values:
        return struct.pack("<i", 1) + b"i"
    numbers = np.asarray(values, np.float64)
    for scale in _SCALES:
        with np.errstate(over="ignore"):
            scaled = np.round(numbers * scale)
        if bool(np.all(np.abs(scaled) < 2**31)) and bool(np.all(scaled / scale == numbers)):
            negative_zero = bool(np.any((numbers == 0) & np.signbit(numbers)))
            if not negative_zero:
                return struct.pack("<i", scale) + put_integers(scaled.astype(np.int64).tolist())
    return struct.pack("<i", 0) + numbers.astype("<f8").tobytes()


def get_floats(data: bytes) -> npt.NDArray[np.float64]:
    """The floats of ``put_floats``."""
    (scale,) = struct.unpack_from("<i", data)
    if scale:
        return np.asarray(get_integers(data[4:]) / scale, np.float64)
    return np.frombuffer(data, "<f8", offset=4)


def put_choices(values: Sequence[str | None]) -> bytes:
    """Strings (and None) that repeat, as codes into the distinct ones."""
    codes: dict[str | None, int] = {}
    coded = [codes.setdefault(value, len(codes)) for value in values]
    table = json.dumps(list(codes), ensure_ascii=False).encode("utf-8", "surrogatepass")
    return pack([table, put_integers(coded)])


class Choices:
    """The values of ``put_choices``."""

    __slots__ = ("_codes", "_values")

    def __init__(self, values: Sequence[str | None], codes: Integers) -> None:
        self._values, self._codes = values, codes

    @classmethod
    def of(cls, data: bytes, rows: int) -> Choices:
        """Read ``rows`` values.

        Raises:
            ValueError: another number of rows, or a code without a value.
        """
        table, packed = unpack(data)
        values: list[str | None] = json.loads(table.decode("utf-8", "surrogatepass"))
        codes = get_integers(packed)
        if codes.size != rows or bool(np.any((codes < 0) | (codes >= len(values)))):
            raise ValueError("a column of names is damaged")
        return cls(values, codes)

    def at(self, row: int) -> str | None:
        """The value of a row."""
        return self._values[int(self._codes[row])]


def put_optional(values: Sequence[Any], put: Any) -> bytes:
    """A column that may hold None: which rows have a value, then the values."""
    present = np.fromiter((value is not None for value in values), np.bool_, len(values))
    return pack([np.packbits(present).tobytes(), put([value for value in values if value is not None])])


class Column:
    """The values of ``put_optional``: numbers, or rows of numbers, each of them present or None."""

    __slots__ = ("_present", "_values")

    def __init__(self, present: npt.NDArray[np.bool_] | None, values: _Numbers) -> None:
        self._present, self._values = present, values

    @classmethod
    def integers(cls, data: bytes, rows: int) -> Column:
        """A column of ``put_integers``."""
        return cls.spread(data, get_integers(unpack(data)[1]), rows)

    @classmethod
    def floats(cls, data: bytes, rows: int) -> Column:
        """A column of ``put_floats``."""
        return cls.spread(data, get_floats(unpack(data)[1]), rows)

    @classmethod
    def spread(cls, data: bytes, values: _Numbers, rows: int) -> Column:
        """``values`` spread over the rows that ``data`` says have one.

        Raises:
            ValueError: another number of values.
        """
        present = np.unpackbits(np.frombuffer(unpack(data)[0], np.uint8), count=rows).astype(np.bool_)
        if int(present.sum()) != len(values):
            raise ValueError("a column has lost values")
        if present.all():
            return cls(None, values)
        full = np.zeros((rows, *values.shape[1:]), values.dtype)
        full[present] = values
        return cls(present, full)

    def at(self, row: int) -> Any:
        """A row's value, or None."""
        return self._values[row].tolist() if self._present is None or self._present[row] else None

    def tolist(self) -> list[Any]:
        """All values."""
        values: list[Any] = self._values.tolist()
        if self._present is None:
            return values
        return [value if there else None for value, there in zip(values, self._present.tolist(), strict=True)]


def build(kind: type[Any], columns: Sequence[tuple[str, Iterable[Any]]], rows: int) -> tuple[Any, ...]:
    """``rows`` records of a slotted dataclass from all of its columns, without running its checks one by one.

    Setting slots column by column keeps the loop in C: it takes a fifth of the time of constructors.
    The caller has checked the columns as a whole.
    """
    records = list(map(object.__new__, repeat(kind, rows)))
    for name, column in columns:
        deque(map(getattr(kind, name).__set__, records, column), maxlen=0)
    return tuple(records)
