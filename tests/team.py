"""A team for tests of whole ticks: a root, real Git state, real pages, real contained steps, and scripted time."""

from __future__ import annotations

import json
import re
import subprocess
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hz_team import ledger
from hz_team.commands import assembly
from hz_team.commands.tick import once
from hz_team.model.observation import Heard
from hz_team.model.proposal import Answer, Proposal
from hz_team.poke import make

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.state import Position, View
    from hz_team.ports import World
    from hz_team.tick import Story

MONDAY = 1_796_029_200
"""Monday 30 November 2026, 09:00 UTC."""
MINUTE, HOUR, DAY, WEEK = 60, 3600, 86400, 604800
SAY = 'run: printf "%s\\n" "hello" > "$HZ_DRAFT"'
LIST = """\
run: |
      python3 -c 'import json, os; seen = json.load(open(os.environ["HZ_FACETS"]))["notes"]["added"];
      open(os.environ["HZ_DRAFT"], "w").write(" ".join(one["id"] for one in seen) or "none")'"""
LOCAL = "local:"


def job(
    *,
    on: str = '{cron: "0 9 * * *"}',
    step: str = SAY,
    publish: str = '{issue: {title: "News"}}',
    watch: str = "",
    more: str = "",
) -> str:
    """Return a job's file."""
    lines = [f"on: {on}", f"watch: {watch}" if watch else "", "steps:", f"  - {step}", f"publish: {publish}", more]
    return "\n".join(line for line in lines if line) + "\n"


class Team:
    """One root with one machine's cache."""

    def __init__(self, root: Path, files: Mapping[str, str] | None = None) -> None:
        self.root = root
        (root / ".hz/jobs").mkdir(parents=True, exist_ok=True)
        for name, text in (files or {}).items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        """Write a file of the team; a name alone is a job's."""
        path = self.root / (name if "/" in name else f".hz/jobs/{name}.yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def remove(self, name: str) -> None:
        """Remove a job's file."""
        (self.root / f".hz/jobs/{name}.yaml").unlink()

    def world(self, now: int, *, login: str | None = None, **more: Any) -> World:
        """Return the world as a command opens it."""
        return assembly.open_world(str(self.root), Namespace(remote=None, now=None, login=login), now, **more)

    def tick(self, now: int, said: Heard | None = None, *, login: str | None = None, **more: Any) -> Story:
        """Tick once at that moment, as `hz-team tick` does."""
        return once(self.world(now, login=login, **more), said or Heard(), now)

    def view(self) -> View:
        """Return the state."""
        return self.world(0).state.fetch()

    def position(self, name: str = "news") -> Position:
        """Return where a job stands."""
        return self.view().positions[name]

    def only(self) -> Proposal:
        """Return the one open proposal."""
        (found,) = self.view().proposals.values()
        return found

    def draft(self, digest: str) -> dict[str, Any]:
        """Return a draft document."""
        path = f"drafts/{digest[:2]}/{digest}.json"
        found: dict[str, Any] = json.loads(self.world(0).state.read(self.view(), [path])[path])
        return found

    def receipts(self, name: str = "news") -> list[dict[str, Any]]:
        """Return a job's receipts in the order of their chain; the ledger verifies."""
        view, state = self.view(), self.world(0).state
        raw = list(state.receipts(view))
        assert ledger.verify(view, raw, progress=lambda _: None).problems == ()
        found = [json.loads(content) for _, content in raw]
        return sorted((one for one in found if one["job"] == name), key=lambda one: one["seq"])

    def steps(self, name: str = "news") -> list[str]:
        """Return the dispositions of a job's receipts."""
        return [one["disposition"] for one in self.receipts(name)]

    def file(self, page: str = "dashboard") -> Path:
        """Return where a page lies."""
        local = self.root / ".hz/local"
        return local / f"{page.upper()}.md" if page.startswith("dashboard") else local / f"inbox/{page}.md"

    def page(self, name: str = "dashboard") -> str:
        """Return a page's text."""
        return self.file(name).read_text(encoding="utf-8")

    def box(self, verb: str, subject: str = "", *, page: str = "dashboard", mark: str = "x") -> None:
        """Put a mark into a box, as a person with an editor does; " " takes it out."""
        text = self.page(page)
        pattern = rf"\[[ x]\] <!-- hz:{verb}{f' {subject}' if subject else ''}(?=[ ])"
        changed, count = re.subn(pattern, lambda found: f"[{mark}{found[0][2:]}", text)
        assert count == 1, (verb, subject, text)
        self.file(page).write_text(changed, encoding="utf-8")

    def edit(self, page: str, old: str, new: str) -> None:
        """Change words on a page."""
        text = self.page(page)
        assert old in text
        self.file(page).write_text(text.replace(old, new), encoding="utf-8")

    def outbox(self) -> list[str]:
        """Return what went out."""
        folder = self.root / ".hz/local/outbox"
        return sorted(one.name for one in folder.glob("*.md")) if folder.is_dir() else []

    def sent(self, name: str = "issue-1") -> str:
        """Return an outcome's text."""
        return (self.root / f".hz/local/outbox/{name}.md").read_text(encoding="utf-8")

    def poke(self, now: int, name: str = "news", **inputs: Any) -> Heard:
        """Return what `hz-team run` brings along."""
        index = self.world(now).config
        found = next(one for one in index.jobs if one.id == name)
        return Heard(pokes=(make(found, by=f"{LOCAL}mona", via="command", at=now, inputs=inputs),))

    def bytes(self) -> dict[str, bytes]:
        """Return every file below the root."""
        return {str(one.relative_to(self.root)): one.read_bytes() for one in self.root.rglob("*") if one.is_file()}

    def git(self, *words: str) -> str:
        """Ask the state's repository."""
        place = self.root / ".hz/local/state.git"
        return subprocess.run(("git", "-C", str(place), *words), check=True, capture_output=True, text=True).stdout

    def on_branch(self, folder: str) -> list[str]:
        """Return the names of the files below a folder of the branch."""
        return self.git("ls-tree", "-r", "--name-only", "refs/heads/hz-state", f"{folder}/").split()


def yes(proposal: Proposal, by: str, now: int, *, verb: str = "approve", **more: Any) -> Heard:
    """Return what an inbox command brings along."""
    role = "local" if by.startswith(LOCAL) else "write"
    answer = Answer(proposal.id, verb, by, role, "command", now, proposal.digest, **more)
    return Heard(answers=(answer,))
