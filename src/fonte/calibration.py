"""A golden set's questions to a gate that is calibrated for this index, and that gate back into force.

A calibration belongs to what it was measured with: the recipe of the index (normaliser, chunking, analyser, space), the
reader, the default gate whose signs it weighs, and the widths of retrieval. Where one of these has changed it is
refused, and the uncalibrated default judges again and says so.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from fonte.answer import Asker, now
from fonte.errors import ConfigError, InputError, ModelError, NotFound, StoreError
from fonte.evaluation.calibrating import Calibrated, Case, Costs, Kept, Prior, TooFew, calibrate, missing
from fonte.evaluation.golden import GoldenSet, Question
from fonte.evaluation.measures import Retrieved
from fonte.gate import DIRECTIONS, HELD_SIGNS, GateModel
from fonte.protocols import Progress, TokenCoder
from fonte.types import PUBLIC_ROLE, DocumentState, Principal, Query, sha256_hex

FORMAT = 1
_HINT = "run fonte calibrate again"
_WORDS: Mapping[str, str] = {
    "recipe": "the recipe of the index",
    "space": "the embedding space",
    "terms": "the analyser",
    "reader": "the reader",
    "gate": "the default gate and its signs",
    "retrieval": "the widths of retrieval",
    "reranker": "the reranker",
}


@dataclass(frozen=True, slots=True)
class Calibration:
    """A fitted gate with what it holds for, and where it came from."""

    gate: GateModel
    conditions: Mapping[str, str]
    golden: str
    fingerprint: str
    generation: str
    model: str
    queries: int
    auroc: tuple[float, float, float]
    made_at: datetime

    def as_text(self) -> str:
        """Plain numbers and names, to be stored."""
        gate = self.gate
        return json.dumps(
            {
                "format": FORMAT,
                "stamp": gate.stamp,
                "gate": {
                    "weights": dict(gate.weights),
                    "intercept": gate.intercept,
                    "threshold": gate.threshold,
                    "steps": [list(step) for step in gate.steps],
                },
                "conditions": dict(self.conditions),
                "golden": {"name": self.golden, "fingerprint": self.fingerprint, "queries": self.queries},
                "generation": self.generation,
                "model": self.model,
                "auroc": list(self.auroc),
                "made_at": self.made_at.isoformat(),
            },
            ensure_ascii=False,
            indent=1,
        )


def read_calibration(text: str) -> Calibration:
    """A stored calibration.

    Raises:
        ValueError: another format, a damaged file, or numbers that are not those that its stamp was made of.
    """
    try:
        told = json.loads(text)
        if told["format"] != FORMAT:
            raise ValueError("it is of another version")
        gate, conditions = told["gate"], {str(name): str(value) for name, value in told["conditions"].items()}
        low, value, high = (float(one) for one in told["auroc"])
        model = GateModel(
            weights={str(name): float(weight) for name, weight in gate["weights"].items()},
            intercept=float(gate["intercept"]),
            threshold=float(gate["threshold"]),
            calibrated=True,
            steps=tuple((float(at), float(share)) for at, share in gate["steps"]),
            bound=_bound(conditions, str(told["golden"]["fingerprint"])),
        )
        found = Calibration(
            model,
            conditions,
            str(told["golden"]["name"]),
            str(told["golden"]["fingerprint"]),
            str(told["generation"]),
            str(told["model"]),
            int(told["golden"]["queries"]),
            (low, value, high),
            datetime.fromisoformat(told["made_at"]),
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("it is damaged") from error
    if model.stamp != told["stamp"]:
        raise ValueError("its numbers are not those that were stamped")
    return found


def _bound(conditions: Mapping[str, str], fingerprint: str) -> str:
    return sha256_hex(repr((sorted(conditions.items()), fingerprint)))[:16]


def conditions_of(asker: Asker, default: GateModel) -> dict[str, str]:
    """What a calibration made with this asker holds for, by name."""
    recipe, settings = asker.reader.generation.recipe, asker.settings
    reranker = _reranker(asker) if settings.retrieval.rerank else ""
    return {
        "recipe": recipe.id,
        "space": recipe.space.key,
        "terms": asker.terms.version,
        "reader": asker.scorer.reader_id,
        "gate": default.stamp,
        "retrieval": f"{settings.retrieval!r} context_tokens={settings.context_tokens}",
        **({"reranker": reranker} if reranker else {}),
    }


def _reranker(asker: Asker) -> str:
    """What reranks: of late interaction how it weighs tokens, for its codec is part of the space."""
    if asker.reranker is not None:
        return asker.reranker.id
    return asker.embedder.weighing if isinstance(asker.embedder, TokenCoder) else ""


def in_force(asker: Asker, load: Callable[[], str | None]) -> Asker:
    """The asker with the calibrated gate that was stored, where it still fits; else as it is, with a note."""
    try:
        text = load()
        if text is None:
            return asker
        found = read_calibration(text)
    except (ValueError, StoreError) as error:
        return replace(asker, notes=(f"the gate is uncalibrated: its calibration cannot be used ({error}); {_HINT}",))
    own = conditions_of(asker, asker.gate)
    names = sorted({*own, *found.conditions})
    changed = [_WORDS.get(name, name) for name in names if own.get(name) != found.conditions.get(name)]
    if changed:
        note = f"the gate is uncalibrated: since its calibration {', '.join(changed)} changed; {_HINT}"
        return replace(asker, notes=(note,))
    return replace(asker, gate=found.gate)


@dataclass(frozen=True, slots=True)
class Standing:
    """What is stored, and whether it judges: None where that is not known, because the model or index did not open."""

    calibration: Calibration | None
    in_force: bool | None
    note: str = ""


def standing(load: Callable[[], str | None], ask: Callable[[], Asker | None]) -> Standing:
    """What became of the stored calibration. ``ask`` gives the asker as a question would have it."""
    found = None
    try:
        text = load()
        if text is None:
            return Standing(None, in_force=False)
        found = read_calibration(text)
        asker = ask()
    except ValueError as error:
        return Standing(None, in_force=False, note=f"its calibration cannot be used ({error}); {_HINT}")
    except (StoreError, ModelError) as error:
        return Standing(found, in_force=None, note=error.message)
    if asker is None:
        return Standing(found, in_force=False, note="no generation is active")
    return Standing(found, in_force=asker.gate.calibrated, note=" ".join(asker.notes))


# --- fitting ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fitting:
    """What came of a golden set: the calibration to be stored, its figures, and what was left out and why."""

    calibration: Calibration
    figures: Calibrated
    cases: tuple[Case, ...]
    costs: Costs
    grouped_by: str
    """``document`` or ``question``: what no fold divides."""
    left_out: Mapping[str, int]


def fit(
    golden: GoldenSet,
    ask: Callable[[Principal], Asker | None],
    states: Sequence[DocumentState],
    *,
    tenant: str,
    costs: Costs,
    progress: Progress,
) -> Fitting:
    """Ask every wording of the tenant's questions up to the gate, and fit a gate to what it saw.

    ``ask`` gives a principal's asker, uncalibrated; ``states`` are the documents of the active generation. Left out
    are questions of other tenants (``other_tenant``), and those that are called answerable and that this index cannot
    answer to their askers: their documents are not there (``no_document``), or are for others (``not_readable``).

    Raises:
        InputError: too few questions of a kind. ConfigError: scikit-learn is not installed. NotFound: no index.
        ModelError, StoreError.
    """
    try:
        import sklearn  # noqa: F401 - looked for before minutes are spent on questions
    except ImportError as error:
        raise ConfigError(
            "calibrating needs scikit-learn, which is not installed", hint="pip install 'fonte[calibrate]'"
        ) from error
    questions, left_out = _usable(golden, states, tenant)
    enough = [Case((one.id, 0), one.id, one.answerable, {}, 0.0, None) for one in questions]
    if missing(enough):
        raise _too_few(enough, left_out)
    asker = ask(Principal(tenant))
    if asker is None:
        raise NotFound(f"nothing was published for tenant {tenant!r}", hint="run fonte sync FOLDER")
    asked, nearest = _asked(questions, asker, progress)
    cases, grouped_by = _grouped(questions, asked, nearest)
    default = asker.gate
    prior = Prior(tuple(default.weights), _held(default), DIRECTIONS)
    progress("fitting", 0, None)
    try:
        figures = calibrate(cases, prior, costs, threshold_before=default.threshold)
    except TooFew as error:
        raise _too_few(cases, left_out) from error
    return Fitting(_calibration(figures, asker, golden, costs), figures, tuple(cases), costs, grouped_by, left_out)


def _asked(questions: Sequence[Question], asker: Asker, progress: Progress) -> tuple[list[Case], dict[str, str]]:
    """Every wording's case, and by question the document that its first wording comes nearest to."""
    cases: list[Case] = []
    nearest: dict[str, str] = {}
    total = sum(len(one.wordings) for one in questions)
    for question in questions:
        for number, wording in enumerate(question.wordings):
            case, document = _case(question, number, wording, asker)
            nearest.setdefault(question.id, document)
            cases.append(case)
            progress("asking", len(cases), total)
    return cases, nearest


