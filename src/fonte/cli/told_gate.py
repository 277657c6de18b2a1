"""What status tells of the gate."""

from __future__ import annotations

from fonte.calibration import Standing
from fonte.contract import Json
from fonte.types import GateVerdict

_FIT = "fonte calibrate GOLDEN fits it to your own questions"


def told_gate(gate: Standing) -> Json:
    """``calibrated`` is null where it is not known; what was calibrated is told also where it judges no more."""
    found = gate.calibration
    return {
        "calibrated": gate.in_force,
        "note": gate.note or None,
        "calibration": None
        if found is None
        else {
            "stamp": found.gate.stamp,
            "golden": {"name": found.golden, "fingerprint": found.fingerprint, "queries": found.queries},
            "generation": found.generation,
            "model": found.model,
            "made_at": found.made_at.isoformat(),
        },
    }


def gate_line(gate: Standing) -> str:
    """One line for people."""
    found = gate.calibration
    if gate.in_force and found is not None:
        return f"gate: calibrated on {found.golden} ({found.queries} queries, {found.made_at:%Y-%m-%d}), {found.model}"
    if gate.in_force is None:
        return f"gate: not known whether its calibration fits: {gate.note}"
    if gate.note:
        return gate.note.replace("the gate is", "gate:", 1)
    return f"gate: uncalibrated: it was fitted to other people's documents; {_FIT}"


def verdict_line(verdict: GateVerdict) -> str:
    """How the evidence for one answer was judged, and by what, for people."""
    kind = "calibrated on your questions" if verdict.calibrated else f"uncalibrated: {_FIT}"
    return f"evidence {verdict.score:.2f} of 1; from {verdict.threshold:.2f} on there is an answer; the gate is {kind}"
