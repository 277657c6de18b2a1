"""Columns that say how many of a row's thing there are: nine laptops in one row are nine, not one."""

from __future__ import annotations

from typing import Final

from fonte.computed.grid import Table
from fonte.computed.values import fold

_NAMES: Final = frozenset(
    " ".join(name.split())
    for name in (
        "quantity,quantities,qty,count,counts,number,num,nr,no,n,pieces,pcs,units,stock,amount of items,"
        "number of items,number of pieces,number of units,no of items,no of pieces,no of units,item count,unit count,"
        "in stock,units in stock,pieces in stock,quantity in stock,qty in stock,stock quantity,stock level,on hand,"
        "quantity on hand,qty on hand,total quantity,total units,"
        "quantita,q ta,qta,qt,numero,pezzi,pz,unita,scorta,scorte,giacenza,giacenze,numero pezzi,numero di pezzi,"
        "n pezzi,n unita,numero unita,numero di unita,numero articoli,numero di articoli,quantita disponibile,"
        "quantita in giacenza,quantita in magazzino,quantita totale,in giacenza,pezzi in giacenza,scorte in magazzino"
    ).split(",")
)  # fmt: skip
_ORDINALS: Final = frozenset({"number", "num", "nr", "no", "n", "numero"})
"""Names that number rows as well."""


def quantity_columns(table: Table) -> tuple[int, ...]:
    """Columns of numbers whose name says that they count things."""
    return tuple(
        at
        for at, name in enumerate(table.names)
        if (said := fold(name.split("(")[0])) in _NAMES
        and table.typed[at].kind == "number"
        and not (said in _ORDINALS and _numbers_rows(table, at))
    )


def _numbers_rows(table: Table, column: int) -> bool:
    """Whether a column may only number the rows: it stands first, or runs 1, 2, 3 over them."""
    return column == 0 or list(table.columns[column]) == [str(at) for at in range(1, len(table.rows) + 1)]
