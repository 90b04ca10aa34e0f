"""The race, as long as one likes: machines tick against one state over connections that break, are killed and stopped.

    python bench/race.py --minutes 30 [--seed N] [--processes 8] [--slots 200] [--rounds 25]

Races one after the other until the time is over; the first has the seed that was given or drawn, each further one the
next. Each prints what happened, in numbers. The first that breaks a rule ends the run with exit 1: its folder stays,
with what every process said and a timeline, and the command is printed that races with the same seed again. What is
drawn follows from the seed; which process is faster does not.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path


def main() -> int:
    """Race until the time is over; exit 1 if a rule was broken."""
    options = _options()
    end = time.monotonic() + options.minutes * 60
    seed = options.seed
    while not (broken := _race(seed, options)) and time.monotonic() < end:
        seed += 1
    return int(broken)


def _race(seed: int, options: argparse.Namespace) -> bool:
    """Race once; return whether a rule was broken."""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from tests.race.course import Course
    from tests.race.machine import Forker
    from tests.race.team import crowd, gathered

    place = Path(tempfile.mkdtemp(prefix=f"race-{seed}-"))
    names = [f"m{number}" for number in range(options.processes)]
    forker, began = Forker(options.source), time.monotonic()
    try:
        with gathered(place, forker) as team:
            course = Course(team, crowd(options.slots), names, beside=names[1::2], seed=seed)
            course.drive(options.rounds)
            course.calm()
            wrong = course.judge()
            print(f"seed {seed}   {time.monotonic() - began:.0f} s   {course.told()}", flush=True)
    finally:
        forker.close()
    if not wrong:
        shutil.rmtree(place)
        return False
    print("\n".join(f"- {sentence}" for sentence in wrong))
    print(f"{place}/timeline.log has all of it; again: {_again(seed, options)}")
    return True


def _again(seed: int, options: argparse.Namespace) -> str:
    bounds = " ".join(f"--{name} {getattr(options, name)}" for name in ("processes", "slots", "rounds"))
    return f"python bench/race.py --minutes 0 --seed {seed} {bounds}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30, help="0: one race")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--slots", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=25, help="of one race, before everybody works in peace")
    source = Path(__file__).parent.parent / "src"
    parser.add_argument("--source", type=Path, default=source, help="whose hz_team is raced; default: this one's")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
