"""`hz-team init`: two files, and a welcome proposal that is published by ticking it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hz_team.commands import option
from hz_team.errors import UsageError
from hz_team.model.observation import Heard
from hz_team.moment import iso

if TYPE_CHECKING:
    from argparse import Namespace

SETTINGS = """\
# Settings of this team's helpers. Every key is optional; `hz-team config` prints what holds.
timezone: {zone}
approve: write            # who may say yes: anyone who can write here
"""
WELCOME = """\
# A whole helper. It wakes once, drafts, and waits for a yes; delete it when you have seen it work.
name: Welcome
on: {{once: ["{moment}"]}}
steps:
  - template: |
      This is the first thing your helpers wrote. It waited until somebody ticked its box.

      - Helpers live in `.hz/jobs/`, one file each.
      - They only draft. What is published is what a person ticked, once.
      - Every step left a receipt: `hz-team receipts list`.
publish:
  issue: {{title: "Your helpers have moved in"}}
approve: write
"""


def parse(words: list[str]) -> Namespace:
    """Read the command's words."""
    return option.parser("init", __doc__ or "").parse_args(words)


def run(options: Namespace) -> int:
    """Write the files, make the first draft, and say what to do next."""
    root = os.path.abspath(options.root or os.curdir)
    files = {".hz/hz.yaml": SETTINGS, ".hz/jobs/welcome.yaml": WELCOME}
    taken = [name for name in files if os.path.lexists(os.path.join(root, name))]
    if taken:
        there = os.path.join(options.root or "", taken[0])
        again = option.again(options)
        raise UsageError(f"{there} is there already and nothing was changed; `hz-team tick{again}` runs what is there")
    now = option.now_of(options)
    for name, text in files.items():
        _write(os.path.join(root, name), text.format(zone=system_zone(), moment=iso(now)))
    return _first_tick(options, root, now, tuple(files))


def _first_tick(options: Namespace, root: str, now: int, files: tuple[str, ...]) -> int:
    """Make the first draft, so that there is a box to tick; say how."""
    from hz_team.commands import assembly, tick

    options.root = options.root or ""
    world = assembly.open_world(root, options, now)
    story = tick.once(world, Heard(), now)
    report = tick.told(world, story, options)
    if options.json:
        from hz_team.commands import document

        document.show({"wrote": files, "tick": tick.as_document(report, story, [])})
        return 0
    from hz_team.dashboard import summary

    again = option.again(options)
    print(f"wrote {' and '.join(files)}\n\n{summary.lines(report, colour=tick.coloured())}")
    print(f"\nNext  1  open {report.link} and put an x into the first box: - [x]")
    print(f"      2  hz-team tick{again}, which publishes it, once")
    print(f"Or       hz-team inbox{again}, the same without an editor")
    return 0


def _write(path: str, text: str) -> None:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; nothing can be written there") from error


def system_zone() -> str:
    """Return this machine's IANA zone, UTC if it does not say."""
    from zoneinfo import available_timezones

    link = os.path.realpath("/etc/localtime")
    named = os.environ.get("TZ", "").lstrip(":") or link.partition("zoneinfo/")[2]
    return "UTC" if named == "Etc/UTC" or named not in available_timezones() else named
