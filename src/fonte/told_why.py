"""What ``why`` found, as the JSON that others rely on."""

from __future__ import annotations

from fonte.contract import Json
from fonte.otherwise import Otherwise
from fonte.why import Layer, Why


def why_told(found: Why) -> Json:
    """The layers in order, the first that lost it, and what would have found it."""
    return {
        "question": found.question,
        "lost_at": found.lost_at,
        "reason": found.reason,
        "next": found.next or None,
        "layers": [_layer(one) for one in found.layers],
        "counterfactual": None if found.counterfactual is None else _change(found.counterfactual),
    }


def _layer(one: Layer) -> Json:
    return {"layer": one.layer, "present": one.present, "rank": one.rank, "score": one.score, "detail": one.detail}


def _change(one: Otherwise) -> Json:
    return {"change": one.change, "rank": one.rank, "tried": one.tried}
