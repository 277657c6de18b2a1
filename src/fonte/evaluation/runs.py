"""TREC run files, out and in: ``query Q0 document rank score tag``, and the judgments beside them.

trec_eval orders a query's documents by score, and equal scores by name from the end of the alphabet, whatever the
ranks say. So scores are written as whole numbers that fall by one from rank to rank: there are no ties, and every tool
reads the order that was written. Runs made elsewhere are ordered as trec_eval would. White space, ``%`` and control
characters in names are written as ``%20`` and the like, for the format knows no quotes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from fonte.errors import InputError
from fonte.evaluation.golden import GoldenSet
from fonte.evaluation.measures import Retrieved, documents_in_order
from fonte.evaluation.scoring import Access, QueryKey, Scores, parse_measure, score

DOCUMENT_MEASURES = ("recall@5", "hit@5", "precision@5", "mrr@10", "ndcg@10")
"""What a run can be measured by: it names documents, so that nobody knows which needles its results held."""
_AWKWARD = re.compile(r"[\s%\x00-\x1f\x7f-\x9f]")
_FIELDS = 6


@dataclass(frozen=True, slots=True)
class Run:
    """Documents by query, best first, each once."""

    name: str
    rankings: Mapping[str, tuple[str, ...]]


def query_name(query: QueryKey) -> str:
    """A query's name in a run: the question's id, and from the second wording on its number: ``leave#1``."""
    identity, number = query
    return f"{identity}#{number}" if number else identity


def queries_by_name(golden: GoldenSet) -> dict[str, QueryKey]:
    """Every query of a set by its name in a run.

    Raises:
        ValueError: two queries would have one name (a question is called ``leave#1`` itself).
    """
    asked = [(question.id, number) for question, number, _ in golden.queries()]
    named = {query_name(query): query for query in asked}
    if len(named) != len(asked):
        raise ValueError("a question's id ends like the number of another one's wording (#1): rename it")
    return named


def run_of(golden: GoldenSet, retrieved: Mapping[QueryKey, Sequence[Retrieved]], name: str) -> Run:
    """A run out of ranked chunks, in the set's order; a document stands at its best chunk."""
    return Run(
        name,
        {
            named: tuple(documents_in_order(retrieved.get(query, ())))
            for named, query in queries_by_name(golden).items()
        },
    )


def scores_of_run(
    golden: GoldenSet, run: Run, names: Sequence[str] = DOCUMENT_MEASURES, *, may_read: Access | None = None
) -> Scores:
    """A run's measures. Queries that it does not hold got nothing, and count.

    Raises:
        ValueError: a query that the set does not have, or a measure of needles.
    """
    if any(parse_measure(name)[0] == "needle" for name in names):
        raise ValueError("a run names documents, so it cannot be measured by needles")
    known = queries_by_name(golden)
    strange = [name for name in run.rankings if name not in known]
    if strange:
        raise ValueError(f"{len(strange)} queries of the run are not in the golden set, such as {strange[0]}")
    retrieved = {
        known[name]: [Retrieved(document, 0, 0, "") for document in ranking] for name, ranking in run.rankings.items()
    }
    return score(golden, retrieved, names, may_read=may_read)


def write_run(run: Run, path: Path) -> None:
    """The run as a file; queries without a result have no line, which is how the format says it.

    Raises:
        InputError: the file cannot be written.
    """
    _write(path, _run_lines(run))


def write_qrels(golden: GoldenSet, path: Path) -> None:
    """Judgments of every query that can be answered, as trec_eval reads them."""
    named = queries_by_name(golden)
    by_id = {question.id: question for question in golden.questions}
    _write(
        path,
        (
            f"{_plain(name)} 0 {_plain(document)} {grade}\n"
            for name, (identity, _) in named.items()
            for document, grade in by_id[identity].relevance.items()
        ),
    )


def read_run(path: Path) -> Run:
    """A run file, ours or another tool's; queries in the file's order, documents as trec_eval orders them.

    Raises:
        InputError: a file that cannot be read, a line that is none of a run, or a document twice for one query.
    """
    scored: dict[str, dict[str, float]] = {}
    tag = ""
    for line, text in _lines(path):
        fields = text.split()
        if len(fields) != _FIELDS:
            raise _fault(path, line, f"has {len(fields)} fields, not query, Q0, document, rank, score and tag")
        query, _, document, _, number, tag = fields
        value = _number(number)
        if value is None:
            raise _fault(path, line, f"the score {number} is no number")
        mine = scored.setdefault(unquote(query), {})
        if unquote(document) in mine:
            raise _fault(path, line, f"query {query} has document {document} twice")
        mine[unquote(document)] = value
    if not scored:
        raise InputError(f"{path}: holds no result", hint="a run has a line for every result")
    ranked = {
        query: tuple(sorted(sorted(mine, reverse=True), key=mine.__getitem__, reverse=True))
        for query, mine in scored.items()
    }
    return Run(unquote(tag) or path.stem, ranked)


def _run_lines(run: Run) -> Iterator[str]:
    tag = _plain(run.name) or "run"
    for query, ranking in run.rankings.items():
        for rank, document in enumerate(ranking, start=1):
            yield f"{_plain(query)} Q0 {_plain(document)} {rank} {len(ranking) - rank + 1} {tag}\n"


def _plain(name: str) -> str:
    return _AWKWARD.sub(lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode()), name)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as stream:
            for line, text in enumerate(stream, start=1):
                if text.strip():
                    yield line, text
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path}: cannot be read: {reason}", hint="name a TREC run file") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text", hint="save it as UTF-8") from error


def _fault(path: Path, line: int, message: str) -> InputError:
    return InputError(f"{path}:{line}: {message}", hint="correct that line of the run")


def _write(path: Path, lines: Iterator[str]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(lines)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path}: cannot be written: {reason}", hint="name another file") from error
