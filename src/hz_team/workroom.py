"""Where one order is worked on: its folder, its environment, and the only way back to us.

in/      what the steps are told: facets, inputs, note, scripts (they cannot write here)
work/    the working folder of `in: scratch`
repo/    the throw-away checkout of `in: repo`
home/ tmp/
out/     draft.md, drafts/, cost.json, output-N: what comes back, and is read without following any link
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team.beneath import LARGEST, WorkroomError, listed, read_beneath
from hz_team.ports import Command, Limits
from hz_team.surroundings import QUIET, search_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.job import Step
    from hz_team.ports import Finished, Processes

PROCESSES = 512
"""Of one step at once."""
TAIL_LINES, TAIL = 20, 4_000
DRAFTS = 200
"""Files in $HZ_DRAFTS at most; the limits of proposals and parts come later."""
ENVIRONMENT_VALUE = 100_000
"""A longer output is passed by file alone: Linux allows 128 KiB a variable."""

BOOT = (
    "import sys; p = sys.argv.pop(1); p in sys.path or sys.path.insert(0, p); "
    "from importlib import import_module; sys.exit(import_module(sys.argv.pop(1)).main())"
)


INVALID = 65
"""Exit code of our own steps when what they were given is wrong: trying again cannot help."""


class Workroom(NamedTuple):
    """One order's folder, and what its steps are told. Step kinds turn it and a step into a Command."""

    folder: str
    root: str
    """The team's checkout: templates and Python files are read from it."""
    job: str
    variables: Mapping[str, Any] = {}
    """What templates see besides the watches: slot, job, inputs, note, draft."""
    facets: Mapping[str, Mapping[str, Any]] = {}
    """Watch by its name in the job → {"added", "changed", "removed", "all"}: lists of items."""
    environ: Mapping[str, str] = {}
    """Where declared variables come from; nothing else of it is passed on."""
    zone: str = "UTC"
    modules: tuple[str, ...] = ()
    number: int = 1
    """The step's number, from 1."""
    outputs: Mapping[str, str] = {}
    timeout: float = 900.0
    """Seconds left for this step."""
    readable: tuple[str, ...] = ()
    """Further paths that steps may read (the objects behind the checkout)."""

    def path(self, *names: str) -> str:
        """Return a path below the folder."""
        return os.path.join(self.folder, *names)

    def prepare(self) -> None:
        """Make the folders and the files that do not change from step to step."""
        for name in ("in", "work", "home", "tmp", "out", "out/drafts", "in/bin"):
            os.mkdir(self.path(name), 0o700)
        told = self.variables
        self.put("facets.json", json.dumps({name: dict(one) for name, one in self.facets.items()}, ensure_ascii=False))
        self.put("inputs.json", json.dumps(dict(told.get("inputs", {})), ensure_ascii=False))
        self.put("note.md", str(told.get("note", "")))
        self.put("previous.md", str(told.get("draft", {}).get("body", "")))
        launch = " ".join(shlex.quote(word) for word in child("hz_team.steps.hz_draft"))
        os.chmod(self.put("bin/hz-draft", f'#!/bin/sh\nexec {launch} "$@"\n'), 0o700)

    def told(self) -> dict[str, Any]:
        """Return what templates see: each watch by its name, and ours."""
        return {
            **{name: dict(one) for name, one in self.facets.items()},
            **self.variables,
            "outputs": dict(self.outputs),
        }

    def put(self, name: str, content: str) -> str:
        """Write a file that the steps may read and not write; return its path."""
        path = self.path("in", name)
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as stream:
            stream.write(content)
        return path

    def command(
        self,
        step: Step,
        argv: tuple[str, ...],
        *,
        stdin: bytes = b"",
        read: tuple[str, ...] = (),
        env: Mapping[str, str] = {},
    ) -> Command:
        """Return the command of one step, with everything that is the same for all kinds."""
        declared = {name: self.environ[name] for name in step.env if name in self.environ}
        repo = (self.path("repo"),) if step.place == "repo" else ()
        return Command(
            argv=argv,
            cwd=self.path("repo" if repo else "work"),
            env={**declared, **self.environment(), **env},
            timeout=self.timeout,
            stdin=stdin,
            read=(self.path("in"), *self.readable, *read),
            write=(*(self.path(name) for name in ("work", "home", "tmp", "out")), *repo),
            secrets=tuple(declared.values()),
            limits=Limits(processes=PROCESSES),
        )

    def environment(self) -> dict[str, str]:
        """Return every variable that a step is given besides those it declares."""
        self.put(f"outputs-{self.number}.json", json.dumps(dict(self.outputs), ensure_ascii=False))
        return {
            **{f"HZ_OUTPUT_{name}": value for name, value in self.outputs.items() if _fits(value)},
            **QUIET,
            "HOME": self.path("home"),
            "HZ_COST": self.path("out", "cost.json"),
            "HZ_DRAFT": self.path("out", "draft.md"),
            "HZ_DRAFTS": self.path("out", "drafts"),
            "HZ_FACETS": self.path("in", "facets.json"),
            "HZ_INPUTS": self.path("in", "inputs.json"),
            "HZ_JOB": self.job,
            "HZ_NOTE": self.path("in", "note.md"),
            "HZ_OUTPUT": self.path("out", f"output-{self.number}"),
            "HZ_OUTPUTS": self.path("in", f"outputs-{self.number}.json"),
            "HZ_PREVIOUS": self.path("in", "previous.md"),
            "HZ_SLOT": str(self.variables.get("slot", {}).get("iso", "")),
            "PATH": search_path(self.path("in", "bin"), self.environ.get("PATH", "")),
            "TMPDIR": self.path("tmp"),
            "TZ": self.zone,
        }

    def take(self, *names: str) -> bytes | None:
        """Return a file from `out/`, None if there is none. Raises WorkroomError if it is no plain, small file."""
        return read_beneath(self.folder, ("out", *names))

    def empty(self, name: str) -> None:
        """Remove a file of `out/` that was taken."""
        os.unlink(self.path("out", name))

    def renew(self, files: Mapping[str, bytes]) -> None:
        """Put `out/` back to what it held before a step that failed: nothing of the failed try is left there."""
        os.rename(self.path("out"), self.path(f"failed-{self.number}-{len(os.listdir(self.folder))}"))
        for name in ("out", "out/drafts"):
            os.mkdir(self.path(name), 0o700)
        for name, content in files.items():
            with open(self.path("out", *name.split("/")), "wb") as stream:
                stream.write(content)

    def drafts(self) -> list[tuple[str, bytes]]:
        """Return every draft that was left, by its name: draft.md, then those of the folder."""
        names = [("draft.md",), *(("drafts", name) for name in listed(self.folder, ("out", "drafts")))]
        if len(names) > DRAFTS:
            raise WorkroomError(f"{len(names)} files in $HZ_DRAFTS; at most {DRAFTS} are taken")
        found = [("/".join(name), self.take(*name)) for name in names]
        return [(name, content) for name, content in found if content and content.strip()]


