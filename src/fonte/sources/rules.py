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


@dataclass(frozen=True, slots=True)
class Ruling:
    """What all rules together say of one source."""

    acl: Acl
    language: Language | None = None
    title: str | None = None
    nobody_by: str | None = None
    """The glob of the rule that named roles and gave none."""


def rule_on(name: str, rules: Sequence[SourceRule], default_roles: frozenset[str]) -> Ruling:
    """What ``rules`` say of ``name``, later rules winning field by field."""
    roles, language, title, nobody_by = default_roles, None, None, None
    for rule in rules:
        if not matches(name, rule.match):
            continue
        if rule.roles is not None:
            roles, nobody_by = rule.roles, None if rule.roles else rule.match
        language = rule.language or language
        title = rule.title or title
    return Ruling(Acl(roles), language, title, nobody_by)


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
