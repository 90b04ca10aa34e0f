"""The repository that all machines share, as Git itself has it: nothing of hz-team reads here."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.git_server import bare

BRANCH = "refs/heads/hz-state"
LEASES = "refs/hz/lease/job/"


class Repository:
    """The state branch, the lease refs, and what a person with a terminal may do to them."""

    def __init__(self, place: Path) -> None:
        self.path = bare(place / "state.git", core_logAllRefUpdates="always")
        hook = self.path / "hooks/pre-receive"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text('#!/bin/sh\ncat > /dev/null\n! rm "$GIT_DIR/decline" 2> /dev/null\n')
        hook.chmod(0o755)

    def decline(self) -> None:
        """Let a rule of the repository refuse the next push, whoever it is."""
        (self.path / "decline").touch()

    def git(self, *words: str, stdin: bytes = b"") -> str:
        """Ask Git."""
        done = subprocess.run(("git", "-C", str(self.path), *words), input=stdin, capture_output=True, check=False)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout.decode()

    def history(self) -> tuple[str, ...]:
        """Return the commits of the branch, newest first."""
        return tuple(self.git("rev-list", BRANCH).split()) if self.ref(BRANCH) else ()

    def ref(self, name: str) -> str:
        """Return where a ref stands, "" if there is none."""
        return self.git("for-each-ref", "--format=%(objectname)", name).strip()

    def leases(self) -> dict[str, str]:
        """Return the commit of each job's lease."""
        rows = self.git("for-each-ref", "--format=%(refname) %(objectname)", LEASES).splitlines()
        return {name.removeprefix(LEASES): commit for name, commit in (row.split() for row in rows)}

    def lease(self, job: str) -> dict[str, Any]:
        """Return what the lease of a job says, {} if there is none."""
        commit = self.leases().get(job)
        if not commit:
            return {}
        found: dict[str, Any] = json.loads(self.git("log", "-1", "--format=%B", commit).strip().splitlines()[-1])
        return found

    def remove_lease(self, job: str) -> None:
        """Remove a lease's ref, as a person may."""
        self.git("update-ref", "-d", f"{LEASES}{job}")

    def reset(self, commit: str) -> str:
        """Set the branch back to an older commit, as a force push does; return where it stood in that moment."""
        while True:
            old = self.ref(BRANCH)
            words = ("git", "-C", str(self.path), "update-ref", BRANCH, commit, old)
            if subprocess.run(words, capture_output=True, check=False).returncode == 0:
                return old

    def files(self, commit: str, folder: str = "") -> dict[str, bytes]:
        """Return every file below a folder of a commit."""
        listed = self.git("ls-tree", "-r", "-z", "--full-tree", commit, "--", *([folder] if folder else []))
        rows = [row.split("\t") for row in listed.split("\0") if row]
        contents = self.contents([about.split(" ")[2] for about, _ in rows])
        return {path: content for (_, path), content in zip(rows, contents, strict=True)}

    def contents(self, names: Sequence[str]) -> list[bytes]:
        """Return the content of each object, b"" where there is none."""
        stdin = "".join(f"{name}\n" for name in names).encode()
        words = ("git", "-C", str(self.path), "cat-file", "--batch")
        out = subprocess.run(words, input=stdin, capture_output=True, check=True).stdout
        found, at = [], 0
        for _ in names:
            end = out.index(b"\n", at)
            header, at = out[at:end], end + 1
            size = -1 if header.endswith(b"missing") else int(header.split(b" ")[2])
            found.append(out[at : at + max(size, 0)])
            at += size + 1
        return found

    def proposals(self) -> list[dict[str, Any]]:
        """Return the open proposals, oldest first."""
        if not self.ref(BRANCH):
            return []
        found = [json.loads(content) for content in self.files(BRANCH, "proposals/").values()]
        return sorted(found, key=lambda one: (one["created_at"], one["id"]))

    def parked(self) -> list[str]:
        """Return the jobs that wait for a person after failures."""
        positions = self.files(BRANCH, "jobs/") if self.ref(BRANCH) else {}
        found = (json.loads(text) for path, text in positions.items() if not Path(path).name.startswith("."))
        return [one["job"] for one in found if one["parked"]]

    def moves(self) -> list[tuple[str, str]]:
        """Return each move of the branch, old and new commit, in order."""
        log = self.path / "logs" / BRANCH
        lines = log.read_text().splitlines() if log.exists() else []
        return [(line.split(" ")[0], line.split(" ")[1]) for line in lines]
