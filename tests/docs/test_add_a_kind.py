"""The recipe is executed: its files are installed as a package would be, and its kind publishes."""

from __future__ import annotations

import importlib
import os
import re
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from hz_team import registry
from hz_team.adapters.local import LocalForge
from hz_team.model.draft import Draft
from tests.publishers.sample import KEY, REPOSITORY, settle, tools_of

if TYPE_CHECKING:
    import pytest

HERE = Path(__file__).parents[2]
PAGE = (HERE / "docs/add-a-kind.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"^ *<!-- file: (\S+) -->\n *```\w+\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)


def examples() -> dict[str, str]:
    return {name: textwrap.dedent(text) for name, text in EXAMPLE.findall(PAGE)}


def install(place: Path) -> None:
    """Do what a package installer does with the page's two files (packaging.python.org, entry points)."""
    files = examples()
    project = tomllib.loads(files["pyproject.toml"])["project"]
    (place / "guest_book.py").write_text(files["guest_book.py"], encoding="utf-8")
    info = place / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8")
    sections = [
        f"[{group}]\n" + "".join(f"{name} = {module}\n" for name, module in points.items())
        for group, points in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(sections), encoding="utf-8")


def test_the_example_publishes_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site, root = tmp_path / "site", tmp_path / "root"
    site.mkdir()
    root.mkdir()
    install(site)
    monkeypatch.syspath_prepend(str(site))
    importlib.invalidate_caches()
    try:
        kind = registry.publisher("guest_book")
        payload = Draft("guest_book", "", "Thank you", "It was nice here.\n").payload()
        (part,) = kind.parts(payload, REPOSITORY, KEY)
        assert kind.undoable
        assert kind.words(payload) == "signs the guest book"
        assert kind.becomes(payload, REPOSITORY).startswith("exactly the text")
        tools = tools_of(LocalForge(str(root)))
        assert [settle(part, tools), settle(part, tools)] == ["guest_book-1", "guest_book-1"]
    finally:
        sys.modules.pop("guest_book", None)
    text = (root / ".hz/local/outbox/guest_book-1.md").read_text(encoding="utf-8")
    assert text == f'---\ntitle: "Thank you"\n---\n<!-- hz:key {part.key} -->\n\nIt was nice here.\n'


def test_every_name_and_file_of_the_page_exists() -> None:
    files = {path for path in re.findall(r"`((?:src|tests)/[^`]+)`", PAGE) if "NAME" not in path}
    assert files
    assert [path for path in files if not (HERE / path).exists()] == []
    folders = {os.path.dirname(path) for path in re.findall(r"`((?:src|tests)/[^`]+)`", PAGE)}
    assert [path for path in folders if not (HERE / path).is_dir()] == []
    assert all(re.search(rf"`{name}\b", PAGE) for name in ("KIND", "UNDOABLE", "becomes", "find", "publish", "words"))
    assert all(hasattr(registry, name) and f"`{name}`" in PAGE for name in ("WATCHES", "STEPS", "PUBLISHERS"))
