"""Runs one fonte command over the fake encoder and is killed where a judged candidate would be published.

``python -m faults.gate_worker ARGUMENT…``
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / part) for part in ("unit/usecases", "property")]

import fonte.wiring  # noqa: E402
from evaluating_making import Quick  # noqa: E402 - lies in the folders above
from fonte.cli import main  # noqa: E402
from fonte.stores.sqlite_stores import SqliteCatalog  # noqa: E402


def _die(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    fonte.wiring.make_parts = Quick()
    SqliteCatalog.publish = _die  # type: ignore[method-assign,assignment]  # the moment between judging and publishing
    sys.exit(main(sys.argv[1:]))
