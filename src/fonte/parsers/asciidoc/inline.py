"""AsciiDoc inside a line: markup taken off, names of attributes put in, footnotes taken out."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

_BUILT_IN = {
    "nbsp": "\u00a0",
    "sp": " ",
    "space": " ",
    "empty": "",
    "blank": "",
    "zwsp": "\u200b",
    "wj": "\u2060",
    "amp": "&",
    "lt": "<",
    "gt": ">",
    "apos": "'",
    "quot": '"',
    "lsquo": "‘",
    "rsquo": "’",
    "ldquo": "“",
    "rdquo": "”",
    "deg": "°",
    "plus": "+",
    "vbar": "|",
    "startsb": "[",
    "endsb": "]",
    "caret": "^",
    "asterisk": "*",
    "tilde": "~",
    "backslash": "\\",
    "backtick": "`",
    "two-colons": "::",
    "two-semicolons": ";;",
    "cpp": "C++",
    "pp": "++",
}
_PASS = re.compile(
    r"\+\+\+(.{1,2000}?)\+\+\+|\$\$(.{1,2000}?)\$\$|pass:[a-z,]*\[(.{0,2000}?)\]|`\+(.{1,500}?)\+`"
    r"|(?<![\w+])\+(\S|\S.{0,500}?\S)\+(?![\w+])"
)
_FOOTNOTE = re.compile(r"footnote(?:ref)?:(?:[\w-]*)\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]")
_ATTRIBUTE = re.compile(r"(?<!\\)\{([\w][\w-]*)\}")
_URL = re.compile(
    r"(?:link:(?P<to>[^\s\[\]]+)|(?P<url>(?:https?|ftp|irc)://[^\s\[\]<>]+|mailto:[^\s\[\]]+))\[(?P<text>[^\]]*)\]"
)
_XREF = re.compile(r"<<#?([^<>,\s][^<>,]*)(?:,\s*([^<>]*))?>>|xref:([^\s\[\]]+)\[([^\]]*)\]")
_MENU = re.compile(r"menu:([^\s\[\]][^\[\]]*)\[([^\]]*)\]")
_KEYS = re.compile(r"(?:kbd|btn|stem|latexmath|asciimath|indexterm2?):\[([^\]]*)\]")
_IMAGE = re.compile(r"(?:image|icon|video|audio):{1,2}(?!:)([^\s\[\]]*)\[([^\]]*)\]")
_INDEX = re.compile(r"\(\(\(.{0,300}?\)\)\)")
_TERM = re.compile(r"\(\((?!\()(.{0,300}?)\)\)")
_ANCHOR = re.compile(r"\[\[[^\[\]]*\]\]|anchor:[^\s\[\]]*\[[^\]]*\]|\[#[\w-]+\](?=\S)")
_ROLE = re.compile(r"\[[.#%][^\[\]]*\](?=[#*_`])")
_DOUBLE = re.compile(r"(\*\*|__|``|##)(?=\S)(.{1,500}?)(?<=\S)\1")
_SINGLE = re.compile(r"(?<![\w\\])([*_`#])(?=\S)(.{1,500}?)(?<=\S)\1(?!\w)")
_RAISED = re.compile(r"(?<!\\)([\^~])(\S{1,100}?)\1")
_ESCAPED = re.compile(r"\\(?=[*_`#^~{<\[+\\|]|https?:|image:|link:|xref:|\(\()")
_HELD = re.compile("\ue000(\\d+)\ue001")


def read_inline(text: str, names: Mapping[str, str]) -> tuple[str, list[str]]:
    """(clean text, footnotes) of a paragraph's source; ``names`` are the document's attributes."""
    held: list[str] = []

    def hold(match: re.Match[str]) -> str:
        held.append(next(group for group in match.groups() if group is not None))
        return f"\ue000{len(held) - 1}\ue001"

    notes: list[str] = []

    def note(match: re.Match[str]) -> str:
        if match[1].strip():
            notes.append(match[1].replace("\\]", "]"))
        return ""

    plain = _PASS.sub(hold, text.replace("\ue000", "").replace("\ue001", ""))
    plain = _FOOTNOTE.sub(note, plain)
    plain = _ATTRIBUTE.sub(lambda match: names.get(match[1].lower(), _BUILT_IN.get(match[1], match[0])), plain)
    plain = _without_macros(plain)
    for _ in range(3):  # markup inside markup
        plain = _DOUBLE.sub(r"\2", _ROLE.sub("", plain))
        plain = _SINGLE.sub(r"\2", plain)
    plain = _RAISED.sub(_raised, plain)
    plain = html.unescape(_ESCAPED.sub("", plain))
    plain = _HELD.sub(lambda match: held[int(match[1])], plain)
    return plain.strip(), [read_inline(said, names)[0] for said in notes]


def _without_macros(text: str) -> str:
    text = _ANCHOR.sub("", text)
    text = _IMAGE.sub(lambda match: alternative(match[2]), text)
    text = _URL.sub(lambda match: first_part(match["text"]) or match["to"] or match["url"], text)
    text = _XREF.sub(lambda match: match[2] or match[4] or match[1] or match[3], text)
    text = _MENU.sub(lambda match: " > ".join([match[1], *filter(None, [match[2].replace("&gt;", ">")])]), text)
    text = _KEYS.sub(r"\1", text)
    return _TERM.sub(r"\1", _INDEX.sub("", text))


def first_part(attributes: str) -> str:
    """The text of a link: what stands before its attributes, without quotes or the mark of a new window."""
    quoted = re.match(r'\s*"([^"]*)"', attributes)
    if quoted is not None:
        return quoted[1]
    parts = attributes.split(",")
    while len(parts) > 1 and ("=" in parts[-1] or not parts[-1].strip()):
        parts.pop()
    return "" if len(parts) == 1 and re.match(r"\s*[\w-]+=", parts[0]) else ",".join(parts).strip().rstrip("^")


def alternative(attributes: str) -> str:
    """What an image shows, in words."""
    named = re.search(r'\balt="([^"]*)"|\balt=([^,\]]*)', attributes)
    if named is not None:
        return named[1] or named[2] or ""
    quoted = re.match(r'\s*"([^"]*)"', attributes)
    first = quoted[1] if quoted is not None else attributes.split(",", maxsplit=1)[0].strip()
    return "" if "=" in first else first


def _raised(match: re.Match[str]) -> str:
    """Digits raised or lowered keep their mark, so that x^2^ does not become x2."""
    return f"{match[1]}{match[2]}" if match[2].isdigit() and match[1] == "^" else match[2]
