"""search and ask."""

from __future__ import annotations

import argparse
import json
import textwrap

from fonte import contract
from fonte.answer import now
from fonte.asked import out_of_force
from fonte.cli.arguments import UsageError
from fonte.cli.opening import corpus, home_of, principal, settings_of
from fonte.cli.output import Output
from fonte.cli.told_gate import verdict_line
from fonte.errors import InvalidQuery
from fonte.homes import forget_feedback
from fonte.processing import read_as
from fonte.types import Abstained, AbstentionReason, Answer, Answered, Filters, SearchResult, Sentence

ABSTAINED = 4
_WIDTH = 100
_SHOWN = 400
_FLAGS = {"unsupported": "unsupported", "partial": "partly supported"}
_NEAREST = {
    "en": "Nearest passages, which do not answer:",
    "it": "I passaggi più vicini, che non contengono la risposta:",
}
_AS_NOBODY = "asked as nobody in particular, who may read what is public: --roles and --user say who asks"
_KEYS = {"document": "documents", "language": "languages", "type": "media_types"}


def search(options: argparse.Namespace, output: Output) -> int:
    """Ranked passages."""
    with corpus(options) as opened:
        found = opened.search(
            options.query,
            principal=principal(options),
            k=options.k,
            mode=options.mode,
            rerank=options.rerank,
            max_distance=options.max_distance,
            filters=_filters(options.filter),
            as_of=options.as_of,
        )
    for note in found.notes:
        output.note(note)
    if output.json_mode:
        output.json(contract.search_results(found))
        return 0
    for one in found.results:
        _passage(one, output)
    if not found.results:
        output.line("nothing found")
        _tell_asker(options, output)
    return 0


def ask(options: argparse.Namespace, output: Output) -> int:
    """An answer, or a refusal."""
    answer: Answer | None = None
    stream, shown = options.stream and not output.json_mode, False
    with corpus(options) as opened:
        for item in opened.stream(
            options.query,
            principal=principal(options),
            generator=options.generator,
            k=options.k,
            max_distance=options.max_distance,
            as_of=options.as_of,
            conversation=options.conversation,
        ):
            if isinstance(item, str) and stream:
                output.piece(item)
                shown = True
            elif isinstance(item, Answered | Abstained):
                answer = item
    if answer is None:
        raise AssertionError("a stream ends with its answer")
    changed = read_as(answer.trace.steps)
    if changed:
        output.note(f"read as: {changed}")
    for note in answer.trace.notes:
        output.note(note)
    if output.json_mode:
        output.json(contract.answer(answer))
    else:
        if shown and isinstance(answer, Abstained):
            output.line()  # what was shown is taken back: rights narrowed while it was written
        _answer(answer, output, already_shown=shown and isinstance(answer, Answered))
        if answer.trace.conversation:
            output.line(f"conversation {answer.trace.conversation}")
        if isinstance(answer, Abstained):
            _tell_asker(options, output)
    return ABSTAINED if options.fail_on_abstain and isinstance(answer, Abstained) else 0


def conversation(options: argparse.Namespace, output: Output) -> int:
    """A conversation as it was, with what has changed since; without its id a list, with --delete no more."""
    if options.conversation is None:
        return _conversations(options, output)
    if options.delete:
        return _forget(options, output)
    with corpus(options) as opened:
        found = opened.conversation(options.conversation, principal=principal(options))
    told = contract.conversation(found)
    if output.json_mode:
        output.json(told)
        return 0
    for turn in found.turns:
        output.line(f"> {turn.question}")
        if turn.answer is None:
            output.line("(this answer is not available any more)")
        else:
            kept = json.loads(turn.answer)
            output.line(textwrap.fill(kept["answer"], _WIDTH))
            for one in kept["citations"]:
                changed = " (source changed)" if one["index"] in turn.changed else ""
                output.line(f"[{one['index']}] {one['label']} {one['fragment']}{changed}")
        output.line()
    return 0


def _conversations(options: argparse.Namespace, output: Output) -> int:
    if options.delete:
        raise UsageError("which conversation?", hint="fonte conversation lists them; name one of them")
    with corpus(options) as opened:
        found = opened.conversations(principal=principal(options))
    if output.json_mode:
        output.json({"conversations": [contract.conversation_head(one) for one in found]})
        return 0
    for one in found:
        output.line(f"{one.id}  {one.last_at:%Y-%m-%d %H:%M}  {one.turns}  {' '.join(one.question.split())}")
    return 0


