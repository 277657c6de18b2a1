"""People's verdicts on answers: which answers are drawn, what is kept of them, and the sheet that is filled in.

What is kept is a file of lines that only grows: a line for every answer drawn, with what the automatic measures said of
it, and a line for every verdict on one. Neither holds text of documents. The last verdict of a labeller on an answer
counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from fonte.evaluation.answers import is_correct
from fonte.evaluation.golden import Question
from fonte.types import sha256_hex

Verdict: TypeAlias = Literal["correct", "partly", "wrong", "should_have_refused", "rightly_refused"]
OF_ANSWERS: Final[tuple[Verdict, ...]] = ("correct", "partly", "wrong", "should_have_refused")
OF_REFUSALS: Final[tuple[Verdict, ...]] = ("rightly_refused", "wrong")
"""A refusal of what the documents answer is wrong."""
VERDICTS: Final[tuple[Verdict, ...]] = (*OF_ANSWERS, "rightly_refused")
RIGHT: Final = frozenset({"correct", "rightly_refused"})
_MOST_NOTE = 2000


@dataclass(frozen=True, slots=True)
class Item:
    """An answer or refusal that somebody may judge. Its id changes with its question, its words and its quotes.

    ``sentences`` are (text, automatic support), ``citations`` (index, label, quote) or, of a refusal, the nearest
    passages as (0, label, text). ``kind`` is what it is drawn by; ``automatic`` the verdict of the automatic measures,
    None where they say nothing. ``source`` says where it is from, ``asker`` for whom it was meant.
    """

    id: str
    question: str
    answer: str
    answered: bool
    sentences: tuple[tuple[str, str], ...]
    citations: tuple[tuple[int, str, str], ...]
    kind: str
    automatic: Verdict | None
    source: Mapping[str, object] = field(default_factory=dict)
    asker: str = ""

    @property
    def allowed(self) -> tuple[Verdict, ...]:
        """Verdicts that fit it."""
        return OF_ANSWERS if self.answered else OF_REFUSALS


def item_of(told: Mapping[str, Any], source: Mapping[str, object], question: Question | None = None) -> Item:
    """An item out of an answer's JSON (what ``ask`` prints); with its golden question also what that says of it."""
    answered = bool(told["answered"])
    sentences = tuple((one["text"], one["support"]) for one in told["sentences"])
    citations = tuple((one["index"], one["label"], one["quote"]) for one in told["citations"])
    kind, automatic, named, asker = ("answered" if answered else "refused"), None, "", ""
    if question is not None:
        kind, automatic = _judged(question, str(told["answer"]), answered=answered)
        named, asker = question.id, ", ".join([*filter(None, [question.user]), *sorted(question.roles)])
    said = (named, told["question"], told["answer"], [text for text, _ in sentences], [one[2] for one in citations])
    if not answered:
        citations = tuple((0, one["label"], one["content"]) for one in told["abstention"]["nearest"])
    return Item(
        sha256_hex(repr(said))[:16], told["question"], told["answer"], answered, sentences, citations, kind, automatic,
        source, asker,
    )  # fmt: skip


def _judged(question: Question, text: str, *, answered: bool) -> tuple[str, Verdict | None]:
    """Kind and verdict by the golden set: document A's four outcomes, with right and wrong told apart."""
    if not question.answerable:
        return ("bluffed", "should_have_refused") if answered else ("rightly refused", "rightly_refused")
    if not answered:
        return "wrongly refused", "wrong"
    if not question.must_include:
        return "answered, not judged", None
    return ("right", "correct") if is_correct(question, text) else ("wrong", "wrong")


