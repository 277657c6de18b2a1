"""Internet messages (RFC 5322 and MIME) by the standard library, without recursion of ours."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email import policy
from email.errors import MessageError
from email.message import EmailMessage, Message
from email.parser import BytesParser
from email.utils import parsedate_to_datetime
from typing import TypeVar

from fonte.errors import ParseError
from fonte.parsers.encodings import decode, normalise_newlines
from fonte.parsers.mail.message import Attachment, Mail, Text
from fonte.parsers.tables import one_line

HEADERS = ("From", "To", "Cc", "Bcc", "Reply-To", "Date", "Subject", "Message-ID", "In-Reply-To", "References")
_MALFORMED = (ValueError, LookupError, AttributeError, TypeError, MessageError, AssertionError)
"""What the standard library raises of headers that are not well formed."""
_DEEP = 6000
"""Frames that the standard library may use for nested parts."""
MAX_PARTS = 1600
"""Parts that hold parts: the standard library takes the square of their depth."""
_MULTIPARTS = re.compile(rb"^content-type:\s*(?:multipart|message)/", re.IGNORECASE | re.MULTILINE)
_SIGNATURES = frozenset({"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"})
_ENCRYPTED = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime", "application/pgp-encrypted"})
_ENDINGS = {"message/rfc822": ".eml", "text/calendar": ".ics", "text/plain": ".txt", "text/html": ".html"}
_TEXTS = ("text/plain", "text/html")
_Value = TypeVar("_Value")


def read_eml(body: bytes, name: str) -> Mail:
    """A message's headers, texts and attachments.

    Of alternatives the plain text is taken, else the HTML; attachments are taken wherever they stand.

    Raises:
        ParseError: parts nested without end.
    """
    if len(_MULTIPARTS.findall(body)) > MAX_PARTS:
        raise ParseError(f"{name}: it has more than {MAX_PARTS} parts with parts")
    try:
        with _deep_stack():
            message = BytesParser(policy=policy.default).parsebytes(body)
            return _mail(message)
    except RecursionError as error:
        raise ParseError(f"{name}: its parts are nested too deeply") from error


@contextmanager
def _deep_stack() -> Iterator[None]:
    """More frames while the standard library goes down into nested parts."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEP))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _mail(message: EmailMessage) -> Mail:
    mail = Mail()
    for header in HEADERS:
        value = _header(message, header)
        if value:
            mail.headers[header] = value
    mail.date = iso_date(mail.headers.get("Date", ""))
    for part, wanted in _leaves(message):
        _take(part, mail, wanted=wanted)
    return mail


def iso_date(written: str) -> str | None:
    """A header's date as ISO 8601; None where it is none. One without a zone is taken as UTC."""
    try:
        moment = parsedate_to_datetime(written)
    except _MALFORMED:
        return None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return datetime.isoformat(moment)


def _header(message: EmailMessage, name: str) -> str:
    value = _asked(lambda: message.get(name), None)
    if value is None or name == "Date":  # a date as it was written
        value = next((raw for key, raw in message.raw_items() if key.lower() == name.lower()), "")
    return one_line(_asked(lambda: str(value), ""))


def _asked(question: Callable[[], _Value], otherwise: _Value) -> _Value:
    """An answer of the standard library, or something else where a malformed header keeps it from answering."""
    try:
        return question()
    except _MALFORMED:
        return otherwise


def _kind(part: Message) -> str:
    return _asked(part.get_content_type, "application/octet-stream")


def _leaves(message: Message) -> Iterator[tuple[Message, bool]]:
    """Parts that are no multiparts, in order, each with whether its text counts (not so in a worse alternative)."""
    pending: list[tuple[Message, bool]] = [(message, True)]
    while pending:
        part, wanted = pending.pop()
        children = part.get_payload() if part.is_multipart() and _kind(part) != "message/rfc822" else None
        if not isinstance(children, list):
            yield part, wanted
            continue
        parts = [child for child in children if isinstance(child, Message)]
        best = _best(parts) if _kind(part) == "multipart/alternative" else None
        pending += [(child, wanted and (best is None or child is best)) for child in reversed(parts)]


def _best(parts: list[Message]) -> Message | None:
    """Of alternatives: plain text that says something, else what may hold HTML, the last first."""
    plain = [part for part in parts if _kind(part) == "text/plain" and (_text(part) or "").strip()]
    rich = [part for part in parts if _kind(part) == "text/html" or _kind(part).startswith("multipart/")]
    return next(iter([*plain[-1:], *rich[-1:], *parts[-1:]]), None)


def _take(part: Message, mail: Mail, *, wanted: bool) -> None:
    """One leaf: a text, a picture inside the text, or an attachment."""
    kind = _kind(part)
    disposition = _asked(part.get_content_disposition, None)
    filename = _asked(part.get_filename, None) or ""
    inside = disposition != "attachment" and bool(part.get("Content-ID") or not filename)
    if kind in _SIGNATURES:
        return
    if kind in _ENCRYPTED:
        mail.encrypted = True
    elif inside and (kind.startswith("image/") or (part.get("Content-Location") and kind not in _TEXTS)):
        mail.pictures += 1  # or a style sheet and the like, of a page that was saved whole
    elif kind in _TEXTS and disposition != "attachment" and not filename:
        text = _text(part) if wanted else ""
        if text is None:
            mail.left.append(f"a text that is not text ({kind})")
        elif text.strip():
            mail.texts.append(Text(text, kind == "text/html"))
    else:
        _attach(part, mail, kind, filename)


def _attach(part: Message, mail: Mail, kind: str, filename: str) -> None:
    body = _payload(part)
    if body is None:
        mail.left.append(f"an attachment that could not be decoded ({filename or kind})")
        return
    name = one_line(filename) or f"attachment-{len(mail.attachments) + 1}{_ENDINGS.get(kind, '')}"
    mail.attachments.append(Attachment(name, body))


def _payload(part: Message) -> bytes | None:
    """A part's bytes; of a mail inside the mail, the message as it stands."""
    inner = part.get_payload() if _kind(part).startswith("message/") else None
    if isinstance(inner, list):
        whole = [one for one in inner if isinstance(one, Message)]
        return _asked(lambda: b"\n".join(one.as_bytes(policy=policy.compat32) for one in whole), None)
    body = _asked(lambda: part.get_payload(decode=True), None)
    return body if isinstance(body, bytes) else None


def _text(part: Message) -> str | None:
    """A text part, decoded by what its bytes are and by what it says of them; None when it is none."""
    body = _payload(part)
    if body is None:
        return None
    if not body:
        return ""
    decoded = decode(body, declared=_asked(part.get_content_charset, None))
    if decoded is None:
        return None
    text = normalise_newlines(decoded.text)
    flowed = _asked(lambda: str(part.get_param("format") or ""), "").lower() == "flowed"
    return unflowed(text) if flowed and _kind(part) == "text/plain" else text


def unflowed(text: str) -> str:
    """Text whose long lines were cut behind a space (RFC 3676), its lines whole again."""
    lines: list[str] = []
    open_depth: int | None = None
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip(">"))
        body = line[depth:].removeprefix(" ")
        signature = body == "-- "
        if open_depth == depth and body.strip() and not signature:
            lines[-1] += body
        else:
            lines.append(f"{'>' * depth}{' ' if depth else ''}{body}")
        open_depth = depth if body.endswith(" ") and not signature else None
    return "\n".join(line.rstrip() for line in lines)
