"""Golden sets out of files: our YAML form and folders in BEIR layout, with every fault that they have.

Reading never stops at the first fault and never gives half a set: a `Reading` holds the whole set, or what is wrong.
"""

from __future__ import annotations

from pathlib import Path

from fonte.errors import InputError
from fonte.evaluation.golden import GoldenSet
from fonte.evaluation.golden_beir import read_folder
from fonte.evaluation.golden_reading import Reading
from fonte.evaluation.golden_yaml import read_file

__all__ = ["Reading", "load_golden", "read_golden"]


def read_golden(path: Path) -> Reading:
    """A golden set out of a YAML file or a folder in BEIR layout, or all that is wrong with it; nothing is raised.

    Codes of faults: ``unreadable``, ``encoding``, ``too_large``, ``yaml``, ``json``, ``shape`` (a key or a value that
    should be otherwise), ``duplicate_id``, ``incomplete``, ``no_relevant`` (answerable, but by nothing),
    ``not_answerable`` (answered by something all the same), ``not_relevant``, ``grade``,
    ``unknown_query``, ``span_mismatch``, ``no_document``, ``empty_set``.
    """
    return read_folder(path) if path.is_dir() else read_file(path)


def load_golden(path: Path) -> GoldenSet:
    """A golden set out of a YAML file, or a folder in BEIR layout.

    Raises:
        InputError: a missing file, a line that cannot be read, an unknown key, a question that contradicts itself: the
            first fault, and how many there are.
    """
    reading = read_golden(path)
    if reading.golden is not None:
        return reading.golden
    first, others = reading.faults[0], len(reading.faults) - 1
    more = f" (and {others} more: fonte golden check tells all)" if others else ""
    raise InputError(f"{first}{more}", hint=first.hint or "correct that line of the golden set")
