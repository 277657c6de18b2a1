"""Whatever documents and sites say, nobody gets more than the rules give, and nothing falls over."""

from __future__ import annotations

import contextlib
import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fonte.errors import ParseError, SourceTooLarge, SourceUnreadable
from fonte.parsers.registry import parse_body
from fonte.sources.own import KEYS, Own, front_matter, narrowed, sidecar_of
from fonte.sources.rules import Ruling
from fonte.sources.web.addresses import plain_url
from fonte.sources.web.listed import addresses_in, canonical_of, charset_of, listed_addresses
from fonte.sources.web.robots import parse_robots
from fonte.types import Acl, Principal, Source

ROLES = st.frozensets(st.sampled_from(["public", "staff", "hr", "boss", "user:ada"]))
VALUES = st.one_of(
    st.none(), st.text(max_size=30), st.lists(st.sampled_from(["staff", "hr", "public", "", "user:ada", " boss "]))
)
MEMBERS = st.dictionaries(st.sampled_from(KEYS), VALUES)
LINES = st.lists(
    st.one_of(
        st.sampled_from(
            ["---", "+++", "roles: hr", "roles:", "- staff", "tenant: acme", "roles = ['hr']", "\t", "# x"]
        ),
        st.text(max_size=20),
    ),
    max_size=12,
)


@given(ROLES, MEMBERS, MEMBERS)
def test_nobody_reads_more_for_what_is_said(given_roles: frozenset[str], first: object, second: object) -> None:
    ruling = Ruling(Acl(given_roles), tenant="acme")
    said = narrowed(narrowed(ruling, Own.of("a", first)), Own.of("b", second))  # type: ignore[arg-type] - members both
    assert said.tenant in ("acme", "")
    for roles in ({"staff"}, {"hr"}, {"boss", "hr"}, set()):
        who = Principal(user="ada", roles=roles)
        assert ruling.acl.admits(who) or not said.acl.admits(who)


@given(LINES, ROLES)
def test_any_text_may_be_front_matter_or_a_sidecar(lines: list[str], given_roles: frozenset[str]) -> None:
    body = "\n".join(lines).encode("utf-8", "replace")
    ruling = Ruling(Acl(given_roles))
    said = narrowed(ruling, front_matter("a.md", body)).acl
    with contextlib.suppress(ParseError):
        said = said.narrowed(narrowed(ruling, sidecar_of("a.md", body.decode())).acl)
    for roles in ({"staff"}, {"hr"}, set()):
        assert ruling.acl.admits(Principal(roles=roles)) or not said.admits(Principal(roles=roles))


@settings(max_examples=200)
@given(st.binary(max_size=200), st.text(max_size=60))
def test_whatever_a_site_sends_is_looked_at(body: bytes, text: str) -> None:
    for sent in (body, b"\x1f\x8b\x08\x00" + body, gzip.compress(body)[: 20 + len(body) // 2]):
        with contextlib.suppress(SourceUnreadable, SourceTooLarge):  # what looks packed and is damaged
            listed_addresses(sent, "text/plain", most_bytes=1000)
    listed_addresses(f"<urlset><loc>{text}</loc></urlset>".encode("utf-8", "replace"), "", most_bytes=1000)
    canonical_of(body, text)
    charset_of(text)
    addresses_in(text)
    robots = parse_robots(f"User-agent: *\nDisallow: {text}\n{text}", "fonte")
    robots.allows(text)
    for address in (text, f"http://{text}", f"http://a.example/{text}"):
        try:
            plain = plain_url(address)
        except SourceUnreadable:
            continue
        assert plain.isascii()
        assert plain.startswith(("http://", "https://"))
        assert plain_url(plain) == plain


@pytest.mark.parametrize("name", ["a.md", "b.MARKDOWN", "c.qmd"])
def test_what_the_parser_takes_out_of_the_text_is_what_was_looked_at(name: str) -> None:
    """One reader for both: front matter that nobody looked at would be a way round the rules."""
    for extra in ("", "x: " + "y" * 40_000 + "\n", "k: v\n" * 600):
        body = f"---\nroles: hr\n{extra}---\n# A\n\nText.\n".encode()
        taken = Source("file:///a", name, "0" * 64, Acl(), body=body)
        if extra:
            for read in (lambda body=body: front_matter(name, body), lambda taken=taken: parse_body(taken)):
                with pytest.raises(ParseError, match="not closed within"):
                    read()
            continue
        said = front_matter(name, body)
        assert said is not None
        assert said.roles == {"hr"}
        assert [block.text for block in parse_body(taken).blocks] == ["A", "Text."]
