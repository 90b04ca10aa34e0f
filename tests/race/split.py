"""One tick in split mode: plan, a draft for each order, settle; each in a process of its own, as three Actions jobs."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.race.machine import Done, Machine

Script = Generator[tuple[str, ...], "Done", None]
"""Commands of one machine: each is told how the one before ended."""


def split(machine: Machine, *, again: bool = False, missing: bool = False) -> Script:
    """Yield the commands of one split tick.

    `again`: settle is run a second time, as a re-run of failed jobs does; so it is when it was killed. `missing`: the
    first draft does not come.
    """
    folder = machine.folder()
    planned = yield "plan", "--out", f"{folder}/plan", "--json"
    if planned.code or not planned.json["settle"]:
        return
    jobs = planned.json["jobs"][1 if missing else 0 :]
    for job in jobs:
        yield "draft", "--plan", f"{folder}/plan", "--job", job, "--out", f"{folder}/{job}", "--json"
    digest, drafts = planned.json["digest"], [f"{folder}/{job}" for job in jobs]
    settle = ("settle", "--plan", f"{folder}/plan", "--digest", digest, "--drafts", *drafts, "--json")
    settled = yield settle
    if again or settled.code < 0:
        yield settle
