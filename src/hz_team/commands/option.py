"""Options that every command understands, before or after the command word."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError, HelpFormatter, Namespace
from typing import NoReturn

from hz_team.errors import UsageError


class Help(HelpFormatter):
    """A help text as wide as the terminal; argparse would import shutil (and all it knows to unpack) to ask."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_width())


def _width() -> int:
    try:
        return max(40, os.get_terminal_size(1).columns - 2)
    except OSError:
        return 100


class Parser(ArgumentParser):
    """argparse whose errors are one sentence, as all of ours are."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError instead of printing and leaving."""
        raise UsageError(f"{self.prog.removeprefix('hz-team ')}: {message}; `{self.prog} --help` says what it takes")


def parser(name: str, text: str) -> ArgumentParser:
    """Return a command's parser with --root, --json, --remote, --now and --as."""
    made = Parser(prog=f"hz-team {name}", description=text, allow_abbrev=False, formatter_class=Help)
    made.add_argument("--root", metavar="DIR", help="the team's folder (default: the nearest parent with .hz/)")
    made.add_argument("--json", action="store_true", help="print JSON")
    made.add_argument(
        "--remote",
        metavar="URL",
        nargs="?",
        const="",
        help="state at a Git URL (default: `state.repository`); without it everything stays in .hz/local/",
    )
    made.add_argument("--now", metavar="ISO", help="replay a moment, such as 2026-11-30T09:00:00+01:00")
    made.add_argument("--as", dest="login", metavar="LOGIN", help="answer under this login")
    return made


def count(text: str) -> int:
    """Read a number of things: 0 or more."""
    if not text.isascii() or not text.isdigit():
        raise ArgumentTypeError(f"{text!r} is no number of things; write 0 or more")
    return int(text)


def pair(text: str, option: str = "--input") -> tuple[str, str]:
    """Read NAME=VALUE. Raises UsageError."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"{option} {text}: write it as NAME=VALUE")
    return name, value


def typed(options: Namespace, root: str) -> str:
    """Return the root as the person typed it, else the way there from where they are; "" for right here."""
    if options.root:
        return os.path.join(str(options.root), "").rstrip("/") or "/"
    way = os.path.relpath(root)
    return "" if way == "." else way


def again(options: Namespace) -> str:
    """Return what a person adds to the next command to mean the same root: ` --root DIR`, or nothing."""
    from shlex import quote

    return f" --root {quote(str(options.root))}" if options.root else ""


def root_of(options: Namespace) -> str:
    """Return the root folder: --root, else the nearest parent with `.hz/`."""
    if options.root:
        root = os.path.abspath(str(options.root))
        if os.path.isdir(os.path.join(root, ".hz")):
            return root
        raise UsageError(f"{options.root}: no .hz/ here; `hz-team init{again(options)}` makes one")
    folder = os.getcwd()
    while not os.path.isdir(os.path.join(folder, ".hz")):
        parent = os.path.dirname(folder)
        if parent == folder:
            raise UsageError("no .hz/ here or in any parent folder; `hz-team init` makes one")
        folder = parent
    return folder


def now_of(options: Namespace) -> int:
    """Return the tick's moment in seconds since 1970 UTC: --now, else the clock, read once."""
    if options.now:
        from hz_team.moment import parse_iso

        return parse_iso(options.now)
    import time

    return int(time.time())
