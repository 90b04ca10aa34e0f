"""`python -m hz_team.model.config FOLDER`: write the JSON Schemas for editors."""

from __future__ import annotations

import os
import sys

from hz_team.model.config import documents


def main(folder: str) -> None:
    """Write every schema into the folder."""
    os.makedirs(folder, exist_ok=True)
    for name, text in documents().items():
        with open(os.path.join(folder, name), "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)


if __name__ == "__main__":
    main(sys.argv[1])
