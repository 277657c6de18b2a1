"""How far a text that was read is from the one that was written."""

from __future__ import annotations


def distance(one: str, other: str, band: int) -> int:
    """Levenshtein's, within a band around the diagonal."""
    far = len(one) + len(other)
    before = {at: at for at in range(band + 1)}
    for row, character in enumerate(one, 1):
        now: dict[int, int] = {}
        for at in range(max(row - band, 0), min(row + band, len(other)) + 1):
            best = before.get(at, far) + 1
            if at:
                best = min(best, now.get(at - 1, far) + 1, before.get(at - 1, far) + (other[at - 1] != character))
            now[at] = best
        before = now
    return before.get(len(other), far)
