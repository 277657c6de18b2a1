"""What people's verdicts come to: shares with intervals, and how far automatic measures and labellers agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from fonte.evaluation.agreement import Agreement, agreement
from fonte.evaluation.labels import RIGHT, VERDICTS, Label, Labels
from fonte.evaluation.report import intervals
from fonte.evaluation.statistics import Interval, bootstrap_mean, wilson

Json: TypeAlias = dict[str, object]
_DIGITS = 6
_SUPPORT = {"supported": "supported", "unsupported": "not supported", "partial": "not supported"}
"""The automatic word as a person's; what was not checked says nothing."""


@dataclass(frozen=True, slots=True)
class LabelReport:
    """Every answer counts once, by its first labeller's last word.

    ``shares`` are of answers (Wilson), ``supported`` of sentences, None where no answer has any. ``right`` is correct
    or rightly refused. ``automatic`` agrees with the measures about ``verdict``, ``right`` and ``support``, each where
    both say something; ``between`` holds every two labellers about these and ``task_done``.
    """

    drawn: int
    labellers: Mapping[str, int]
    generations: Mapping[str, int]
    shares: Mapping[str, Interval]
    right: Interval
    task_done: Interval
    supported: Interval | None
    kinds: Mapping[str, Interval]
    """Share of right ones by what they were drawn by."""
    automatic: Mapping[str, Agreement]
    between: Mapping[tuple[str, str], Mapping[str, Agreement]]

    def as_json(self) -> Json:
        """The report for programs."""
        return {
            "labelled": self.right.n,
            "drawn": self.drawn,
            "labellers": dict(self.labellers),
            "generations": dict(self.generations),
            "verdicts": intervals(self.shares),
            **intervals({"right": self.right, "task_done": self.task_done}),
            "sentences_supported": None if self.supported is None else intervals({"": self.supported})[""],
            "kinds": intervals(self.kinds),
            "automatic": _agreements(self.automatic),
            "between": [{"a": a, "b": b, "agreement": _agreements(found)} for (a, b), found in self.between.items()],
        }


def report_of(labels: Labels, by: str | None = None) -> LabelReport:
    """What was judged, all of it or by one labeller.

    Raises:
        ValueError: nothing was.
    """
    mine = [label for (_, name), label in labels.judged.items() if by in (None, name)]
    counted = list({label.id: label for label in reversed(mine)}.values())[::-1]
    if not counted:
        raise ValueError("nothing was labelled")
    verdicts = Counter(label.verdict for label in counted)
    return LabelReport(
        drawn=len(labels.drawn),
        labellers=dict(Counter(label.by for label in mine)),
        generations=dict(Counter(str(labels.drawn[label.id].source.get("generation", "")) for label in counted)),
        shares={verdict: wilson(verdicts[verdict], len(counted)) for verdict in VERDICTS},
        right=_share(label.verdict in RIGHT for label in counted),
        task_done=_share(label.task_done for label in counted),
        supported=_of_sentences(counted),
        kinds={
            kind: _share(label.verdict in RIGHT for label in counted if labels.drawn[label.id].kind == kind)
            for kind in sorted({labels.drawn[label.id].kind for label in counted})
        },
        automatic=_with_measures(labels, counted),
        between={} if by is not None else _between(labels),
    )


def _of_sentences(labels: Sequence[Label]) -> Interval | None:
    """The wider of Wilson's interval and the bootstrap's over answers, which says nothing where all are alike."""
    values = [float(one) for label in labels for one in label.supported]
    if not values:
        return None
    drawn = bootstrap_mean(values, groups=[label.id for label in labels for _ in label.supported])
    plain = wilson(int(sum(values)), len(values))
    return Interval(plain.value, min(plain.low, drawn.low), max(plain.high, drawn.high), len(values))


def _with_measures(labels: Labels, counted: Sequence[Label]) -> dict[str, Agreement]:
    """People first, measures second."""
    verdicts: list[tuple[str, str]] = []
    support: list[tuple[str, str]] = []
    for label in counted:
        drawn = labels.drawn[label.id]
        if drawn.automatic is not None:
            verdicts.append((label.verdict, drawn.automatic))
        said = [_SUPPORT.get(one) for one in drawn.support]
        support += [(_yes(mine), theirs) for mine, theirs in zip(label.supported, said, strict=True) if theirs]
    return _agreed({"verdict": verdicts, "right": [(_side(a), _side(b)) for a, b in verdicts], "support": support})


def _between(labels: Labels) -> dict[tuple[str, str], dict[str, Agreement]]:
    found = {}
    for first, second in combinations(sorted({name for _, name in labels.judged}), 2):
        both = [
            (label, labels.judged[item, second])
            for (item, name), label in labels.judged.items()
            if name == first and (item, second) in labels.judged
        ]
        pairs = {
            "verdict": [(str(a.verdict), str(b.verdict)) for a, b in both],
            "right": [(_side(a.verdict), _side(b.verdict)) for a, b in both],
            "support": [
                (_yes(one), _yes(other)) for a, b in both for one, other in zip(a.supported, b.supported, strict=True)
            ],
            "task_done": [
                ("done" if a.task_done else "not done", "done" if b.task_done else "not done") for a, b in both
            ],
        }
        if both:
            found[first, second] = _agreed(pairs)
    return found


def _agreed(pairs: Mapping[str, Sequence[tuple[str, str]]]) -> dict[str, Agreement]:
    return {name: agreement(some) for name, some in pairs.items() if some}


def _share(values: Iterable[bool]) -> Interval:
    listed = list(values)
    return wilson(sum(listed), len(listed))


def _side(verdict: str) -> str:
    return "right" if verdict in RIGHT else "not right"


def _yes(supported: bool) -> str:  # noqa: FBT001 - a person's yes or no
    return "supported" if supported else "not supported"


def _agreements(found: Mapping[str, Agreement]) -> Json:
    def short(value: float | None) -> float | None:
        return None if value is None else round(value, _DIGITS)

    return {
        name: {
            "n": one.n,
            "raw": intervals({"": one.raw})[""],
            "kappa": short(one.kappa),
            "kappa_low": short(one.kappa_low),
            "kappa_high": short(one.kappa_high),
            "table": {first: dict(row) for first, row in one.table.items()},
        }
        for name, one in found.items()
    }
