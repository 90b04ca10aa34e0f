"""The root's file lock, where it is more than the contract says."""

import os
import threading
from pathlib import Path

import pytest

from hz_team.adapters.leases import FileLeases
from hz_team.errors import RemoteError, TryAgain
from hz_team.ports import Claim, Granted, Known


def claim(*jobs: str) -> Claim:
    return Claim(dict.fromkeys(jobs, Known()), now=0, ttl=1)


def test_who_comes_second_learns_who_works_here(tmp_path: Path) -> None:
    first, second = FileLeases(str(tmp_path / "lock")), FileLeases(str(tmp_path / "lock"))
    first.acquire(claim("digest"))
    with pytest.raises(TryAgain) as told:
        second.acquire(claim("links"))
    assert str(told.value) == f"another tick (pid {os.getpid()}) is at work here; it ends by itself"
    assert told.value.code == 75


def test_the_root_can_be_held_without_a_job(tmp_path: Path) -> None:
    first, second = FileLeases(str(tmp_path / "lock")), FileLeases(str(tmp_path / "lock"))
    assert first.acquire(claim()) == Granted()
    with pytest.raises(TryAgain):
        second.acquire(claim())
    first.release([])
    assert second.acquire(claim()) == Granted()


def test_a_lock_file_that_was_removed_protects_nobody(tmp_path: Path) -> None:
    first, second = FileLeases(str(tmp_path / "lock")), FileLeases(str(tmp_path / "lock"))
    lease = first.acquire(claim("digest")).leases["digest"]
    (tmp_path / "lock").unlink()
    assert not first.holds(lease, now=0)
    theirs = second.acquire(claim("digest")).leases["digest"]
    assert second.holds(theirs, now=0)
    assert not first.holds(lease, now=0)


def test_an_idle_lock_file_is_empty(tmp_path: Path) -> None:
    leases = FileLeases(str(tmp_path / "lock"))
    lease = leases.acquire(claim("digest")).leases["digest"]
    assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"
    leases.release([lease])
    assert (tmp_path / "lock").read_bytes() == b""


def test_an_old_note_of_a_dead_process_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("99999999999\n")
    FileLeases(str(tmp_path / "lock")).acquire(claim())
    assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_a_place_that_cannot_be_locked_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "lock").mkdir()
    with pytest.raises(RemoteError, match=r"lock: cannot be locked \(Is a directory\); it must lie on a disk"):
        FileLeases(str(tmp_path / "lock")).acquire(claim())


def test_the_lock_outlives_the_thread_that_took_it(tmp_path: Path) -> None:
    first, second = FileLeases(str(tmp_path / "lock")), FileLeases(str(tmp_path / "lock"))
    thread = threading.Thread(target=first.acquire, args=(claim("digest"),))
    thread.start()
    thread.join()
    with pytest.raises(TryAgain):
        second.acquire(claim())
