"""What results of peers are worth: ranks, characters at an equal budget, offsets, ends. No text of a file is kept."""

from __future__ import annotations

import json
import math
import re
import signal
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pypdfium2

Json: TypeAlias = dict[str, Any]
BUDGETS = (2000, 4000)
"""Characters that may be shown for a question."""
HELD = 0.9
"""Share of a chunk's words that its place in the file must hold."""
_WORD = re.compile(r"\w+")
_REASON = 90


def ranked(results: Sequence[Sequence[Any]]) -> list[str]:
    """Documents in the order of their first result."""
    return list(dict.fromkeys(one[0] for one in results))[:10]


def judged(run: Mapping[str, Sequence[Sequence[Any]]], qrels: Mapping[str, Mapping[str, int]]) -> Json:
    """R@1, R@5, MRR@10 and nDCG@10 over the questions that were asked."""
    sums: Counter[str] = Counter()
    for question, results in run.items():
        grades, order = qrels[question], ranked(results)
        gains = [grades.get(one, 0) for one in order]
        first = next((place for place, gain in enumerate(gains, 1) if gain), 0)
        ideal = sum(gain / math.log2(place + 1) for place, gain in enumerate(sorted(grades.values())[::-1][:10], 1))
        sums["r@1"] += float(first == 1)
        sums["r@5"] += sum(gain > 0 for gain in gains[:5]) / len(grades)
        sums["mrr@10"] += 1 / first if first else 0.0
        sums["ndcg@10"] += sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1)) / ideal
    return {
        "questions": len(run),
        **{name: round(sums[name] / len(run), 4) for name in ("r@1", "r@5", "mrr@10", "ndcg@10")},
    }


def qrels_of(path: Path) -> dict[str, dict[str, int]]:
    """Grades by question and document."""
    found: dict[str, dict[str, int]] = {}
    for line in path.read_text("utf-8").splitlines()[1:]:
        question, document, grade = line.split("\t")
        if int(grade) > 0:
            found.setdefault(question, {})[document] = int(grade)
    return found


def shown(
    results: Sequence[Sequence[Any]], texts: Mapping[str, str], budget: int, count: Counter[str]
) -> dict[str, set[int]]:
    """Characters that the first results show, cut where the budget ends; a place is looked up if it is not told."""
    seen: dict[str, set[int]] = {}
    left = budget
    for document, start, end, text in results:
        if left <= 0:
            break
        whole = texts[document]
        count["results"] += 1
        if start is not None and whole[start:end] == text:
            count["by_offsets"] += 1
            place: tuple[int, int] | None = (start, end)
        else:
            place = located(whole, text)
        size = min(left, len(text) if place is None else place[1] - place[0])
        left -= size
        if place is None:
            count["nowhere"] += 1
        else:
            seen.setdefault(document, set()).update(range(place[0], place[0] + size))
    return seen


def located(whole: str, text: str) -> tuple[int, int] | None:
    """Where a text stands, blanks of any length taken as one."""
    at = whole.find(text)
    if at >= 0:
        return at, at + len(text)
    parts = [re.escape(word) for word in text.split()]
    found = re.search(r"\s+".join(parts), whole) if parts else None
    return found.span() if found else None


def spans(
    run: Mapping[str, Sequence[Sequence[Any]]], texts: Mapping[str, str], gold: Mapping[str, Sequence[Json]]
) -> Json:
    """Recall and IoU of characters at each budget."""
    told: Json = {"questions": len(run)}
    for budget in BUDGETS:
        recall = union = 0.0
        count: Counter[str] = Counter()
        for question, results in run.items():
            wanted: dict[str, set[int]] = {}
            for one in gold[question]:
                wanted.setdefault(one["doc"], set()).update(range(one["start"], one["end"]))
            seen = shown(results, texts, budget, count)
            both = sum(len(wanted[name] & seen.get(name, set())) for name in wanted)
            size, all_seen = sum(map(len, wanted.values())), sum(map(len, seen.values()))
            recall += both / size
            union += both / (size + all_seen - both)
        told[f"recall_{budget}"] = round(recall / len(run), 4)
        told[f"iou_{budget}"] = round(union / len(run), 4)
        told[f"results_{budget}"] = dict(count)
    return told


