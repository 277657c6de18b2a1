"""What reading a PDF costs: pages a second, the share of each stage, and the most memory of the process.

    .venv/bin/python bench/pdf_cost.py FILE…

Everything is processor time of this one process, the answer to the parent included, as in a parser's child.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from fonte.parsers import codec
from fonte.parsers.pdf import PdfParser, document, parser, reading
from fonte.types import Acl, Source, sha256_hex

P = ParamSpec("P")
R = TypeVar("R")
_STAGES = (
    (document, "page_words", "characters to words"),
    (document, "hidden_words", "what is hidden"),
    (document, "page_notes", "links, comments, forms"),
    (document, "ruled_tables", "ruled tables"),
    (reading, "count_text", "counting"),
    (reading, "page_segments", "segments"),
    (reading, "find_furniture", "headers and footers"),
    (reading, "page_rows", "columns and rows"),
    (reading, "vocabulary", "vocabulary"),
    (reading, "heading_levels", "headings"),
    (parser, "blocks_of", "blocks"),
    (parser, "read_page", "pdfium: pages and their plain text"),
    (codec, "encode_parsed", "answer"),
)


def clock(stage: str, function: Callable[P, R], spent: Counter[str], inside: list[float]) -> Callable[P, R]:
    """The function, with its own processor time added to its stage: that of stages inside it is theirs."""

    @wraps(function)
    def clocked(*args: P.args, **kwargs: P.kwargs) -> R:
        began = time.process_time_ns()
        inside.append(0.0)
        try:
            return function(*args, **kwargs)
        finally:
            took = time.process_time_ns() - began
            spent[stage] += int(took - inside.pop())
            if inside:
                inside[-1] += took

    return clocked


def cost(path: Path) -> dict[str, object]:
    """Figures of one file."""
    spent: Counter[str] = Counter()
    inside: list[float] = []
    originals = [(module, name, getattr(module, name)) for module, name, _ in _STAGES]
    for module, name, stage in _STAGES:
        setattr(module, name, clock(stage, getattr(module, name), spent, inside))
    body = path.read_bytes()
    source = Source(path.as_uri(), path.name, sha256_hex(body), Acl(), body=body)
    began = time.process_time_ns()
    try:
        parsed = PdfParser().parse(source)
        size = len(codec.encode_parsed(parsed))
    finally:
        for module, name, function in originals:
            setattr(module, name, function)
    whole = time.process_time_ns() - began
    spent["opening, outline, labels and the rest"] = whole - sum(spent.values())
    return {
        "file": path.name,
        "pages": parsed.pages,
        "places": sum(len(block.places) for block in parsed.blocks),
        "pages_per_second": round((parsed.pages or 0) / (whole / 1e9), 1),
        "percent": {stage: round(100 * used / whole, 1) for stage, used in spent.most_common()},
        "answer_mb": round(size / 1e6, 1),
        "peak_mb_so_far": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6),
    }


def main() -> int:
    """Print JSON."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    options.add_argument("files", nargs="+", type=Path)
    for path in options.parse_args().files:
        print(json.dumps(cost(path.resolve()), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
