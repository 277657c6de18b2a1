"""The laboratory's folder: fifty documents of two tenants, sixty questions, and who may read what.

The texts are written, not drawn by lot, and ship inside the package. Who may read a document is told here by its
folder, so that the counting of unauthorised results asks nobody whose work it checks.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from urllib.parse import unquote, urlsplit

from fonte.errors import InputError
from fonte.types import Principal

TENANTS = ("serena", "meridian")
ROLES = frozenset({"staff", "board", "hr"})
"""Roles that are folders too; what lies under ``personal/NAME`` is for the user of that name alone."""
_MARK = ".fonte-lab"
_OURS = ("documents", "home", "runs", "simulation", "golden.yaml", "fonte.toml", "lab.json", "lab.html")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a laboratory stands."""

    folder: Path

    @property
    def home(self) -> Path:
        """The index of the default configuration; ``fonte.toml`` beside it says who may read."""
        return self.folder / "home"

    @property
    def golden(self) -> Path:
        """The questions."""
        return self.folder / "golden.yaml"

    def documents(self, tenant: str) -> Path:
        """The documents of a tenant."""
        return self.folder / "documents" / tenant

    def simulated(self, name: str) -> Path:
        """A file that a simulation brings in."""
        return self.folder / "simulation" / name

    def admits(self, source_uri: str, asker: Principal) -> bool:
        """Whether an asker may read a source, by where it lies: in no other tenant's folder, and in none closed to him.

        What lies outside the laboratory is nobody's.
        """
        path = Path(unquote(urlsplit(source_uri).path))
        try:
            tenant, *folders, _ = path.relative_to(self.folder.resolve() / "documents").parts
        except ValueError:
            return False
        if tenant != asker.tenant or not folders:
            return False
        first = folders[0]
        if first == "personal":
            return len(folders) > 1 and folders[1] == asker.user
        return first == "public" or (first in ROLES and first in asker.roles)


def lay_out(folder: Path) -> Place:
    """A laboratory's folder with its documents and questions; one that was a laboratory before begins anew.

    Raises:
        InputError: something else is there, or the folder cannot be written.
    """
    mark = folder / _MARK
    try:
        if folder.exists() and not mark.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder} holds something else", hint="name a new folder with --out")
        folder.mkdir(parents=True, exist_ok=True)
        mark.touch()
        for name in _OURS:
            old = folder / name
            if old.is_dir() and not old.is_symlink():
                shutil.rmtree(old)
            else:
                old.unlink(missing_ok=True)
        with as_file(files("fonte.lab") / "data") as data:
            shutil.copytree(data, folder, dirs_exist_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{folder}: cannot be written: {reason}", hint="name another folder with --out") from error
    return Place(folder)