def draw(items: Sequence[Item], count: int, seed: int) -> list[Item]:
    """So many of them, by a seed: first one of every kind, then every kind by its share.

    A larger count only adds to a smaller one. The same answer given twice is one item.
    """
    by_kind: dict[str, list[Item]] = {}
    for item in {one.id: one for one in items}.values():
        by_kind.setdefault(item.kind, []).append(item)
    ranked: list[tuple[bool, float, str, Item]] = []
    for some in by_kind.values():
        shuffled = sorted((sha256_hex(f"{seed} {item.id}"), item.id, item) for item in some)
        ranked += [(at > 0, (at + 0.5) / len(some), key, item) for at, (key, _, item) in enumerate(shuffled)]
    return [item for *_, item in sorted(ranked, key=lambda one: one[:3])][:count]


# --- what is kept ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is kept of an answer that was put before somebody: no text."""

    id: str
    answered: bool
    kind: str
    automatic: Verdict | None
    support: tuple[str, ...]
    source: Mapping[str, object]

    @property
    def allowed(self) -> tuple[Verdict, ...]:
        """Verdicts that fit it."""
        return OF_ANSWERS if self.answered else OF_REFUSALS


@dataclass(frozen=True, slots=True)
class Label:
    """One person's verdict. ``supported`` is by sentence: whether its sources say it; none of a refusal."""

    id: str
    by: str
    verdict: Verdict
    supported: tuple[bool, ...]
    task_done: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Labels:
    """All that a file keeps; ``judged`` holds the last label by (answer, labeller), in the order they first came."""

    drawn: Mapping[str, Drawn] = field(default_factory=dict)
    judged: Mapping[tuple[str, str], Label] = field(default_factory=dict)

    def by(self, labeller: str) -> frozenset[str]:
        """Ids of the answers that somebody judged."""
        return frozenset(item for item, name in self.judged if name == labeller)


@dataclass(frozen=True, slots=True)
class LabelFault:
    """Something wrong in a file of labels or in a sheet: a stable code and the line, from 1."""

    line: int
    code: str
    message: str


