"""docs/peers.md out of bench/results/peers-*.json: `.venv/bin/python bench/peers/page.py`. Nothing is measured here."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
TITLES = {
    "fonte": "fonte",
    "fonte-fused": "fonte, not reranked",
    "haiku": "haiku.rag",
    "txtai": "txtai",
    "haystack": "Haystack",
    "llamaindex": "LlamaIndex",
    "langchain": "LangChain",
    "paperqa": "PaperQA",
}
OURS = ("fonte", "fonte-fused")
SETS = {"xquad-en": "English", "squad-it": "Italian", "cross-it-en": "Italian questions, English texts"}
MEASURES = {"r@1": "R@1", "r@5": "R@5", "mrr@10": "MRR@10", "ndcg@10": "nDCG@10"}
FORMATS = {"txt": "plain text", "md": "Markdown", "pdf": "PDF", "docx": "DOCX", "html": "HTML"}
ROLES = ("staff", "hr", "board", "audit")
NOT_ASKED = "–"
Json = dict[str, Any]
Value = float | None
_HEAD = """# Beside its peers

Written by `bench/peers/page.py` out of `bench/results/peers-*.json` (do not edit), measured by
`bench/peers/compare.py`.
"""
_FAIR = (Path(__file__).resolve().parent / "fairness.md").read_text("utf-8")
_REASONS = (Path(__file__).resolve().parent / "reasons.md").read_text("utf-8")


@dataclass
class Row:
    """A line of the table: cells by peer, and the values that are compared, if there is a best one."""

    name: str
    by: str
    cells: dict[str, str] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    higher: bool = True

    def put(self, peer: str, cell: str, value: Value = None) -> None:
        """One peer's cell."""
        self.cells[peer] = cell
        if value is not None:
            self.values[peer] = value

    @property
    def lost(self) -> bool:
        """Whether another is better than every form of fonte."""
        mine = [value for peer, value in self.values.items() if peer in OURS]
        others = [value for peer, value in self.values.items() if peer not in OURS]
        if not mine or not others:
            return False
        return max(others) > max(mine) if self.higher else min(others) < min(mine)

    @property
    def best(self) -> set[str]:
        """The peers with the best value."""
        if not self.values:
            return set()
        top = (max if self.higher else min)(self.values.values())
        return {peer for peer, value in self.values.items() if value == top}


@dataclass
class Page:
    """The rows, and the commands that they come from."""

    rows: list[Row] = field(default_factory=list)
    runs: list[tuple[str, Json]] = field(default_factory=list)
    facts: dict[str, tuple[Json, str]] = field(default_factory=dict)

    def opened(self, results: Path, name: str) -> tuple[str, Json] | None:
        """A file's letter and figures; None where it was not measured."""
        path = results / f"peers-{name}.json"
        if not path.is_file():
            return None
        figures: Json = json.loads(path.read_text("utf-8"))
        letter = "abcdefghijklmnopqrstuvwxyz"[len(self.runs)]
        self.runs.append((letter, figures))
        for peer, told in figures["peers"].items():
            if "options" in told:
                self.facts.setdefault(peer, (told["versions"], told["options"]))
        return letter, figures

    def row(
        self,
        name: str,
        by: str,
        peers: Mapping[str, Json],
        cell: Callable[[Json], tuple[str, Value]],
        *,
        higher: bool = True,
    ) -> None:
        """A row whose every cell is made the same way; a peer that failed says so."""
        made = Row(name, by, higher=higher)
        for peer, told in peers.items():
            made.put(peer, *(("no: " + told["failed"], None) if "failed" in told else cell(told)))
        self.rows.append(made)


def number(name: str, digits: int = 3) -> Callable[[Json], tuple[str, Value]]:
    """A figure as it is."""
    return lambda told: (f"{told[name]:.{digits}f}", float(told[name]))


def _ingested(told: Json) -> tuple[str, Value]:
    """Seconds until it can be searched, and what goes on behind it where that can be seen in two digits."""
    behind = f"{told['settle_seconds']:.2f}"
    more = f" + {behind}" if float(behind) else ""
    return f"{told['ingest_seconds']:.2f}{more}", float(told["ingest_seconds"])


