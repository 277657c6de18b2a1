"""What the gate sees for answerable and unanswerable questions of public sets and of the handbook: one JSON line each.

    .venv/bin/python evaluation/gate_features.py ../shared/data --out evaluation/results/gate-features.jsonl

Kinds: ``answerable``; ``near_miss`` (only the gold passages hidden), ``absent`` (their whole article hidden),
``twisted`` (squad2-adversarial's own unanswerable questions), and the handbook's own unanswerable questions.
A near miss or absent question is dropped when a gold answer still stands in what BM25 finds.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from calibration_features import Revoking
from calibration_sets import held_out

from fonte import Corpus, Principal, SourceOptions
from fonte.answer import Asker
from fonte.evaluation.golden_files import load_golden
from fonte.types import Query

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = 60
SEED = 20261129
"""Questions of each set, drawn with a fixed seed."""


def asker_of(corpus: Corpus, principal: Principal) -> Asker:
    """What answers the principal's questions, with its steps in reach."""
    asker = corpus.asker(principal, calibrated=False)
    if asker is None:
        raise SystemExit("nothing was synced")
    return asker


def row(
    asker: Asker, text: str, principal: Principal, *, kind: str, gold: Sequence[str] = (), **facts: Any
) -> tuple[dict[str, Any], Any]:
    """Features of one question; with gold answers also the signs of each sentence and whether it holds one."""
    asked = asker.prepare(Query(text, principal))
    pieces = []
    if gold and asked.passages:
        for one in asker.scorer.score(asked.query, asked.passages).scored:
            near = 1 - (asked.passages[one.piece.passage].hit.dense_distance or 0.0)
            signs = (
                one.piece.passage,
                one.similarity,
                one.alignment,
                one.coverage,
                one.fits,
                near,
                len(one.piece.text),
            )
            pieces.append([*signs, any(answer.casefold() in one.piece.text.casefold() for answer in gold)])
    distances = [one.hit.dense_distance for one in asked.retrieved.found if one.hit.dense_distance is not None]
    told = {"features": dict(asked.verdict.features), "distance": min(distances, default=None), "pieces": pieces}
    return {"kind": kind, "question": text, **facts, **told}, asked


def squad(folder: Path, homes: Path, rng: random.Random) -> Iterator[dict[str, Any]]:
    """Questions of a public set, as they are, with their passages hidden, and with their article hidden."""
    corpus = Corpus.open(homes / folder.name)
    corpus.sync(str(folder / "corpus.jsonl"), options=SourceOptions(records=True))
    texts = {}
    for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        texts[one["_id"]] = (one.get("title", ""), one["text"])
    identities = {state.name: state.document_id for state in corpus.documents()}
    by_title: dict[str, list[str]] = {}
    for name, (title, _) in texts.items():
        by_title.setdefault(title, []).append(name)
    answers = {}
    twisted = []
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        answers[one["_id"]] = one.get("answers") or []
        if one.get("answerable") is False:
            twisted.append((one["text"], texts[one["source_doc"]][0]))
    golden = load_golden(folder)
    unseen = held_out()
    # The reader was trained on the other articles: what it says of them tells nothing.
    asked = [
        question
        for question in golden.questions
        if question.relevance and question.answerable and texts[next(iter(question.relevance))][0] in unseen
    ]
    twisted = [one for one in twisted if one[1] in unseen]
    principal = Principal()
    plain = asker_of(corpus, principal)
    for question in rng.sample(asked, min(SAMPLE, len(asked))):
        text = question.wordings[0]
        gold = list(question.relevance)
        article = texts[gold[0]][0]
        common = {"set": folder.name, "article": article}
        yield row(plain, text, principal, kind="answerable", gold=answers[question.id], **common)[0]
        for kind, names in (("near_miss", gold), ("absent", by_title[article])):
            hidden = Revoking(plain.catalog, tuple(identities[name] for name in names))
            found, seen = row(replace(plain, catalog=hidden), text, principal, kind=kind, **common)
            shown = " ".join(passage.content.casefold() for passage in seen.passages)
            if not any(answer.casefold() in shown for answer in answers[question.id]):
                yield found
    for text, article in rng.sample(twisted, min(SAMPLE, len(twisted))):
        yield row(plain, text, principal, kind="twisted", set=folder.name, article=article)[0]


def handbook(homes: Path) -> Iterator[dict[str, Any]]:
    """Every wording of the handbook's first golden set."""
    corpus = Corpus.open(homes / "handbook", config=ROOT / "sample" / "fonte.toml")
    corpus.sync(str(ROOT / "sample" / "handbook"))
    for question, _, text in load_golden(ROOT / "evaluation" / "golden" / "handbook.yaml").queries():
        principal = Principal(roles=question.roles - {"public"})
        kind = "answerable" if question.answerable else question.segment
        yield row(
            asker_of(corpus, principal),
            text,
            principal,
            kind=kind,
            set="handbook",
            article=question.id,
            half=question.half,
            segment=question.segment,
            gold=[question.must_include[0]] if question.must_include else (),
        )[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write one line for each question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="*", default=["squad-it", "xquad-en", "cross-it-en", "squad2-adversarial"])
    parser.add_argument("--homes", type=Path, default=Path(".fonte-bench"))
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with options.out.open("w", encoding="utf-8") as out:
        for found in handbook(options.homes):
            print(json.dumps(found, ensure_ascii=False), file=out)
        for name in options.sets:
            if not (options.data / name / "corpus.jsonl").is_file():
                print(f"{name}: absent, not measured", file=sys.stderr)
                continue
            for found in squad(options.data / name, options.homes, random.Random(SEED)):  # noqa: S311 - drawing questions is no secret
                print(json.dumps(found, ensure_ascii=False), file=out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
