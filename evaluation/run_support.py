"""What the support checks find and what they accuse falsely, kind by kind, over the claims of make_perturbations.py.

    .venv/bin/python evaluation/run_support.py --data ../shared/data --half held_out --out support.json

Flagged is a verdict ``partial`` or ``unsupported``. Sentences as they stand are compared like any other here, though in
an answer they are recognised and never compared. With --words no encoder is used. Nothing is tuned here; constants were
chosen on the half ``development``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from make_perturbations import LATER, Claim, build, fingerprint, load, load_fresh, passage_of, written
from support_plot import draw

from fonte.evaluation.statistics import wilson
from fonte.evidence import EvidenceScorer
from fonte.models.registry import make_embedder
from fonte.support import SupportChecker
from fonte.text.terms import Analyser
from fonte.types import Passage, Support

FLAGGED = frozenset({"partial", "unsupported"})
GOALS = {"number": 0.95, "unit": 0.95, "date": 0.95, "negation_added": 0.95, "negation_removed": 0.95, "entity": 0.8}
NEGATIONS = frozenset({"negation_added", "negation_removed"})
MODEL = "package:multilingual-e5-small"


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with its verdict, the checks that found something, and how long it took."""

    claim: Claim
    verdict: Support
    fired: dict[str, str]
    milliseconds: float

    @property
    def flagged(self) -> bool:
        """Whether the reader of an answer would be told."""
        return self.verdict in FLAGGED


def share(values: Iterable[bool]) -> dict[str, float | int]:
    """A proportion with its Wilson interval; n 0 where there is nothing."""
    listed = list(values)
    if not listed:
        return {"n": 0}
    interval = wilson(sum(listed), len(listed))
    return {
        "value": round(interval.value, 4),
        "low": round(interval.low, 4),
        "high": round(interval.high, 4),
        "n": interval.n,
    }


def judge(
    claims: Sequence[Claim], passages: dict[tuple[str, int, int], Passage], checker: SupportChecker
) -> list[Judged]:
    """Every claim against its passage."""
    judged = []
    for one in claims:
        passage = passages[one.document, one.start, one.end]
        began = time.perf_counter()
        verdict, checks = checker.compare(one.said, [passage], language=one.language)
        took = (time.perf_counter() - began) * 1000
        fired = {
            name: str(told)
            for name, told in checks.items()
            if isinstance(told, str) and told not in ("ok", "not checked") and _accuses(told)
        }
        if verdict in FLAGGED and not fired:
            fired = {"alignment": str(checks["alignment"])}
        judged.append(Judged(one, verdict, fired, took))
    return judged


def _accuses(told: str) -> bool:
    """Whether a check found something wrong, and not only something that it is not sure of."""
    return not told.startswith("not sure: ") or any(f"; {what}: " in told for what in ("added", "removed", "left out"))


def report(judged: Sequence[Judged]) -> dict[str, object]:
    """Recall of every kind, false alarms, and how often each check is right when it speaks."""
    kinds = sorted({one.claim.kind for one in judged} - {"faithful"})
    later = {claim for *_, claim in written(LATER)}
    recall: dict[str, object] = {}
    for kind in kinds:
        own = [one for one in judged if one.claim.kind == kind]
        recall[kind] = {
            "all": share(one.flagged for one in own),
            "of verbatim": share(one.flagged for one in own if one.claim.base == "verbatim"),
            "of paraphrases": share(one.flagged for one in own if one.claim.base == "paraphrase"),
            "of later paraphrases": share(one.flagged for one in own if one.claim.source in later),
            "unsupported": share(one.verdict == "unsupported" for one in own),
            "not called supported": share(one.verdict != "supported" for one in own),
            "goal": GOALS.get(kind),
        }
    faithful = [one for one in judged if one.claim.kind == "faithful"]
    across = [one for one in faithful if one.claim.base == "paraphrase" and _crosses(one)]
    alarms = {
        "all": share(one.flagged for one in faithful),
        "verbatim": share(one.flagged for one in faithful if one.claim.base == "verbatim"),
        "paraphrases": share(one.flagged for one in faithful if one.claim.base == "paraphrase"),
        "later paraphrases": share(one.flagged for one in faithful if one.claim.source in later),
        "paraphrases across languages": share(one.flagged for one in across),
    }
    by_check: dict[str, list[bool]] = defaultdict(list)
    for one in judged:
        for check in one.fired:
            by_check[check].append(one.claim.kind != "faithful")
    flagged = [one.claim.kind != "faithful" for one in judged if one.flagged]
    return {
        "recall": recall,
        "false alarms": alarms,
        "negations": {
            "flagged": share(one.flagged for one in judged if one.claim.kind in NEGATIONS),
            "not called supported": share(one.verdict != "supported" for one in judged if one.claim.kind in NEGATIONS),
        },
        "precision of checks": {check: share(found) for check, found in sorted(by_check.items())},
        "precision": share(flagged),
        "verdicts of faithful paraphrases": dict(
            Counter(one.verdict for one in faithful if one.claim.base == "paraphrase")
        ),
        "milliseconds at the median": round(sorted(one.milliseconds for one in judged)[len(judged) // 2], 1),
    }


def _crosses(one: Judged) -> bool:
    return one.claim.language != one.claim.source_language


def show(judged: Sequence[Judged], kind: str, limit: int) -> None:
    """What went wrong, to look at while developing."""
    wrong = [one for one in judged if one.claim.kind == kind and one.flagged == (kind == "faithful")]
    print(f"--- {kind}: {len(wrong)} wrong of {sum(one.claim.kind == kind for one in judged)}")
    for one in wrong[:limit]:
        print(f"{one.claim.base[:4]} {one.verdict} {one.fired}")
        print(f"    said   {one.claim.said[:260]}\n    source {one.claim.source[:260]}")


def main() -> int:
    """Build, judge, report; 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder that holds squad-it and xquad-en")
    parser.add_argument("--fresh", action="store_true", help="the claims of invented documents (support/fresh) instead")
    parser.add_argument("--half", choices=("development", "held_out"), default="development")
    parser.add_argument("--words", action="store_true", help="without an encoder")
    parser.add_argument(
        "--show", action="append", default=[], help="a kind whose errors are printed (development only)"
    )
    parser.add_argument("--limit", type=int, default=30)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plot", type=Path, help="a picture of the errors, kind by kind")
    told = parser.parse_args()
    if told.show and told.half == "held_out":
        parser.error("the held-out half is measured, not looked at")
    corpora = load_fresh(told.half) if told.fresh else load(told.data)
    claims = build(corpora)
    own = [one for one in claims if one.half == told.half]
    passages = {
        (place.document.uri, place.chunk.start, place.chunk.end): passage_of(place.document, place.chunk)
        for places in corpora.values()
        for place in places
    }
    sees = None if told.words else EvidenceScorer(make_embedder(MODEL), Analyser())
    # Neighboring claims share a passage, which the scorer remembers.
    judged = judge(sorted(own, key=lambda one: (one.document, one.start)), passages, SupportChecker(sees))
    result = {
        "command": "evaluation/run_support.py " + " ".join(sys.argv[1:]),
        "claims": len(claims),
        "fingerprint": fingerprint(claims),
        "set": "fresh" if told.fresh else "first",
        "half": told.half,
        "judged": len(own),
        "encoder": None if told.words else MODEL,
        **report(judged),
    }
    if told.plot is not None:
        draw(told.plot, result)
    for kind in told.show:
        show(judged, kind, told.limit)
    text = json.dumps(result, ensure_ascii=False, indent=1)
    print(text if told.out is None else f"written to {told.out}")
    if told.out is not None:
        told.out.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
