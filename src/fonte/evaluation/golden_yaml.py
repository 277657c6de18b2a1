"""Golden sets in our own YAML form.

A mapping with ``name`` and ``questions``; each question has ``id``, ``question`` (and more ``wordings``) and, as
needed, ``answerable``, ``relevant`` (a list of ``document``, ``needle``, ``span``, ``grade``), ``half``, ``tenant``,
``user``, ``roles``, ``segment``, ``language``, ``reference_answer``, ``must_include``, ``must_not_include``, ``note``.
A ``span`` is ``[from, to]``, half-open, in characters of the document's canonical text; with a needle beside it the
words must stand there.
"""

from __future__ import annotations

from pathlib import Path

from fonte.evaluation.golden import Contradiction, Question
from fonte.evaluation.golden_reading import TOO_MANY, Collected, Reading, read_text
from fonte.evaluation.measures import Needle
from fonte.evaluation.yaml_nodes import (
    Events,
    Node,
    NodeFault,
    Pairs,
    Scalar,
    flag_of,
    items_of,
    key_of,
    line_of,
    mapping,
    text_of,
    texts_of,
    whole_of,
)
from fonte.types import DEFAULT_TENANT, UNKNOWN_LANGUAGE

_TOP_KEYS = frozenset({"name", "description", "corpus", "questions"})
_TEXT_KEYS = ("id", "question", "tenant", "user", "reference_answer", "segment", "language", "half", "note")
_LIST_KEYS = ("wordings", "roles", "must_include", "must_not_include")
_KEYS = frozenset((*_TEXT_KEYS, *_LIST_KEYS, "answerable", "relevant"))
_RELEVANT_KEYS = frozenset({"document", "needle", "span", "grade"})


def read_file(path: Path) -> Reading:
    """The set of a YAML file, or every fault up to where it stops being YAML."""
    collected = Collected(str(path))
    text = read_text(path, collected)
    if text is None:
        return collected.reading(path.stem)
    name = path.stem
    try:
        name = _document(Events(text), collected) or name
    except NodeFault as fault:
        collected.fault(fault.code, fault.line, fault.message)
    return collected.reading(name, needle_file=str(path))


def _document(events: Events, collected: Collected) -> str:
    """Read the whole document; the set's name, empty when it has none."""
    import yaml

    for kind in (yaml.StreamStartEvent, yaml.DocumentStartEvent):
        if not isinstance(events.take(), kind):
            raise NodeFault(1, "is empty", code="empty_set")
    start = events.take()
    if not isinstance(start, yaml.MappingStartEvent):
        raise NodeFault(line_of(start), "the golden set should be a mapping with name and questions")
    name = ""
    seen: set[str] = set()
    while not isinstance(events.peek(), yaml.MappingEndEvent):
        key_node = events.node()
        key = key_of(key_node, "the golden set", _TOP_KEYS)
        if key in seen:
            raise NodeFault(key_node.line, f"the golden set has {key} twice")
        seen.add(key)
        if key == "questions":
            _questions(events, collected)
        else:
            value = events.node()
            name = text_of(value, "name") if key == "name" else name
    events.take()
    after = (events.take(), events.take())[1]
    if isinstance(after, yaml.DocumentStartEvent):
        raise NodeFault(line_of(after), "holds a second YAML document")
    if "questions" not in seen:
        raise NodeFault(line_of(start), "has no questions", code="empty_set")
    return name


def _questions(events: Events, collected: Collected) -> None:
    import yaml

    start = events.peek()
    if not isinstance(start, yaml.SequenceStartEvent):
        raise NodeFault(line_of(start), "questions should be a list")
    events.take()
    for node in events.items():
        if collected.full():
            raise NodeFault(node.line, TOO_MANY, code="too_large")
        try:
            collected.add(_question(node))
        except NodeFault as fault:
            collected.fault(fault.code, fault.line, fault.message, question=_id_of(node))


def _id_of(node: Node) -> str:
    """A faulty question's id, as far as it has one."""
    pairs = node.pairs if isinstance(node, Pairs) else ()
    for key, value in pairs:
        if isinstance(key, Scalar) and key.text == "id" and isinstance(value, Scalar):
            return value.text
    return ""


def _question(node: Node) -> Question:
    part = mapping(node, "a question", _KEYS)
    plain = {key: text_of(part[key], key) for key in _TEXT_KEYS if key in part}
    lists = {key: texts_of(part.get(key), key) for key in _LIST_KEYS}
    needles, relevance = _relevant(items_of(part.get("relevant"), "relevant"))
    first = (plain["question"],) if "question" in plain else ()
    try:
        return Question(
            id=plain.get("id", ""),
            wordings=(*first, *lists["wordings"]),
            answerable=flag_of(part["answerable"], "answerable") if "answerable" in part else True,
            needles=needles,
            relevance=relevance,
            tenant=plain.get("tenant", DEFAULT_TENANT),
            user=plain.get("user"),
            roles=frozenset(lists["roles"]),
            segment=plain.get("segment", ""),
            language=plain.get("language", UNKNOWN_LANGUAGE),
            reference_answer=plain.get("reference_answer"),
            must_include=lists["must_include"],
            must_not_include=lists["must_not_include"],
            half=plain.get("half", ""),
            note=plain.get("note", ""),
            line=node.line,
        )
    except Contradiction as error:
        raise NodeFault(node.line, str(error), code=error.code) from error


def _relevant(nodes: tuple[Node, ...]) -> tuple[tuple[Needle, ...], dict[str, int]]:
    """Needles, and the best grade of each document; a document counts 1 where no grade is given."""
    needles: list[Needle] = []
    relevance: dict[str, int] = {}
    for node in nodes:
        part = mapping(node, "each of relevant", _RELEVANT_KEYS)
        if "document" not in part:
            raise NodeFault(node.line, "each of relevant needs document")
        document = text_of(part["document"], "document")
        grade = whole_of(part["grade"], "grade") if "grade" in part else 1
        if grade < 1:
            raise NodeFault(part["grade"].line, "grade should be at least 1", code="grade")
        relevance[document] = max(grade, relevance.get(document, 1))
        place = part.get("needle", part.get("span"))
        if place is None:
            continue
        start, end = _span(part["span"]) if "span" in part else (None, None)
        text = text_of(part["needle"], "needle") if "needle" in part else ""
        if "needle" in part and not text.strip():
            raise NodeFault(place.line, "a needle needs text")
        try:
            needles.append(Needle(document, text, start, end, place.line))
        except ValueError as error:
            code = "span_mismatch" if "span" in part else "shape"
            raise NodeFault(place.line, str(error), code=code) from error
    return tuple(needles), relevance


def _span(node: Node) -> tuple[int, int]:
    ends = [whole_of(item, "each end of a span") for item in items_of(node, "span")]
    if len(ends) != 2:  # noqa: PLR2004 - from and to
        raise NodeFault(node.line, "span should be [from, to]")
    return ends[0], ends[1]