def _updated(told: Json) -> tuple[str, Value]:
    """Seconds of an update; no figure to compare where it was not found or could not be judged."""
    seconds = f"{told['update_seconds']:.2f}"
    if told["updated"] == "yes":
        return seconds, float(told["update_seconds"])
    return seconds + (" (not found)" if told["old_found_before"] else " (not judged)"), None


def _refusing(name: str) -> Callable[[Json], tuple[str, Value]]:
    """A share, or none where a peer never refuses."""

    def cell(told: Json) -> tuple[str, Value]:
        if told["measures"] == "none":
            return "none", None
        return f"{told['measures'][name]:.2f}", float(told["measures"][name])

    return cell


def speed(page: Page, results: Path, chunks: int) -> None:
    """Rows of one size."""
    found = page.opened(results, f"speed-{chunks}")
    if found is None:
        return
    by, figures = found
    peers, size = figures["peers"], f"{chunks:,} chunks: "
    page.row(size + "ingest beyond the model, s (+ what goes on behind it)", by, peers, _ingested, higher=False)
    page.row(size + "one document of 20 chunks changed, until it is found, s", by, peers, _updated, higher=False)
    page.row(size + "first search, s", by, peers, number("first_search_seconds", 2), higher=False)
    for name in ("p50", "p95"):
        page.row(size + f"hybrid search {name}, ms", by, peers, number(f"search_ms_{name}", 1), higher=False)
    page.row(size + "the same, processor p50, ms", by, peers, number("search_processor_ms_p50", 1), higher=False)
    if all("peak_mb" in told for told in peers.values() if "failed" not in told):
        page.row(size + "peak memory, MiB (before the first document; added)", by, peers, _memory, higher=False)
    for role in ROLES:
        page.row(size + f"results of role {role}, of the ten that exist", by, peers, _role(role))


def _memory(told: Json) -> tuple[str, Value]:
    before, peak = told["mb_before"], told["peak_mb"]
    return f"{peak} ({before}, {peak - before})", float(peak)


def _role(role: str) -> Callable[[Json], tuple[str, Value]]:
    def cell(told: Json) -> tuple[str, Value]:
        if isinstance(told["filter"], str):
            return "no", None
        one = told["filter"][role]
        foreign = f", {one['foreign']} of others" if one["foreign"] else ""
        return f"{one['of_those_that_exist']:.2f}{foreign}", None if foreign else one["of_those_that_exist"]

    return cell


def ranking(page: Page, results: Path) -> None:
    """Rows of the ranked sets."""
    for name, title in SETS.items():
        for kind, cut in (("given", "given chunks"), ("own", "own cutting")):
            found = page.opened(results, f"ranking-{name}-{kind}")
            if found is None:
                continue
            by, figures = found
            for measure, shown in MEASURES.items():
                page.row(f"{name} ({title}), {cut}: {shown}", by, figures["peers"], _measure(measure))
            page.row(f"{name}, {cut}: ingest beyond the model, s", by, figures["peers"], _beyond, higher=False)


def _measure(name: str) -> Callable[[Json], tuple[str, Value]]:
    return lambda told: (f"{told['measures'][name]:.3f}", round(float(told["measures"][name]), 3))


def _beyond(told: Json) -> tuple[str, Value]:
    seconds = told["ingest_seconds"] - told.get("model_seconds", 0.0)
    return f"{seconds:.1f}", seconds


def spans(page: Page, results: Path) -> None:
    """Rows of characters at an equal budget."""
    found = page.opened(results, "spans")
    if found is None:
        return
    by, figures = found
    for budget in figures["budgets"]:
        for measure, shown in (("recall", "recall"), ("iou", "IoU")):
            name = f"{figures['set']}, {budget:,} characters: {shown} of characters"
            page.row(name, by, figures["peers"], _measure(f"{measure}_{budget}"))


def offsets(page: Page, results: Path) -> None:
    """Rows of each format."""
    found = page.opened(results, "offsets")
    if found is None:
        return
    by, figures = found
    for suffix, title in FORMATS.items():
        peers = {peer: told["formats"][suffix] for peer, told in figures["peers"].items() if suffix in told["formats"]}
        if not peers:
            continue
        page.row(f"{title}: files that give text", by, peers, _read)
        page.row(f"{title}: chunks whose offsets slice the peer's own text", by, peers, _share("slice"))
        if suffix in ("txt", "md"):
            page.row(f"{title}: chunks whose offsets slice the file", by, peers, _share("slice_file"))
        if suffix in ("md", "pdf"):
            place = "pages" if suffix == "pdf" else "lines"
            page.row(f"{title}: chunks whose named {place} hold their words", by, peers, _share("held"))


