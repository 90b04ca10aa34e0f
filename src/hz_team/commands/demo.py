"""`hz-team demo`: the whole story, offline: a feed changes, a job drafts, a person ticks, that text goes out."""

from __future__ import annotations

import os
import re
import shutil
import time
from argparse import Namespace
from contextlib import contextmanager
from hashlib import sha256
from shlex import quote
from typing import TYPE_CHECKING

from hz_team import account, ledger
from hz_team.adapters import cache
from hz_team.commands import assembly, document, option
from hz_team.commands.tick import LOCAL, coloured, once
from hz_team.dashboard import summary
from hz_team.errors import HzError, UsageError
from hz_team.model.observation import Heard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hz_team.ledger import Verdict
    from hz_team.model.screen import Report
    from hz_team.ports import World
    from hz_team.testing.feedserver import FeedServer

ZONE = "Europe/Berlin"
MARK = ".hz/.demo"
FILES = {
    MARK: "This folder was made by `hz-team demo`; the next demo replaces it.\n",
    ".hz/hz.yaml": f"timezone: {ZONE}\n",
    ".hz/watches.yaml": 'learning: {{type: feed, urls: ["{url}"], every: 7d}}\n',
    ".hz/jobs/weekly-digest.yaml": """\
name: Weekly digest
on: {{cron: "0 9 * * MON"}}
watch: [learning]
steps:
  - template: digest.md.j2
publish:
  issue: {{title: "Digest, week {{{{ slot.week }}}}", labels: [newsletter]}}
approve: write
""",
    ".hz/templates/digest.md.j2": """\
What came in since the last digest:

{{% for item in learning.added -%}}
- [{{{{ item.title }}}}]({{{{ item.link }}}})
{{% endfor %}}""",
}
FEED = """\
<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0"><channel><title>Learning</title><link>https://example.org/</link>
<item><guid>https://example.org/leases</guid><title>Leases without a server</title>
<link>https://example.org/leases</link><pubDate>Fri, 27 Nov 2026 10:00:00 GMT</pubDate></item>
<item><guid>https://example.org/receipts</guid><title>Receipts that verify</title>
<link>https://example.org/receipts</link><pubDate>Thu, 26 Nov 2026 10:00:00 GMT</pubDate></item>
</channel></rss>
"""


class DemoFailed(HzError):
    """The story did not go as told."""

    code = 3


def parse(words: list[str]) -> Namespace:
    """Read the command's words."""
    parser = option.parser("demo", __doc__ or "")
    parser.add_argument("--dir", default="demo", metavar="DIR", help="where to play (default: demo)")
    parser.add_argument(
        "--github", action="store_true", help="play it on a GitHub on this machine, with people who click"
    )
    return parser.parse_args(words)


def run(options: Namespace) -> int:
    """Play the story in a folder of its own."""
    from hz_team.testing.feedserver import FeedServer

    root = _stage(options.dir)
    start = last_monday(int(time.time()))
    say = (lambda _: None) if options.json else print
    local = os.path.join(options.dir, LOCAL)
    with FeedServer({"/feed.xml": FEED}) as server:
        if options.github:
            from hz_team.commands import demo_github

            files = [(name, text.format(url=server.url("/feed.xml"))) for name, text in FILES.items()]
            demo_github.play(root, files, start)
            return 0
        _write(root, server)
        say(f"A feed with two items is served on 127.0.0.1; state lives in {local}\n")
        first = _play(root, start, "tick 1", local)
        say(summary.lines(first, colour=coloured()))
        name = _answer(root)
        say(f"\nsomebody ticks {name}  (- [ ] becomes - [x], nothing else changes)\n")
        second = _play(root, start + 240, "tick 2", local)
        say(summary.lines(second, colour=coloured()))
    verdict = _rest(root)
    say("\ntick 3   nothing to do   0 bytes written, 0 refs moved")
    say(f"verify   {verdict.receipts} receipts, {verdict.chains} chain, all good")
    again = f"python -m hz_team tick --root {quote(options.dir)}"
    say(f"\nLook:  {os.path.join(local, 'DASHBOARD.md')}     Again:  {again}")
    if options.json:
        document.show({"dir": root, "ticks": (first, second), "verify": verdict})
    return 0


def last_monday(now: int) -> int:
    """Return the last Monday 09:00 in the demo's zone that lies before `now`."""
    from datetime import datetime, timedelta
    from zoneinfo import ZoneInfo

    local = datetime.fromtimestamp(now, ZoneInfo(ZONE))
    monday = (local - timedelta(days=local.weekday())).replace(hour=9, minute=0, second=0, microsecond=0)
    if monday.timestamp() > now - 240:
        monday -= timedelta(days=7)
    return int(monday.timestamp())


def _stage(folder: str) -> str:
    root = os.path.abspath(folder)
    if os.path.lexists(root):
        if os.path.islink(root) or not os.path.isfile(os.path.join(root, MARK)):
            raise UsageError(f"{folder} is there and was not made by a demo; nothing was changed, try another --dir")
        with _told(folder):
            shutil.rmtree(root)
    shutil.rmtree(cache.folder_of(root, assembly.local_url(root)), ignore_errors=True)  # else it misses the old ledger
    return root


@contextmanager
def _told(folder: str) -> Iterator[None]:
    """Turn what the disk refuses into a sentence."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}; try another --dir") from error


def _write(root: str, server: FeedServer) -> None:
    for name, text in FILES.items():
        path = os.path.join(root, name)
        with _told(root):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(text.format(url=server.url("/feed.xml")))


def _world(root: str, now: int) -> World:
    return assembly.open_world(root, Namespace(remote=assembly.local_url(root), now=None, login=None), now)


def _play(root: str, now: int, title: str, local: str) -> Report:
    world = _world(root, now)
    return account.tell(world, once(world, Heard(), now), title=title, home=local)


def _answer(root: str) -> str:
    """Put an x into the first decision's box, as a person with an editor would."""
    path = os.path.join(root, ".hz", "local", "DASHBOARD.md")
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    found = re.search(r"- \[( )\] <!-- hz:approve (\S+)", text)
    if not found:
        raise DemoFailed(f"{path}: no decision is waiting; the demo has a bug")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(f"{text[: found.start(1)]}x{text[found.end(1) :]}")
    return found.group(2)


def _rest(root: str) -> Verdict:
    """Tick once more, at the real time and with the feed server gone: nothing may move."""
    before = contents(root)
    now = int(time.time())
    world = _world(root, now)
    once(world, Heard(), now)
    after = contents(root)
    changed = sorted(name for name in before | after if before.get(name) != after.get(name))
    if changed:
        raise DemoFailed(f"an idle tick changed {', '.join(changed[:3])}; the demo has a bug")
    view = world.state.fetch()
    verdict = ledger.verify(view, world.state.receipts(view), progress=lambda _: None)
    if verdict.problems:
        raise DemoFailed(verdict.problems[0])
    return verdict


def contents(root: str) -> dict[str, str]:
    """Return path → hash of every file below a folder, the state's refs and objects included."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as stream:
                found[os.path.relpath(path, root)] = sha256(stream.read()).hexdigest()
    return found