class LabelError(ValueError):
    """A value that cannot be, with a stable code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def drawn_line(item: Item, moment: datetime) -> str:
    """The line of an answer that is drawn."""
    return _line(
        {
            "drawn": item.id,
            "at": moment.isoformat(),
            "answered": item.answered,
            "kind": item.kind,
            "automatic": item.automatic,
            "support": [support for _, support in item.sentences],
            "source": dict(item.source),
        }
    )


def label_line(label: Label, moment: datetime) -> str:
    """The line of a verdict."""
    return _line(
        {
            "judged": label.id,
            "at": moment.isoformat(),
            "by": label.by,
            "verdict": label.verdict,
            "supported": list(label.supported),
            "task_done": label.task_done,
            "note": label.note,
        }
    )


def read_labels(text: str) -> tuple[Labels, list[LabelFault]]:
    """Everything that a file of labels says, and what in it cannot be.

    A last line without its end is what a killed process left of a line, and is left out.
    """
    drawn: dict[str, Drawn] = {}
    judged: dict[tuple[str, str], Label] = {}
    faults: list[LabelFault] = []
    for number, row in _rows(text[: text.rfind("\n") + 1], faults):
        try:
            if "drawn" in row:
                one = _drawn(row)
                drawn[one.id] = one
            else:
                label = label_of(row, "judged", drawn, _name(row.get("by")))
                judged[label.id, label.by] = label
        except LabelError as error:
            faults.append(LabelFault(number, error.code, str(error)))
    return Labels(drawn, judged), faults


def _drawn(row: Mapping[str, Any]) -> Drawn:
    support, source, automatic = row.get("support"), row.get("source"), row.get("automatic")
    well = (
        _is_text(row["drawn"])
        and isinstance(row.get("answered"), bool)
        and _is_text(row.get("kind"))
        and (automatic is None or automatic in VERDICTS)
        and isinstance(support, list)
        and all(isinstance(one, str) for one in support)
        and isinstance(source, dict)
    )
    if not well or not isinstance(support, list) or not isinstance(source, dict):
        raise LabelError("shape", "is no line of an answer that was drawn")
    return Drawn(row["drawn"], row["answered"], row["kind"], automatic, tuple(support), source)


def label_of(row: Mapping[str, Any], key: str, drawn: Mapping[str, Drawn], by: str) -> Label:
    """A verdict out of a line; ``key`` names the answer's id in it.

    Raises:
        LabelError: unknown_answer, verdict, supported, task_done, note.
    """
    item = drawn.get(row[key]) if _is_text(row.get(key)) else None
    if item is None:
        raise LabelError("unknown_answer", f"{key} is {_shown(row.get(key))}, which was never drawn here")
    verdict, supported = row.get("verdict"), row.get("supported")
    if verdict not in item.allowed:
        what = "an answer" if item.answered else "a refusal"
        raise LabelError("verdict", f"verdict is {_shown(verdict)}; of {what} it is {' or '.join(item.allowed)}")
    if not isinstance(supported, list) or any(not isinstance(one, bool) for one in supported):
        raise LabelError("supported", "supported should be true or false for each sentence")
    if len(supported) != len(item.support):
        raise LabelError("supported", f"{len(supported)} sentences are judged, the answer has {len(item.support)}")
    if not isinstance(row.get("task_done"), bool):
        raise LabelError("task_done", f"task_done is {_shown(row.get('task_done'))}, and should be true or false")
    note = row.get("note") or ""
    if not isinstance(note, str) or len(note) > _MOST_NOTE:
        raise LabelError("note", f"note should be text of at most {_MOST_NOTE} characters")
    return Label(item.id, by, verdict, tuple(supported), row["task_done"], note)


# --- the sheet -------------------------------------------------------------------------------------------------------


def sheet_row(item: Item) -> dict[str, object]:
    """An answer with places to fill in. What the automatic measures say is not shown: it would be repeated."""
    shown = [{"index": index or None, "label": label, "quote": quote} for index, label, quote in item.citations]
    return {
        "id": item.id,
        "question": item.question,
        "asker": item.asker,
        "answer": item.answer,
        ("citations" if item.answered else "nearest"): shown,
        "verdict": None,
        "choices": list(item.allowed),
        "sentences": [{"text": text, "supported": None} for text, _ in item.sentences],
        "task_done": None,
        "note": "",
    }


def read_sheet(text: str, labels: Labels, by: str) -> tuple[list[Label], int, list[LabelFault]]:
    """Verdicts of a sheet that was filled in; how many rows were left as they are; what is wrong.

    A row without verdict, judgment of a sentence, task_done and note was left as it is.
    """
    found: dict[str, Label] = {}
    faults: list[LabelFault] = []
    unfilled = 0
    for number, row in _rows(text, faults):
        try:
            label = _filled(row, labels.drawn, by)
        except LabelError as error:
            faults.append(LabelFault(number, error.code, str(error)))
            continue
        if label is None:
            unfilled += 1
        elif label.id in found:
            faults.append(LabelFault(number, "duplicate", f"answer {label.id} stands in an earlier line too"))
        else:
            found[label.id] = label
    return list(found.values()), unfilled, faults


def _filled(row: Mapping[str, Any], drawn: Mapping[str, Drawn], by: str) -> Label | None:
    sentences = row.get("sentences")
    if not isinstance(sentences, list) or any(not isinstance(one, dict) for one in sentences):
        raise LabelError("shape", "sentences should be a list of objects")
    supported = [one.get("supported") for one in sentences]
    given = (row.get("verdict"), row.get("task_done"), row.get("note"), *supported)
    if all(one is None or one == "" for one in given):
        return None
    return label_of({**row, "supported": supported}, "id", drawn, by)


def _rows(text: str, faults: list[LabelFault]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            faults.append(LabelFault(number, "json", f"is not JSON: {error}"))
            continue
        if not isinstance(row, dict):
            faults.append(LabelFault(number, "shape", "should be one JSON object"))
            continue
        yield number, row


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise LabelError("by", "by should name who judged")
    return value


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:60]


def _line(value: Mapping[str, object]) -> str:
    # U+2028 and its like are no line ends to JSON, but to others.
    return json.dumps(value, ensure_ascii=True) + "\n"
