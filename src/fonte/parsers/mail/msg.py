"""Outlook's message files: properties in an OLE container ([MS-OXMSG])."""

from __future__ import annotations

import io
import struct
from datetime import UTC, datetime, timedelta
from email import policy
from email.errors import MessageError
from email.parser import HeaderParser
from typing import TYPE_CHECKING

from fonte.errors import ParseError
from fonte.parsers.encodings import decode, normalise_newlines
from fonte.parsers.mail.eml import HEADERS, iso_date
from fonte.parsers.mail.message import Attachment, Mail, Text, rebuilt
from fonte.parsers.tables import one_line

if TYPE_CHECKING:
    from olefile import OleFileIO

_DAMAGE = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    struct.error,
    OverflowError,
    RecursionError,
    MessageError,
)
"""What is raised of damaged containers."""
_SUBJECT, _HEADERS, _BODY, _HTML, _RTF = 0x0037, 0x007D, 0x1000, 0x1013, 0x1009
_SENDER, _SENDER_MAIL, _SENDER_SMTP, _TO, _CC, _MESSAGE_ID = 0x0C1A, 0x0C1F, 0x5D01, 0x0E04, 0x0E03, 0x1035
_DATA, _LONG_NAME, _SHORT_NAME, _DISPLAY_NAME, _CONTENT_ID = 0x3701, 0x3707, 0x3704, 0x3001, 0x3712
_TIMES = (0x0039, 0x0E06)
"""When it was sent, when it came."""
_TIME_TYPE = 0x0040
_PROPERTIES = "__properties_version1.0"
_STREAM = 2
"""The type of a stream among the entries of a container."""
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_MAX_DEPTH = 8
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".emf", ".wmf")
Path = tuple[str, ...]


def read_msg(body: bytes, name: str) -> Mail:
    """A message's headers, text and attachments; a mail inside it becomes an Internet message.

    Raises:
        ParseError: damaged.
    """
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(body)) as container:
            return _Message(container, ()).mail(0)
    except _DAMAGE as error:
        raise ParseError(f"{name} is damaged: {error}") from error


def is_msg(body: bytes) -> bool:
    """Whether an OLE container is a message itself, and does not only hold one."""
    if _PROPERTIES.encode("utf-16-le") not in body:
        return False
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(body)) as container:
            return bool(container.exists(_PROPERTIES))
    except _DAMAGE:
        return False


class _Message:
    """The properties of one message, at the root of the container or in an attachment."""

    def __init__(self, container: OleFileIO, root: Path) -> None:
        self._container, self._root = container, root
        self._streams = {tuple(path) for path in container.listdir(streams=True, storages=True)}

    def mail(self, depth: int) -> Mail:
        """The mail."""
        mail = Mail()
        written = HeaderParser(policy=policy.compat32).parsestr(self._string(_HEADERS))
        said = {
            "From": self._sender(),
            "To": self._string(_TO),
            "Cc": self._string(_CC),
            "Subject": self._string(_SUBJECT),
            "Message-ID": self._string(_MESSAGE_ID),
        }
        for header in HEADERS:
            value = one_line(said.get(header) or str(written.get(header, "")))
            if value:
                mail.headers[header] = value
        sent = self._sent()
        mail.date = iso_date(mail.headers.get("Date", "")) or (sent.isoformat() if sent else None)
        if "Date" not in mail.headers and mail.date:
            mail.headers["Date"] = mail.date
        self._text(mail)
        for storage in sorted(path for path in self._streams if self._is_attachment(path)):
            self._attachment(storage, mail, depth)
        return mail

    def _text(self, mail: Mail) -> None:
        plain, html = self._string(_BODY), self._bytes(_HTML, "0102")
        rich = _decoded(html) if html else self._string(_HTML)
        if plain.strip():
            mail.texts.append(Text(normalise_newlines(plain)))
        elif rich.strip():
            mail.texts.append(Text(normalise_newlines(rich), is_html=True))
        elif self._bytes(_RTF, "0102"):
            mail.left.append("its text, which is there only as compressed RTF")

    def _sender(self) -> str:
        name = self._string(_SENDER)
        address = self._string(_SENDER_SMTP) or self._string(_SENDER_MAIL)
        if "@" not in address or address == name:
            return name or address
        return f"{name} <{address}>" if name else address

    def _sent(self) -> datetime | None:
        properties = self._read((*self._root, _PROPERTIES)) or b""
        for wanted in _TIMES:
            for at in range(len(properties) % 16, len(properties) - 15, 16):
                kind, tag = struct.unpack_from("<HH", properties, at)
                if tag == wanted and kind == _TIME_TYPE:
                    ticks = int.from_bytes(properties[at + 8 : at + 16], "little")
                    return _EPOCH + timedelta(microseconds=ticks // 10)
        return None

    # --- attachments

    def _is_attachment(self, path: Path) -> bool:
        depth = len(self._root)
        return len(path) == depth + 1 and path[:depth] == self._root and path[-1].startswith("__attach_version1.0_")

    def _attachment(self, storage: Path, mail: Mail, depth: int) -> None:
        name = self._named(storage)
        inner = (*storage, "__substg1.0_3701000D")
        body = self._bytes(_DATA, "0102", storage)
        if body is not None:
            if self._string(_CONTENT_ID, storage) and name.lower().endswith(_PICTURES):
                mail.pictures += 1
            else:
                mail.attachments.append(Attachment(name, body))
        elif (*inner, _PROPERTIES) in self._streams and depth < _MAX_DEPTH:
            whole = _Message(self._container, inner).mail(depth + 1)
            called = name.removesuffix(".msg") or whole.subject or "message"
            mail.attachments.append(Attachment(f"{called.replace('/', '-')}.eml", rebuilt(whole, depth)))
        else:
            mail.left.append(f"the attachment {name or storage[-1]}, which holds no file")

    def _named(self, storage: Path) -> str:
        tags = (_LONG_NAME, _SHORT_NAME, _DISPLAY_NAME)
        return one_line(next((said for tag in tags if (said := self._string(tag, storage))), "")).rstrip("\0")

    # --- properties

    def _string(self, tag: int, storage: Path | None = None) -> str:
        wide = self._bytes(tag, "001F", storage)
        if wide is not None:
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        narrow = self._bytes(tag, "001E", storage)
        return _decoded(narrow).rstrip("\0") if narrow else ""

    def _bytes(self, tag: int, kind: str, storage: Path | None = None) -> bytes | None:
        return self._read((*(self._root if storage is None else storage), f"__substg1.0_{tag:04X}{kind}"))

    def _read(self, path: Path) -> bytes | None:
        if path not in self._streams or self._container.get_type(list(path)) != _STREAM:
            return None
        with self._container.openstream(list(path)) as stream:
            return bytes(stream.read())


def _decoded(body: bytes) -> str:
    decoded = decode(body)
    return decoded.text if decoded is not None else body.decode("cp1252", "replace")
