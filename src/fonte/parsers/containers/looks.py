"""Whether a file may hold files, by its first bytes: what the parent may ask without opening anything."""

from __future__ import annotations

import re

HEAD_BYTES = 1024
"""How many bytes the look takes."""
ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_BLOCK = 512
_CHECKSUM = slice(148, 156)
_NO_ARCHIVE = (b"[Content_Types].xml", b"_rels/.rels", b"mimetype")
"""First members of packages that are one document, whatever else is in them: Office, OpenDocument, EPUB."""
MAIL_FIELD = r"\s*(?:Received|Return-Path|Delivered-To|MIME-Version|Message-ID|From|X-[\w-]+):\s"
"""How a file that is not called a mail begins when it is one."""
_MAIL_HEAD = re.compile(MAIL_FIELD.encode(), re.IGNORECASE)


def may_hold(head: bytes, name: str) -> bool:
    """Whether a file that begins with ``head`` may be a container: cheap, and never no for one that is."""
    if head.startswith(ZIP):
        return head[30 : 30 + int.from_bytes(head[26:28], "little")] not in _NO_ARCHIVE
    if head.startswith((*PACKED, OLE)) or is_tar(head):
        return True
    return name.lower().endswith(".eml") or _MAIL_HEAD.match(head.removeprefix(b"\xef\xbb\xbf")) is not None


def is_tar(block: bytes) -> bool:
    """Whether a file that begins with this block is a tar archive: the block's checksum is right."""
    if len(block) < _BLOCK or not block.strip(b"\0"):
        return False
    try:
        told = int(block[_CHECKSUM].strip(b"\0 ").decode("ascii") or "-", 8)
    except ValueError:
        return False
    return told == sum(block[:_BLOCK]) - sum(block[_CHECKSUM]) + 8 * ord(" ")
