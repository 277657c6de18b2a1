"""Pages through whole syncs: they come, stay, fail for a while and go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from property.quick_corpus import WordEmbedder, quick_corpus
from unit.sources.web_site import Site, page, running_site

from fonte.corpus import OpenCorpus, SourceOptions
from fonte.types import DocumentStatus, Principal, SyncReport

WHO = Principal()


@pytest.fixture
def site() -> Iterator[Site]:
    with running_site() as running:
        running.sitemap("/okapi", "/lemur")
        running.pages["/okapi"] = page("<h1>Okapi</h1><p>The okapi walks.</p>", etag='"1"')
        running.pages["/lemur"] = page(
            "<h1>Лемур</h1><p>Лемур прыгает по деревьям.</p>".encode("cp1251"),
            content_type="text/html; charset=windows-1251",
        )
        yield running


@pytest.fixture
def model() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def corpus(tmp_path: Path, site: Site, model: WordEmbedder):
    (tmp_path / "fonte.toml").write_text(
        f'[web]\nhosts = ["{site.host}"]\naddresses = ["127.0.0.1/32"]\ndelay_seconds = 0\n'
        '[[sources]]\nmatch = "*/lemur"\nroles = ["staff"]\n'
    )
    with quick_corpus(tmp_path / "home", embedder=model) as opened:
        yield opened


def sync(corpus: OpenCorpus, site: Site) -> SyncReport:
    return corpus.sync(site.base + "/sitemap.xml")


def found(corpus: OpenCorpus, query: str, principal: Principal = WHO) -> list[str]:
    results = corpus.search(query, principal=principal, mode="bm25").results
    return [one.stored.document_name.split("/", 1)[1] for one in results]


def test_pages_are_documents_with_their_encoding_and_their_roles(corpus: OpenCorpus, site: Site) -> None:
    report = sync(corpus, site)
    assert (report.documents["added"], report.documents["failed"]) == (2, 0)
    assert found(corpus, "okapi") == ["okapi"]
    assert found(corpus, "Лемур") == []
    assert found(corpus, "Лемур", Principal(roles={"staff"})) == ["lemur"]
    state = next(one for one in corpus.documents() if one.name.endswith("okapi"))
    assert (state.uri, state.source_root) == (f"{site.base}/okapi", f"{site.base}/sitemap.xml")


def test_an_unchanged_site_is_no_new_generation(corpus: OpenCorpus, site: Site, model: WordEmbedder) -> None:
    first = sync(corpus, site)
    calls = model.calls
    again = sync(corpus, site)
    assert (again.generation, again.documents["unchanged"], model.calls) == (first.generation, 2, calls)
    assert ("/okapi", 304) in site.answered


def test_a_page_that_is_gone_goes_and_one_that_fails_stays(corpus: OpenCorpus, site: Site) -> None:
    sync(corpus, site)
    site.pages["/okapi"] = page("sorry", 502)
    del site.pages["/lemur"]
    report = sync(corpus, site)
    assert (report.documents["deleted"], report.documents["unchanged"]) == (1, 1)
    assert any("stay as they were" in note for note in report.notes)
    assert found(corpus, "okapi") == ["okapi"]
    assert [one.name.split("/", 1)[1] for one in corpus.documents()] == ["okapi"]


def test_another_recipe_reads_a_site_that_is_down_from_what_was_kept(
    corpus: OpenCorpus, site: Site, tmp_path: Path
) -> None:
    sync(corpus, site)
    with (tmp_path / "fonte.toml").open("a") as settings:
        settings.write("[chunking]\nsize = 40\n")
    site.pages["/okapi"] = page("sorry", 502)
    with quick_corpus(tmp_path / "home") as other:
        assert sync(other, site).documents["failed"] == 0
        assert found(other, "okapi") == ["okapi"]


def test_tenants_keep_their_pages_apart_and_why_asks_no_site(corpus: OpenCorpus, site: Site, tmp_path: Path) -> None:
    sync(corpus, site)
    corpus.sync(site.base + "/okapi", tenant="acme", options=SourceOptions(allow=("public",)))
    folders = sorted(path.parent.parent.name for path in (tmp_path / "home").glob("tenants/*/fetched/*"))
    assert len(set(folders)) == 2
    site.asked.clear()
    state = next(one for one in corpus.documents() if one.name.endswith("okapi"))
    assert state.status is DocumentStatus.READY
    assert corpus.retry(state.document_id).documents["failed"] == 0
    assert site.asked
