"""The files watch, on real folders."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import pytest

from hz_team.watches import files
from tests.watches.looking import NOW, Look

if TYPE_CHECKING:
    from pathlib import Path

TREE = """
README.md docs/a.md docs/b.txt docs/deep/c.md docs/deep/er/d.md docs/.hidden.md src/x.py .github/x.yml .hz/jobs/j.yaml
.hz/local/DASHBOARD.md .git/config docs/sub/.git/HEAD [odd]/file.md docs/ü.md
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "team"
    for name in TREE.split():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return folder


def look_at(root: Path, *patterns: str, **spec: object) -> Look:
    return Look("files", {"paths": list(patterns), **spec}, root=str(root))


PATTERNS = {
    ("docs/**/*.md",): "docs/.hidden.md docs/a.md docs/deep/c.md docs/deep/er/d.md docs/ü.md",
    ("docs/*.md",): "docs/.hidden.md docs/a.md docs/ü.md",
    ("*.md",): "README.md",
    ("**/*.md", "!docs/**"): "README.md [odd]/file.md",
    ("**", "!docs/**", "docs/a.md"): ".github/x.yml .hz/jobs/j.yaml README.md [odd]/file.md docs/a.md src/x.py",
    ("docs/**/d.md",): "docs/deep/er/d.md",
    ("**/deep/**",): "docs/deep/c.md docs/deep/er/d.md",
    ("docs/?.md",): "docs/a.md docs/ü.md",
    ("docs/[ab].*",): "docs/a.md docs/b.txt",
    ("docs/[!a].*",): "docs/b.txt docs/ü.md",
    ("docs/[a-z].[mt]*",): "docs/a.md docs/b.txt",
    ("[[]odd]/*",): "[odd]/file.md",
    ("/README.md",): "README.md",
    ("docs",): "",
    ("../**",): "",
    ("!docs/**",): "",
    (".git/**", ".hz/local/**", "docs/sub/**"): "",
}


@pytest.mark.parametrize(("patterns", "names"), PATTERNS.items(), ids=[" ".join(patterns) for patterns in PATTERNS])
def test_patterns(root: Path, patterns: tuple[str, ...], names: str) -> None:
    look = look_at(root, *patterns)
    look()
    assert [item["id"] for item in look.items] == names.split()


def test_an_item(root: Path) -> None:
    look = look_at(root, "docs/a.md")
    assert look().added == 1
    digest = hashlib.sha256(b"docs/a.md").hexdigest()
    assert look.items == ({"id": "docs/a.md", "title": "docs/a.md", "path": "docs/a.md", "size": 9, "sha256": digest},)


def test_added_changed_and_removed(root: Path) -> None:
    look = look_at(root, "docs/**/*.md")
    look()
    base = look.items
    (root / "docs/new.md").write_text("new")
    (root / "docs/a.md").write_text("docs/A.md")
    (root / "docs/deep/c.md").unlink()
    polled = look(NOW + 60)
    facets = look.since(base)
    assert polled.added == 1
    names = [[item["id"] for item in part] for part in facets[:3]]
    assert names == [["docs/new.md"], ["docs/a.md"], ["docs/deep/c.md"]]


def test_unchanged_files_are_neither_read_nor_loaded(root: Path) -> None:
    look = look_at(root, "docs/**/*.md")
    look()
    assert look(NOW + 60).items is None
    loads = look.loads
    for name in TREE.split():
        os.chmod(root / name, 0o000)  # root reads on all the same: so the content is changed under the old stat too
    path = root / "docs/a.md"
    stat = path.stat()
    path.write_bytes(b"docs/X.md")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    polled = look(NOW + 120)
    assert (polled.items, polled.unchanged, polled.notes) == (None, 1, ())
    assert look.loads == loads
    look.stats.clear()
    assert look(NOW + 180).items is not None or look.notes, "with the memory lost everything is read again"


def test_a_file_that_changes_within_one_tick_of_its_clock_is_seen(root: Path) -> None:
    look = look_at(root, "docs/a.md")
    path = root / "docs/a.md"
    path.write_text("one")
    look()
    stat = path.stat()
    path.write_text("two")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert look(NOW + 60).items is not None


def test_links_do_not_lead_out(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("sesame")
    (root / "docs/out.md").symlink_to(tmp_path / "secret.md")
    (root / "docs/up").symlink_to(tmp_path)
    (root / "docs/loop").symlink_to(root / "docs")
    (root / "docs/config.md").symlink_to(root / ".git/config")
    (root / "docs/local.md").symlink_to(root / ".hz/local/DASHBOARD.md")
    (root / "docs/gone.md").symlink_to(root / "nowhere")
    (root / "docs/in.md").symlink_to(root / "README.md")
    look = look_at(root, "docs/**", "!docs/deep/**")
    look()
    names = ["docs/.hidden.md", "docs/a.md", "docs/b.txt", "docs/in.md", "docs/ü.md"]
    assert [item["id"] for item in look.items] == names
    os.mkfifo(root / "docs/pipe.md")
    assert look(NOW + 60).items is None, "only files are looked at"


def test_names_that_are_no_text(root: Path) -> None:
    with open(os.fsencode(root) + b"/docs/caf\xe9.md", "wb") as stream:
        stream.write(b"x")
    look = look_at(root, "docs/c*.md")
    look()
    assert [item["id"] for item in look.items] == ["docs/caf\\xe9.md"]


def test_a_first_look_at_nothing_is_a_snapshot(root: Path) -> None:
    look = look_at(root, "nothing/**")
    assert look().items == ()
    assert look(NOW + 60).items is None


def test_too_many_files_change_nothing_and_are_said(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look = look_at(root, "docs/**/*.md")
    look()
    before = look.items
    monkeypatch.setattr(files, "MOST", 3)
    polled = look(NOW + 60)
    assert polled.notes == ("learning: 4 files and more match, which no snapshot holds; narrow `paths`",)
    assert (polled.urgent, look(NOW + 120).urgent) == (True, False)
    monkeypatch.undo()
    last = look(NOW + 180)
    assert (last.items, last.urgent, look.items) == (None, True, before)


def test_a_root_that_is_not_there(tmp_path: Path) -> None:
    polled = look_at(tmp_path / "gone", "**")()
    assert polled.items is None
    assert "there is no folder" in polled.notes[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_cannot_be_read_is_not_taken_for_removed(root: Path) -> None:
    look = look_at(root, "docs/**/*.md")
    look()
    before = look.items
    os.chmod(root / "docs/deep", 0o000)
    polled = look(NOW + 60)
    os.chmod(root / "docs/deep", 0o700)
    assert "cannot be listed" in polled.notes[0]
    assert look.items == before


def test_ignore(root: Path) -> None:
    look = look_at(root, "docs/a.md", ignore=["size", "path", "id"])
    look()
    assert set(look.items[0]) == {"id", "title", "sha256"}
