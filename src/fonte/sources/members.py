"""What lies in a container (an archive, a mail) as sources of its own, under the roles of the container."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from fonte.errors import FonteError, SourceTooLarge
from fonte.protocols import Unpacker
from fonte.sources.files import shown_name
from fonte.sources.rules import Ruling, SourceRule, matches_any, rule_on
from fonte.types import PUBLIC_ROLE, Acl, Contents, Member, Source

STEP = "!/"
"""Between a container and its member, in names and URIs; a ``!`` in a file's own name is percent-encoded in URIs."""
_REST = "…"
"""Stands for members that could not be listed."""
Scanned = Source | tuple[str, str, Exception]


@dataclass(frozen=True, slots=True)
class MemberRules:
    """What is said of members by globs: an archive is a folder to them."""

    rules: Sequence[SourceRule]
    exclude: Sequence[str]

    def expanded(self, source: Source, unpacker: Unpacker) -> Iterator[tuple[Scanned, str | None]]:
        """A file that may be a container, and what it holds; each with the reason why nobody may read it, if so.

        A file that is no container comes back as it is. What could not be opened is (uri, name, error).
        """
        try:
            contents = unpacker.contents(source)
        except FonteError as error:
            yield (source.uri, source.name, _about(error, source)), None
            return
        if contents.itself:
            yield source, None
        yield from self._members(source, contents)
        if contents.error is not None:
            told = _about(contents.error, source)
            if contents.itself:  # its own name is taken: this one tells of the rest of what it holds
                yield (f"{source.uri}{STEP}{_quoted(_REST)}", f"{source.name}{STEP}{_REST}", told), None
            yield (source.uri, source.name, told), None

    def _members(self, source: Source, contents: Contents) -> Iterator[tuple[Scanned, str | None]]:
        for member in contents.members:
            inside = "/".join(member.inside)
            name = f"{source.name}{STEP}{STEP.join(map(shown_name, member.inside))}"
            path = f"{source.name}/{shown_name(inside)}"
            uri = f"{source.uri}{STEP}{STEP.join(map(_quoted, member.inside))}"
            if matches_any(path, self.exclude):
                continue
            if member.error is not None:
                yield (uri, name, member.error), None
            else:
                yield self._member(source, member, (uri, name, path))

    def _member(self, source: Source, member: Member, called: tuple[str, str, str]) -> tuple[Source, str | None]:
        uri, name, path = called
        ruling, acl, why = self._rights(source, member, path)
        made = replace(
            source,
            uri=uri,
            name=name,
            content_hash=member.content_hash,
            acl=acl,
            language=ruling.language or source.language,
            metadata={"title": ruling.title} if ruling.title else {},
            inside=member.inside,
        )
        return made, why

    def _rights(self, source: Source, member: Member, path: str) -> tuple[Ruling, Acl, str | None]:
        """(what the rules say of a member, who may read it, why nobody may, if so).

        Each container on the way to it counts: an attachment is no wider than its mail, wherever the mail lies.
        """
        acl, why = source.acl, None
        ways = [f"{source.name}/{shown_name('/'.join(member.inside[:at]))}" for at in range(1, len(member.inside))]
        for way in (*ways, path):
            ruling = rule_on(way, self.rules, acl.roles)
            acl = both(acl, ruling.acl)
            if not acl.roles and why is None:
                why = _why_nobody(source, ruling)
        return ruling, acl, why


def acl_by_name(name: str, rules: Sequence[SourceRule], default_roles: frozenset[str]) -> Acl:
    """Who may read what is called so, a file or a member (``box.zip!/in.zip!/a.md``), as a scan would say."""
    outer, *inside = name.split(STEP)
    acl = rule_on(outer, rules, default_roles).acl
    for at in range(1, len(inside) + 1):
        acl = both(acl, rule_on("/".join((outer, *inside[:at])), rules, acl.roles).acl)
    return acl


def both(container: Acl, member: Acl) -> Acl:
    """Who may read a member: nobody who may not read its container, nor whom a rule for the member leaves out.

    Everyone holds ``public``, so that it takes nobody out.
    """
    if PUBLIC_ROLE in member.roles:
        return container
    return member if PUBLIC_ROLE in container.roles else Acl(container.roles & member.roles)


def _why_nobody(source: Source, ruling: Ruling) -> str:
    if ruling.nobody_by:
        return f"the rule for {ruling.nobody_by} names no role"
    if not source.acl.roles:
        return f"nobody may read {source.name}, which holds them"
    return f"the rules for them name no role that may read {source.name}, which holds them"


def _quoted(name: str) -> str:
    return quote(os.fsencode(name), safe="/~")


def _about(error: Exception, source: Source) -> Exception:
    """A limit's error with the name of the container that passed it."""
    if isinstance(error, SourceTooLarge) and not error.message.startswith(source.name):
        return SourceTooLarge(f"{source.name}: {error.message}", hint=error.hint)
    return error
