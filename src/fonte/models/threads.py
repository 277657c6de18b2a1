"""How many threads a model may keep busy: physical cores, within affinity and the control group's quota."""

from __future__ import annotations

import math
import os
from pathlib import Path

_TOPOLOGY = Path("/sys/devices/system/cpu")
_QUOTAS = (Path("/sys/fs/cgroup/cpu.max"),)
_QUOTA_V1 = Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
_PERIOD_V1 = Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us")


def available_cores() -> int:
    """Physical cores that this process may use, at least 1. Two hyper-threads of a core count once."""
    try:
        allowed = os.sched_getaffinity(0)
    except AttributeError:  # not Linux
        allowed = set(range(os.cpu_count() or 1))
    cores = {_read(_TOPOLOGY / f"cpu{cpu}/topology/thread_siblings_list") or str(cpu) for cpu in allowed}
    quota = _quota()
    return max(1, min(len(cores), math.ceil(quota)) if quota else len(cores))


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _quota() -> float | None:
    for path in _QUOTAS:
        parts = _read(path).split()
        if len(parts) == 2 and parts[0].isdigit() and parts[1].isdigit():  # noqa: PLR2004 - quota and period
            return int(parts[0]) / int(parts[1])
    quota, period = _read(_QUOTA_V1), _read(_PERIOD_V1)
    if quota.isdigit() and period.isdigit() and int(period):
        return int(quota) / int(period)
    return None
