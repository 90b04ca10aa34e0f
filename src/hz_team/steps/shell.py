"""`run`: a script file for bash, as on GitHub. Nothing is ever filled into its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hz_team.model.job import Step
    from hz_team.ports import Command
    from hz_team.workroom import Workroom


def command(step: Step, room: Workroom) -> Command:
    """Return bash on the step's script; a `prompt` goes in by standard input and by file, byte for byte."""
    script = room.put(f"step-{room.number}.sh", str(step.spec["run"]))
    argv = ("bash", "--noprofile", "--norc", "-eo", "pipefail", script)
    if "prompt" not in step.spec:
        return room.command(step, argv)
    prompt = str(step.spec["prompt"])
    file = room.put(f"prompt-{room.number}.md", prompt)
    return room.command(step, argv, stdin=prompt.encode("utf-8", "surrogateescape"), env={"HZ_PROMPT": file})