def _read(told: Json) -> tuple[str, Value]:
    if "cannot" in told:
        return "no", None
    return f"{told.get('read', 0)}/{told['files']}", float(told.get("read", 0))


def _share(name: str) -> Callable[[Json], tuple[str, Value]]:
    base = "placed" if name == "held" else "told"

    def cell(told: Json) -> tuple[str, Value]:
        if not told.get(base):
            return "no", None
        share = told[name] / told["chunks"]
        return f"{told[name]}/{told['chunks']}", share

    return cell


def ends(page: Page, results: Path) -> None:
    """Refusal, and what becomes of damaged and hostile files."""
    found = page.opened(results, "refusal")
    if found is not None:
        by, figures = found
        for name, shown in (("refused", "unanswerable refused"), ("answered", "answerable answered")):
            page.row(f"{figures['set']}: {shown}", by, figures["peers"], _refusing(name))
    found = page.opened(results, "nasty")
    if found is None:
        return
    by, figures = found
    files = list(dict.fromkeys(name for told in figures["peers"].values() for name in told["files"]))
    for name in files:
        page.row(f"`{name}`", by, {peer: told["files"][name] for peer, told in figures["peers"].items()}, _end)


def _end(told: Json) -> tuple[str, Value]:
    memory = f", {told['peak_mb']} MiB" if told["peak_mb"] and told["peak_mb"] > 1500 else ""  # noqa: PLR2004 - much
    return told["end"] + memory, None


def table(page: Page) -> list[str]:
    """Every row; the best of each in bold."""
    peers = [peer for peer in TITLES if any(peer in row.cells for row in page.rows)]
    lines = ["| | " + " | ".join(TITLES[peer] for peer in peers) + " | by |", "| --- |" + " --- |" * (len(peers) + 1)]
    for row in page.rows:
        cells = [row.cells.get(peer, NOT_ASKED) for peer in peers]
        marked = [f"**{cell}**" if peer in row.best else cell for peer, cell in zip(peers, cells, strict=True)]
        lines.append(f"| {row.name} | {' | '.join(marked)} | {row.by} |")
    return lines


def commands(page: Page) -> list[str]:
    """Letters to commands, days, and the machine's noise."""
    lines = ["| by | command | when | load before and after | slowdown of a fixed loop, before and after |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for letter, run in page.runs:
        before, after = run["before"], run["after"]
        load = f"{before['load_1_5_15_minutes'][0]}, {after['load_1_5_15_minutes'][0]}"
        slow = f"{before['processor_slowdown']}, {after['processor_slowdown']}"
        lines.append(f"| {letter} | `{run['command']}` | {after['when']} | {load} | {slow} |")
    return lines


def systems(page: Page) -> list[str]:
    """Versions and options."""
    lines = ["| | versions | options |", "| --- | --- | --- |"]
    for peer, title in TITLES.items():
        if peer in page.facts:
            versions, options = page.facts[peer]
            told = ", ".join(f"{name} {value}" for name, value in versions.items())
            lines.append(f"| {title} | {told} | {options} |")
    return lines


def written(results: Path) -> str:
    """The whole page."""
    page = Page()
    for chunks in (1000, 10_000, 100_000):
        speed(page, results, chunks)
    ranking(page, results)
    spans(page, results)
    offsets(page, results)
    ends(page, results)
    lost = [
        f"- {row.name} ({', '.join(TITLES[peer] for peer in TITLES if peer in row.best)})"
        for row in page.rows
        if row.lost
    ]
    parts = [_HEAD, _FAIR.strip(), "", *table(page), "", "## Commands", "", *commands(page), "", "## Systems", ""]
    parts += [*systems(page), "", "## Where fonte is not first", "", *lost, "", _REASONS.strip(), ""]
    return "\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--results", type=Path, default=RESULTS)
    options.add_argument("--out", type=Path, default=ROOT / "docs" / "peers.md")
    wanted = options.parse_args(arguments)
    wanted.out.write_text(written(wanted.results), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
