"""The environment of a step, every variable of it, and the page that tells it."""

from __future__ import annotations

import os
import sys

SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
TOOL_PATHS = ("/usr/", "/opt/", "/nix/store/", "/snap/", "/home/linuxbrew/.linuxbrew/")
"""Folders of our own PATH that lie below one of these are kept: tools that were set up before the tick."""

VARIABLES = (
    ("HZ_DRAFT", "File to write one draft to: Markdown, with front matter if it has more to say than its body."),
    ("HZ_DRAFTS", "Folder for several drafts, one file each, taken in the order of their names."),
    ("HZ_OUTPUT", "File to append `name=value` lines to, or `name<<END` … `END` for several lines."),
    ("HZ_OUTPUT_<NAME>", "What earlier steps wrote there: the value, if it is shorter than 100,000 bytes."),
    ("HZ_OUTPUTS", "File: all outputs of earlier steps as one JSON object, whatever their length."),
    ("HZ_COST", "File to append JSON objects to, one a line: `usd` and `tokens`."),
    ("HZ_FACETS", "File: what the job's watches saw, as JSON: name → `added`, `changed`, `removed`, `all`."),
    ("HZ_INPUTS", "File: the poke's declared inputs as one JSON object. Data, never to be put into a command line."),
    ("HZ_JOB", "The job's id."),
    ("HZ_SLOT", "The planned time, ISO 8601 with its offset; the time of the tick if no clock woke the job."),
    ("HZ_NOTE", "File: what a person asked for when they wanted another draft; empty otherwise."),
    ("HZ_PREVIOUS", "File: the draft that the note answers; empty otherwise."),
    ("HZ_PROMPT", "File: the step's `prompt`, byte for byte; the same bytes are on standard input."),
    ("PATH", "The folder of `hz-draft`, this Python's, the system's, and tools set up below /usr or /opt."),
    ("HOME, TMPDIR", "Folders of this run, empty at its start and removed at its end."),
    ("LANG, LC_ALL", "`C.UTF-8`."),
    ("TZ", "The team's time zone."),
    ("TERM, PAGER, GIT_PAGER", "`dumb` and `cat`: there is no terminal."),
    ("GIT_TERMINAL_PROMPT, GIT_ASKPASS, SSH_ASKPASS_REQUIRE, GIT_SSH_COMMAND", "Nobody is asked for a password."),
    ("GCM_INTERACTIVE, DEBIAN_FRONTEND, PIP_NO_INPUT, CI", "The same, for other programs."),
    ("GIT_CONFIG_NOSYSTEM, GIT_CONFIG_GLOBAL", "No settings of the machine or of a person."),
)
"""The whole environment of a step, and what it means; `page` prints it."""
QUIET = {
    "CI": "true",
    "DEBIAN_FRONTEND": "noninteractive",
    "GCM_INTERACTIVE": "never",
    "GIT_ASKPASS": "/bin/false",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_PAGER": "cat",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
    "GIT_TERMINAL_PROMPT": "0",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "PAGER": "cat",
    "PIP_NO_INPUT": "1",
    "SSH_ASKPASS_REQUIRE": "never",
    "TERM": "dumb",
}


def search_path(first: str, ours: str) -> str:
    """Return PATH for a step: hz-draft, this Python, the system, then tools set up in our own PATH."""
    tools = [entry for entry in ours.split(":") if entry.startswith(TOOL_PATHS)]
    return ":".join(dict.fromkeys((first, os.path.dirname(sys.executable), *SYSTEM_PATH, *tools)))


def page() -> str:
    """Return docs/step-environment.md."""
    rows = "\n".join(
        f"| {', '.join(f'`{name}`' for name in names.split(', '))} | {text} |" for names, text in VARIABLES
    )
    return f"""# The environment of a step

Written by `hz_team.surroundings.page`; a test compares them.

A step is a process of its own. It is given these variables, and those that its `env:` names, and no other. Values of
named variables are masked in everything it prints. A name that begins with `HZ_`, and the others of this table, cannot
be declared: ours stand.

| Variable | What it is |
|---|---|
{rows}

The working folder is an empty one, or with `in: repo` a throw-away checkout of the default branch. Standard input is
empty but for a `prompt`. Exit 0 means done, 75 means try again, anything else that the run failed.
"""
