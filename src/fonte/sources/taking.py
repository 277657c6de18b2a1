"""A file, wherever it came from, to the sources that it holds: itself, its records, or its members."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from fonte.errors import ParseError
from fonte.protocols import Scanned, Unpacker
from fonte.sources.files import DEFAULT_MAX_BYTES
from fonte.sources.members import MemberRules
from fonte.sources.own import front_matter, narrowed, sidecar_of
from fonte.sources.record_files import RecordFile
from fonte.sources.rules import Ruling, SourceRule, matches_any, rule_on
from fonte.text.frontmatter import SIDECAR_ENDING
from fonte.types import PUBLIC_ROLE, Source

_NAMED = 3
"""Most documents of one note by name."""
LOOK_BYTES = 1024
"""How many bytes tell whether a file may be a container."""


@dataclass(frozen=True, slots=True)
class File:
    """A file that can be opened here. ``beside`` is the text of its sidecar; ``head`` its first ``HEAD_BYTES``."""

    uri: str
    name: str
    path: str
    content_hash: str
    head: bytes
    modified_at: datetime | None = None
    beside: str | None = None


@dataclass(slots=True)
class Nobody:
    """Documents that nobody may read, by the reason."""

    names: dict[str, list[str]] = field(default_factory=dict)

    def count(self, item: Scanned, why: str | None) -> None:
        """Keep a source's name if nobody may read it."""
        if isinstance(item, Source) and not item.acl.roles:
            self.names.setdefault(why or "no role was given", []).append(item.name)

    def clear(self) -> None:
        """Forget them: another scan begins."""
        self.names.clear()

    def notes(self) -> list[str]:
        """What to say of them, the first few by name."""
        told = []
        for why, names in sorted(self.names.items()):
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            what = f"{len(names)} documents are" if len(names) > 1 else "1 document is"
            told.append(f"{what} readable by nobody: {why} ({', '.join(names[:_NAMED])}{more})")
        return told


@dataclass(frozen=True, slots=True)
class Taking:
    """Which files are taken, and what is said of them by the rules, the files beside them, and themselves."""

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    rules: Sequence[SourceRule] = ()
    default_roles: frozenset[str] = frozenset({PUBLIC_ROLE})
    max_bytes: int = DEFAULT_MAX_BYTES

    def wanted(self, name: str) -> bool:
        """Whether a file of this name is taken."""
        return (not self.include or matches_any(name, self.include)) and not matches_any(name, self.exclude)

    def ruling(self, name: str) -> Ruling:
        """What the rules say of a file, page or query of this name."""
        return rule_on(name, self.rules, self.default_roles)

    def sources(self, file: File, unpacker: Unpacker | None, nobody: Nobody, *, is_records: bool) -> Iterator[Scanned]:
        """What a file holds; (uri, name, error) for what cannot be taken."""
        try:
            ruling = self.ruling(file.name)
            if file.beside is not None:
                ruling = narrowed(ruling, sidecar_of(file.name, file.beside))
            ruling = narrowed(ruling, front_matter(file.name, file.head))
        except ParseError as error:
            yield file.uri, file.name, error
            return
        if is_records:
            for item in RecordFile(file.path, file.uri, file.name, ruling, file.modified_at, self.max_bytes).scan():
                nobody.count(item, ruling.nobody or "their own roles are none that the rules give")
                yield item
            return
        source = Source(
            uri=file.uri,
            name=file.name,
            content_hash=file.content_hash,
            acl=ruling.acl,
            path=file.path,
            modified_at=file.modified_at,
            language=ruling.language,
            metadata=ruling.metadata,
            tenant=ruling.tenant,
        )
        if unpacker is None or not unpacker.may_hold(file.head[:LOOK_BYTES], file.name):
            nobody.count(source, ruling.nobody)
            yield source
            return
        for item, why in MemberRules(self.rules, self.exclude).expanded(source, unpacker):
            nobody.count(item, why or ruling.nobody)
            yield item


def is_sidecar(name: str) -> bool:
    """Whether a file of this name says something of its neighbour, and is no document."""
    return name.endswith(SIDECAR_ENDING)