def offsets(files: Mapping[str, Json], folder: Path) -> Json:
    """Over all chunks of a format: offsets told, slicing the peer's text or the file, places that hold the words."""
    count: Counter[str] = Counter()
    faults = {}
    for name, read in files.items():
        count["files"] += 1
        if not read["pieces"]:
            faults[name] = short(read["reason"]) or read["state"]
            continue
        count["read"] += 1
        path = folder / name
        plain = path.read_text("utf-8") if path.suffix in (".txt", ".md") else None
        pages = page_words(path) if path.suffix == ".pdf" else []
        for piece in read["pieces"]:
            count["chunks"] += 1
            start, end, text = piece["start"], piece["end"], piece["text"]
            if start is not None and end is not None:
                count["told"] += 1
                count["slice"] += read["sources"][piece["source"]][start:end] == text
                count["slice_file"] += plain is not None and plain[start:end] == text
            there = placed(piece, plain, pages)
            if there is not None:
                count["placed"] += 1
                count["held"] += held(text, there) >= HELD
    return {**count, "unread": faults}


def placed(piece: Json, plain: str | None, pages: Sequence[Counter[str]]) -> Counter[str] | None:
    """The words at the pages or lines of the file that a chunk names."""
    if piece["pages"] and pages:
        named = [pages[page - 1] for page in piece["pages"] if 0 < page <= len(pages)]
        return sum(named, Counter())
    if piece["lines"] and plain is not None:
        first, last = piece["lines"]
        return words("\n".join(plain.splitlines()[first - 1 : last]))
    return None


def words(text: str) -> Counter[str]:
    """Words and how often, in lower case."""
    return Counter(_WORD.findall(text.lower()))


def held(text: str, there: Counter[str]) -> float:
    """Share of a text's words that stand there."""
    wanted = words(text)
    return sum((wanted & there).values()) / max(1, wanted.total())


def page_words(path: Path) -> list[Counter[str]]:
    """Of each page, by pdfium."""
    with pypdfium2.PdfDocument(path) as pdf:
        return [words(page.get_textpage().get_text_range()) for page in pdf]


def ended(code: int | None, told: Json | None) -> tuple[str, str]:
    """How a process over a damaged file ended, in a word, and why."""
    if code is None or code == -signal.SIGXCPU:
        return "hang", "more than the time allowed"
    if told is None:
        return "crash", f"signal {-code}" if code < 0 else f"status {code}"
    reason = short(told["reason"])
    if told["state"] == "error":
        return ("crash", reason) if "MemoryError" in reason or "RecursionError" in reason else ("error", reason)
    if told["characters"]:
        return "text", f"{told['characters']} characters"
    return ("empty success", "") if told["state"] in ("read", "ready") else ("error", f"{told['state']}: {reason}")


def short(reason: str) -> str:
    """One line without folders of a machine."""
    line = " ".join(re.sub(r"(?:/[\w.@+-]+){2,}/", "", reason).split()).replace("|", "/")
    return line if len(line) <= _REASON else line[: _REASON - 1] + "…"


def refused(answered: Mapping[str, bool] | None, asked: Iterable[Json]) -> Json | str:
    """Of unanswerable questions those refused, of answerable ones those answered."""
    if answered is None:
        return "none"
    told: Json = {}
    for name, answerable in (("answerable", True), ("unanswerable", False)):
        own = [answered[one["id"]] for one in asked if one["answerable"] is answerable]
        told[name] = len(own)
        told["answered" if answerable else "refused"] = round(sum(one is answerable for one in own) / len(own), 3)
    return told


def lines_of(path: Path) -> list[Json]:
    """JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
