"""Syncs that meet something else as well: another recipe, narrowed rights, a delete, a folder that cannot be read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from property.quick_corpus import Shelf, Shelves, WordEmbedder, quick_corpus, quick_parts

from fonte.corpus import OpenCorpus, SourceOptions
from fonte.errors import InputError, InvalidQuery
from fonte.types import DocumentState, DocumentStatus, GenerationState, Principal

WHO = Principal()
PUBLIC, STAFF = frozenset({"public"}), frozenset({"staff"})


def shelves(**texts: tuple[str, frozenset[str]]) -> Shelves:
    return Shelves({"one": Shelf({f"{name}.txt": text for name, text in texts.items()})})


def names(corpus: OpenCorpus, query: str, principal: Principal = WHO) -> set[str]:
    return {one.stored.document_name for one in corpus.search(query, principal=principal, k=20).results}


def other_recipe(home: Path) -> None:
    """From now on documents are cut differently."""
    (home.parent / "fonte.toml").write_text("[chunking]\nsize = 100\n")


def states(corpus: OpenCorpus) -> dict[str, DocumentState]:
    return {one.name: one for one in corpus.documents()}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    (made / "sub").mkdir(parents=True)
    (made / "top.txt").write_text("The pump stands in hall 3.")
    (made / "sub" / "deep.txt").write_text("The valve stands in hall 4.")
    return made


@contextmanager
def forbidden(path: Path) -> Iterator[None]:
    """A folder that may not be listed, for whoever runs this."""
    listed = os.scandir

    def scandir(where: str | int) -> object:  # an open folder is named by its number
        if str(where) == str(path):
            raise PermissionError(13, "Permission denied")
        return listed(where)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "scandir", scandir)
        yield


# --- rights


@pytest.mark.parametrize("changed", [False, True])
@pytest.mark.parametrize("text", ["The pump stands in hall 3.", "The pump stands in hall 9."])
def test_rights_that_narrow_hold_at_once_whatever_else_changed(home: Path, changed: bool, text: str) -> None:
    shelf = shelves(a=("The pump stands in hall 3.", PUBLIC), b=("The valve stands in hall 4.", PUBLIC))
    with quick_corpus(home, shelf) as corpus:
        corpus.sync("one")
        assert names(corpus, "pump") == {"a.txt", "b.txt"}
    shelf.by_name["one"] = Shelf({"a.txt": (text, STAFF), "b.txt": ("The valve stands in hall 4.", PUBLIC)})
    if changed:
        other_recipe(home)
    with quick_corpus(home, shelf) as corpus:
        assert not corpus.sync("one", publish=False).published
        if not changed:  # with another recipe the same space is asked
            assert names(corpus, "pump") == {"b.txt"}
        catalog = corpus._store_of("default").catalog
        readable = {one.name for one in corpus.documents() if catalog.may_read(one.document_id, WHO)}
        assert readable == {"b.txt"}, "the active generation no longer gives what was taken away"


@pytest.mark.parametrize("deleted", [False, True])
def test_an_older_candidate_gives_no_more_than_a_later_sync_allowed(home: Path, deleted: bool) -> None:
    shelf = shelves(a=("The pump stands in hall 3.", PUBLIC))
    with quick_corpus(home, shelf) as corpus:
        if deleted:
            corpus.sync("one")
            corpus.delete("a.txt")
        first = corpus.sync("one", publish=False).generation
        shelf.by_name["one"] = Shelf({"a.txt": ("The pump stands in hall 3.", STAFF)})
        corpus.sync("one", publish=False)
        assert first is not None
        corpus.publish(first)
        assert names(corpus, "pump") == set()
        corpus.sync("one")
        assert names(corpus, "pump", Principal(roles=STAFF)) == {"a.txt"}


# --- what cannot be read stays


@pytest.mark.parametrize("changed", [False, True])
def test_documents_of_a_folder_that_cannot_be_read_stay(home: Path, folder: Path, changed: bool) -> None:
    with quick_corpus(home) as corpus:
        corpus.sync(str(folder))
    if changed:
        other_recipe(home)
    with quick_corpus(home) as corpus:
        with forbidden(folder / "sub"):
            report = corpus.sync(str(folder))
            assert report.published
            assert (report.documents["deleted"], report.documents["failed"]) == (0, 1)
            assert names(corpus, "valve") == {"sub/deep.txt", "top.txt"}
            again = corpus.sync(str(folder))
            assert (again.generation, again.documents["failed"]) == (report.generation, 1)
        healed = corpus.sync(str(folder))
        assert (healed.documents["failed"], set(states(corpus))) == (0, {"sub/deep.txt", "top.txt"})
        (folder / "sub" / "deep.txt").unlink()
        assert corpus.sync(str(folder)).documents["deleted"] == 1, "what has gone is removed"


@pytest.mark.parametrize("body", ['[{"_id": "r1", "text": "pum', ""])
def test_records_of_a_file_that_broke_stay(home: Path, tmp_path: Path, body: str) -> None:
    file = tmp_path / "records.json"
    file.write_text('[{"_id": "r1", "text": "A pump."}, {"_id": "r2", "text": "A valve."}]')
    with quick_corpus(home) as corpus:
        corpus.sync(str(file), options=SourceOptions(records=True))
        file.write_text(body)
        report = corpus.sync(str(file), options=SourceOptions(records=True))
        assert (report.documents["deleted"], report.documents["failed"]) == (0, 1)
        assert names(corpus, "pump") == {"r1", "r2"}


def test_a_known_unreadable_file_is_still_told_when_the_recipe_changes(home: Path, folder: Path) -> None:
    (folder / "gone.txt").symlink_to(folder / "nowhere")
    with quick_corpus(home) as corpus:
        assert corpus.sync(str(folder)).documents["failed"] == 1
        assert corpus.sync(str(folder)).documents["failed"] == 1
    other_recipe(home)
    with quick_corpus(home) as corpus:
        report = corpus.sync(str(folder))
        assert (report.published, report.documents["failed"]) == (True, 1)
        assert states(corpus)["gone.txt"].status is DocumentStatus.FAILED


# --- generations


def test_a_retired_generation_is_published_by_name(home: Path) -> None:
    shelf = shelves(a=("The pump stands in hall 3.", PUBLIC))
    with quick_corpus(home, shelf) as corpus:
        first = corpus.sync("one").generation
        shelf.by_name["one"] = Shelf({"a.txt": ("The pump stands in hall 9.", PUBLIC)})
        second = corpus.sync("one").generation
        assert first is not None
        assert corpus.publish(first) == (first, second)
        known = {one.id: one for one in corpus.generations()[1]}
        assert known[first].state is GenerationState.ACTIVE
        assert known[first].verdict.startswith("passed: data checks (")


@pytest.mark.parametrize("changed", [False, True])
def test_a_deleted_document_holds_no_other_source_back(home: Path, changed: bool) -> None:
    shelf = shelves(a=("The pump stands in hall 3.", PUBLIC), b=("The valve stands in hall 4.", PUBLIC))
    shelf.by_name["two"] = Shelf({"c.txt": ("The filter stands in hall 5.", PUBLIC)}, root="memory://other/")
    with quick_corpus(home, shelf) as corpus:
        corpus.sync("one", "two")
        corpus.delete("a.txt")
        (gone,) = corpus.documents(status=DocumentStatus.DELETED)
        assert (gone.name, gone.chunks) == ("a.txt", 0)
    if changed:
        other_recipe(home)
    shelf.by_name["two"] = Shelf({"c.txt": ("The filter stands in hall 6.", PUBLIC)}, root="memory://other/")
    with quick_corpus(home, shelf) as corpus:
        report = corpus.sync("two")
        assert (report.published, report.held_back) == (True, None)
        assert names(corpus, "pump valve filter") == {"b.txt", "c.txt"}
        assert states(corpus)["a.txt"].status is DocumentStatus.DELETED
        corpus.sync("one")
        assert names(corpus, "pump valve filter") == {"a.txt", "b.txt", "c.txt"}


def test_a_carried_document_keeps_its_ledger(home: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.md").write_text(f"# Title {name}\n\n" + f"Pump {name} runs at 40 bar. " * 60)
    with quick_corpus(home) as corpus:
        corpus.sync(str(tmp_path / "one"), str(tmp_path / "two"))
        before = corpus.document_state(states(corpus)["one.md"].document_id)
    other_recipe(home)
    with quick_corpus(home) as corpus:
        assert corpus.sync(str(tmp_path / "two")).published
        after = corpus.document_state(states(corpus)["one.md"].document_id)
    assert before is not None
    assert after is not None
    assert before.ledger is not None
    assert after.ledger is not None
    assert (after.ledger.source, after.ledger.canonical) == (before.ledger.source, before.ledger.canonical)
    assert after.ledger.balanced
    assert after.chunks > before.chunks
    assert after.ledger.embedded_tokens != before.ledger.embedded_tokens, "the chunks' part is that of the new chunks"


def test_a_delete_needs_no_lock_and_a_running_sync_respects_it(home: Path) -> None:
    shelf = shelves(a=("The pump stands in hall 3.", PUBLIC), b=("The valve stands in hall 4.", PUBLIC))
    parts = quick_parts(home, shelf)
    deleting: list[Callable[[], object]] = []

    @contextmanager
    def pool(workers: int) -> Iterator[object]:
        """Something is deleted while documents are parsed, under the sync's lock."""
        with parts.make_pool(workers) as inner:

            class Pool:
                def parse_many(self, sources: object) -> Iterator[object]:
                    while deleting:
                        deleting.pop()()
                    yield from inner.parse_many(sources)  # type: ignore[arg-type]

            yield Pool()

    with OpenCorpus(replace(parts, make_pool=pool)) as corpus:  # type: ignore[arg-type]
        corpus.sync("one")
        other = quick_corpus(home, shelf)
        deleting += [other.close, lambda: other.delete("a.txt", "b.txt")]
        valve = shelf.by_name["one"].texts["b.txt"]
        shelf.by_name["one"] = Shelf({"a.txt": ("The pump is in hall 9.", PUBLIC), "b.txt": valve})
        report = corpus.sync("one")
        assert not deleting
        assert report.published
        assert names(corpus, "pump valve") == set()
        assert {one.status for one in corpus.documents()} == {DocumentStatus.DELETED}


