"""Why nothing was computed, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fonte.computed.telling import names_of
from fonte.types import Language

_WHY: Final = {
    "words": (
        "A figure over the table {table} is asked for, and these words are neither in it nor can be computed: {about}.",
        "Si chiede un calcolo sulla tabella {table}, e queste parole non vi sono e non si sanno calcolare: {about}.",
    ),
    "which_table": (
        "Several tables fit the question; name the one that is meant: {about}.",
        "Più tabelle corrispondono alla domanda; indichi quale: {about}.",
    ),
    "no_table": (
        "The question names no table; name the one that is meant, for instance {about}.",
        "La domanda non nomina una tabella; indichi quale si intende, per esempio {about}.",
    ),
    "which_column": (
        "Several columns of {table} fit the question; name the one that is meant: {about}.",
        "Più colonne di {table} corrispondono alla domanda; indichi quale: {about}.",
    ),
    "no_column": (
        "The question names no column of {table} that this can be computed on.",
        "La domanda non nomina una colonna di {table} su cui fare il calcolo.",
    ),
    "what_of": (
        "It is not plain what is asked of {about} in {table}.",
        "Non è chiaro che cosa si chieda di {about} in {table}.",
    ),
    "rows_or_quantity": (
        "It is not plain whether rows of {table} are counted or {about} added up; ask for the rows, or for its total.",
        "Non è chiaro se si contino le righe di {table} o si sommi {about}; chieda le righe o il totale della colonna.",
    ),
    "shared_quantity": (
        "Nothing was added up: a row of {table} lists several things, and {about} does not say how many of each.",
        "Nessuna somma: una riga di {table} elenca più cose, e {about} non dice quante di ciascuna.",
    ),
    "two_columns": (
        "The question names several columns of {table}; ask for one at a time: {about}.",
        "La domanda nomina più colonne di {table}; ne chieda una alla volta: {about}.",
    ),
    "same_column": (
        "It is not plain how the conditions on {about} in {table} belong together.",
        "Non è chiaro come si combinino le condizioni su {about} in {table}.",
    ),
    "two_operations": (
        "The question asks for several things computed at once; ask for one at a time.",
        "La domanda chiede più calcoli insieme; ne chieda uno alla volta.",
    ),
    "unit": (
        "The unit in the question is not the one of {about} in {table}.",
        "L'unità della domanda non è quella di {about} in {table}.",
    ),
    "mixed_units": (
        "Nothing was computed: values in {table} stand in different units: {about}.",
        "Nessun calcolo: in {table} i valori hanno unità diverse: {about}.",
    ),
    "mixed_writing": (
        "Nothing was computed: the numbers of {about} in {table} are written in two ways.",
        "Nessun calcolo: i numeri di {about} in {table} sono scritti in due modi.",
    ),
    "two_readings": (
        "Nothing was computed: the values of {about} in {table} can be read in two ways.",
        "Nessun calcolo: i valori di {about} in {table} si possono leggere in due modi.",
    ),
    "unread": (
        "Nothing was computed: in {table} a value cannot be read: {about}.",
        "Nessun calcolo: in {table} un valore non si può leggere: {about}.",
    ),
    "not_numbers": (
        "Nothing was computed: {about} in {table} does not hold numbers.",
        "Nessun calcolo: {about} in {table} non contiene numeri.",
    ),
    "empty_under_not": (
        "Nothing was computed: {about} in {table} is empty in some rows, and whether they are meant is not plain.",
        "Nessun calcolo: {about} in {table} è vuoto in alcune righe, e non è chiaro se siano comprese.",
    ),
    "spelling": (
        "Nothing was computed: values in {table} differ only in how they are written: {about}.",
        "Nessun calcolo: in {table} alcuni valori differiscono solo nella scrittura: {about}.",
    ),
    "several_rows": (
        "Several rows of {table} fit; say whether the total, the average or another value of {about} is meant.",
        "Più righe di {table} corrispondono; indichi se serve il totale, la media o un altro valore di {about}.",
    ),
    "no_rows": (
        "No row of {table} that fits has a value of {about}.",
        "Nessuna riga corrispondente di {table} ha un valore di {about}.",
    ),
    "too_long": (
        "Nothing was computed: numbers of {about} in {table} have too many digits.",
        "Nessun calcolo: i numeri di {about} in {table} hanno troppe cifre.",
    ),
    "partial": (
        "Nothing was computed: {table} was not read whole.",
        "Nessun calcolo: {table} non è stata letta per intero.",
    ),
    "losses": (
        "Nothing was computed: in {table} cells may be missing or shifted: {about}.",
        "Nessun calcolo: in {table} alcune celle possono mancare o essere spostate: {about}.",
    ),
    "no_cells": (
        "Nothing was computed: the columns of some rows of {table} are not known.",
        "Nessun calcolo: di alcune righe di {table} non si conoscono le colonne.",
    ),
    "no_header": (
        "Nothing was computed: {table} has no row of column names, so that its first row may be one.",
        "Nessun calcolo: {table} non ha una riga con i nomi delle colonne, e la prima potrebbe esserlo.",
    ),
    "two_headers": (
        "Nothing was computed: {table} has rows of different column names.",
        "Nessun calcolo: {table} ha righe con nomi di colonna diversi.",
    ),
    "ocr": (
        "Nothing was computed: {table} was read from a picture, and its figures are not sure.",
        "Nessun calcolo: {table} è stata letta da un'immagine, e le cifre non sono sicure.",
    ),
    "unnamed_column": (
        "Nothing was computed: {table} has cells under no column name.",
        "Nessun calcolo: {table} ha celle senza nome di colonna.",
    ),
    "cut_row": (
        "Nothing was computed: a row of {table} may be cut by the end of a page.",
        "Nessun calcolo: una riga di {table} può essere tagliata dalla fine di una pagina.",
    ),
    "note_row": (
        "Nothing was counted: a row of {table} has a single cell and may be a note or a heading.",
        "Nessun conteggio: una riga di {table} ha una sola cella e può essere una nota o un titolo.",
    ),
}


def why(code: str, table: str, about: Sequence[str], language: Language) -> str:
    """The reason as a sentence, English or Italian."""
    said = _WHY[code][language == "it"]
    return said.format(table=names_of([table], language), about=names_of(about, language))
