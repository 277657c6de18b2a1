"""Threads: physical cores, within the control group's quota."""

from __future__ import annotations

import os

import pytest

from fonte.models import threads


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Eight processors, two to a core."""
    monkeypatch.setattr(threads, "_TOPOLOGY", tmp_path)
    monkeypatch.setattr(threads, "_QUOTAS", (tmp_path / "cpu.max",))
    monkeypatch.setattr(threads, "_QUOTA_V1", tmp_path / "quota")
    monkeypatch.setattr(threads, "_PERIOD_V1", tmp_path / "period")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    for cpu in range(8):
        folder = tmp_path / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{cpu % 4},{cpu % 4 + 4}\n")
    return tmp_path


def test_two_threads_of_a_core_count_once(machine):
    assert threads.available_cores() == 4


def test_affinity_narrows(machine, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 2, 5})
    assert threads.available_cores() == 2


@pytest.mark.parametrize(
    ("text", "cores"), [("150000 100000", 2), ("50000 100000", 1), ("max 100000", 4), ("900000 100000", 4), ("", 4)]
)
def test_the_quota_of_the_control_group_narrows(machine, text, cores):
    (machine / "cpu.max").write_text(text)
    assert threads.available_cores() == cores


def test_the_older_control_group_narrows_too(machine):
    (machine / "quota").write_text("200000")
    (machine / "period").write_text("100000")
    assert threads.available_cores() == 2
    (machine / "quota").write_text("-1")
    assert threads.available_cores() == 4


def test_a_machine_that_tells_nothing_has_as_many_cores_as_processors(machine, monkeypatch):
    monkeypatch.setattr(threads, "_TOPOLOGY", machine / "absent")
    assert threads.available_cores() == 8
