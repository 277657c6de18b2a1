"""Copies and odd documents as documents and status tell them."""

from __future__ import annotations

from pathlib import Path

from command import fonte

LEAVE = "# Leave\n\n" + " ".join(f"Rule {at} says that staff of group {at} rest on day {at + 3}." for at in range(12))


def test_copies_are_told_among_the_same_readers_and_nothing_is_dropped(tmp_path: Path) -> None:
    folder, home = tmp_path / "in", tmp_path / "home"
    (folder / "hr").mkdir(parents=True)
    (folder / "a.md").write_text(LEAVE + "\n", encoding="utf-8")
    (folder / "b.md").write_text(LEAVE + "\n\n", encoding="utf-8")
    (folder / "c.md").write_text(LEAVE.replace("rest on day 5", "rest on Sunday") + "\n", encoding="utf-8")
    (folder / "hr" / "d.md").write_text(LEAVE + "\n", encoding="utf-8")
    (folder / "junk.txt").write_text("\ufffd\ufffd x " * 60, encoding="utf-8")
    config = tmp_path / "fonte.toml"
    config.write_text('[[sources]]\nmatch = ["hr/**"]\nroles = ["hr"]\n', encoding="utf-8")
    fonte(home, "sync", str(folder), "--config", str(config))
    rows = {one["document_name"]: one for one in fonte(home, "documents").json["documents"]}
    assert rows["a.md"]["duplicate_of"] is rows["a.md"]["similarity"] is None
    assert rows["hr/d.md"]["duplicate_of"] is None, "another reader: the same text is no copy"
    for name, least in (("b.md", 0.85), ("c.md", 0.85)):
        assert rows[name]["duplicate_of"] == rows["a.md"]["document_id"]
        assert least <= rows[name]["similarity"] <= 1
        assert rows[name]["chunks"] > 0
    assert rows["junk.txt"]["outlier"]
    told = fonte(home, "status").json
    assert {one["document_name"] for one in told["duplicates"]} == {"b.md", "c.md"}
    assert [one["document_name"] for one in told["outliers"]] == ["junk.txt"]
    lines = fonte(home, "status", json_mode=False).out
    assert "like a.md" in lines
    assert "odd: junk.txt: " in lines
    assert "like a.md" in fonte(home, "documents", json_mode=False).out
