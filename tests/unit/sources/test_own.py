"""What documents and the files beside them say: it may take rights away and never give them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fonte.errors import ParseError
from fonte.sources.folder import FolderSource
from fonte.sources.own import KEYS, Own, front_matter, narrowed, sidecar_of
from fonte.sources.rules import Ruling, SourceRule
from fonte.text.frontmatter import sidecar_members
from fonte.types import Acl, Source


def roles(*names: str) -> frozenset[str]:
    return frozenset(names)


@pytest.mark.parametrize(
    ("given", "own", "left"),
    [
        ({"public"}, "hr, boss", {"hr", "boss"}),
        ({"staff"}, "public", {"staff"}),
        ({"staff"}, "staff, public", {"staff"}),
        ({"staff", "hr"}, "[hr, it]", {"hr"}),
        ({"staff"}, "hr", set()),
        ({"staff"}, "", set()),
        (set(), "staff", set()),
    ],
)
def test_front_matter_takes_roles_away_and_gives_none(given: set[str], own: str, left: set[str]) -> None:
    said = front_matter("a.md", f"---\nroles: {own}\n---\nText".encode())
    assert narrowed(Ruling(Acl(frozenset(given))), said).acl.roles == left


@pytest.mark.parametrize(
    "head",
    [
        b"---\nroles:\n  - hr\n  - boss\n---\n",
        b"---\nroles:\n- hr\n- boss\n---\n",
        b"---\r\nroles: ['hr', \"boss\"]\r\n---\r\n",
        b"\xef\xbb\xbf---\nRoles: hr, boss  # who\n---\n",
        b'+++\nroles = ["hr", "boss"]\n+++\n',
        b'---\n"roles": [hr,\n  boss]\n---\n',
        "---\nroles: hr, boss\n---\n".encode("utf-16"),
        "---\nroles: hr, boss\n---\n".encode("utf-16-be"),
    ],
)  # fmt: skip
def test_roles_are_understood_in_every_way_they_are_written(head: bytes) -> None:
    said = front_matter("a.MD", head)
    assert said is not None
    assert said.roles == {"hr", "boss"}


@pytest.mark.parametrize(
    "head",
    [
        "---\ntitle: Memo\n roles: hr\n---\nText",
        "---\ntitle: Memo\n\troles: hr\n---\nText",
        '+++\ntitle = "x"\n  roles = ["hr"]\n+++\nText',
        '+++\n[roles]\nread = ["hr"]\n+++\nText',
        "--- # memo\nroles: hr\n---\nText",
        "--- # memo\nroles: hr\nText",
        " ---\nroles: hr\n---\nText",
        "\u200b---\nroles: hr\n---\nText",
        "\ufeff\ufeff---\nroles: hr\n---\nText",
        "\u200b\n ---\nroles: hr\n---\nText",
        "-----\ntitle: A\nroles: hr\n-----\nText",
        "%YAML 1.2\n---\nroles: hr\n---\nText",
        ';;;\n"roles": ["hr"]\n;;;\nText',
        "---\nbase: &b\n  roles: hr\n<<: *b\n---\nText",
        "---\nbase: &b {roles: hr}\n<<: *b\n---\nText",
        "---\nmeta: {a: b}, roles: hr\n---\nText",
        '---\nmeta: "a", roles: "hr"\n---\nText',
        "---\nroles: hr, tenant: acme\n---\nText",
        "---\naccess:\n  roles: hr\n---\nText",
        "---\naccess.roles: hr\n---\nText",
        "---\n- title: x\n  roles: hr\n---\nText",
        "---\nrole: hr\n---\nText",
        "---\nacl: [hr]\n---\nText",
        "---\nallow = hr\n---\nText",
        '---\n"rol\\u0065s": hr\n---\nText',
        "---\nroles\uff1a hr\n---\nText",
        "---\nro\u200bles: hr\n---\nText",
        "---\ntitle: x\u2028roles: hr\n---\nText",
        "---\n# x\u2028roles: hr\n---\nText",
        '---\n{"roles"\n: ["hr"]}\n---\nText',
    ],
)  # fmt: skip
def test_rights_that_are_no_key_of_their_own_fail_the_document(head: str) -> None:
    with pytest.raises(ParseError, match="front matter"):
        front_matter("a.md", head.encode())


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nText.\n\n---\n\nMore about roles.\n",
        "----\n\n# Roles: who does what\n\nText.\n",
        "----\n\nText.\n\n- roles: hr\n",
        " ---\n\nText.\n\n---\n\nroles: hr\n",
        "----\nOur acl\n=======\n",
        "- --\nroles: hr\n",
        "# Roles\n\nroles: hr\n",
    ],
)  # fmt: skip
def test_ordinary_markdown_says_nothing_of_rights(text: str) -> None:
    assert front_matter("a.md", text.encode()) is None


@pytest.mark.parametrize("line", ['title: "Roles: a guide"', "url: https://a.example/?role=x&acl=y", "# roles: none"])
def test_words_of_rights_in_quotes_addresses_and_comments_are_no_keys(line: str) -> None:
    said = front_matter("a.md", f"---\n{line}\nroles: hr\n---\nText".encode())
    assert said is not None
    assert said.roles == {"hr"}


@pytest.mark.parametrize("ending", ["md", "Rmd", "mkdn", "mkd", "mdown", "qmd", "mdx", "markdown"])
def test_every_ending_of_markdown_has_front_matter(ending: str) -> None:
    said = front_matter(f"a.{ending}", b"---\nroles: hr\n---\nText")
    assert said is not None
    assert said.roles == {"hr"}


def test_front_matter_behind_many_empty_lines_is_read() -> None:
    said = front_matter("a.md", b"\n" * 600 + b"---\nroles: hr\n---\nText")
    assert said is not None
    assert said.roles == {"hr"}


def test_only_markdown_has_front_matter() -> None:
    head = b"---\nroles: hr\n---\n"
    assert front_matter("a.txt", head) is None
    assert front_matter("a.md", b"no fence\nroles: hr") is None


@pytest.mark.parametrize("keys", ["roles: hr\nroles: public", "roles: public\nRoles: hr", '"roles": hr\nroles: hr'])
def test_roles_that_are_said_twice_are_nobodys(keys: str) -> None:
    said = front_matter("a.md", f"---\ntitle: A\n{keys}\n---\nText".encode())
    assert narrowed(Ruling(Acl(roles("public"))), said).acl.roles == set()


@pytest.mark.parametrize("value", [None, 7, ["a", 7], {"a": 1}, True])
def test_roles_that_cannot_be_understood_are_nobodys(value: object) -> None:
    assert Own.of("it", {"roles": value}).roles == frozenset()
    assert Own.of("it", {}).roles is None


def test_the_rules_come_first_then_the_sidecar_then_the_document(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\nlanguage: fr\nvalid_to: 31/12/2027\ntitle: Inner\n---\n# A\n")
    (tmp_path / "a.md.fonte.yaml").write_text("# mine\nlanguage: de\ntitle: Beside\nvalid_from: 2026-02-01\n")
    (item,) = FolderSource(tmp_path).scan()
    assert isinstance(item, Source)
    assert (item.language, item.metadata) == (
        "de", {"title": "Beside", "valid_from": "2026-02-01", "valid_to": "2027-12-31"}
    )  # fmt: skip
    (item,) = FolderSource(tmp_path, rules=[SourceRule("*.md", language="it", valid_to="2026-06-30")]).scan()
    assert isinstance(item, Source)
    assert (item.language, item.metadata["valid_to"], item.metadata["title"]) == ("it", "2026-06-30", "Beside")


def test_a_sidecar_is_no_document_and_narrows_a_file_of_any_kind(tmp_path: Path) -> None:
    (tmp_path / "r.pdf").write_bytes(b"%PDF")
    (tmp_path / "r.pdf.fonte.yaml").write_text("---\nroles:\n  - hr\ntenant: acme\n")
    (tmp_path / "gone.pdf.fonte.yaml").write_text("roles: hr\n")
    reader = FolderSource(tmp_path)
    (item,) = reader.scan()
    assert isinstance(item, Source)
    assert (item.name, item.acl.roles, item.tenant) == ("r.pdf", {"hr"}, "acme")
    assert reader.notes == ("gone.pdf.fonte.yaml stands beside no document",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("role: hr\n", "'role' is not one of tenant, roles"),
        ("{roles: [hr]}\n", "is no line of the form"),
        ("roles: hr\n  deeper: x\n", "is no line of the form"),
        ("- roles\n", "is no line of the form"),
        ("", "it says nothing"),
        ("# only a remark\n", "it says nothing"),
        ("valid_to: soon\n", "valid_to cannot be 'soon'"),
        ("language: Italian\n", "language cannot be 'Italian'"),
        ("roles: {hr: yes\n", "'{hr: yes' is neither text nor a list"),
        ("roles: {hr: yes}\n", "is neither text nor a list"),
        ("roles: [hr, board\n", "'[hr, board' is neither text nor a list"),
        ("roles: [hr, {board: 1}]\n", "is neither text nor a list"),
        ("roles: 'hr\n", "is neither text nor a list"),
        ("roles:\n- hr\n- *staff\n", "'*staff' is neither text nor a list"),
        ("title: |\n", "'|' is neither text nor a list"),
        ("roles: hr\n" + "# " + "x" * 40_000, "too long"),
    ],
)
def test_a_sidecar_that_is_not_understood_fails_its_document(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "r.txt").write_text("x")
    (tmp_path / "r.txt.fonte.yaml").write_text(text)
    (item,) = FolderSource(tmp_path).scan()
    assert isinstance(item, tuple)
    assert isinstance(item[2], ParseError)
    assert item[1] == "r.txt"
    assert why in str(item[2])
    assert str(item[2]).startswith("r.txt.fonte.yaml")


@pytest.mark.parametrize("value", ["hr, board", "[hr, board]", '["hr", board] # two', "'hr'", '"hr"', "[hr]", "\n- hr"])
def test_lists_and_quotes_of_a_sidecar_are_understood(value: str) -> None:
    assert "hr" in (sidecar_of("r.txt", f"roles: {value}\n").roles or ())


def test_tenants_must_agree() -> None:
    ruling = Ruling(Acl(roles("public")), tenant="acme")
    assert narrowed(ruling, Own("it", tenant="acme")).tenant == "acme"
    assert narrowed(ruling, Own("it", tenant="other")).tenant == ""
    assert narrowed(Ruling(Acl()), Own("it", tenant="other")).tenant == "other"
    assert narrowed(ruling, Own("it")).tenant == "acme"


def test_own_roles_that_leave_nobody_are_said(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\nroles: hr\n---\n# A\n")
    reader = FolderSource(tmp_path, default_roles=roles("staff"))
    list(reader.scan())
    assert reader.notes == (
        "1 document is readable by nobody: its front matter names no role that the rules give (a.md)",
    )  # fmt: skip


def test_long_lines_are_read_in_no_time() -> None:
    for line in ("a" * 30_000, "a " * 15_000, "a: b" + " " * 30_000 + "c", " " * 30_000 + "x"):
        front_matter("a.md", f"---\nx: 1\n{line}\n---\n".encode())
    with pytest.raises(ValueError):
        sidecar_members("a" * 30_000, KEYS)


def test_a_sidecar_of_a_member_is_called_by_its_own_name() -> None:
    with pytest.raises(ParseError, match=r"^a\.md\.fonte\.yaml"):
        sidecar_of("box.zip!/sub/a.md", "x")


def test_a_sidecar_that_is_a_link_tells_nothing_of_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("a secret line")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "r.txt").write_text("x")
    (tmp_path / "docs" / "r.txt.fonte.yaml").symlink_to(tmp_path / "outside")
    (item,) = FolderSource(tmp_path / "docs").scan()
    assert isinstance(item, tuple)
    assert str(item[2]) == "r.txt.fonte.yaml is a link, which is not followed"


def test_another_spelling_of_the_ending_is_a_document(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_text("x")
    (tmp_path / "r.txt.Fonte.YAML").write_text("roles: hr")
    assert [item.name for item in FolderSource(tmp_path).scan() if isinstance(item, Source)] == [
        "r.txt",
        "r.txt.Fonte.YAML",
    ]
