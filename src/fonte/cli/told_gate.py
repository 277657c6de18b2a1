"""What status tells of the gate."""

from __future__ import annotations

from fonte.calibration import Standing
from fonte.contract import Json


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
    return gate.note.replace("the gate is", "gate:", 1) if gate.note else "gate: uncalibrated"
