"""`python -m hz_team` is the command `hz-team`."""

import sys

from hz_team.cli import main

if __name__ == "__main__":
    sys.exit(main())
