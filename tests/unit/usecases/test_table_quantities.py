"""How many of what a row names: the column that says how many is added up, or the question is refused; never rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from fonte.corpus import OpenCorpus
from fonte.types import Abstained, AbstentionReason, Answered, Principal
from quick_corpus import Shelf, Shelves, WordEmbedder, quick_corpus

WHO = Principal()
EQUIPMENT = "item,site,quantity\nlaptop,Torino,9\nmonitor,Torino,14\nlaptop,Milano,4\nphone,Milano,2\nlaptop,Torino,3\n"
DOTAZIONI = "articolo;sede;quantità\nportatile;Torino;9\nmonitor;Torino;14\nportatile;Milano;4\n"
ORDERS = "order id,product,quantity\nO1,pen,5\nO2,ink,7\nO3,pen,1\n"
SUPPLIERS = "supplier,city\nAcme,Torino\nBeta,Milano\n"
TABLES = {"equipment.csv": EQUIPMENT, "dotazioni.csv": DOTAZIONI, "orders.csv": ORDERS, "suppliers.csv": SUPPLIERS}


def corpus_of(home: Path, texts: Mapping[str, str]) -> OpenCorpus:
    shelf = Shelf({name: (text, frozenset({"public"})) for name, text in texts.items()})
    corpus = quick_corpus(home, Shelves({"s": shelf}), embedder=WordEmbedder())
    corpus.sync("memory://s")
    return corpus


@pytest.fixture(scope="module")
def each(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, OpenCorpus]:
    return {name: corpus_of(tmp_path_factory.mktemp("one"), {name: text}) for name, text in TABLES.items()}


@pytest.mark.parametrize(
    ("table", "question", "operation", "value"),
    [
        ("equipment.csv", "How many laptops are there in Torino?", "sum", "12"),
        ("equipment.csv", "How many laptops does the Torino site have in total?", "sum", "12"),
        ("equipment.csv", "How many laptops are there?", "sum", "16"),
        ("equipment.csv", "How many laptops and phones are in Milano?", "sum", "6"),
        ("equipment.csv", "How many laptops are not in Torino?", "sum", "4"),
        ("equipment.csv", "What is the number of monitors in Torino?", "sum", "14"),
        ("equipment.csv", "How many rows list laptops?", "count", "3"),
        ("equipment.csv", "How many rows are there in the equipment?", "count", "5"),
        ("equipment.csv", "How many different items are there in Torino?", "count", "2"),
        ("equipment.csv", "How many sites have laptops?", "count", "2"),
        ("dotazioni.csv", "Quanti portatili ci sono a Torino?", "sum", "9"),
        ("dotazioni.csv", "Quanti portatili ha in totale la sede di Torino?", "sum", "9"),
        ("dotazioni.csv", "Quanti sono i portatili?", "sum", "13"),
        ("dotazioni.csv", "Quante righe ci sono nelle dotazioni?", "count", "3"),
        ("orders.csv", "How many orders are there?", "count", "3"),
        ("orders.csv", "How many pens are in the orders?", "sum", "6"),
        ("suppliers.csv", "How many suppliers are there in Torino?", "count", "1"),
    ],
)
def test_how_many_of_what_a_row_names_is_its_quantity(
    each: Mapping[str, OpenCorpus], table: str, question: str, operation: str, value: str
) -> None:
    answer = each[table].ask(question, principal=WHO)
    assert isinstance(answer, Answered), answer
    assert answer.computed is not None
    assert (answer.computed.operation, answer.computed.value) == (operation, value)


@pytest.mark.parametrize(
    ("table", "question", "column"),
    [
        ("equipment.csv", "How many items are there in Torino?", "quantity"),
        ("equipment.csv", "How many are there in Torino?", "quantity"),
        ("equipment.csv", "How many laptops have a quantity over 5?", "quantity"),
        ("dotazioni.csv", "Quanti elementi ci sono a Torino?", "quantità"),
    ],
)
def test_where_rows_may_be_meant_as_well_it_is_refused(
    each: Mapping[str, OpenCorpus], table: str, question: str, column: str
) -> None:
    answer = each[table].ask(question, principal=WHO)
    assert isinstance(answer, Abstained), answer
    assert answer.reason is AbstentionReason.UNSUPPORTED
    assert table in answer.message
    assert column in answer.message


def test_the_sentence_tells_the_column_the_rows_and_the_conditions(each: Mapping[str, OpenCorpus]) -> None:
    answer = each["dotazioni.csv"].ask("Quanti portatili ci sono a Torino?", principal=WHO)
    assert isinstance(answer, Answered)
    assert answer.text == (
        "Il totale di quantità in dotazioni.csv, su 1 riga in cui articolo è «portatile» e sede è «Torino», è 9 [1]."
    )


def test_different_values_are_said_not_to_be_the_quantity(each: Mapping[str, OpenCorpus]) -> None:
    answer = each["dotazioni.csv"].ask("Quanti articoli ci sono a Torino?", principal=WHO)
    assert isinstance(answer, Answered)
    assert [one.text for one in answer.sentences] == [
        "dotazioni.csv ha 2 valori diversi di articolo, in 2 righe in cui sede è «Torino» [1].",
        "Si contano i valori diversi di articolo; «quantità» non si somma [1].",
    ]


@pytest.mark.parametrize("name", ["qtà", "q.tà", "n.", "numero", "pezzi", "giacenza", "Scorte (pz)", "Units", "Qty"])
def test_a_column_that_says_how_many_has_many_names(tmp_path: Path, name: str) -> None:
    corpus = corpus_of(tmp_path, {"dotazioni.csv": DOTAZIONI.replace("quantità", name)})
    answer = corpus.ask("Quanti portatili ci sono a Torino?", principal=WHO)
    assert isinstance(answer, Answered)
    assert answer.computed is not None
    assert (answer.computed.operation, answer.computed.value) == ("sum", "9")


def test_a_column_that_numbers_the_rows_is_no_quantity(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, {"faults.csv": "fault,site,number\nleak,Torino,1\nleak,Milano,2\nnoise,Torino,3\n"})
    answer = corpus.ask("How many leak rows are there in Milano?", principal=WHO)
    assert isinstance(answer, Answered)
    assert answer.computed is not None
    assert answer.computed.value == "1"
    leaks = corpus.ask("How many leak are there?", principal=WHO)
    assert isinstance(leaks, Answered)
    assert leaks.computed is not None
    assert (leaks.computed.operation, leaks.computed.value) == ("count", "2")


def test_of_two_quantities_the_one_that_is_named_is_added_up(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, {"equipment.csv": "item,site,quantity,stock\nlaptop,Torino,9,1\nphone,Torino,4,2\n"})
    answer = corpus.ask("How many laptops are there in Torino?", principal=WHO)
    assert isinstance(answer, Abstained)
    assert "“quantity”, “stock”" in answer.message
    named = corpus.ask("How many laptops are in stock in Torino?", principal=WHO)
    assert isinstance(named, Answered)
    assert named.computed is not None
    assert (named.computed.operation, named.computed.value) == ("sum", "1")


def test_the_quantity_of_a_row_that_lists_several_things_is_not_given_to_one(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, {"equipment.csv": "item,site,quantity\nlaptop; mouse,Torino,9\nphone,Milano,14\n"})
    answer = corpus.ask("How many laptops are there in Torino?", principal=WHO)
    assert isinstance(answer, Abstained)
    assert "equipment.csv" in answer.message
    assert "lists several things" in answer.message


def test_a_table_that_only_its_name_says_to_be_of_laptops_is_asked_back_for(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, {"laptops.csv": "site,units\nTorino,9\nMilano,4\n"})
    answer = corpus.ask("How many laptops are there in Torino?", principal=WHO)
    assert isinstance(answer, Abstained)
    assert "laptops.csv" in answer.message
    units = corpus.ask("How many units are there in Torino?", principal=WHO)
    assert isinstance(units, Answered)
    assert units.computed is not None
    assert units.computed.value == "9"
