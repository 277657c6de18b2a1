"""A candidate to a verdict, and the alias moved by compare-and-swap.

Data checks come first. Whoever configured a golden set hands over a ``Judge`` that measures the candidate too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

from fonte.checks import Inspect
from fonte.errors import GateFailed, NotFound
from fonte.evaluation.floors import Outcome
from fonte.store_protocols import Catalog, IndexStore
from fonte.types import Generation, GenerationState, Hold

PASSED = "passed: data checks"


@dataclass(frozen=True, slots=True)
class Judgment:
    """What a golden set says of a candidate; ``told`` in words, ``report`` with the figures, as JSON to be kept.

    ``outcome`` is None where there was nothing to judge it by: no floors, and no active generation or no question.
    """

    outcome: Outcome | None
    told: str
    report: Mapping[str, object]


Judge: TypeAlias = Callable[[Generation, Generation | None], Judgment]
"""Measures a candidate, and the active generation where there is one."""


def publish(
    catalog: Catalog,
    generation_id: str,
    *,
    inspect: Inspect,
    override: str | None = None,
    judge: Judge | None = None,
) -> tuple[Generation, Generation | None]:
    """Judge a candidate and make it the active generation; (it, the one that was active before).

    Args:
        catalog: of the tenant; the caller holds its write lock.
        generation_id: a CANDIDATE, or a RETIRED or REJECTED generation that a person names.
        inspect: the data checks.
        override: a person's reason to publish in spite of the faults; kept in the verdict.
        judge: measures what passes the data checks, and what is published in spite of them; None where no golden set
            is configured.

    Raises:
        NotFound: no such generation. GateFailed: faults, or a golden set that does not pass it, and no override.
        GenerationConflict: another one was faster.
    """
    candidate = catalog.generation(generation_id)
    active = catalog.active()
    if candidate.state is GenerationState.BUILDING:
        raise GateFailed(
            f"generation {generation_id} was never finished", hint="run fonte sync again; it starts from the active one"
        )
    if active is not None and active.id == generation_id:
        return candidate, active
    inspection = inspect(candidate, active)
    catalog.keep_checks(generation_id, json.dumps(inspection.as_json(), ensure_ascii=False))
    faults = [one.message for one in inspection.faults]
    hint, passed = "look at what is missing, then", f"{PASSED} ({inspection.told})"
    if judge is not None and (override or not faults):  # who overrides should have seen the figures
        judgment = judge(candidate, active)
        catalog.keep_report(generation_id, json.dumps(dict(judgment.report), ensure_ascii=False))
        passed += f"; {judgment.told}"
        if judgment.outcome not in (None, "pass"):
            faults = [*faults, judgment.told]
            hint = "fonte generations --json has the figures; to publish it all the same"
    if faults and not override:
        catalog.update_generation(generation_id, candidate.state, verdict="held back: " + "; ".join(faults))
        raise GateFailed(
            f"generation {generation_id} is held back: " + "; ".join(faults),
            hint=f"{hint}: fonte publish {generation_id} --override REASON",
            report=tuple(faults),
        )
    verdict = f"published by override ({override}) in spite of: {'; '.join(faults)}" if faults else passed
    if override and not faults:
        verdict += f"; a reason was given: {override}"
    catalog.update_generation(generation_id, candidate.state, verdict=verdict)
    catalog.publish(generation_id, expected=active.id if active else None)
    return catalog.generation(generation_id), active


def rollback(catalog: Catalog, index: IndexStore) -> tuple[Generation, Generation]:
    """Make the generation before the active one active again; (it, the one that was active).

    Standing jobs do not publish after it (``Catalog.held``) until a person syncs or publishes.

    Raises:
        NotFound: there is none. CorruptIndex: its table is gone or damaged; nothing is changed.
    """
    active = catalog.active()
    retired = [
        one
        for one in catalog.generations()
        if one.state is GenerationState.RETIRED and active is not None and one.created_at < active.created_at
    ]
    if active is None or not retired:
        raise NotFound("there is no earlier generation to go back to", hint="fonte generations lists what is kept")
    target = max(retired, key=lambda one: one.created_at)
    index.open(target)
    catalog.publish(target.id, expected=active.id, hold=Hold(active.id, datetime.now(UTC)))
    return catalog.generation(target.id), active


def told_hold(hold: Hold) -> tuple[str, str]:
    """Why a standing job does not publish, and what to do."""
    return (
        f"nothing is published by itself since the rollback of {hold.since:%Y-%m-%d %H:%M} left {hold.left}",
        "run fonte sync, or fonte publish ID, when what was wrong is mended",
    )
