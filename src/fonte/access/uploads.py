"""Documents that people hand to a server: what they may be called, whom they may be shown, and what is kept of them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, Protocol
from urllib.parse import quote

from fonte.access.identity import Identity
from fonte.errors import InvalidRequest, NotPermitted
from fonte.types import PUBLIC_ROLE, Acl, Language, sha256_hex

UPLOADS = "upload://"
"""The source that holds all uploads of a tenant."""
LONGEST_NAME = 255
"""Bytes of a name in UTF-8."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Control characters, overrides of direction, halves of characters: what makes a name look like another."""


@dataclass(frozen=True, slots=True)
class Upload:
    """One uploaded document, but for its bytes."""

    id: str
    name: str
    owner: str | None
    allow: tuple[str, ...]
    at: datetime
    media_type: str = ""
    title: str | None = None
    language: Language | None = None
    sha256: str = ""
    without: tuple[str, ...] = ()
    """URIs of its members that were deleted."""

    @property
    def uri(self) -> str:
        """What its document is known by."""
        return upload_uri(self.id, self.name)


class UploadStore(Protocol):
    """Uploads of one tenant."""

    def draft(self, upload: Upload, body: BinaryIO) -> AbstractContextManager[Draft]:
        """An upload on the disk that nobody sees yet; what was not committed is gone after the block.

        Raises:
            StoreUnavailable
        """

    def scan(self) -> Iterator[tuple[Upload, str]]:
        """Every upload with the path of its bytes, by id."""

    def path(self, uri: str) -> str | None:
        """Where the bytes of the upload with this URI lie; None where there is none, and for a member of one."""

    def disown(self, user: str) -> None:
        """Forget that a user is the owner of what they uploaded."""

    def forget(self, uri: str) -> bool:
        """Remove the upload with this URI, or a member of one; False where there is none."""


class Draft(Protocol):
    """An upload before it counts."""

    def commit(self) -> None:
        """Put it in the place of what was there. Raises StoreUnavailable."""


UploadStores = Callable[[str], UploadStore]
"""A tenant's uploads, by its name."""


def upload_id(who: Identity, name: str) -> str:
    """The place of a document of this name of this caller: uploaded again, it takes its own place and nobody else's."""
    user = who.principal.user
    owner = f"user\0{user}" if user is not None else f"key\0{who.id}"
    return "u" + sha256_hex(f"{owner}\0{name}")[:24]


def upload_uri(identity: str, name: str) -> str:
    """``upload://ID/NAME``, the name percent-encoded."""
    return f"{UPLOADS}{identity}/{quote(name, safe='~')}"


def checked_name(name: str | None) -> str:
    """A name that can be shown to people. It never becomes a path.

    Raises:
        InvalidRequest: empty, too long, with a slash, or with characters that cannot be seen.
    """
    if not name or not name.strip() or name in {".", ".."}:
        raise InvalidRequest("a file without a name", hint="name it, with its ending")
    if any(unicodedata.category(one) in _UNSEEN for one in name):
        raise InvalidRequest("a name with characters that cannot be seen", hint="rename the file")
    if len(name.encode()) > LONGEST_NAME or "/" in name or "\\" in name:
        raise InvalidRequest(
            f"a name with a slash, or longer than {LONGEST_NAME} bytes", hint="send the file's own name alone"
        )
    return name


def allowed_roles(who: Identity, wanted: Sequence[str]) -> tuple[str, ...]:
    """The roles that an upload is readable by: ``public`` where none is named.

    Raises:
        NotPermitted: a role that the caller does not hold, and they do not run the tenant. InvalidRequest: no role.
    """
    roles = frozenset(wanted) or frozenset({PUBLIC_ROLE})
    try:
        Acl(roles)
    except ValueError as error:
        raise InvalidRequest(f"allow: {error}", hint="name roles, with commas between") from error
    strange = sorted(roles - who.principal.held_roles)
    if strange and not who.runs_it:
        raise NotPermitted(
            f"{strange[0]!r} is not among your roles", hint="allow public, roles that you hold, or user:YOU"
        )
    return tuple(sorted(roles))
