"""What a document says of itself, or a file beside it of it: who may read it, and what else holds for it.

The operator's settings grant. Whoever writes documents, or files beside them, can only take away: see adr/0019.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from fonte.errors import ParseError
from fonte.sources.rules import Ruling
from fonte.text.frontmatter import SIDECAR_ENDING, iso_date, own_members, own_text, sidecar_members
from fonte.types import Acl

KEYS = ("tenant", "roles", "language", "title", "valid_from", "valid_to")
"""What a sidecar may say."""
_LANGUAGE = re.compile(r"([A-Za-z]{2})(?:[-_]\w+)?")
_DATE_LENGTH = len("2026-01-31")


@dataclass(frozen=True, slots=True)
class Own:
    """What was said, and ``where`` (``its front matter``). None says nothing; roles that are empty mean nobody."""

    where: str
    roles: frozenset[str] | None = None
    tenant: str | None = None
    language: str | None = None
    title: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None

    @classmethod
    def of(cls, where: str, members: Mapping[str, object]) -> Own:
        """What members with the keys of ``KEYS`` say; roles that cannot be understood are nobody's.

        ``lang`` is a language too. Languages and dates that are none say nothing.
        """
        return cls(
            where,
            _roles(members["roles"]) if "roles" in members else None,
            str(members["tenant"] or "").strip() if "tenant" in members else None,
            _language(members.get("language", members.get("lang"))),
            _text(members.get("title")),
            _date(members.get("valid_from")),
            _date(members.get("valid_to")),
        )


def front_matter(name: str, head: bytes, media_type: str | None = None) -> Own | None:
    """What a file says of itself; None where its kind cannot, or does not. Its title is its parser's affair.

    Raises:
        ParseError: front matter that is not read whole, or says of rights what is not understood.
    """
    return front_matter_of(own_text(name, head, media_type))


def front_matter_of(text: str) -> Own | None:
    """What the text of front matter says; None for none."""
    return replace(Own.of("its front matter", own_members(text)), title=None) if text else None


def sidecar_of(name: str, text: str) -> Own:
    """What the text of the file beside a document of this name says of it.

    Raises:
        ParseError: something in it cannot be understood: it might be about who may read the document.
    """
    shown = f"{name.rsplit('/', 1)[-1]}{SIDECAR_ENDING}"
    try:
        own = Own.of(shown, members := sidecar_members(text, KEYS))
    except ValueError as error:
        raise ParseError(f"{shown} cannot be understood: {error}", hint=f"it may say {', '.join(KEYS)}") from error
    for key in ("language", "valid_from", "valid_to"):
        if members.get(key) and getattr(own, key) is None:
            raise ParseError(f"{shown}: {key} cannot be {members[key]!r}", hint="a language is it, a date 2026-01-31")
    return own


def narrowed(ruling: Ruling, own: Own | None) -> Ruling:
    """What holds once a document, or a file beside it, has had its say after the rules: see adr/0019.

    Roles only shrink and tenants must agree; of the rest the rules' word comes first.
    """
    if own is None:
        return ruling
    acl, tenant, nobody = ruling.acl, ruling.tenant, ruling.nobody
    if own.roles is not None:
        acl = acl.narrowed(Acl(own.roles))
        if not acl.roles and ruling.acl.roles:
            nobody = f"{own.where} names no role that the rules give"
    if own.tenant is not None:
        tenant = own.tenant if tenant in (None, own.tenant) else ""
    return Ruling(
        acl,
        ruling.language or own.language,
        ruling.title or own.title,
        nobody,
        tenant,
        ruling.valid_from or own.valid_from,
        ruling.valid_to or own.valid_to,
    )


def _roles(value: object) -> frozenset[str]:
    if isinstance(value, str):
        value = [part.strip().strip("\"'").strip() for part in value.strip().strip("[]").split(",")]
    if not isinstance(value, list) or not all(isinstance(one, str) and "\0" not in one for one in value):
        return frozenset()
    return frozenset(one.strip() for one in value if one.strip())


def _language(value: object) -> str | None:
    match = _LANGUAGE.fullmatch(value.strip()) if isinstance(value, str) else None
    return match[1].lower() if match else None


def _text(value: object) -> str | None:
    return " ".join(value.split()) or None if isinstance(value, str) else None


def _date(value: object) -> str | None:
    iso = iso_date(value.strip()) if isinstance(value, str) else None
    return iso[:_DATE_LENGTH] if iso else None
