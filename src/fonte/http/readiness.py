"""Whether the server can answer: its keys and the active generations can be read."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from functools import partial
from threading import Lock

from fonte.errors import FonteError
from fonte.http.served import Served
from fonte.types import DEFAULT_TENANT

KEPT_SECONDS = 1.0
"""How long what was found is told again, so that nobody makes the server look all the time."""
_log = logging.getLogger("fonte.http")


class Readiness:
    """What was found last. Safe for several threads: one looks, and the others are told what was known before."""

    def __init__(self, served: Served, clock: Callable[[], float] = time.monotonic) -> None:
        self._served = served
        self._clock = clock
        self._lock = Lock()
        self._known: tuple[float, Mapping[str, bool]] | None = None

    def checks(self) -> Mapping[str, bool]:
        """What was looked at by name, and whether it can be read: ``keys``, and ``index``.

        ``index`` is the active generation of every tenant that was asked for, and of the one who acts without a key.
        """
        known = self._known
        if known is not None and self._clock() - known[0] < KEPT_SECONDS:
            return known[1]
        if not self._lock.acquire(blocking=known is None):
            return known[1] if known is not None else {}
        try:
            found = {"keys": self._passes("keys", self._served.keys.any_key), "index": self._indexes()}
            self._known = self._clock(), found
        finally:
            self._lock.release()
        return found

    def _indexes(self) -> bool:
        corpus, local = self._served.corpus, self._served.local
        tenants = {local.principal.tenant if local else DEFAULT_TENANT, *corpus.opened()}
        return all(self._passes("index", partial(corpus.probe, one)) for one in sorted(tenants))

    @staticmethod
    def _passes(name: str, look: Callable[[], object]) -> bool:
        try:
            look()
        except FonteError as error:
            _log.error("not ready: %s: %s; %s", name, error.message, error.hint)
            return False
        return True