def _forget(options: argparse.Namespace, output: Output) -> int:
    asker = principal(options)
    with corpus(options) as opened:
        answers = opened.forget_conversation(options.conversation, principal=asker)
    forget_feedback(home_of(options), settings_of(options), asker.tenant, answers)
    if output.json_mode:
        output.json({"deleted": options.conversation, "answers": len(answers)})
    else:
        output.line(f"deleted {options.conversation} and its answers: {len(answers)}")
    return 0


def _answer(answer: Answer, output: Output, *, already_shown: bool) -> None:
    if isinstance(answer, Abstained):
        output.line(answer.message)
        output.line(f"({answer.reason.value})")
        if answer.reason is AbstentionReason.WEAK_EVIDENCE:
            output.note(verdict_line(answer.gate))
        _tell_dropped(answer, output)
        if answer.nearest:
            output.line()
            output.line(_NEAREST.get(answer.language, _NEAREST["en"]))
            for one in answer.nearest:
                output.line(f"  {one.label} {one.fragment}")
        return
    output.line("" if already_shown else textwrap.fill(answer.text, _WIDTH))
    output.line()
    for citation in answer.citations:
        output.line(f"[{citation.index}] {citation.label} {citation.fragment}")
        output.line(textwrap.indent(textwrap.fill(_short(citation.quote), _WIDTH - 4), "    "))
    for sentence in answer.sentences:
        if sentence.support in _FLAGS:
            output.note(f"{_FLAGS[sentence.support]}: {sentence.text} ({_faults(sentence)})")
    for missing in answer.missing:
        output.line(f"missing: {missing}")
    _tell_dropped(answer, output)
    if answer.computed is not None:
        output.note("computed over the table, not judged by the gate")
    elif not answer.gate.calibrated:
        output.note(verdict_line(answer.gate))


def _tell_asker(options: argparse.Namespace, output: Output) -> None:
    """Of an empty result: who asked, where nobody was named. It is the same whatever the documents hold."""
    if not options.roles and not options.user:
        output.note(_AS_NOBODY)


def _tell_dropped(answer: Answer, output: Output) -> None:
    for sentence in answer.trace.dropped:
        output.note(f"not shown, unsupported: {sentence.text} ({_faults(sentence)})")


def _faults(sentence: Sentence) -> str:
    """What the checks found wrong with a sentence."""
    passed = ("ok", "not checked")
    wrong = [f"{name} {told}" for name, told in sentence.checks.items() if isinstance(told, str) and told not in passed]
    return "; ".join(wrong) or f"alignment {sentence.checks.get('alignment', 0.0)}"


def _passage(one: SearchResult, output: Output) -> None:
    hit = one.hit
    scores = [
        f"{name} {value:.3f}"
        for name, value in (
            ("rrf", hit.rrf),
            ("bm25", hit.bm25),
            ("distance", hit.dense_distance),
            ("rerank", hit.rerank),
        )
        if value is not None
    ]
    output.line(f"{one.rank}. {one.label} {one.fragment}  ({', '.join(scores)})")
    stale = out_of_force(one.stored.valid_from, one.stored.valid_to, now().date())
    if stale:
        output.line(f"   ({stale})")
    if one.flags:
        output.line(f"   (reads like orders to a machine: {', '.join(one.flags)})")
    output.line(textwrap.indent(textwrap.fill(_short(one.content), _WIDTH - 3), "   "))


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else flat[:_SHOWN].rsplit(" ", 1)[0] + " …"


def _filters(pairs: list[str]) -> Filters:
    chosen: dict[str, list[str]] = {}
    for pair in pairs:
        key, mark, value = pair.partition("=")
        if not mark or not value or key not in _KEYS:
            fault = "is not KEY=VALUE" if not mark or not value else f"has the key {key!r}, which is none"
            raise InvalidQuery(f"--filter {pair!r} {fault}", hint=f"keys are {', '.join(_KEYS)}")
        chosen.setdefault(_KEYS[key], []).append(value)
    return Filters(
        documents=tuple(chosen.get("documents", ())),
        languages=tuple(chosen.get("languages", ())),
        media_types=tuple(chosen.get("media_types", ())),
    )
