"""A mail, whatever file it came in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import PurePosixPath

from fonte.errors import FonteError, ParseError
from fonte.parsers.containers.limits import Entry, entry

_SHOWN = ("From", "To", "Cc", "Date", "Subject")
"""What the first block of a mail says of it."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with a mail, under the name that the mail gives it (or none)."""

    name: str
    body: bytes


@dataclass(slots=True)
class Mail:
    """Headers by their usual names, texts in order, attachments."""

    headers: dict[str, str] = field(default_factory=dict)
    date: str | None = None
    """ISO 8601."""
    texts: list[Text] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    pictures: int = 0
    """Pictures inside the text."""
    left: list[str] = field(default_factory=list)
    """Parts that could not be read, with the reason."""
    encrypted: bool = False

    @property
    def subject(self) -> str:
        """What it is about."""
        return self.headers.get("Subject", "")

    @property
    def head(self) -> str:
        """The readable lines that begin it."""
        return "\n".join(f"{name}: {self.headers[name]}" for name in _SHOWN if self.headers.get(name))


@dataclass(frozen=True, slots=True)
class Text:
    """One text of a mail."""

    text: str
    is_html: bool = False


class MailContainer:
    """The attachments of a mail as members of it."""

    is_document = True

    def __init__(self, mail: Mail) -> None:
        self.damage: FonteError | None = None
        self._bodies = named(mail.attachments)

    def entries(self) -> Iterator[Entry]:
        """Attachments in order."""
        yield from map(Entry, self._bodies)

    def read(self, name: str) -> bytes:
        """An attachment's bytes. Raises ParseError."""
        if name not in self._bodies:
            raise ParseError(f"{name} is not in its mail any more", hint="sync again when nothing writes to it")
        return self._bodies[name]

    def close(self) -> None:
        """Nothing is held open."""


def named(attachments: Sequence[Attachment]) -> dict[str, bytes]:
    """Attachments by names that are unique in the mail and lead nowhere; one without a name gets its number."""
    found: dict[str, bytes] = {}
    for number, one in enumerate(attachments, 1):
        clean = entry(one.name.replace("\\", "/").rsplit("/", 1)[-1]) if one.name else None
        name = clean.name if clean is not None and clean.error is None else f"attachment-{number}"
        path, again = PurePosixPath(name), 2
        while name in found:
            name, again = f"{path.stem} ({again}){path.suffix}", again + 1
        found[name] = one.body
    return found


def rebuilt(mail: Mail, depth: int = 0) -> bytes:
    """A mail as an Internet message, the same bytes for the same mail: for one that is no file of its own."""
    message = EmailMessage(policy=SMTP)
    for name, value in mail.headers.items():
        message[name] = " ".join(value.split())
    text = next((one for one in mail.texts if not one.is_html), None) or next(iter(mail.texts), Text(""))
    message.set_content(text.text, subtype="html" if text.is_html else "plain", cte="base64")
    for name, body in named(mail.attachments).items():
        message.add_attachment(body, "application", "octet-stream", filename=name)
    if mail.attachments:
        message.set_boundary(f"=_fonte_{depth}")
    return message.as_bytes()
