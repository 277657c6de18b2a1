"""Lists of references left out of the index, where that is set, and told."""

from __future__ import annotations

from pathlib import Path

import pytest
from property.quick_corpus import quick_corpus

from fonte.text.bibliography import bibliographies
from fonte.text.canonical import canonicalise
from fonte.types import Acl, Block, BlockKind, Document, DocumentStatus, Parsed, Principal, Source

WHO = Principal()
PAPER = """# On pumps

The pump leaks in hall 1.

## 7. References

Rossi, A. (2019). Of leaking pumps. Journal of Halls, 7.

Bianchi, B. (2021). More on leaks. doi:10.1000/182

### Further reading

Verdi, C. 1999. All pumps. https://example.com/pumps

## Appendix

The valve is closed.
"""


def document(*blocks: tuple[int, str]) -> Document:
    made = tuple(
        Block(BlockKind.HEADING if level else BlockKind.PARAGRAPH, text, level=level) for level, text in blocks
    )
    return canonicalise(Parsed(made, "test/1"), Source("file:///a", "a", "0" * 64, Acl()), tenant="t")


@pytest.mark.parametrize("title", ["References", "IV. REFERENCES", "8.1 Bibliography:", "Riferimenti bibliografici"])
def test_a_list_is_known_by_heading_and_entries(title: str) -> None:
    entries = ((0, "Rossi 2019. Pumps."), (0, "Bianchi 2021. Leaks."))
    made = document((1, "Paper"), (0, "Text."), (2, title), *entries, (2, "Appendix A"), (0, "More."))
    (start, end), *others = bibliographies(made)
    assert not others
    assert made.text[start:end].strip() == f"{title}\n\nRossi 2019. Pumps.\n\nBianchi 2021. Leaks."


def test_what_is_only_called_so_is_none() -> None:
    assert bibliographies(document((1, "References"), (0, "Ask the head of your hall."), (0, "She knows."))) == []
    assert bibliographies(document((1, "Of references"), (0, "Rossi 2019."), (0, "Bianchi 2021."))) == []
    assert bibliographies(document((1, "References"), (0, "Rossi 2019."))) == []
    nested = document((1, "References"), (0, "A 2019."), (0, "B 2020."), (2, "Appendix"), (0, "Not a source."))
    ((start, end),) = bibliographies(nested)
    assert "Appendix" not in nested.text[start:end]


def test_it_is_left_out_of_the_index_and_told(tmp_path: Path) -> None:
    folder, settings = tmp_path / "docs", tmp_path / "fonte.toml"
    folder.mkdir()
    (folder / "paper.md").write_text(PAPER)
    (folder / "list.md").write_text("# References\n\nRossi, A. (2019). Okapi.\n\nBianchi, B. (2021). Lemur.\n")
    (folder / "other.md").write_text("# Other\n\nThe door squeaks.\n")
    settings.write_text("[chunking]\nsize = 40\n")
    with quick_corpus(tmp_path / "home") as corpus:
        corpus.sync(str(folder))
        assert found(corpus, "journal") == ["paper.md"]
    settings.write_text("[chunking]\nsize = 40\nstrip_bibliography = true\n")
    with quick_corpus(tmp_path / "home") as corpus:
        report = corpus.sync(str(folder))
        assert report.documents["partial"] == 0
        for word in ("journal", "doi", "verdi"):
            assert found(corpus, word) == []
        assert found(corpus, "valve") == found(corpus, "pump") == ["paper.md"]
        assert found(corpus, "okapi") == ["list.md"], "a document that is nothing else stays"
        assert "Journal of Halls" in corpus.document("paper.md", principal=WHO).text
        catalog = corpus._store_of("default").catalog
        states = {one.name: one for one in corpus.documents()}
        paper = catalog.state(report.generation, states["paper.md"].document_id)
        assert paper is not None
        assert paper.ledger is not None
        (told,) = [one for one in paper.ledger.losses if one.code == "bibliography"]
        assert told.message.startswith("33 words of the list of references are not in the index, as set (lines 5-13)")
        assert paper.status is DocumentStatus.READY
        assert paper.ledger.canonical.words - paper.ledger.chunks.words == told.count
        other = catalog.state(report.generation, states["other.md"].document_id)
        assert other is not None
        assert not [one for one in other.ledger.losses if one.code == "bibliography"]
        assert corpus.sync(str(folder)).generation == report.generation


def found(corpus, query: str) -> list[str]:
    results = corpus.search(query, principal=WHO, mode="bm25").results
    return list(dict.fromkeys(one.stored.document_name for one in results))
