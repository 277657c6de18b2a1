"""What is kept of each format: docs-formats read by fonte and by single libraries, against its lists and references.

    uv venv /tmp/peers-venv && uv pip install --python /tmp/peers-venv/bin/python -r bench/peers-formats.txt
    .venv/bin/python bench/formats.py --peers /tmp/peers-venv/bin/python
    .venv/bin/python bench/formats.py --peers-kept /tmp/peers.jsonl --only docx,vtt   # references and places alone

Writes bench/results/formats.json and docs/formats.md, and 20 pictures of cited pages to .fonte-bench/ for a person to
look at. The files lie outside the project (../shared/data/docs-formats); without them there is nothing to measure.
Figures of speed come from bench/formats_speed.py, whose JSON is put into the same page where it is there.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from common import ROOT, machine
from formats_page import page
from formats_places import ENOUGH, Found, check, draw, drawn
from formats_read import FOLDER, Read, manifest, read_all, stored
from formats_score import (
    holds,
    place_names,
    recall,
    similarity,
    voices,
    without_lines,
    without_names,
    without_speakers,
    words,
)

from fonte.evaluation.statistics import compare, wilson
from fonte.parsers.pool import ParserPool
from fonte.text.canonical import canonicalise
from fonte.types import Document

RESULTS = ROOT / "bench" / "results" / "formats.json"
PICTURES = ROOT / ".fonte-bench"
MADE = FOLDER.parent / "parsing" / "made"
SHOWN = 20
SEED = 4
PAGE_WORDS = 150


def peers_texts(python: Path | None, kept: Path | None) -> dict[str, dict[str, dict[str, Any]]]:
    """What each library made of each file, by file; empty without an interpreter that has the libraries."""
    if kept is None and python is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        out = kept or Path(folder) / "peers.jsonl"
        if python is not None:
            script = Path(__file__).with_name("formats_peers.py")
            subprocess.run([python, script, FOLDER, out], check=True)  # noqa: S603 - our own script
        found: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
        for line in out.read_text("utf-8").splitlines():
            told = json.loads(line)
            found[told["file"]][told["peer"]] = told
    return found


def lists(reads: Sequence[Read]) -> dict[str, Any]:
    """Listed strings found and missed, by format; strings that must not stand there; those behind a password."""
    by_format: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    missed, present, marks, locked = [], [], 0, 0
    for read in reads:
        if read.entry.get("password") and read.error:
            locked += len(read.entry.get("must_include", []))
            continue
        plain = words(read.text)
        bare = words("\n\n".join(map(without_names, read.documents)))
        for wanted in read.entry.get("must_include", []):
            found = holds(plain, wanted)
            if found is None:
                marks += 1
                continue
            found = found or bool(holds(bare, wanted))
            by_format[read.format][0] += found
            by_format[read.format][1] += 1
            if not found:
                missed.append(f"{read.file}: {wanted[:80]}")
        present += [f"{read.file}: {one}" for one in read.entry.get("must_not_include", []) if one in read.text]
    hits, n = (sum(one[at] for one in by_format.values()) for at in (0, 1))
    share = wilson(hits, n)
    return {
        "found": hits,
        "of": n,
        "share": round(hits / n, 4),
        "low": round(share.low, 4),
        "high": round(share.high, 4),
        "by_format": {name: tuple(one) for name, one in sorted(by_format.items())},
        "missed": missed,
        "must_not_include_present": present,
        "marks_alone": marks,
        "behind_a_password": locked,
    }


def references(reads: Sequence[Read], peers: dict[str, dict[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Similarity to the reference texts by format, ours and each library's, with a paired test against the best."""
    told: dict[str, dict[str, Any]] = {}
    by_format: dict[str, list[Read]] = defaultdict(list)
    for read in reads:
        if read.entry.get("gold_md"):
            by_format[read.format].append(read)
    for name, files in sorted(by_format.items()):
        written = [(FOLDER / read.entry["gold_md"]).read_text("utf-8") for read in files]
        golds = list(map(_leveled, written, files))
        whole = [similarity(words(read.text), words(gold)) for read, gold in zip(files, written, strict=True)]
        bare = [_leveled("\n\n".join(map(without_names, read.documents)), read) for read in files]
        measured = {
            "files": len(files),
            "similarity": _mean(whole),
            "names_once": _mean(map(similarity, bare, golds)),
            "recall": _mean(map(recall, bare, golds)),
            "each": {
                read.file: round(similarity(text, gold), 4) for read, text, gold in zip(files, bare, golds, strict=True)
            },
        }
        told[name] = measured | _against(files, bare, golds, peers)
    return told


