"""Files inside installed packages, found without running the package's code and checked against their hash."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

from fonte.errors import ModelNotInstalled
from fonte.models.cards import WeightsFile

_BLOCK_BYTES = 1 << 20


def package_folder(package: str) -> Path | None:
    """Folder of an installed top-level package, or None. Nothing of it is imported."""
    if package in sys.modules and sys.modules[package].__spec__ is None:
        return None  # find_spec would raise ValueError on such a module
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def locate(files: Sequence[WeightsFile], model: str) -> tuple[Path, WeightsFile]:
    """The first of ``files`` that is installed.

    Raises:
        ModelNotInstalled: none is.
    """
    for file in files:
        folder = package_folder(file.package)
        if folder is not None and (path := folder / file.path).is_file():
            return path, file
    message = f"the model {model} is not installed: no package holds {files[0].path}"
    raise ModelNotInstalled(message, hint=f"run: {files[0].install}")


def installed(files: Sequence[WeightsFile]) -> bool:
    """Whether one of ``files`` is there. Its hash is not looked at."""
    return any(
        (folder := package_folder(file.package)) is not None and (folder / file.path).is_file() for file in files
    )


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, read in blocks.

    Raises:
        OSError
    """
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def read_verified(path: Path, sha256: str, model: str, install: str) -> bytes:
    """The bytes of a file whose hash is ``sha256``.

    Raises:
        ModelNotInstalled: unreadable, or other bytes than those that the card names.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"the model {model} cannot be read: {path.name}: {error.strerror}"
        raise ModelNotInstalled(message, hint=f"run: {install}") from error
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        message = f"the model {model} is damaged or another version: {path.name} has SHA-256 {found[:12]}…"
        raise ModelNotInstalled(message, hint=f"SHA-256 {sha256[:12]}… is wanted; reinstall it: {install}")
    return data
