"""Documents beside each other: copies only among those with the same readers, and what is unlike its siblings."""

from __future__ import annotations

from fonte.listing import copies_of, outliers
from fonte.text.likeness import likeness_of
from fonte.types import Acl, Counts, DocumentState, DocumentStatus, LedgerEntry, Loss

TEXT = " ".join(f"parola{at}" for at in range(200))


def state(name: str, roles: str = "public", *, text: str = TEXT, words: int = 800, **more: object) -> DocumentState:
    ledger = LedgerEntry(Counts(), Counts(words=words), Counts(), losses=more.pop("losses", ()))  # type: ignore[arg-type]  # a tuple of losses
    return DocumentState(
        f"id-{name}",
        name,
        f"file:///{name}",
        more.pop("status", DocumentStatus.READY),  # type: ignore[arg-type]  # as named
        "v",
        Acl(frozenset(roles.split(","))),
        chunks=int(str(more.pop("chunks", 3))),
        language=str(more.pop("language", "en")),
        ledger=ledger,
        source_root="file:///",
        likeness=likeness_of(text),
    )


def test_documents_with_other_readers_are_no_copies() -> None:
    found = copies_of([state("b"), state("a"), state("c", "staff"), state("d", "public,staff"), state("e", "staff")])
    assert {name: (copy.of, copy.similarity) for name, copy in found.items()} == {
        "id-b": ("id-a", 1.0),
        "id-e": ("id-c", 1.0),
    }


def test_what_is_not_searchable_is_no_copy() -> None:
    assert copies_of([state("a"), state("b", chunks=0)]) == {}


def test_documents_far_from_the_length_of_their_siblings_are_told() -> None:
    usual = [state(f"n{at}", words=700 + 20 * at) for at in range(12)]
    told = outliers([*usual, state("tiny", words=9), state("huge", words=90_000), state("long", words=4_000)])
    assert sorted(told) == ["id-huge", "id-tiny"]
    assert told["id-tiny"][0].startswith("9 words, where half of the 15")


def test_a_few_documents_have_no_usual_length_or_language() -> None:
    assert outliers([state("a", words=9), state("b", words=90_000), state("c", language="it")]) == {}


def test_a_language_that_its_siblings_do_not_have_is_told() -> None:
    usual = [state(f"n{at}", language="it") for at in range(30)]
    told = outliers([*usual, state("x", language="de"), state("y", language="und")])
    assert told == {"id-x": ("language de, where its source is mostly it",)}


def test_remarks_on_the_text_itself_and_masses_of_chunks_are_told() -> None:
    told = outliers([state("a", losses=(Loss("gibberish", "41% of its words do not look like words"),), chunks=2_000)])
    assert told == {"id-a": ("41% of its words do not look like words", "it makes 2000 chunks")}