def _leveled(text: str, read: Read) -> list[str]:
    """Words of ours, of a reference or of a library's text without names of sheets, of bare slides and of speakers."""
    spoken = voices((FOLDER / read.file).read_text("utf-8")) if read.format == "vtt" else frozenset()
    return words(without_speakers(without_lines(text, place_names(read.documents)), spoken))


def _against(
    files: Sequence[Read], ours: Sequence[list[str]], golds: Sequence[list[str]], peers: dict[str, Any]
) -> dict[str, Any]:
    names = sorted({peer for read in files for peer in peers.get(read.file, {})})
    if not names:
        return {"peers": {}, "best": None}
    scores: dict[str, list[float]] = {}
    recalls: dict[str, list[float]] = {}
    versions = {}
    for name in names:
        texts = [peers.get(read.file, {}).get(name, {"text": "", "version": ""}) for read in files]
        versions[name] = max(one["version"] for one in texts)
        made = [_leveled(one["text"], read) for one, read in zip(texts, files, strict=True)]
        scores[name] = list(map(similarity, made, golds))
        recalls[name] = list(map(recall, made, golds))
    best = max(names, key=lambda name: sum(scores[name]))
    own = list(map(similarity, ours, golds))
    paired = compare(scores[best], own)
    return {
        "peers": {
            name: {"version": versions[name], "similarity": _mean(scores[name]), "recall": _mean(recalls[name])}
            for name in names
        },
        "best": best,
        "difference": [
            round(one, 4) for one in (paired.difference.value, paired.difference.low, paired.difference.high)
        ],
        "wins": paired.wins,
        "losses": paired.losses,
        "p": round(paired.p, 4),
        "verdict": paired.verdict if paired.p < 1 else "cannot_tell",
    }


def _mean(values: Any) -> float:
    listed = list(values)
    return round(sum(listed) / len(listed), 4)


def oracle(reads: Sequence[Read], peers: dict[str, dict[str, dict[str, Any]]]) -> dict[str, list[float]]:
    """Of each page of some length: share of trafilatura's main content that we keep, and of ours that it keeps."""
    told = {}
    for read in reads:
        main = words(peers.get(read.file, {}).get("trafilatura", {}).get("text", ""))
        if len(main) >= PAGE_WORDS:
            ours = words(read.text)
            told[read.file] = [round(recall(ours, main), 4), round(recall(main, ours), 4)]
    return told


def places(reads: Sequence[Read]) -> tuple[dict[str, dict[str, Any]], list[Found]]:
    """Up to 200 sentences of each format against their places; all that lie on PDF pages, to draw some."""
    by_format: dict[str, list[tuple[Path, Document]]] = defaultdict(list)
    for read in reads:
        if len(read.documents) == 1 and read.documents[0].text and read.format != "zip":
            by_format[read.format].append((FOLDER / read.file, read.documents[0]))
    by_format["pdf"] += made_pdfs()
    told, on_pages = {}, []
    for name, documents in sorted(by_format.items()):
        found = [check(*one) for one in drawn(documents, SEED)]
        looked = [one for one in found if one.held is not None]
        bad = [one for one in looked if one.held is not None and one.held < ENOUGH]
        told[name] = {
            "sentences": len(found),
            "slices": sum(one.slices for one in found),
            "looked_up": len(looked),
            "held": len(looked) - len(bad),
            "not_held": [f"{one.path.name} {one.locator.start}: {one.text[:60]!r} {one.held:.2f}" for one in bad[:10]],
        }
        if name == "pdf":
            on_pages = looked
    return told, on_pages


