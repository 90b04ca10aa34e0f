"""`python -m hz_personal` is the command `hz-personal`, which is not built yet."""

import sys

USAGE = 2
"""Exit code for a command that cannot do what was typed."""


def main() -> int:
    """Say what to type instead."""
    sys.stderr.write("hz-personal: not built yet; team jobs run with `hz-team tick`\n")
    return USAGE


if __name__ == "__main__":
    sys.exit(main())
