"""TREC's topics: the tagged form of the ad hoc tracks, the XML form of later tracks, and two columns.

The tagged form closes nothing (``<num> Number: 301 <title> International Organized Crime``), so it is read by its
marks. The title is the question; where a topic has a ``query`` or a ``question`` instead, that.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from fonte.evaluation.golden_reading import Collected

_TOPIC = re.compile(r"<(top|topic)\b([^>]*)>(.*?)(?=<(?:top|topic)\b|</topics|\Z)", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"""\bnumber\s*=\s*["']([^"']*)["']""", re.IGNORECASE)
_NUM = re.compile(r"<num>\s*(?:Number\s*:)?\s*([^\s<]+)", re.IGNORECASE)
_ASKED = re.compile(r"<(title|query|question)>\s*(?:Topic\s*:)?(.*?)(?=<|\Z)", re.DOTALL | re.IGNORECASE)


def topics_of(text: str, collected: Collected) -> Iterator[tuple[int, str, str]]:
    """Line, id and question of every topic; what is none is told of and left out."""
    if text.lstrip().startswith("<"):
        yield from _tagged(text, collected)
        return
    for line, row in enumerate(text.split("\n"), start=1):
        if not row.strip():
            continue
        name, tab, asked = row.rstrip("\r").partition("\t")
        if not tab or not name.strip() or not asked.strip():
            collected.fault("shape", line, "should be a topic's id and its words, with a tab between them")
            continue
        yield line, name.strip(), asked.strip()


def _tagged(text: str, collected: Collected) -> Iterator[tuple[int, str, str]]:
    line, counted = 1, 0
    for topic in _TOPIC.finditer(text):
        line += text.count("\n", counted, topic.start())
        counted = topic.start()
        number = _NUMBER.search(topic.group(2)) or _NUM.search(topic.group(3))
        asked = {match.group(1).lower(): match.group(2) for match in reversed(list(_ASKED.finditer(topic.group(3))))}
        words = next((asked[kind] for kind in ("title", "query", "question") if asked.get(kind, "").strip()), "")
        wording = " ".join(html.unescape(words).split())
        if number is None or not number.group(1).strip() or not wording:
            collected.fault("shape", line, "a topic needs a number and a title, a query or a question")
            continue
        yield line, number.group(1).strip(), wording
