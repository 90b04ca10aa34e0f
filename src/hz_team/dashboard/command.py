"""`/hz …` in a comment: the first live line that says so, as a verb, a subject and the rest. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from hz_team.markdown import block

VERBS = ("approve", "reject", "redraft", "retry", "run", "pause", "resume")
ABOUT_A_PROPOSAL = ("approve", "reject", "redraft")
_LINE = re.compile(r" {0,3}/hz(?:[ \t]+(.*))?")
_PROPOSAL = re.compile(r"p-[0-9a-f]{8,64}")


class Command(NamedTuple):
    """What one comment asks for."""

    verb: str
    subject: str = ""
    """A proposal's or job's id, "" for pause and resume."""
    text: str = ""
    """What stands behind it: a note, or inputs."""
    wrong: str = ""
    """Why it cannot be taken, in plain words; "" if it can."""


def read(text: str, page: str = "") -> Command | None:
    """Return the first command of a comment below a page, None if there is none outside quotes and code.

    On a proposal's own page its id need not be said. Lines below the command belong to a note.
    """
    lines = list(block.live(text))
    for at, line in enumerate(lines):
        if found := _LINE.fullmatch(line.rstrip()):
            said, *more = (found[1] or "").split(None, 1) or [""]
            return _command(said.lower(), "\n".join((*more, *lines[at + 1 :])).strip(), page)
    return None


def _command(verb: str, rest: str, page: str) -> Command:
    if verb not in VERBS:
        return _unknown(verb)
    if verb in ("pause", "resume"):
        return Command(verb, text=rest)
    first, _, behind = rest.partition("\n")
    word, *further = first.split(None, 1) or [""]
    text = "\n".join((*further, behind)).strip()
    named = bool(_PROPOSAL.fullmatch(word))
    if verb == "run":
        return Command(verb, word, text) if word else Command(verb, wrong="say which helper: /hz run NAME")
    if named or (verb == "retry" and word):
        return Command(verb, word, text)
    if _PROPOSAL.fullmatch(page):
        return Command(verb, page, rest)
    return Command(verb, wrong=f"say which one: /hz {verb} p-…, or comment on its own page")


def _unknown(verb: str) -> Command:
    said = f"/hz {verb[:40]} is no command" if verb else "/hz needs a word behind it"
    return Command(verb, wrong=f"{said}; there are {', '.join(VERBS)}")


def inputs(text: str) -> dict[str, str]:
    """Return NAME=VALUE words as a mapping; a value with blanks stands in double quotes."""
    found = re.findall(r'([A-Za-z_][A-Za-z0-9_-]*)=(?:"([^"\n]*)"|(\S+))', text)
    return {name: quoted or plain for name, quoted, plain in found}
