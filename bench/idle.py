"""CPU of an idle tick beside its floor, in one run.

The team has 20 jobs and 20 feed watches served on loopback with ETags. The floor is a bare Python that starts, does one
`git fetch` that finds nothing new in the same repository, and makes the same conditional GETs with `http.client`, one
connection each. Both are measured as user + system time of the process and everything it started.

    python bench/idle.py [--rounds 20] [--imports]
"""

from __future__ import annotations

import argparse
import compileall
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from hz_team.testing.feedserver import FeedServer

SOURCE = Path(__file__).parent.parent / "src"
LIMIT = 2
"""Times the floor's CPU."""
FLOOR = """
import http.client, subprocess, sys
cache, refspec, port, tags = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
subprocess.run(["git", "-C", cache, "fetch", "-q", "--no-tags", "origin", refspec], check=True)
for number, tag in enumerate(tags):
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    link.request("GET", f"/feed-{number}.xml", headers={"If-None-Match": tag})
    answer = link.getresponse()
    answer.read()
    assert answer.status == 304, answer.status
    link.close()
"""
REFSPEC = "+refs/heads/hz-state:refs/hz/tip"
FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>Feed {n}</title><link>https://example.org/{n}</link>
<item><guid>https://example.org/{n}/1</guid><title>Item of feed {n}</title><link>https://example.org/{n}/1</link></item>
</channel></rss>"""
JOB = """name: Digest {n}
on: {{cron: "0 9 1 1 *", timezone: Europe/Berlin}}
watch: {{feed: {{type: feed, urls: ["{url}"], every: 1m}}}}
steps:
  - run: echo hello > "$HZ_DRAFT"
publish: {{issue: {{title: "Digest"}}}}
"""


def main() -> int:
    """Measure and print; exit 1 above twice the floor."""
    options = _options()
    compileall.compile_dir(str(SOURCE), quiet=1)
    with tempfile.TemporaryDirectory() as folder, FeedServer(limit=100_000) as server:
        root, environ = Path(folder, "team"), _environ(folder)
        count = 20
        for number in range(count):
            server.put(f"/feed-{number}.xml", FEED.format(n=number), "application/rss+xml")
            _write(root / f".hz/jobs/digest-{number}.yaml", JOB.format(n=number, url=server.url(f"/feed-{number}.xml")))
        tick = [sys.executable, "-m", "hz_team", "tick", "--root", str(root), "--now"]
        _run([*tick, "2026-12-01T08:00:00Z"], environ)
        cache = _mirror(Path(folder), root / ".hz/local/state.git", environ)
        tags = [server.etag(f"/feed-{number}.xml") for number in range(count)]
        floor = [sys.executable, "-c", FLOOR, str(cache), REFSPEC, str(server.port), *tags]
        bare = ours = 0.0
        for round_ in range(options.rounds + 1):
            moment = f"2026-12-01T{8 + (round_ + 1) // 60:02}:{(round_ + 1) % 60:02}:30Z"
            pair = _cpu(floor, environ), _cpu([*tick, moment], environ)
            if round_:
                bare, ours = bare + pair[0], ours + pair[1]
        print(f"floor      {bare / options.rounds * 1000:6.1f} ms CPU   python + git fetch + {count} conditional GETs")
        print(f"idle tick  {ours / options.rounds * 1000:6.1f} ms CPU   {count} jobs, {count} watches, all 304")
        print(f"ratio      {ours / bare:6.2f}            at most 2, goal 1.5")
        if options.imports:
            print(_run([sys.executable, "-X", "importtime", *tick[1:], "2026-12-01T09:30:00Z"], environ).stderr)
    return int(ours / bare > LIMIT)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--imports", action="store_true", help="print what an idle tick imports, with times")
    return parser.parse_args()


def _environ(folder: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {
        **kept,
        "HOME": folder,
        "XDG_CACHE_HOME": f"{folder}/cache",
        "PYTHONPATH": str(Path(__file__).parent.parent / "src"),
    }


def _mirror(folder: Path, state: Path, environ: dict[str, str]) -> Path:
    """Return a bare repository that has fetched the state once, for the floor's own fetch that finds nothing new."""
    cache = folder / "floor.git"
    _run(["git", "init", "-q", "--bare", str(cache)], environ)
    _run(["git", "-C", str(cache), "remote", "add", "origin", str(state)], environ)
    _run(["git", "-C", str(cache), "fetch", "-q", "--no-tags", "origin", REFSPEC], environ)
    return cache


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _run(argv: list[str], environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        sys.exit(f"{argv}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def _cpu(argv: list[str], environ: dict[str, str]) -> float:
    """Return user + system seconds of a process and all that it waited for."""
    null = os.open(os.devnull, os.O_RDWR)
    process = os.posix_spawn(argv[0], argv, environ, file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
    os.close(null)
    _, status, usage = os.wait4(process, 0)
    if status:
        sys.exit(f"{argv}: status {status}")
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
