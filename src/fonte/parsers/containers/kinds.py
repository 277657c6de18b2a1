"""Which files hold files, told by their bytes."""

from __future__ import annotations

import io
import zipfile
from typing import BinaryIO

from fonte.errors import FonteError
from fonte.parsers.containers.archives import (
    Container,
    TarContainer,
    ZipContainer,
    open_packed,
    open_zip,
)
from fonte.parsers.containers.limits import MAX_MEMBER, too_large
from fonte.parsers.containers.looks import HEAD_BYTES, OLE, PACKED, ZIP, is_tar, may_hold
from fonte.parsers.mail.eml import read_eml
from fonte.parsers.mail.message import MailContainer
from fonte.parsers.mail.msg import is_msg, read_msg
from fonte.parsers.sniff import sniff

_MARKS = ("[content_types].xml", "_rels/.rels", "meta-inf/container.xml", "meta-inf/manifest.mf", "androidmanifest.xml")
"""Members of packages that are one document or program."""
_MIMETYPE = "mimetype"


def open_container(stream: BinaryIO, name: str) -> Container | None:
    """The container in a file; None for a file that is none.

    Raises:
        ParseError: damaged. SourceTooLarge: a bomb.
    """
    head = stream.read(HEAD_BYTES)
    stream.seek(0)
    if head.startswith(ZIP):
        return _zip(stream, name)
    if head.startswith(PACKED):
        return open_packed(stream, name, head)
    if is_tar(head):
        return TarContainer(stream)
    if head.startswith(OLE) or may_hold(head, name):
        return _mail(stream, name)
    return None


def _zip(stream: BinaryIO, name: str) -> Container | None:
    try:
        archive: zipfile.ZipFile = open_zip(stream, name)
    except FonteError:
        stream.seek(0)
        if _is_read(stream.read(MAX_MEMBER), name):  # a damaged document: its parser says more of it
            return None
        raise
    names = {info.filename.lower() for info in archive.infolist()}
    first = archive.infolist()[:1]
    is_package = any(mark in names for mark in _MARKS) or any(info.filename == _MIMETYPE for info in first)
    return None if is_package else ZipContainer(archive, stream)


def _is_read(body: bytes, name: str) -> bool:
    try:
        return bool(sniff(body, name))
    except FonteError:
        return False


def _mail(stream: BinaryIO, name: str) -> Container | None:
    body = stream.read(MAX_MEMBER + 1)
    if len(body) > MAX_MEMBER:
        raise too_large(name)
    stream.close()  # it is all here
    if body.startswith(OLE):
        return MailContainer(read_msg(body, name)) if is_msg(body) else None
    return MailContainer(read_eml(body, name)) if _is_mail(body, name) else None


def _is_mail(body: bytes, name: str) -> bool:
    try:
        return sniff(body, name) == "message/rfc822"
    except FonteError:
        return False


def opened(body: bytes, name: str) -> Container | None:
    """The container in some bytes, as ``open_container``."""
    return open_container(io.BytesIO(body), name)
