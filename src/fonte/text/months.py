"""Names of the months, in English and Italian."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MONTHS: Mapping[str, int] = MappingProxyType(
    {
        name: number
        for names in (
            "january february march april may june july august september october november december",
            "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
            "jan feb mar apr may jun jul aug sep oct nov dec",
            "gen feb mar apr mag giu lug ago set ott nov dic",
        )
        for number, name in enumerate(names.split(), 1)
    }
    | {"sept": 9, "sett": 9}
)
"""Small letters, whole and short, to the month's number from 1."""
