"""`plan --next 1` of a thousand different schedules, beside its floor: a bare Python that reads the same files.

    python bench/plan.py [--jobs 1000] [--watches 50]

The first read compiles everything and is reported apart; what it made is kept by content hash in the cache folder.
"""

from __future__ import annotations

import argparse
import compileall
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src"
ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC")
FLOOR = """
import hashlib, os, sys
seen = hashlib.sha256()
for folder, _, names in os.walk(sys.argv[1]):
    for name in sorted(names):
        with open(os.path.join(folder, name), "rb") as stream:
            seen.update(stream.read())
"""
LIMIT = 1.0
"""Seconds on two cores."""


def main() -> int:
    """Measure and print; exit 1 above the limit."""
    options = _options()
    compileall.compile_dir(str(SOURCE), quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "team")
        _team(root, options.jobs, options.watches)
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "XDG_CACHE_HOME": f"{folder}/cache",
            "PYTHONPATH": str(SOURCE),
        }
        plan = [sys.executable, "-m", "hz_team", "plan", "--next", "1", "--root", str(root), "--now"]
        first, lines = _wall([*plan, "2026-12-01T08:00:00Z"], environ)
        floor = min(_wall([sys.executable, "-c", FLOOR, str(root / ".hz")], environ)[0] for _ in range(5))
        warm = min(_wall([*plan, f"2026-12-01T08:0{minute}:00Z"], environ)[0] for minute in range(5))
        far, _ = _wall([*plan, "2027-03-01T08:00:00Z"], environ)
    print(f"first read   {first:6.2f} s   {options.jobs} jobs, {options.watches} watches, compiled and kept")
    print(f"floor        {floor:6.2f} s   a bare Python that reads and hashes the same files")
    print(f"plan         {warm:6.2f} s   {lines - 1} slots; at most {LIMIT} s; {warm / floor:.1f} times the floor")
    print(f"far ahead    {far:6.2f} s   three months later, beyond what was compiled")
    return int(warm > LIMIT)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--watches", type=int, default=50)
    return parser.parse_args()


def _team(root: Path, jobs: int, watches: int) -> None:
    folder = root / ".hz/jobs"
    folder.mkdir(parents=True)
    shared = "".join(
        f'feed-{n}: {{type: feed, urls: ["https://feed-{n}.example.org/"], every: 6h}}\n' for n in range(watches)
    )
    (root / ".hz/watches.yaml").write_text(shared, encoding="utf-8")
    for number in range(jobs):
        cron = f"{number % 60} {number // 60 % 24} * * {number % 7}"
        text = (
            f"name: Job {number}\n"
            f'on: {{cron: "{cron}", timezone: {ZONES[number % len(ZONES)]}}}\n'
            f"watch: [feed-{number % watches}]\n"
            'steps:\n  - run: echo hello > "$HZ_DRAFT"\n'
            f"publish: {{issue: {{title: Job {number}}}}}\n"
        )
        (folder / f"job-{number}.yaml").write_text(text, encoding="utf-8")


def _wall(argv: list[str], environ: dict[str, str]) -> tuple[float, int]:
    started = time.perf_counter()
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, check=False, timeout=300)
    took = time.perf_counter() - started
    if done.returncode:
        sys.exit(f"{argv}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return took, done.stdout.count("\n")


if __name__ == "__main__":
    sys.exit(main())
