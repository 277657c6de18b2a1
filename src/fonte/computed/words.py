"""Words of questions that ask for something computed, English and Italian, folded.

A word that stands in none of these lists, and in no name or cell of the table either, was not understood: nothing is
computed then.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

Phrase = tuple[str, ...]


class Operation(StrEnum):
    """What is computed."""

    COUNT = "count"
    SUM = "sum"
    AVERAGE = "average"
    MEDIAN = "median"
    HIGHEST = "highest"
    LOWEST = "lowest"
    LOOKUP = "lookup"


class Comparison(StrEnum):
    """How a cell is compared."""

    OVER = "over"
    FROM = "from"
    UNDER = "under"
    TO = "to"
    BETWEEN = "between"


def _phrases(text: str) -> list[Phrase]:
    return [tuple(part.split()) for part in text.split(",")]


def _spread(kinds: Mapping[object, str]) -> dict[Phrase, object]:
    return {phrase: kind for kind, text in kinds.items() for phrase in _phrases(text)}


OPERATIONS: Final[dict[Phrase, object]] = _spread(
    {
        (Operation.COUNT, ""): "how many,number of,count of,count,quanti,quante,numero di,numero dei,numero degli,"
        "numero delle,numero d,conta,contare,conteggio",
        (
            Operation.SUM,
            "",
        ): "total,sum,totale,somma,complessivo,complessiva,complessivi,complessive,overall,altogether,"
        "in total,in totale,in tutto,in all",
        (Operation.LOOKUP, ""): "how much,quanto,quanta",
        (Operation.AVERAGE, ""): "average,mean,media,medio,on average,in media",
        (Operation.MEDIAN, ""): "median,mediana,mediano",
        (Operation.HIGHEST, ""): "highest,largest,greatest,biggest,maximum,longest,piu alto,piu alta,piu alti,piu alte,"
        "piu grande,piu elevato,piu elevata,massimo,massima,maggiore,piu lungo,piu lunga",
        (Operation.HIGHEST, "money"): "most expensive,dearest,piu caro,piu cara,piu costoso,piu costosa",
        (Operation.HIGHEST, "date"): "latest,newest,most recent,piu recente,piu nuovo,piu nuova",
        (Operation.LOWEST, ""): "lowest,smallest,minimum,shortest,piu basso,piu bassa,piu bassi,piu basse,piu piccolo,"
        "piu piccola,minimo,minima,minore,piu breve,piu corto,piu corta",
        (Operation.LOWEST, "money"): "cheapest,least expensive,piu economico,piu economica,meno caro,meno cara,"
        "meno costoso,meno costosa",
        (Operation.LOWEST, "date"): "earliest,oldest,piu vecchio,piu vecchia,meno recente",
    }
)
"""To (operation, kind of the column where the word says it)."""

COMPARISONS: Final[dict[Phrase, object]] = _spread(
    {
        Comparison.OVER: "more than,over,above,greater than,higher than,larger than,longer than,exceeding,after,"
        "later than,piu di,piu che,oltre,sopra,superiore a,superiori a,maggiore di,maggiori di,maggiore a,maggiori a,"
        "piu alto di,piu alta di,piu alti di,piu alte di,dopo,successivo a,successiva a,successivi a,successive a",
        Comparison.FROM: "at least,not less than,no less than,no fewer than,since,starting from,almeno,non meno di,"
        "a partire da,a partire dal,dal",
        Comparison.UNDER: "less than,fewer than,under,below,lower than,smaller than,shorter than,before,earlier than,"
        "prior to,meno di,meno che,sotto,inferiore a,inferiori a,minore di,minori di,minore a,minori a,piu basso di,"
        "piu bassa di,piu bassi di,piu basse di,prima di,prima del,prima dell,precedente a,precedenti a",
        Comparison.TO: "at most,up to,not more than,no more than,until,al massimo,fino a,fino al,non piu di,non oltre,"
        "entro,entro il",
        Comparison.BETWEEN: "between,tra,fra,compreso tra,compresi tra,comprese tra,compresa tra",
    }
)
AFTERWARDS: Final[dict[Phrase, object]] = _spread(
    {
        Comparison.FROM: "or more,or above,or over,or later,and more,and above,o piu,o oltre,e oltre,in su,o superiore",
        Comparison.TO: "or less,or fewer,or under,or earlier,o meno,in giu,o inferiore",
    }
)
"""The same, said after the number."""

NEGATIONS: Final = frozenset(
    _phrases("not,non,except,excluding,other than,tranne,eccetto,salvo,esclusi,escluse,escluso,esclusa,diverso da,"
             "diversa da,diversi da,diverse da")
)  # fmt: skip
MISSING: Final = frozenset(
    _phrases("without,without any,without a,with no,with an empty,have no,has no,senza,senza una,senza un,non hanno,"
             "privi di,prive di,con nessun,con nessuna")
)  # fmt: skip
"""Before a column's name: its cell is empty."""
DIFFERENT: Final = frozenset(
    "different distinct unique diverso diversi diverse diversa differenti distinti distinte".split()
)
EITHER: Final = frozenset("or o od oppure".split())
BOTH: Final = frozenset("and e ed".split())
LISTS: Final = frozenset(
    "row rows riga righe record records entry entries voce voci line lines item items elemento elementi".split()
)
"""Words for a table's rows, whatever the table holds."""
THINGS: Final = frozenset("item items elemento elementi".split())
"""Those of them that also mean what a row tells the quantity of."""
KINDS: Final = frozenset(
    "table tables tabella tabelle list elenco lista file sheet foglio register registro spreadsheet csv data".split()
)
"""Words for tables, whatever they hold."""
GLUE: Final = frozenset(
    "a an the of in on at for from to with by as is are was were be been has have had do does did there that which "
    "who whose what when where it its this these those all any s please tell me give show us listed list contain "
    "contains contained take takes taken cost costs made done offered across appear appears recorded registered given "
    "currently "
    "il lo la i gli le l un uno una di del dello della dell dei degli delle d da dal dallo dalla dai dagli dalle dall "
    "in nel nello nella nei negli nelle nell su sul sullo sulla sui sugli sulle sull con per al allo alla ai agli alle "
    "all ad che chi cui quale quali qual e sono era erano ci c hanno ha ho si quando dove questo questa questi queste "
    "tutti tutte tutto tutta dimmi mostra risulta risultano presenti presente costano costa fatti fatte svolti svolte "
    "elencati elencate indicati indicate esistono esiste contiene contengono registrati registrate loro sua suo".split()
)
"""Words that say nothing of which rows are meant."""
ASKING: Final = frozenset("how quanto quanta what which who when where qual quale quali chi quando dove che".split())
IN_A_TIME: Final = frozenset("in nel nell of del dell during durante a on il".split())
OF_A_PLACE: Final = frozenset(
    "in at on from for does do has have a ad al allo alla ai agli alle nel nello nella nei negli nelle nell su "
    "da dal dalla ha hanno per".split()
)
"""Between "how many" and a cell: the cell says where or of whom, not what is counted."""
RANGE_JOINTS: Final = frozenset("and e ed to a".split())
NEAR: Final = frozenset(
    "of is are equal to with a an the di e sono pari a uguale con il la un una da as rated has have".split()
)
"""What may stand between a column's name and what is said of it."""
MEANT: Final = (
    frozenset(word for phrases in (OPERATIONS, COMPARISONS, AFTERWARDS) for phrase in phrases for word in phrase)
    | {word for phrase in NEGATIONS | MISSING for word in phrase}
    | DIFFERENT
    | EITHER
    | BOTH
    | GLUE
)
"""Words that a table's cell must not take away without its column being named."""