# --- what counts as changed


def test_another_extractor_reads_its_documents_again(home: Path, folder: Path) -> None:
    (folder / "page.md").write_text("# Filter\n\nThe filter stands in hall 5.")
    asked = []

    def extractors() -> Mapping[str, str]:
        asked.append(1)
        return {"plain": "plain/99"}

    with OpenCorpus(replace(quick_parts(home), extractors=extractors)) as corpus:
        corpus.sync(str(folder))
        assert not asked, "a first sync has nothing to compare"
        assert {one.name for one, _ in corpus.status().stale or ()} == {"top.txt", "sub/deep.txt"}
        asked.clear()
        report = corpus.sync(str(folder))
        assert len(asked) == 1, "programs run to answer: once for a sync, not for each of three documents"
        assert (report.documents["modified"], report.documents["unchanged"]) == (2, 1)


@pytest.mark.parametrize(("key", "value", "other"), [("title", "Old name", "New name"), ("language", "it", "en")])
def test_what_a_rule_says_is_taken_in_by_the_next_sync(
    home: Path, folder: Path, key: str, value: str, other: str
) -> None:
    settings = home.parent / "fonte.toml"

    def sync(said: str | None) -> int:
        settings.write_text(f'[[sources]]\nmatch = "top.txt"\n{key} = "{said}"\n' if said else "")
        with quick_corpus(home) as corpus:
            return corpus.sync(str(folder)).documents["modified"]

    assert [sync(one) for one in (None, None, value, value, other, None)] == [0, 0, 1, 0, 1, 1]