def _held(default: GateModel) -> dict[str, float]:
    return {name: default.weights[name] for name in HELD_SIGNS if name in default.weights}


def _calibration(figures: Calibrated, asker: Asker, golden: GoldenSet, costs: Costs) -> Calibration:
    conditions = conditions_of(asker, asker.gate)
    model, area = figures.model, figures.auroc
    gate = GateModel(
        weights=model.weights,
        intercept=model.intercept,
        threshold=costs.threshold,
        calibrated=True,
        steps=model.steps,
        bound=_bound(conditions, golden.fingerprint),
    )
    return Calibration(
        gate,
        conditions,
        golden.name,
        golden.fingerprint,
        asker.reader.generation.id,
        model.name,
        area.n,
        (area.low, area.value, area.high),
        now(),
    )


def _too_few(cases: Sequence[Case], left_out: Mapping[str, int]) -> InputError:
    lacking = missing(cases)
    there = Counter(case.answerable for case in {case.query[0]: case for case in cases}.values())
    told = f"of the questions {there[True]} can be answered and {there[False]} cannot"
    if left_out:
        told += f" ({', '.join(f'{number} left out: {why}' for why, number in left_out.items())})"
    more = " and ".join(f"{number} more {name}" for name, number in lacking.items())
    return InputError(f"too few questions to calibrate on: {told}", hint=f"write {more} questions into the golden set")


