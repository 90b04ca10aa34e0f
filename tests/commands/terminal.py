"""A team in a temporary folder and a person at a terminal: every command is a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NOON = "2026-11-29T12:00:00Z"
"""A Sunday: the day before the first slot of most teams here."""
MONDAY = "2026-11-30T09:01:00Z"
LATER = "2026-11-30T09:05:00Z"
NEXT = "2026-12-07T09:01:00Z"
DIGEST = """\
name: Weekly digest
on: {cron: "0 9 * * MON"}
watch: [learning]
steps:
  - template: digest.md.j2
publish:
  issue: {title: "Digest, week {{ slot.week }}"}
"""
TEMPLATE = """\
{% for item in learning.added -%}
- {{ item.title }}
{% endfor %}"""
HELLO = """\
name: Hello
on: {cron: "0 9 * * MON"}
steps:
  - run: echo "hello" > "$HZ_DRAFT"
publish: {issue: {title: "Hello"}}
"""


class Run(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which is one JSON document and nothing else."""
        return json.loads(self.out)

    @property
    def said(self) -> str:
        """Standard error, which is one sentence."""
        first, *more = self.err.splitlines()
        assert more == [], self.err
        return first


def hz(*words: str, cwd: Path | None = None, code: int = 0, environ: Mapping[str, str] | None = None) -> Run:
    """Type one command; it ends with `code`."""
    done = subprocess.run(
        (sys.executable, "-m", "hz_team", *words),
        cwd=cwd,
        env={**os.environ, **(environ or {})},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=100,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return Run(done.returncode, done.stdout, done.stderr)


class Team:
    """One root, and who types there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.local = root / ".hz" / "local"

    def write(self, name: str, text: str) -> None:
        """Write a file below the root."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def job(self, name: str, text: str = HELLO) -> None:
        """Write a job."""
        self.write(f".hz/jobs/{name}.yaml", text)

    def hz(self, *words: str, code: int = 0, environ: Mapping[str, str] | None = None) -> Run:
        """Type a command with this root."""
        return hz(*words, "--root", str(self.root), code=code, environ=environ)

    def tick(self, now: str, *words: str) -> Run:
        """Tick at a moment."""
        return self.hz("tick", "--now", now, *words)

    @property
    def board(self) -> str:
        """The dashboard."""
        return (self.local / "DASHBOARD.md").read_text(encoding="utf-8")

    def page(self, name: str) -> str:
        """Return a decision's page."""
        return (self.local / "inbox" / f"{name}.md").read_text(encoding="utf-8")

    def tick_box(self, verb: str = "approve", place: str = "DASHBOARD.md") -> str:
        """Put an x into the first box of that verb, as an editor does; return what it stands for."""
        path = self.local / place
        text = path.read_text(encoding="utf-8")
        found = re.search(rf"- \[ \] <!-- hz:{verb}(?: (\S+))?", text)
        assert found, text
        path.write_text(f"{text[: found.start()]}- [x]{text[found.start() + 5 :]}", encoding="utf-8")
        return found[1] or ""

    @property
    def waiting(self) -> list[str]:
        """Ids of the open decisions."""
        return [proposal["id"] for proposal in self.hz("inbox", "--json").json]

    @property
    def out(self) -> list[str]:
        """What was published, by file name."""
        folder = self.local / "outbox"
        return sorted(path.name for path in folder.glob("*.md")) if folder.is_dir() else []

    def published(self, name: str) -> str:
        """Return one outcome."""
        return (self.local / "outbox" / f"{name}.md").read_text(encoding="utf-8")

    def receipts(self, disposition: str = "") -> list[dict[str, Any]]:
        """Return receipts, the newest first."""
        found = self.hz("receipts", "list", "--lines", "0", "--json").json
        return [receipt for receipt in found if disposition in ("", receipt["disposition"])]

    def contents(self) -> dict[str, str]:
        """Return path → hash of every file below the root: configuration, pages, state with refs and objects."""
        files = (path for path in sorted(self.root.rglob("*")) if path.is_file() and not path.is_symlink())
        return {str(path.relative_to(self.root)): sha256(path.read_bytes()).hexdigest() for path in files}

    def git(self, *words: str, stdin: bytes = b"") -> str:
        """Ask the state's repository."""
        command = ("git", "-C", str(self.local / "state.git"), *words)
        return subprocess.run(command, input=stdin, capture_output=True, check=True).stdout.decode().strip()
