"""What the system tells of a folder: that something changed, and nothing of what does not count."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Semaphore

import pytest
from watchfiles._rust_notify import WatchfilesRustInternalError

from fonte.sources import changes
from fonte.sources.changes import Place, kind_of, listening, place_of

LONG = 30.0


class Ear:
    """Hears; ``told`` waits for it."""

    def __init__(self) -> None:
        self._heard = Semaphore(0)

    def __call__(self) -> None:
        self._heard.release()

    def told(self, seconds: float = LONG) -> bool:
        return self._heard.acquire(timeout=seconds)

    def quiet(self) -> None:
        """Wait until nothing more comes of what was done before."""
        while self.told(0.8):
            pass


@contextmanager
def _hearing(spec: Path | str, *ignored: str) -> Iterator[tuple[Ear, Callable[[], bool]]]:
    ear, place = Ear(), place_of(str(spec))
    assert place is not None
    with listening(place, ignored, ear) as works:
        yield ear, works


def test_every_kind_of_change_below_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "old.md").write_text("old")
    with _hearing(tmp_path) as (ear, works):
        ear.quiet()
        for change in (
            lambda: (tmp_path / "new.md").write_text("new"),
            lambda: (tmp_path / "sub" / "old.md").write_text("changed"),
            lambda: (tmp_path / "new.md").rename(tmp_path / "sub" / "moved.md"),
            (tmp_path / "sub" / "old.md").unlink,
            lambda: (tmp_path / "deep" / "er").mkdir(parents=True),
            lambda: (tmp_path / "deep" / "er" / "new.md").write_text("new"),
        ):
            change()
            assert ear.told()
            ear.quiet()
        assert works()


def test_reading_hidden_files_and_what_is_to_be_left_out_are_no_changes(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.md").write_text("a")
    with _hearing(tmp_path, str(tmp_path / "home")) as (ear, _):
        ear.quiet()
        (tmp_path / "home" / "catalog.sqlite").write_text("x")
        (tmp_path / ".git" / "index").write_text("x")
        (tmp_path / ".a.md.swp").write_text("x")
        (tmp_path / "a.md").read_text()
        list(tmp_path.iterdir())
        assert not ear.told(2.5)
        (tmp_path / "a.md").write_text("b")
        assert ear.told()


def test_one_file_is_told_of_also_where_an_editor_replaces_it(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "b.md").write_text("b")
    with _hearing(tmp_path / "a.md") as (ear, _):
        ear.quiet()
        (tmp_path / "b.md").write_text("c")
        assert not ear.told(1.5)
        (tmp_path / "draft").write_text("new")
        (tmp_path / "draft").rename(tmp_path / "a.md")
        assert ear.told()
        ear.quiet()
        (tmp_path / "a.md.fonte.yaml").write_text("roles: staff")
        assert ear.told()


def test_a_folder_that_goes_and_comes_back_is_told_and_heard_again(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("a")
    with _hearing(folder) as (ear, _):
        ear.quiet()
        folder.rename(tmp_path / "away")
        assert ear.told()
        ear.quiet()
        (tmp_path / "away").rename(folder)
        assert ear.told()
        ear.quiet()
        (folder / "a.md").write_text("b")
        assert ear.told()


def test_a_folder_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    ear, folder = Ear(), tmp_path / "later"
    with listening(Place(str(folder)), (), ear):
        assert not ear.told(1.2)
        folder.mkdir()
        assert ear.told()


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "OS file watch limit reached"),
        WatchfilesRustInternalError("Error creating recommended watcher: Too many open files (os error 24)"),
    ],
)
def test_where_the_system_has_no_room_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    import watchfiles

    def full(*_: object, **__: object) -> Iterator[set[tuple[int, str]]]:
        raise error

    monkeypatch.setattr(watchfiles, "watch", full)
    with _hearing(tmp_path) as (ear, works):
        assert ear.told()
        until = time.monotonic() + LONG
        while works() and time.monotonic() < until:
            time.sleep(0.01)
        assert not works()


@pytest.mark.parametrize(
    "spec", ["https://docs.example.com/", "s3://bucket/docs", "memory://x", "sql://tickets", "upload://", "pages.urls"]
)
def test_of_other_machines_the_system_tells_nothing(spec: str) -> None:
    assert place_of(spec) is None


def test_globs_are_watched_where_they_begin(tmp_path: Path) -> None:
    assert place_of(f"{tmp_path}/docs/**/*.md") == Place(str(tmp_path / "docs"))
    assert place_of(f"file://{tmp_path}") == Place(str(tmp_path))


@pytest.mark.parametrize(
    ("kind", "told"),
    [("ext4", True), ("overlay", True), ("nfs4", False), ("cifs", False), ("fuse.sshfs", False), ("9p", False)],
)
def test_folders_of_the_network_are_looked_at_in_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, told: bool
) -> None:
    mounted = tmp_path / "una società"
    mounted.mkdir()
    mounts = tmp_path / "mountinfo"
    point = str(mounted).replace(" ", "\\040")
    mounts.write_text(
        f"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n36 22 0:31 / {point} rw,noatime shared:1 - {kind} server:/x rw\n"
        f"37 22 0:32 / {point}-not-this rw - nfs4 server:/y rw\n"
    )
    monkeypatch.setattr(changes, "_MOUNTS", str(mounts))
    assert kind_of(str(mounted / "deep")) == kind
    assert kind_of("/elsewhere") == "ext4"
    assert (place_of(str(mounted)) is not None) is told
