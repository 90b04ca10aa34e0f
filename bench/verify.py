"""`hz-team receipts verify` of a long ledger beside its floor, both as processes, one after the other in one run.

The floor is a bare Python that reads the same bytes with `git cat-file --batch` and hashes every receipt: it knows
nothing of chains, positions or segments.

    python bench/verify.py [--receipts 100000] [--rounds 5]
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
LIMIT = 1.5
"""Times the floor."""
FLOOR = """
import hashlib, subprocess, sys, tempfile
git = ("git", "-C", sys.argv[1])
listing = subprocess.run((*git, "ls-tree", "-r", "hz-state", "receipts/", "segments/"), check=True, capture_output=True)
with tempfile.TemporaryFile() as ids:
    ids.write(b"".join(line.split()[2] + b"\\n" for line in listing.stdout.splitlines()))
    ids.seek(0)
    reading = subprocess.Popen((*git, "cat-file", "--batch", "--buffer"), stdin=ids, stdout=subprocess.PIPE)
    count = 0
    while header := reading.stdout.readline():
        content = reading.stdout.read(int(header.split()[2]) + 1)[:-1]
        for receipt in content.splitlines():
            hashlib.sha256(receipt).hexdigest()
            count += 1
print(count)
"""


def main() -> int:
    """Measure and print; exit 1 above the limit."""
    sys.path.insert(0, str(SOURCE.parent))
    from bench import ledgers

    options = _options()
    compileall.compile_dir(str(SOURCE), quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "team")
        state = root / ".hz/local/state.git"
        (root / ".hz/local").mkdir(parents=True)
        (root / ".hz/hz.yaml").write_text("timezone: UTC\n", encoding="utf-8")
        ledgers.make(state, receipts=options.receipts)
        environ = {"PATH": os.environ["PATH"], "HOME": folder, "XDG_CACHE_HOME": folder, "PYTHONPATH": str(SOURCE)}
        commands = {
            "floor": ([sys.executable, "-c", FLOOR, str(state)], f"{options.receipts}\n"),
            "verify": (
                [sys.executable, "-m", "hz_team", "receipts", "verify", "--root", str(root)],
                f"verify   {options.receipts:,} receipts, ",
            ),
        }
        rounds = [{name: _wall(*command, environ) for name, command in commands.items()} for _ in range(options.rounds)]
    floor, verify = (min(one[name] for one in rounds) for name in ("floor", "verify"))  # all else is the machine's
    size = "".join(f"{'':9}{name:8} {' '.join(f'{one[name]:.2f}' for one in rounds)}\n" for name in commands)
    print(f"floor    {floor:6.2f} s   {options.receipts:,} receipts read and hashed")
    print(f"verify   {verify:6.2f} s   at most {LIMIT} times the floor; {verify / floor:.2f} times")
    print(size, end="")
    return int(verify > LIMIT * floor)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--receipts", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def _wall(argv: list[str], said: str, environ: dict[str, str]) -> float:
    """Return how many seconds a command took that says what it should."""
    started = time.perf_counter()
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, check=False, timeout=300)
    took = time.perf_counter() - started
    if done.returncode or not done.stdout.startswith(said):
        sys.exit(f"{argv[:4]}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return took


if __name__ == "__main__":
    sys.exit(main())
