"""RTF's control words, escapes and text, one after the other, and what its names mean. RTF 1.9.1, Microsoft 2008."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Final

_TOKEN = re.compile(
    r"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<hex>[0-9a-fA-F]{2})|\\(?P<sign>[^a-zA-Z])"
    r"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n\0]+)|[\r\n\0]+|\\",
    re.DOTALL,
)
CHARACTERS: Final = {
    **dict.fromkeys(("par", "line", "sect"), "\n"),
    **dict.fromkeys(("emspace", "enspace", "qmspace"), " "),
    "tab": "\t",
    "emdash": "—",
    "endash": "–",
    "bullet": "•",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
}
SIGNS: Final = {"~": "\u00a0", "_": "-", "\\": "\\", "{": "{", "}": "}", "\n": "\n", "\r": "\n", "\t": "\t"}
"""Escapes of one character; ``\\-``, an optional hyphen, is none of the text."""
LABELS: Final = frozenset({"listtext", "pntext"})
NOTES: Final = frozenset({"footnote"})
FURNITURE: Final = frozenset(
    "header headerl headerr headerf footer footerl footerr footerf ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn".split()
)
SILENT: Final = frozenset(
    "fonttbl colortbl stylesheet info pict listtable listoverridetable rsidtbl revtbl filetbl template "
    "xe tc tcn txe rxe sp sn sv shprslt nonesttables nonshppict do objclass objname private1 mmathPr "
    "datafield themedata colorschememapping latentstyles datastore".split()
)
"""Groups without text of the document, also where nothing marks them as optional."""
OPENED: Final = frozenset({"shpinst", "shptxt", "shppict"})
"""Optional groups that are read."""
_PAGES = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gbk", 136: "big5", 161: "cp1253", 162: "cp1254", 163: "cp1258",
    177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 255: "cp437",
}  # fmt: skip


def tokens(text: str) -> Iterator[re.Match[str]]:
    """Tokens in order; the bytes of a binary block are passed over. ``text`` is the file as Latin-1."""
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            return
        at = found.end()
        if found["word"] == "bin" and found["number"]:
            at += max(int(found["number"]), 0)
        yield found


def code_page(number: int) -> str:
    r"""The codec of ``\ansicpg``; Windows' Latin one where Python has none."""
    name = {65001: "utf-8", 10000: "mac_roman"}.get(number, f"cp{number}")
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name


def charset(number: int, usual: str) -> str:
    """The codec of a font's character set."""
    return _PAGES.get(number, "cp1252" if number == 0 else usual)