@pytest.mark.parametrize("chunking", ["", '[chunking]\nstrategy = "blind"\nsize = 64\n'])
def test_text_of_invisible_characters_only_is_empty(home: Path, folder: Path, chunking: str) -> None:
    (home.parent / "fonte.toml").write_text(chunking)
    (folder / "unseen.txt").write_text("\u200b\u200b\u2060\n\n\u200b")
    (folder / "partly.txt").write_text("The tank stands in hall 8.\n\n\u200b\u200b\n")
    with quick_corpus(home) as corpus:
        assert corpus.sync(str(folder)).documents["empty"] == 1
        known = states(corpus)
        assert (known["unseen.txt"].status, known["unseen.txt"].chunks) == (DocumentStatus.EMPTY, 0)
        assert known["partly.txt"].status is DocumentStatus.READY


@pytest.mark.parametrize(
    "ending", ["pdf", "docx", "xlsx", "csv", "html", "json", "jsonl", "md", "txt", "png", "bin", "xml"]
)
def test_a_file_without_bytes_is_empty_whatever_its_name(home: Path, folder: Path, ending: str) -> None:
    (folder / f"nothing.{ending}").touch()
    with quick_corpus(home) as corpus:
        corpus.sync(str(folder))
        assert states(corpus)[f"nothing.{ending}"].status is DocumentStatus.EMPTY


