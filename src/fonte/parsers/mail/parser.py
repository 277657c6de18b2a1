"""A mail to blocks: its subject, who wrote it when to whom, its text; attachments are documents of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from fonte.errors import EncryptedSource, ParseError
from fonte.parsers.counting import count_text
from fonte.parsers.html import HtmlParser
from fonte.parsers.mail.eml import read_eml
from fonte.parsers.mail.message import Mail
from fonte.parsers.mail.msg import read_msg
from fonte.types import Block, BlockKind, Counts, Loss, Parsed, Source

MSG = "application/vnd.ms-outlook"
EML = "message/rfc822"
_BOM = b"\xef\xbb\xbf"
_GAP = re.compile(r"\n[^\S\n]*\n\s*")
_QUOTED = re.compile(r"\s*>")


class MailParser:
    """EML and MSG."""

    name = "mail/1"

    def parse(self, source: Source) -> Parsed:
        """Subject as heading, a paragraph of headers, then the text; what a reply quotes comes as notes.

        Raises:
            EncryptedSource: nothing but an encrypted text. ParseError: damaged, or nothing to read.
        """
        mail = read_mail(source)
        head = mail.head
        if not mail.texts and mail.encrypted:
            raise EncryptedSource(f"{source.name} is encrypted", hint="Save a copy that is not.", uri=source.uri)
        if not head and not mail.texts:
            if mail.attachments:
                return Parsed((), self.name, media_type=source.media_type or EML, empty_reason="empty")
            raise ParseError(f"{source.name} has neither headers nor text", uri=source.uri)
        blocks, counts, losses = _body(mail, source)
        front = [Block(BlockKind.HEADING, mail.subject, 1)] if mail.subject else []
        front += [Block(BlockKind.PARAGRAPH, head)] if head else []
        told = count_text(f"{mail.subject}\n{head}")
        return Parsed(
            blocks=(*front, *blocks),
            parser=self.name,
            title=mail.subject or None,
            media_type=source.media_type or EML,
            source_counts=sum(counts, told),
            losses=(*losses, *_losses(mail)),
            metadata=_metadata(mail),
        )


def read_mail(source: Source) -> Mail:
    """The mail in a source's bytes. Raises ParseError."""
    body = source.body or b""
    return read_msg(body, source.name) if source.media_type == MSG else read_eml(body, source.name)


def _body(mail: Mail, source: Source) -> tuple[list[Block], list[Counts], list[Loss]]:
    """(blocks of all texts, counts of each, losses)."""
    blocks: list[Block] = []
    counts: list[Counts] = []
    losses: list[Loss] = []
    tables = 0
    for text in mail.texts:
        if text.is_html:
            body = _BOM + text.text.encode("utf-8", "replace")
            try:
                parsed = HtmlParser().parse(replace(source, name=f"{source.name}.html", body=body))
            except ParseError as error:
                mail.left.append(f"its HTML ({error.message})")
                continue
            blocks += [_renumbered(block, tables) for block in parsed.blocks]
            tables += len({block.table for block in parsed.blocks if block.table is not None})
            counts.append(parsed.source_counts)
            losses += parsed.losses
        else:
            blocks += plain_blocks(text.text)
            counts.append(count_text(text.text))
    return blocks, counts, losses


def plain_blocks(text: str) -> Iterator[Block]:
    """Paragraphs of a mail's plain text, line by line as they are; what is quoted comes as notes."""
    for paragraph in _GAP.split(text.strip("\n")):
        lines = [line.rstrip() for line in paragraph.split("\n") if line.strip()]
        start = 0
        for at in range(1, len(lines) + 1):
            if at == len(lines) or _is_quoted(lines[at]) != _is_quoted(lines[start]):
                kind = BlockKind.NOTE if _is_quoted(lines[start]) else BlockKind.PARAGRAPH
                yield Block(kind, "\n".join(lines[start:at]), before=None if start == 0 else "\n")
                start = at


def _is_quoted(line: str) -> bool:
    return _QUOTED.match(line) is not None


def _renumbered(block: Block, tables: int) -> Block:
    return block if block.table is None else replace(block, table=block.table + tables)


def _losses(mail: Mail) -> list[Loss]:
    losses = []
    if mail.pictures:
        losses.append(Loss("images", f"{mail.pictures} pictures in the text not read", mail.pictures))
    if mail.encrypted:
        losses.append(Loss("encrypted_part", "a part is encrypted and was not read"))
    if mail.left:
        losses.append(Loss("parts_lost", f"not read: {'; '.join(mail.left[:10])}", len(mail.left)))
    return losses


def _metadata(mail: Mail) -> dict[str, str]:
    """Headers by lower-case names; the date as ISO 8601, as it was written beside it."""
    found = {name.lower().replace("-", "_"): value for name, value in mail.headers.items()}
    if mail.date is not None:
        found["date_original"] = found.get("date", mail.date)
        found["date"] = mail.date
    if mail.attachments:
        found["attachments"] = str(len(mail.attachments))
    return found
