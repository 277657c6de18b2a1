"""The figures of bench/formats.py and bench/formats_speed.py as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

_HEAD = """# Formats, measured

Written by `bench/formats.py` and `bench/formats_speed.py` (do not edit); what is kept of each format, and why, stands
in [documents](documents.md). The files are the 224 of `docs-formats`, which lie outside the project.

Texts are compared as plain words: Markdown's marks, link targets and HTML's tags are taken off ours, off the
references and off what the other libraries write. *Similarity* is 2 LCS / (n + m) over words in order, the mean over
files; *recall* the share of the reference's words that stand in our text in order. Our rows name their columns with
every value, the references write a name once: *names once* is our text with those names taken off again, and it is
what the paired test compares with the best single library (exact sign test over files). *Similarity* is our text as it
is.

For *names once* and for the libraries the same is taken off every text, ours, theirs and the references alike: lines
that are a sheet's name or `Slide 3` and nothing else (we write them as headings, so do readers that name the sheet; the
references leave them out), who speaks by the voice tags of WebVTT (the references and the libraries leave it out, and
the tag itself was never counted in anybody's text; we say it before each turn), and the hour `00:00:00` after a date
(Python's way to write a day: no cell shows it). The letter of a column without a name goes with the names.

Where the references want something else, they stay as they are and cost us: they repeat the text of a merged cell
(DOCX, PPTX), which we write once; they keep comments of PPTX and XLSX, which we leave out and tell in the ledger;
they leave out speaker's notes and what a picture's author wrote for those who do not see it (PPTX), which we keep; they
set the tables of a sheet with gaps, and charts of a workbook, one after another.
"""


def page(told: dict[str, Any], speed: dict[str, Any] | None) -> str:
    """Markdown."""
    parts = [_HEAD, _lists(told["lists"]), _references(told["references"]), _oracle(told["oracle"])]
    parts.append(_places(told["places"]))
    failed = told["failed"]
    if failed:
        rows = [(f"`{file}`", error.split(": ", 1)[0]) for file, error in sorted(failed.items())]
        parts.append("## Not read\n\n" + _table(("file", "reason"), rows))
    if speed is not None:
        parts.append(_speed(speed))
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def _lists(lists: dict[str, Any]) -> str:
    rows = [(name, f"{found} of {n}") for name, (found, n) in lists["by_format"].items()]
    rows.append(
        ("all", f"{lists['found']} of {lists['of']}: {lists['share']:.1%} ({lists['low']:.1%}–{lists['high']:.1%})")
    )
    missed = "\n".join(f"- `{one}`" for one in lists["missed"]) or "- none"
    return f"""## Listed strings

Strings that must be found. {lists["marks_alone"]} that are marks alone (`| --- |`, a fence, a picture's `data:`) are
not counted, nor {lists["behind_a_password"]} of files that need a password and say so. Strings that must not stand in
the text and do: {len(lists["must_not_include_present"])}.

{_table(("format", "found"), rows)}

Missed:

{missed}"""


def _references(references: dict[str, Any]) -> str:
    rows = []
    for name, one in references.items():
        best = one["best"]
        against = ("–", "–", "–", "–")
        if best is not None:
            peer = one["peers"][best]
            value, low, high = one["difference"]
            against = (
                f"{best} {peer['version']}".strip(),
                f"{peer['similarity']:.3f} ({peer['recall']:.3f})",
                f"{value:+.3f} ({low:+.3f} to {high:+.3f})",
                f"{one['wins']}–{one['losses']}, p {one['p']:.2g}",
            )
        rows.append(
            (name, one["files"], f"{one['similarity']:.3f}", f"{one['names_once']:.3f} ({one['recall']:.3f})", *against)
        )
    head = ("format", "files", "similarity", "names once (recall)", "best library", "its similarity (recall)")
    return f"""## References

{_table((*head, "difference (95 %)", "files won–lost"), rows)}

`python` is the file's own text as it stands. A library that fails on a file has 0 there, as we have."""


def _oracle(oracle: dict[str, list[float]]) -> str:
    rows = [(f"`{file}`", f"{kept:.1%}", f"{shared:.1%}") for file, (kept, shared) in oracle.items()]
    return f"""## Main content of web pages

Trafilatura as the oracle, on pages of which it finds 150 words or more: how much of its main content stands in our text
in order, and how much of ours in its. What we keep beside it are tables, captions, lists and notes, and on a page of
search results the results.

{_table(("page", "its words that we keep", "ours that it keeps"), rows)}"""


def _places(places: dict[str, Any]) -> str:
    rows = [
        (name, one["sentences"], one["slices"], f"{one['held']} of {one['looked_up']}" if one["looked_up"] else "–")
        for name, one in places.items()
    ]
    return f"""## Places

Up to 200 random sentences of each format. *Slices*: the locator's range is the sentence, and its page is one of the
document's. *Place holds it*: read again at the place by other means, nine tenths of the sentence's words are there
(PDF: pdfium's characters inside the boxes; text files: the lines; sheets: the cells by openpyxl or calamine; PPTX: the
slide's XML; HTML: behind the anchor). Formats with – have places by characters alone.

{_table(("format", "sentences", "slices", "place holds it"), rows)}"""


def _speed(speed: dict[str, Any]) -> str:
    stages = speed["stages"]
    rows = [
        (name, one["files"], one["unit"], one["per_second"], *(f"{share:.0%}" for share in one["shares"].values()))
        for name, one in stages["formats"].items()
    ]
    pool = speed["pool"]
    told = ", ".join(f"{value} {key}" for key, value in pool["states"].items())
    return f"""## Speed

{speed["note"]}

{pool["files"]} mixed files ({pool["different"]} different ones, {pool["megabytes"]} MB) through a pool of
{pool["workers"]} child: {pool["files_per_second"]} files a second, {pool["files_per_processor_second"]} a second of
processor time; peak memory {pool["parent_mb"]} MB of the parent, {pool["child_mb"]} MB of a child ({pool["children"]}
children, one after the other); {told}.

One process, processor time, by format (stages: telling the kind, parsing, canonical text, chunks, ledger):

{_table(("format", "files", "unit", "a second", *stages["names"]), rows)}"""
