"""What lies in a container (an archive, a mail) as sources of its own, under the roles of the container."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from fonte.errors import FonteError, ParseError, SourceTooLarge
from fonte.protocols import Scanned, Unpacker
from fonte.sources.files import shown_name
from fonte.sources.own import Own, front_matter_of, narrowed, sidecar_of
from fonte.sources.rules import Ruling, SourceRule, matches_any, rule_on
from fonte.text.frontmatter import SIDECAR_ENDING
from fonte.types import Acl, Contents, Member, Source

STEP = "!/"
"""Between a container and its member, in names and URIs; a ``!`` in a file's own name is percent-encoded in URIs."""
_REST = "…"
"""Stands for members that could not be listed."""


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
        sidecars = {one.inside: one.own for one in contents.members if one.inside[-1].endswith(SIDECAR_ENDING)}
        for member in contents.members:
            inside = "/".join(member.inside)
            name = f"{source.name}{STEP}{STEP.join(map(shown_name, member.inside))}"
            path = f"{source.name}/{shown_name(inside)}"
            uri = f"{source.uri}{STEP}{STEP.join(map(_quoted, member.inside))}"
            if matches_any(path, self.exclude) or (member.inside in sidecars and member.error is None):
                continue
            if member.error is not None:
                yield (uri, name, member.error), None
                continue
            try:
                own, *around = _beside(member.inside, sidecars)
            except ParseError as error:
                yield (uri, name, error), None
                continue
            ruling = self._ruling(source, member, path)
            for said in (own, front_matter_of(member.own), *around):
                ruling = narrowed(ruling, said)
            yield self._member(source, member, (uri, name), ruling), ruling.nobody

    def _member(self, source: Source, member: Member, called: tuple[str, str], ruling: Ruling) -> Source:
        return replace(
            source,
            uri=called[0],
            name=called[1],
            content_hash=member.content_hash,
            acl=ruling.acl,
            language=ruling.language or source.language,
            metadata={key: source.metadata[key] for key in _INHERITED if key in source.metadata} | ruling.metadata,
            inside=member.inside,
            tenant=ruling.tenant,
        )

    def _ruling(self, source: Source, member: Member, path: str) -> Ruling:
        """What the rules say of a member, its rights no wider than those of each container on the way to it.

        An attachment is no wider than its mail, wherever the mail lies, and belongs to the same tenant.
        """
        acl, nobody, tenant = source.acl, None, source.tenant
        why = (_NOBODY_LEFT if source.acl.roles else _NOBODY).format(source.name)
        ways = [f"{source.name}/{shown_name('/'.join(member.inside[:at]))}" for at in range(1, len(member.inside))]
        for way in (*ways, path):
            ruling = rule_on(way, self.rules, acl.roles)
            acl = acl.narrowed(ruling.acl)
            if not acl.roles and nobody is None:
                nobody = ruling.nobody or why
            if ruling.tenant is not None:
                tenant = ruling.tenant if tenant in (None, ruling.tenant) else ""
        return replace(ruling, acl=acl, nobody=nobody, tenant=tenant)


def _beside(inside: tuple[str, ...], sidecars: Mapping[tuple[str, ...], str]) -> list[Own | None]:
    """What the file beside a member says, and those beside the containers that hold it, the innermost first.

    Raises:
        ParseError: one of them cannot be understood.
    """
    said: list[Own | None] = []
    for at in range(len(inside), 0, -1):
        text = sidecars.get((*inside[: at - 1], inside[at - 1] + SIDECAR_ENDING))
        own = None if text is None else sidecar_of("/".join(inside[:at]), text)
        said.append(own if own is None or at == len(inside) else replace(own, title=None))  # that is the container's
    return said


_INHERITED = ("valid_from", "valid_to")
"""What holds for a container holds for its members, unless a rule says otherwise of them."""
_NOBODY = "nobody may read {}, which holds them"
_NOBODY_LEFT = "the rules for them name no role that may read {}, which holds them"


def acl_by_name(name: str, rules: Sequence[SourceRule], default_roles: frozenset[str]) -> Acl:
    """Who may read what is called so, a file or a member (``box.zip!/in.zip!/a.md``), as a scan would say.

    But for what documents and files beside them say: that is not to be had of a name.
    """
    outer, *inside = name.split(STEP)
    acl = rule_on(outer, rules, default_roles).acl
    for at in range(1, len(inside) + 1):
        acl = acl.narrowed(rule_on("/".join((outer, *inside[:at])), rules, acl.roles).acl)
    return acl


def _quoted(name: str) -> str:
    return quote(os.fsencode(name), safe="/~")


def _about(error: Exception, source: Source) -> Exception:
    """A limit's error with the name of the container that passed it."""
    if isinstance(error, SourceTooLarge) and not error.message.startswith(source.name):
        return SourceTooLarge(f"{source.name}: {error.message}", hint=error.hint)
    return error
