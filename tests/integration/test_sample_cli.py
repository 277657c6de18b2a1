"""documents --sample on the command line."""

from __future__ import annotations

from pathlib import Path

from command import fonte


def test_a_sample_is_a_page_and_needs_a_place(tmp_path: Path) -> None:
    folder, home, out = tmp_path / "in", tmp_path / "home", tmp_path / "sample.html"
    folder.mkdir()
    for name in ("a.md", "b.md", "c.txt"):
        (folder / name).write_text(f"The words of {name} are these.\n", encoding="utf-8")
    fonte(home, "sync", str(folder))
    refused = fonte(home, "documents", "--sample", "2")
    assert (refused.status, refused.json["error"]["code"]) == (2, "usage")
    told = fonte(home, "documents", "--sample", "2", "--seed", "7", "--out", str(out)).json
    assert told["sample"]["seed"] == 7
    assert sorted(Path(one["document_name"]).suffix for one in told["documents"]) == [".md", ".txt"], (
        "one of each format"
    )
    page = out.read_text(encoding="utf-8")
    assert page.count('<section class="card"') == 2
    assert "The words of c.txt are these." in page
    assert fonte(home, "documents", "--sample", "2", "--seed", "7", "--out", str(out)).json == told
