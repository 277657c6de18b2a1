"""Globs over relative paths, and what they say of the files that they match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from fonte.types import Acl, Language


@dataclass(frozen=True, slots=True)
class SourceRule:
    """What is said of sources whose name matches a glob. None says nothing; a later rule wins.

    ``roles`` that are empty mean nobody, not everybody.
    """

    match: str
    roles: frozenset[str] | None = None
    language: Language | None = None
    title: str | None = None
    tenant: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    """Days in ISO 8601."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What all rules together say of one source."""

    acl: Acl
    language: Language | None = None
    title: str | None = None
    nobody: str | None = None
    """Why nobody may read it, where something that was said is the reason."""
    tenant: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None

    @property
    def metadata(self) -> dict[str, str]:
        """What a source keeps of it beside rights, tenant and language."""
        said = {"title": self.title, "valid_from": self.valid_from, "valid_to": self.valid_to}
        return {key: value for key, value in said.items() if value}


def rule_on(name: str, rules: Sequence[SourceRule], default_roles: frozenset[str]) -> Ruling:
    """What ``rules`` say of ``name``, later rules winning field by field."""
    ruling = Ruling(Acl(default_roles))
    for rule in rules:
        if not matches(name, rule.match):
            continue
        acl, nobody = ruling.acl, ruling.nobody
        if rule.roles is not None:
            acl, nobody = Acl(rule.roles), None if rule.roles else f"the rule for {rule.match} names no role"
        ruling = Ruling(
            acl,
            rule.language or ruling.language,
            rule.title or ruling.title,
            nobody,
            rule.tenant or ruling.tenant,
            rule.valid_from or ruling.valid_from,
            rule.valid_to or ruling.valid_to,
        )
    return ruling


def matches_any(name: str, globs: Iterable[str]) -> bool:
    """Whether one of the globs matches."""
    return any(matches(name, glob) for glob in globs)


def matches(name: str, glob: str) -> bool:
    """Whether a glob matches a relative path: ``*`` within a part, ``**`` over parts; no ``/``: the last part counts.

    A glob that matches a folder matches what lies below it.
    """
    return _pattern(glob).fullmatch(name) is not None


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    bare = glob.removeprefix("./").strip("/") or "**"
    regex = _translated(bare)
    if "/" not in glob.removeprefix("./").rstrip("/"):
        regex = f"(?:.*/)?{regex}"
    return re.compile(f"{regex}(?:/.*)?", re.DOTALL)


def _translated(glob: str) -> str:
    out, at = "", 0
    while at < len(glob):
        if glob.startswith("**/", at) and (at == 0 or glob[at - 1] == "/"):
            out, at = out + "(?:.*/)?", at + 3
        elif glob.startswith("**", at):
            out, at = out + ".*", at + 2
        elif glob[at] == "*":
            out, at = out + "[^/]*", at + 1
        elif glob[at] == "?":
            out, at = out + "[^/]", at + 1
        elif glob[at] == "[" and "]" in glob[at + 2 :]:
            end = glob.index("]", at + 2)
            inside = glob[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            negated = inside[:1] in ("!", "^")
            out, at = out + (f"[^/{inside[1:]}]" if negated else f"[{inside}]"), end + 1
        else:
            out, at = out + re.escape(glob[at]), at + 1
    return out
