"""Old Word files: text by its pieces, headings, lists and tables by their properties, notes, damage."""

from __future__ import annotations

import struct

import pytest
from unit.parsers_c.container_making import compound

from fonte.errors import EncryptedSource, ParseError, UnsupportedMediaType
from fonte.parsers.registry import parse_body
from fonte.parsers.sniff import DOC, sniff
from fonte.text.canonical import canonicalise
from fonte.text.ledger import BENIGN, balance
from fonte.types import Acl, Chunk, Parsed, Source, sha256_hex

TABLE, ROW, LIST = b"\x16\x24\x01", b"\x16\x24\x01\x17\x24\x01", b"\x0b\x46\x01\x00"
GONE = b"\x00\x08\x01"
START = 1024


def fkp(stretches: list[tuple[int, int, bytes]], width: int) -> bytes:
    """A page of properties: (first offset, end, what is said there)."""
    page = bytearray(512)
    page[511] = len(stretches)
    struct.pack_into(f"<{len(stretches) + 1}I", page, 0, *[one[0] for one in stretches], stretches[-1][1])
    at = 510
    for index, (_, _, said) in enumerate(stretches):
        at = (at - len(said)) // 2 * 2
        page[at : at + len(said)] = said
        page[4 * (len(stretches) + 1) + width * index] = at // 2
    return bytes(page)


def papx(style: int, said: bytes) -> bytes:
    body = struct.pack("<H", style) + said
    body += b"\0" * (len(body) % 2 == 0)
    return bytes([(len(body) + 1) // 2]) + body


def made(
    paragraphs: list[tuple[str, int, bytes]],
    *,
    notes: str = "",
    wide: bool = False,
    flags: int = 0x0200,
    gone: tuple[int, int] | None = None,
    version: int = 0xC1,
) -> bytes:
    """A file of these paragraphs, each with the character that ends it, its style and its properties."""
    text = "".join(one[0] for one in paragraphs)
    encoded = (text + notes).encode("utf-16-le" if wide else "cp1252")
    step = 2 if wide else 1
    long = len(text.encode("utf-16-le")) // 2
    main = bytearray(START)
    struct.pack_into("<HH", main, 0, 0xA5EC, version)
    struct.pack_into("<H", main, 10, flags)
    struct.pack_into("<ii", main, 0x4C, long, len(notes))
    main += encoded
    main += b"\0" * (-len(main) % 512)
    stretches, at = [], START
    for said, style, properties in paragraphs:
        end = at + (len(said.encode("utf-16-le")) if wide else len(said))
        stretches.append((at, end, papx(style, properties)))
        at = end
    page = len(main) // 512
    first, last = gone or (0, 0)
    runs = [(START, START + step * first, b""), (START + step * first, START + step * last, bytes([3]) + GONE)]
    main += fkp(stretches, 13) + fkp(runs, 1)
    packed = START if wide else 0x40000000 | START * 2
    plcpcd = struct.pack("<IIHIH", 0, long + len(notes), 0, packed, 0)
    clx = b"\x02" + struct.pack("<I", len(plcpcd)) + plcpcd
    plc = struct.pack("<III", START, at, page) + struct.pack("<III", START, at, page + 1)
    table = clx + plc
    struct.pack_into("<II", main, 0x1A2, 0, len(clx))
    struct.pack_into("<II", main, 0x102, len(clx), 12)
    struct.pack_into("<II", main, 0xFA, len(clx) + 12, 12)
    return compound({"WordDocument": bytes(main).ljust(5000, b"\0"), "1Table": table.ljust(4200, b"\0")})


def source(body: bytes) -> Source:
    return Source("file:///a.doc", "a.doc", sha256_hex(body), Acl(), body=body)


def parse(body: bytes) -> Parsed:
    return parse_body(source(body))


def told(parsed: Parsed) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in parsed.blocks]


EVERYTHING: list[tuple[str, int, bytes]] = [
    ("Ferie\r", 1, b""),
    ("Ventisei\x02 giorni\x0bl'anno, \x13 HYPERLINK x \x14qui\x15.\r", 0, b""),
    ("Primo\r", 0, LIST),
    ("Anno\x07", 0, TABLE),
    ("Anatre\x07", 0, TABLE),
    ("\x07", 0, ROW),
    ("2019\x07", 0, TABLE),
    ("120\r", 0, TABLE),
    ("molte\x07", 0, TABLE),
    ("\x07", 0, ROW),
    ("Perché\x01\r", 0, b""),
]


@pytest.mark.parametrize("wide", [False, True])
def test_a_file_with_everything(wide: bool) -> None:
    body = made(EVERYTHING, notes="\x02 Per anno.\r", wide=wide)
    assert sniff(body, "a") == DOC
    parsed = parse(body)
    assert told(parsed) == [
        ("heading", "Ferie"),
        ("paragraph", "Ventisei giorni\nl'anno, qui."),
        ("list_item", "- Primo"),
        ("row", "Anno | Anatre"),
        ("row", "Anno: 2019; Anatre: 120 molte"),
        ("paragraph", "Perché"),
        ("note", "Per anno."),
    ]
    assert {loss.code for loss in parsed.losses} == {"images"} <= BENIGN
    document = canonicalise(parsed, source(body), tenant="t")
    ledger = balance(parsed, document, [Chunk("c", "d", 0, 0, len(document.text), document.text)], window=9999)
    assert ledger.balanced, ledger.losses
    assert (ledger.source.rows, ledger.canonical.rows) == (2, 2)


def test_deleted_text_is_absent() -> None:
    parsed = parse(made([("Sempre mai.\r", 0, b"")], gone=(6, 10)))
    assert told(parsed) == [("paragraph", "Sempre.")]


def test_characters_of_two_units_leave_the_others_in_their_places() -> None:
    parsed = parse(made([("Ferie 🦆🦆\r", 1, b""), ("Sempre 🦆.\r", 0, b""), ("Primo\r", 0, LIST)], wide=True))
    assert told(parsed) == [("heading", "Ferie 🦆🦆"), ("paragraph", "Sempre 🦆."), ("list_item", "- Primo")]
    assert parsed.losses == ()


def test_characters_that_the_file_does_not_hold_are_told() -> None:
    whole = made(EVERYTHING)
    more = parse(whole.replace(struct.pack("<ii", 95, 0), struct.pack("<ii", 102, 0), 1))
    beyond = parse(whole.replace(struct.pack("<I", 0x40000000 | START * 2), struct.pack("<I", 0x40000000 | 9950), 1))
    assert [loss.count for loss in more.losses if loss.code == "damaged"] == [7]
    assert [loss.count for loss in beyond.losses if loss.code == "damaged"] == [95 - 25]


def test_passwords_old_versions_empty_and_damaged_files() -> None:
    with pytest.raises(EncryptedSource):
        parse(made(EVERYTHING, flags=0x0300))
    with pytest.raises(ParseError, match="Word 95 or older"):
        parse(made(EVERYTHING, version=0x65))
    assert parse(made([("\r", 0, b"")])).empty_reason == "empty"
    assert parse(made([("\x01\r", 0, b"")])).empty_reason == "needs_ocr"
    body = made(EVERYTHING)
    with pytest.raises((ParseError, UnsupportedMediaType)):
        parse(body[: len(body) // 2])
    at = body.index(b"\x02" + struct.pack("<I", 16))
    with pytest.raises(ParseError, match="pieces"):
        parse(body[: at + 9] + b"\xff\xff\xff\x7f" + body[at + 13 :])
