"""Every strategy from the settings to the answer: a change is a new generation, parents are shown, rules are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import Ran, fonte

CONTRACT = """# Supply agreement

1.1 Goods means what the Supplier delivers.

1.2 Delivery takes place at the north quay before ten in the morning.

1.3 The Buyer pays within thirty days of the invoice, by transfer to the account named on it.
"""
GUIDE = """# Harbour guide

## Cranes

The small crane lifts four tonnes. It stands at berth two. Its driver is called by channel nine of the radio.

## Hours

The office of the harbour opens at seven. It closes when the last boat is tied up.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    (made / "contract.md").write_text(CONTRACT, encoding="utf-8")
    (made / "guide.md").write_text(GUIDE, encoding="utf-8")
    return made


def synced(tmp_path: Path, folder: Path, chunking: str) -> Ran:
    (tmp_path / "fonte.toml").write_text(f"[chunking]\n{chunking}\n", encoding="utf-8")
    ran = fonte(tmp_path / "home", "sync", str(folder))
    assert ran.status == 0, ran.err
    return ran


def test_another_strategy_or_setting_of_one_is_another_generation(tmp_path: Path, folder: Path) -> None:
    seen = []
    for chunking in (
        'strategy = "boundaries"',
        'strategy = "recursive"',
        'strategy = "document"',
        'strategy = "semantic"',
        'strategy = "parent_child"',
        'strategy = "parent_child"\nparent_characters = 150',
    ):
        synced(tmp_path, folder, chunking)
        status = fonte(tmp_path / "home", "status").json
        assert status["stale"] == []
        seen.append(status["generation"])
        found = fonte(tmp_path / "home", "search", "How much does the small crane lift?").json
        assert "four tonnes" in found["results"][0]["content"]
    assert len(set(seen)) == len(seen)
    synced(tmp_path, folder, chunking)
    assert fonte(tmp_path / "home", "status").json["generation"] == seen[-1]


def test_what_is_stale_is_named_before_the_sync(tmp_path: Path, folder: Path) -> None:
    synced(tmp_path, folder, 'strategy = "boundaries"')
    (tmp_path / "fonte.toml").write_text('[chunking]\nstrategy = "semantic"\n', encoding="utf-8")
    stale = fonte(tmp_path / "home", "status").json["stale"]
    assert "semantic/256/0/tokens/header/percentile 80" in str(stale[0]["differs"])


def test_a_citation_of_a_parent_names_the_place_of_the_child(tmp_path: Path, folder: Path) -> None:
    synced(tmp_path, folder, 'strategy = "parent_child"\nsize = 30')
    home = tmp_path / "home"
    citation = fonte(home, "ask", "Where does the small crane stand?").json["citations"][0]
    place = citation["locator"]
    shown = fonte(home, "show", "guide.md", "--from", str(place["from"]), "--to", str(place["to"])).json
    assert shown["text"] == citation["quote"]
    assert "berth two" in citation["quote"]
    assert "The office" not in citation["quote"]
    section = GUIDE.split("## Cranes\n\n")[1].split("\n\n", maxsplit=1)[0]
    assert len(citation["quote"]) < len(section)


def test_show_tells_by_which_rule_a_document_was_cut_and_why(tmp_path: Path, folder: Path) -> None:
    synced(tmp_path, folder, 'strategy = "document"')
    home = tmp_path / "home"
    told = fonte(home, "show", "contract.md").json["chunking"]
    assert told["rule"] == "contract"
    assert told["reason"].startswith("3 numbered clauses, 1.1 to 1.3")
    assert fonte(home, "show", "guide.md").json["chunking"]["rule"] == "text"
    ran = fonte(home, "show", "contract.md", json_mode=False)
    assert "cut as contract: 3 numbered clauses" in ran.err
    assert "cut as" not in ran.out
    synced(tmp_path, folder, 'strategy = "boundaries"')
    assert "chunking" not in fonte(home, "show", "contract.md").json
