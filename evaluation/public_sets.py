"""What the scripts over public sets in BEIR layout share: their arguments, an index of a set, a file of its figures."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from fonte import Corpus, SourceOptions
from fonte.types import SyncReport


def arguments(about: str | None) -> argparse.ArgumentParser:
    """The folder of the sets, their names, where their homes are kept and where figures go."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--homes", type=Path, default=Path(".fonte-bench"))
    parser.add_argument("--out", type=Path)
    return parser


def synced(records: Path, home: Path) -> tuple[Corpus, SyncReport]:
    """A home that holds a file of records; what it holds already is not embedded again."""
    corpus = Corpus.open(home)
    return corpus, corpus.sync(str(records), options=SourceOptions(records=True))


def run(options: argparse.Namespace, kind: str, evaluate: Callable[[Path], Mapping[str, object]]) -> int:
    """Figures of each set that is there, printed and to KIND-SET.json; those that are not there are told."""
    for name in options.sets:
        if not (options.data / name / "corpus.jsonl").is_file():
            print(f"{name}: absent, not measured", file=sys.stderr)
            continue
        text = json.dumps(evaluate(options.data / name), indent=1, ensure_ascii=False) + "\n"
        print(text, flush=True)
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            (options.out / f"{kind}-{name}.json").write_text(text, encoding="utf-8")
    return 0
