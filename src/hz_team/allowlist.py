"""The module allowlist of `.hz/hz.yaml`, held by an import hook in the child that runs a team's file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import FrameType


class Allowed:
    """Import hook: the team's file may import the standard library, hz_team and what the allowlist names."""

    def __init__(self, file: str, modules: Sequence[str]) -> None:
        self.file, self.modules = file, tuple(modules)

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Refuse what is not on the list when the file itself asks; what an allowed module needs is its own affair."""
        del path, target
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names or top == "hz_team" or self._named(name) or not self._asked():
            return None
        raise ImportError(f"{name} is not on the list `modules` of .hz/hz.yaml", name=name)

    def _named(self, name: str) -> bool:
        return any(name == one or name.startswith(f"{one}.") or one.startswith(f"{name}.") for one in self.modules)

    def _asked(self) -> bool:
        frame: FrameType | None = sys._getframe(2)  # noqa: SLF001  (who imports is known to nobody else)
        while frame is not None and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        return frame is not None and frame.f_code.co_filename == self.file
