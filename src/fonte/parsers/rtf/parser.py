"""RTF files to blocks."""

from __future__ import annotations

from fonte.errors import ParseError
from fonte.parsers.counting import check_found, count_text
from fonte.parsers.rtf.reader import RtfReader
from fonte.parsers.tables import one_line
from fonte.types import Loss, Parsed, Source


class RtfParser:
    """Rich text by a walk over its groups. It has no pages: a citation names heading and paragraph."""

    name = "rtf/2"

    def parse(self, source: Source) -> Parsed:
        """Blocks in order; text marked as deleted is absent, notes follow their paragraph.

        Raises:
            ParseError: the source's bytes were not read, text of which no block came, or damage and no text.
        """
        if source.body is None:
            raise ParseError("the source's bytes were not read", uri=source.uri)
        reader = RtfReader()
        reader.read(source.body.decode("latin-1"))
        seen = "".join(reader.seen)
        counts = count_text(seen, rows=reader.rows)
        check_found(source, words=counts.words, found=bool(reader.blocks))
        if reader.damaged and not reader.blocks and not reader.images:
            raise ParseError(f"{source.name} is damaged, and no text came out: {reader.damaged}", uri=source.uri)
        return Parsed(
            blocks=tuple(reader.blocks),
            parser=self.name,
            title=one_line(reader.title) or None,
            media_type="application/rtf",
            source_counts=counts,
            losses=_losses(reader),
            empty_reason=None if reader.blocks else "needs_ocr" if reader.images else "empty",
        )


def _losses(reader: RtfReader) -> tuple[Loss, ...]:
    told = [
        Loss("images", f"{reader.images} pictures not read", reader.images),
        Loss("comments", f"{reader.comments} comments left out", reader.comments),
        Loss("page_furniture", f"{len(reader.furniture)} lines of page headers and footers", len(reader.furniture)),
    ]
    if reader.damaged:
        told.append(Loss("damaged", f"the file is damaged: {reader.damaged}"))
    return tuple(loss for loss in told if loss.count)