# --- asking and looking


def test_no_fewer_than_one_passage_and_never_more_than_candidates(home: Path) -> None:
    shelf = shelves(**{f"d{at:02}": (f"The pump {at} stands in hall {at}.", PUBLIC) for at in range(12)})
    (home.parent / "fonte.toml").write_text("[retrieval]\nk = 12\ncandidates = 2\n")
    with quick_corpus(home, shelf) as corpus:
        for k in (0, -1):
            with pytest.raises(InvalidQuery, match="k is"):
                corpus.search("pump", principal=WHO, k=k)
        corpus.sync("one")
        with pytest.raises(InvalidQuery):
            corpus.ask("pump?", principal=WHO, k=0)
        assert len(corpus.search("pump", principal=WHO).results) == 12


def test_a_name_that_several_documents_have_is_asked_back(home: Path, tmp_path: Path) -> None:
    for name, roles in (("one", "public"), ("two", "public"), ("three", "staff")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same.txt").write_text(f"The pump of {name}.")
        with quick_corpus(home) as corpus:
            corpus.sync(str(tmp_path / name), options=SourceOptions(allow=(roles,)))
    with quick_corpus(home) as corpus:
        with pytest.raises(InvalidQuery) as refused:
            corpus.show("same.txt", principal=WHO)
        assert refused.value.message.startswith("2 documents"), "no word of what may not be read"
        hidden = next(one for one in corpus.documents() if "staff" in one.acl.roles)
        assert hidden.document_id not in refused.value.hint
        (readable, *_) = [one for one in corpus.documents() if one != hidden]
        assert readable.document_id in refused.value.hint
        assert corpus.show(readable.document_id, principal=WHO)[1].document_id == readable.document_id
        other_recipe(home)
    with quick_corpus(home) as corpus:
        assert len(corpus.status().stale or ()) == 3, "three documents of one name"


@pytest.mark.parametrize("tenant", ["", "  ", "a\0b"])
def test_a_tenant_needs_a_name(home: Path, folder: Path, tenant: str) -> None:
    with quick_corpus(home) as corpus, pytest.raises(InputError, match="tenant needs a name"):
        corpus.sync(str(folder), tenant=tenant)
    assert not home.exists()


# --- vectors


def test_vectors_that_no_kept_generation_uses_are_forgotten(home: Path) -> None:
    shelf = shelves(a=("The pump of year 0.", PUBLIC))
    embedder = WordEmbedder()
    with quick_corpus(home, shelf, embedder=embedder) as corpus:
        cache = corpus._store_of("default").cache
        counts = []
        for year in range(20):
            shelf.by_name["one"] = Shelf({"a.txt": (f"The pump of year {year}.", PUBLIC)})
            corpus.sync("one")
            counts.append(cache.count())
        assert max(counts) <= 2 * 4 + 1
        asked = embedder.calls
        shelf.by_name["one"] = Shelf({"a.txt": ("The pump of year 18.", PUBLIC)})
        assert corpus.sync("one").embedded_texts == 0, "the vectors of kept generations are still known"
        assert embedder.calls == asked


def test_what_is_kept_of_sources_is_plain(home: Path, folder: Path) -> None:
    with quick_corpus(home) as corpus:
        corpus.sync(str(folder), options=SourceOptions(allow=("staff",), exclude=("*.pdf",)))
        (options,) = corpus._store_of("default").catalog.sources().values()
    assert json.loads(options) == {"allow": ["staff"], "exclude": ["*.pdf"], "include": [], "records": False}
