"""Importing LanceDB without paying for what fonte does not use of it.

LanceDB imports the client of a REST catalog whose 350 pydantic models and checked methods are built at import: more
than a second of processor time at each start of the command line. Here they are built when first used instead.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

_CLIENT = "lance_namespace_urllib3_client"
_AHEAD = "LANCE_DEFAULT_IO_BUFFER_SIZE"
_AHEAD_BYTES = 2**26
"""What a scan reads ahead of whoever takes its rows: by itself up to 2 GB, for stores that are far away."""
_lock = Lock()


def lancedb() -> ModuleType:
    """The module ``lancedb``, imported once."""
    with _lock:
        os.environ.setdefault(_AHEAD, str(_AHEAD_BYTES))
        if "lancedb" not in sys.modules and _CLIENT not in sys.modules and find_spec(_CLIENT) is not None:
            with _built_on_first_use():
                import_module(_CLIENT)
        return import_module("lancedb")


@contextmanager
def _built_on_first_use() -> Iterator[None]:
    """While this lasts, pydantic classes and checked functions that are defined check as ever, but are built later.

    Both switches are pydantic's public names; another thread that defines models meanwhile gets the same kind.
    """
    import pydantic

    check, config = pydantic.validate_call, pydantic.ConfigDict

    def later(function: Callable[..., Any]) -> Callable[..., Any]:
        checked = functools.cache(lambda: check(function))

        @functools.wraps(function)
        def call(*arguments: object, **named: object) -> object:
            return checked()(*arguments, **named)

        return call

    def deferred(**settings: Any) -> Any:
        return config(**{"defer_build": True, **settings})

    # Both are put back below; their types say that nobody may put anything in their place.
    pydantic.validate_call, pydantic.ConfigDict = later, deferred  # type: ignore[assignment,misc]  # see above
    try:
        yield
    finally:
        pydantic.validate_call, pydantic.ConfigDict = check, config  # type: ignore[misc]  # see above
