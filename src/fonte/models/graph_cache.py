"""Built ONNX graphs kept on disk: named by what they were built from, written whole or not at all, verified on load."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from fonte.models.files import file_sha256

_NOTICE = "fonte: the model cache {folder} cannot be written ({reason}); the model is built again at every start"


def default_cache() -> Path:
    """``$FONTE_CACHE``, else ``$XDG_CACHE_HOME/fonte``, else ``~/.cache/fonte``."""
    if own := os.environ.get("FONTE_CACHE"):
        return Path(own)
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "fonte"
    return Path.home() / ".cache" / "fonte"


def cached_graph(name: str, build: Callable[[], bytes], *, folder: Path, notify: Callable[[str], None]) -> Path | bytes:
    """The graph ``name`` from the folder, built and kept when it is not there or not whole.

    Two processes that build at once write the same bytes; the later rename wins. Where the folder cannot be written
    (read-only, full) the graph comes back as bytes and ``notify`` is told in one line.
    """
    path = folder / f"{name}.onnx"
    if _whole(path):
        return path
    data = build()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(path, data)
        _write(_sum_path(path), hashlib.sha256(data).hexdigest().encode())
    except OSError as error:
        notify(_NOTICE.format(folder=folder, reason=error.strerror or type(error).__name__))
        return data
    return path


def _sum_path(path: Path) -> Path:
    return path.with_suffix(".sha256")


def _whole(path: Path) -> bool:
    try:
        return _sum_path(path).read_text("ascii").strip() == file_sha256(path)
    except (OSError, UnicodeDecodeError):
        return False


def _write(path: Path, data: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
