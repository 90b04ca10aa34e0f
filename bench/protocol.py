"""The lease and record protocol, searched further than the tests do; exit 1 and a trace when an invariant breaks.

    python bench/protocol.py [--holders 2] [--horizon 9] [--faults 2] … [--margin 1] [--quiet 2] [--fence 1]

Without options a list of larger bounds is searched, one after the other: about a million states each, 2 GB and some
minutes. With a finer clock:

    … --margin 3 --quiet 6 --ttl 3 --skew 3 --late 3 --horizon 14 --faults 0 --others 0 --renewals 0
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.protocol.model import Bounds, Rules

CLOCK = ("margin", "quiet", "fence")
"""The rules that are numbers; the others are demands, and tests leave them out one by one."""


def main() -> int:
    """Search and print; exit 1 when something breaks."""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from tests.protocol.check import search
    from tests.protocol.explore import written
    from tests.protocol.model import Bounds, Rules

    usual = Rules()
    given = _given(Bounds(), usual)
    margin, quiet, fence = (given.get(name, getattr(usual, name)) for name in CLOCK)
    rules = Rules(margin=margin, quiet=quiet, fence=fence)
    chosen = {name: value for name, value in given.items() if name not in CLOCK}
    broken = False
    for bounds in (Bounds(**chosen),) if given else _larger():
        found = search(rules, bounds)
        broken |= bool(found.broken)
        print(f"{found.states:>10,} states {found.moves:>11,} moves, depth {found.depth}, {found.seconds:.0f} s of CPU")
        print(f"           {bounds}", flush=True)
        if found.broken:
            print(written(found))
    return int(broken)


def _larger() -> tuple[Bounds, ...]:
    from tests.protocol.model import Bounds

    return (
        Bounds(faults=1, others=1, renewals=0, horizon=7),
        Bounds(faults=1, others=0, renewals=1, horizon=7),
        Bounds(faults=2, others=0, renewals=0, horizon=6),
        Bounds(faults=0, others=0, renewals=0, horizon=14),
        Bounds(holders=3, faults=1, others=0, renewals=0, horizon=4),
    )


def _given(bounds: Bounds, rules: Rules) -> dict[str, int]:
    """Return what the command line says, and only that."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in (*bounds._fields, *CLOCK):
        known = getattr(rules if name in CLOCK else bounds, name)
        parser.add_argument(f"--{name}", type=int, default=argparse.SUPPRESS, help=f"{known} unless said")
    return vars(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
