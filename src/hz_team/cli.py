"""The command line: finds the command's module, and is the one boundary where failures become sentences and codes."""

from __future__ import annotations

import os
import sys

COMMANDS = {
    "init": "make .hz/ with a first helper",
    "tick": "one pass: look, draft, take answers, publish what was approved",
    "plan": "show what would run, and the next slots",
    "draft": "one job of a plan that was written down, without anything that may write",
    "settle": "the rest of a tick that was planned and drafted elsewhere",
    "try": "draft one job and show it; changes nothing",
    "run": "run one job now",
    "inbox": "list, show, approve, reject, redraft, retry",
    "receipts": "list, show, verify",
    "jobs": "helpers, their last and next run",
    "validate": "check every file of .hz/",
    "config": "effective values and where each comes from",
    "doctor": "is everything as it should be, and what to do where it is not",
    "pause": "nothing is drafted or published until resume",
    "resume": "go on after pause",
    "demo": "the whole story, offline, in a folder of its own",
}
VALUED = ("--root", "--now", "--as", "--dir", "--job", "--scope", "--out", "--plan", "--digest")


def main(argv: list[str] | None = None) -> int:
    """Run one command; return its exit code (DESIGN §5: 0, 2 usage, 3 bug, 4 refused, 75 try again)."""
    from hz_team.errors import HzError

    words = sys.argv[1:] if argv is None else argv
    _widen()
    try:
        return _run(words)
    except HzError as error:
        return _say(str(error), error.code, as_json="--json" in words)
    except KeyboardInterrupt:
        os._exit(
            130
        )  # at once: the supervisors see our pipes close and end every step; a normal exit would wait for them
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whoever read us has left; what is still buffered goes nowhere
        return 0
    except Exception:  # noqa: BLE001  (the boundary: a bug is a traceback with versions, exit 3)
        return _bug(as_json="--json" in words)


def _run(words: list[str]) -> int:
    if words and words[0] in ("--version", "-V"):
        from hz_team import __version__

        print(f"hz-team {__version__}")
        return 0
    place = command_at(words)
    if place is None:
        return _usage(words)
    from importlib import import_module

    name = words[place]
    module = import_module(f"hz_team.commands.{name}_command" if name == "try" else f"hz_team.commands.{name}")
    return int(module.run(module.parse([*words[:place], *words[place + 1 :]])))


def command_at(words: list[str]) -> int | None:
    """Return where the command word stands, or None: the first word that is no option and no option's value."""
    skip = False
    for place, word in enumerate(words):
        if skip:
            skip = False
            continue
        if word in VALUED:
            skip = True
        elif word in COMMANDS:
            return place
        elif not word.startswith("-") and words[place - 1 : place] != ["--remote"]:
            return None
    return None


def _usage(words: list[str]) -> int:
    if not words:
        print(_overview(), file=sys.stderr)
        return 2
    if any(word in ("-h", "--help", "help") for word in words):
        print(_overview())
        return 0
    from difflib import get_close_matches

    from hz_team.errors import UsageError

    said = [word for before, word in zip(["", *words], words, strict=False) if before not in VALUED]
    wrong = next((word for word in said if not word.startswith("-")), "")
    near = get_close_matches(wrong, COMMANDS, n=1)
    hint = f"did you mean `{near[0]}`?" if near else "`hz-team --help` lists them"
    raise UsageError(f"no command called {wrong!r}; {hint}" if wrong else f"there is no command here; {hint}")


def _overview() -> str:
    rows = "\n".join(f"  {name:<9} {text}" for name, text in COMMANDS.items())
    return f"usage: hz-team COMMAND [--root DIR] [--json] …\n\n{rows}\n\n`hz-team COMMAND --help` says more."


def _widen() -> None:
    """Let no character that a terminal cannot show end a command."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _say(text: str, code: int, *, as_json: bool) -> int:
    from hz_team.commands import document

    if as_json:
        document.show({"error": text, "exit": code})
    print(f"hz-team: {document.lines(text)}", file=sys.stderr)
    return code


def _bug(*, as_json: bool) -> int:
    import platform
    import traceback

    from hz_team import __version__

    if as_json:
        print('{"error": "a bug in hz-team", "exit": 3}')
    traceback.print_exc()
    print(
        f"hz-team: this is a bug in hz-team {__version__} (Python {platform.python_version()}, {sys.platform}). "
        "Nothing was lost; please report the lines above.",
        file=sys.stderr,
    )
    return 3
