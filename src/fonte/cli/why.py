"""why: the layer that lost what a question should have found."""

from __future__ import annotations

import argparse

from fonte.cli.opening import corpus, principal
from fonte.cli.output import Output
from fonte.text.expected import read_expected
from fonte.told_why import why_told
from fonte.why import Why

_SIGNS = {True: "yes", False: "LOST", None: "-"}


def why(options: argparse.Namespace, output: Output) -> int:
    """Every layer, and the first that lost it; 0 whichever that is."""
    expected = read_expected(options.expect, options.document or "")
    with corpus(options) as opened:
        found = opened.why(
            options.query,
            expected,
            principal=principal(options),
            k=options.k,
            mode=options.mode,
            rerank=options.rerank,
            max_distance=options.max_distance,
            tell_access=options.admin,
        )
    if output.json_mode:
        output.json(why_told(found))
        return 0
    rows = [
        (
            one.layer,
            _SIGNS[one.present],
            "" if one.rank is None else str(one.rank),
            "" if one.score is None else f"{one.score:.3f}",
            one.detail,
        )
        for one in found.layers
    ]
    output.table(("LAYER", "THERE", "RANK", "SCORE", "DETAIL"), rows)
    output.line()
    output.line(f"lost at: {found.lost_at}: {found.reason}" if found.lost_at else f"not lost: {found.reason}")
    if found.counterfactual is not None:
        output.line(f"{'would have found it' if found.counterfactual.tried else 'may find it'}: {_words(found)}")
    if found.next:
        output.line(f"what to do: {found.next}")
    return 0


def _words(found: Why) -> str:
    change = found.counterfactual
    if change is None:
        return ""
    return change.change if change.rank is None else f"{change.change} (rank {change.rank})"
