"""A model that is loaded when it is first needed. Where that fails every caller hears why, and none waits again."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from fonte.errors import ModelError

T = TypeVar("T")


class Once(Generic[T]):
    """What ``load`` makes, made once. Thread-safe."""

    def __init__(self, load: Callable[[], T]) -> None:
        self._load = load
        self._lock = Lock()
        self._made: T | None = None
        self._failed: ModelError | None = None

    def there(self) -> T:
        """The model, loaded. Raises what loading it raised; a ``ModelError`` also every time after."""
        with self._lock:
            if self._failed is not None:
                raise self._failed
            if self._made is None:
                try:
                    self._made = self._load()
                except ModelError as error:
                    self._failed = error
                    raise
            return self._made