def made_pdfs() -> list[tuple[Path, Document]]:
    """The PDFs made with known text, but for the long one."""
    found = []
    if MADE.is_dir():
        with ParserPool() as pool:
            for path in sorted(MADE.glob("*.pdf")):
                if path.name != "big500.pdf" and not path.name.startswith("scan"):
                    source = stored(path, path.name)
                    found.append((path, canonicalise(pool.parse(source), source, tenant="bench")))
    return found


def main() -> int:
    """Measure, and write the figures and the page."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--peers", type=Path, help="a Python that has bench/peers-formats.txt installed")
    options.add_argument("--peers-kept", type=Path, help="what formats_peers.py has written before, or shall write")
    options.add_argument("--only", default="", help="formats (docx,vtt) whose references are measured again")
    wanted = options.parse_args()
    if not FOLDER.is_dir():
        print("../shared/data/docs-formats is not here: nothing is measured")
        return 0
    peers = peers_texts(wanted.peers, wanted.peers_kept)
    if wanted.only:
        return again(frozenset(wanted.only.split(",")), peers)
    reads = told_reads(manifest())
    located, on_pages = places(reads)
    PICTURES.mkdir(exist_ok=True)
    chance = random.Random(SEED)  # noqa: S311 - a sample
    for at, one in enumerate(chance.sample(on_pages, min(SHOWN, len(on_pages)))):
        draw(one, PICTURES / f"place-{at:02}.png")
        print(f"place-{at:02}.png {one.path.name} page {one.locator.page}: {one.text[:90]!r}", file=sys.stderr)
    told = {
        "command": " ".join(["bench/formats.py", *sys.argv[1:]]),
        "machine": machine(),
        "files": len(reads),
        "failed": {read.file: read.error for read in reads if read.error},
        "lists": lists(reads),
        "references": references(reads, peers),
        "oracle": oracle(reads, peers),
        "places": located,
        "seconds": {read.file: round(read.seconds, 3) for read in reads},
    }
    write(told)
    return 0


def told_reads(entries: Sequence[dict[str, Any]]) -> list[Read]:
    """The files read, each told as it is done."""
    reads = []
    for read in read_all(entries):
        reads.append(read)
        state = read.error or f"{len(read.text)} characters"
        print(f"{len(reads):4}/{len(entries)} {read.seconds:6.2f} s  {read.file}: {state}", file=sys.stderr, flush=True)
    return reads


def again(formats: frozenset[str], peers: dict[str, dict[str, dict[str, Any]]]) -> int:
    """Measure references and places of some formats again; everything else stays as the last whole run has it."""
    told = json.loads(RESULTS.read_text("utf-8"))
    reads = told_reads([one for one in manifest() if Path(one["file"]).suffix.lstrip(".").lower() in formats])
    told["references"] |= references(reads, peers)
    told["places"] |= {name: found for name, found in places(reads)[0].items() if name in formats}
    told["seconds"] |= {read.file: round(read.seconds, 3) for read in reads}
    earlier = [one for one in told.get("again", []) if not formats.issuperset(one["formats"])]
    told["again"] = [*earlier, {"formats": sorted(formats), "machine": machine()}]
    write(told)
    return 0


def write(told: dict[str, Any]) -> None:
    """The figures, and the page with those of speed where they are there."""
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    speed = RESULTS.with_name("formats-speed.json")
    text = page(told, json.loads(speed.read_text("utf-8")) if speed.is_file() else None)
    (ROOT / "docs" / "formats.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    sys.exit(main())