def child(module: str, *arguments: str) -> tuple[str, ...]:
    """Return the command line that runs `main()` of one of our modules in a Python of its own."""
    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return (sys.executable, "-I", "-X", "utf8", "-c", BOOT, source, module, *arguments)


def ask(
    processes: Processes,
    module: str,
    request: Mapping[str, Any],
    *,
    read: tuple[str, ...] = (),
    timeout: float = 30.0,
    zone: str = "UTC",
) -> tuple[Any, Finished]:
    """Have one of our modules answer a request in a contained child of its own; the answer is foreign data.

    Returns the answer (None if there is none) and how the child ended.
    """
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="hz-ask-", ignore_cleanup_errors=True) as folder:
        for name in ("work", "out"):
            os.mkdir(os.path.join(folder, name), 0o700)
        with open(os.path.join(folder, "request.json"), "w", encoding="utf-8") as stream:
            json.dump(dict(request), stream)
        command = Command(
            argv=child(module, os.path.join(folder, "request.json"), os.path.join(folder, "out", "answer.json")),
            cwd=os.path.join(folder, "work"),
            env={**QUIET, "HOME": os.path.join(folder, "work"), "PATH": search_path("/usr/bin", ""), "TZ": zone},
            timeout=timeout,
            read=(os.path.join(folder, "request.json"), *read),
            write=(os.path.join(folder, "work"), os.path.join(folder, "out")),
            limits=Limits(processes=PROCESSES),
        )
        finished = processes.run(command)
        content = read_beneath(folder, ("out", "answer.json"), largest=8 * LARGEST)
    try:
        return (json.loads(content) if content and finished.code == 0 else None), finished
    except ValueError:
        return None, finished


def _fits(value: str) -> bool:
    return "\0" not in value and len(value.encode("utf-8", "surrogateescape")) <= ENVIRONMENT_VALUE


def document(fields: Mapping[str, Any], body: str) -> str:
    """Return a draft as a file: front matter of one JSON value a line (YAML reads them too), then the body."""
    lines = [f"{name}: {_yaml(value)}" for name, value in fields.items() if value not in (None, "", (), [], {})]
    if not lines and not body.startswith("---"):
        return body
    return "\n".join(("---", *lines, "---", body))


def _yaml(value: Any) -> str:
    """Return JSON in which every character that YAML takes for a line end, or refuses, is escaped."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return re.sub(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]", lambda one: f"\\u{ord(one[0]):04x}", text)


def slot(at: int, zone: str) -> dict[str, Any]:
    """Return what templates know of a planned time: week, date, time, year, month, day, weekday, iso."""
    from datetime import UTC, datetime
    from zoneinfo import ZoneInfo

    local = datetime.fromtimestamp(at, UTC).astimezone(ZoneInfo(zone))
    return {
        "week": local.isocalendar().week,
        "date": local.date().isoformat(),
        "time": f"{local:%H:%M}",
        "year": local.year,
        "month": local.month,
        "day": local.day,
        "weekday": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")[local.weekday()],
        "iso": local.isoformat(),
    }


def last_lines(finished: Finished) -> str:
    """Return the end of what a process printed, for where a person meets a failure: no controls, bounded."""
    text = "\n".join(part.rstrip() for part in (finished.stdout, finished.stderr) if part.strip())
    text = re.sub(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]", "", text.replace("\r\n", "\n"))
    lines = [line.rstrip()[-500:] for line in text.split("\n")]
    return "\n".join(lines[-TAIL_LINES:])[-TAIL:]