def _usable(golden: GoldenSet, states: Sequence[DocumentState], tenant: str) -> tuple[list[Question], dict[str, int]]:
    """Questions that mean what they say on this index, and how many others there are, by reason."""
    named: dict[str, list[DocumentState]] = {}
    for state in states:
        if state.chunks:
            named.setdefault(state.name, []).append(state)
    kept, left_out = [], Counter[str]()
    for question in golden.questions:
        there = [state for name in question.relevance for state in named.get(name, ())]
        if question.tenant != tenant:
            left_out["other_tenant"] += 1
        elif question.answerable and not there:
            left_out["no_document"] += 1
        elif question.answerable and not any(state.acl.admits(_asker(question)) for state in there):
            left_out["not_readable"] += 1
        else:
            kept.append(question)
    return kept, dict(left_out)


def _asker(question: Question) -> Principal:
    return Principal(question.tenant, question.user, question.roles - {PUBLIC_ROLE})


def _case(question: Question, number: int, wording: str, asker: Asker) -> tuple[Case, str]:
    """One wording's signs, and the document of its nearest passage (empty where nothing was found)."""
    asked = asker.prepare(Query(wording.strip(), _asker(question)))
    passages, distances = [], []
    for one in asked.retrieved.found:
        document = asked.documents[one.stored.chunk.document_id]
        piece = Retrieved(document.name, one.start, one.end, document.text[one.start : one.end])
        distance = one.hit.dense_distance
        passages.append(Kept(distance, any(piece.holds(needle) for needle in question.needles)))
        distances.append((math.inf if distance is None else distance, document.name))
    near, document_name = min(distances, default=(math.inf, ""))
    case = Case(
        (question.id, number),
        question.id,
        question.answerable,
        asked.verdict.features,
        asked.verdict.score,
        near if math.isfinite(near) else None,
        tuple(passages),
        bool(question.needles),
        len(question.wordings),
    )
    return case, document_name


FEWEST_GROUPS = 10
"""Groups of each kind below which folds cannot tell documents apart; then they keep questions whole."""
LARGEST_GROUP = 0.3
"""Share of the queries that one group may hold, or it would leave nothing to fit on."""


def _grouped(
    questions: Sequence[Question], cases: Sequence[Case], nearest: Mapping[str, str]
) -> tuple[list[Case], str]:
    """The cases in groups that no fold divides: by document where that leaves enough groups, else by question.

    An answerable question belongs to its relevant documents, one that is not to the document that it comes nearest to;
    documents that share a question are one group.
    """
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while leader.setdefault(name, name) != name:
            name = leader[name]
        return name

    own = {one.id: sorted(one.relevance) or [nearest[one.id] or f"\0{one.id}"] for one in questions}
    for names in own.values():
        for name in names[1:]:
            leader[find(name)] = find(names[0])
    group = {identity: find(names[0]) for identity, names in own.items()}
    placed = [replace(case, group=group[case.query[0]]) for case in cases]
    sizes = Counter(case.group for case in placed)
    for can in (True, False):
        if len({case.group for case in placed if case.answerable is can}) < FEWEST_GROUPS:
            return list(cases), "question"
    if max(sizes.values()) > LARGEST_GROUP * len(cases):
        return list(cases), "question"
    return placed, "document"
