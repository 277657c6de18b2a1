"""robots.txt, by RFC 9309: the longest rule of the most fitting group wins."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MOST_CHARACTERS = 500 * 1024
_LONGEST_DELAY = 10.0


@dataclass(frozen=True, slots=True)
class Robots:
    """What a site lets a program fetch. ``rules`` are (allowed?, path pattern); ``delay`` seconds between requests."""

    rules: tuple[tuple[bool, str], ...] = ()
    delay: float = 0.0

    def allows(self, path: str) -> bool:
        """Whether a path with its query may be fetched."""
        best, allowed = -1, True
        for allow, pattern in self.rules:
            if len(pattern) >= best and _matches(pattern, path) and (len(pattern) > best or allow):
                best, allowed = len(pattern), allow
        return allowed


NOTHING_SAID = Robots()
FORBIDDEN = Robots(((False, "/"),))


def parse_robots(text: str, agent: str) -> Robots:
    """The rules for ``agent``: those of all groups that name it, else those for everybody."""
    groups: dict[str, tuple[list[tuple[bool, str]], list[float]]] = {}
    named: list[str] = []
    in_rules = False
    for line in text[:_MOST_CHARACTERS].splitlines():
        key, colon, value = line.split("#", 1)[0].partition(":")
        key, value = key.strip().lower(), value.strip()
        if not colon:
            continue
        if key == "user-agent":
            if in_rules:
                named, in_rules = [], False
            named.append(value.lower())
            groups.setdefault(value.lower(), ([], []))
            continue
        if key in ("allow", "disallow", "crawl-delay"):
            in_rules = True
        for name in named:
            if key in ("allow", "disallow") and value:
                groups[name][0].append((key == "allow", value))
            elif key == "crawl-delay" and re.fullmatch(r"\d{1,6}(\.\d{1,6})?", value):
                groups[name][1].append(min(float(value), _LONGEST_DELAY))
    rules, delays = groups.get(agent.lower()) or groups.get("*") or ([], [])
    return Robots(tuple(rules), max(delays, default=0.0))


def _matches(pattern: str, path: str) -> bool:
    """``*`` stands for anything, ``$`` at the end for the end; found part by part, in one pass."""
    anchored = pattern.endswith("$")
    first, *rest = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    at = len(first)
    for number, part in enumerate(rest):
        if anchored and number == len(rest) - 1:
            return len(path) - len(part) >= at and path.endswith(part)
        found = path.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return at == len(path) if anchored else True
