"""The processes below this one: counted, frozen, killed. Imports little: every supervisor loads it."""

from __future__ import annotations

import os
import signal
import sys

ROUNDS = 100
"""How often a tree is looked through until a look finds nobody new."""


def descendants() -> set[int]:
    """Return the processes below this one; an empty set where there is no /proc.

    Defunct ones count: a process whose first thread has ended looks like one and lives on in the others.
    """
    parents: dict[int, int] = {}
    try:
        names = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return set()
    for name in names:
        try:
            with open(f"/proc/{name}/stat", "rb") as stream:
                fields = stream.read().rpartition(b")")[2].split()
        except OSError:
            continue
        parents[int(name)] = int(fields[1])
    found: set[int] = set()
    fresh = {os.getpid()}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return found


def send(pid: int, number: int) -> None:
    """Send a signal to a process that may be gone."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def freeze() -> None:
    """Stop everybody, so that a tree that keeps growing stops to grow and can be killed."""
    frozen: set[int] = set()
    for _ in range(ROUNDS):
        fresh = descendants() - frozen
        if not fresh:
            return
        for pid in fresh:
            send(pid, signal.SIGSTOP)
        frozen |= fresh


def kill(leader: int) -> None:
    """Kill everybody there is now; without /proc, the leader's process group."""
    for pid in descendants():
        send(pid, signal.SIGKILL)
    if sys.platform != "linux":
        send(-leader, signal.SIGKILL)
