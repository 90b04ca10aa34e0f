"""What Git and a server can do and refuse: asked of real ones, and nothing is written."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from hz_team.adapters import probe
from hz_team.adapters.mirror import Mirror
from hz_team.adapters.state import GitState
from hz_team.ports import Guard
from tests.git_server import bare, count_pushes, served

if TYPE_CHECKING:
    from pathlib import Path


def begun(place: Path, **settings: str) -> Path:
    """Make a repository with a state branch."""
    path = bare(place / "state.git", **settings)
    GitState(path.as_uri(), str(place / "first")).record(
        GitState(path.as_uri(), str(place / "first")).fetch(), {"a.json": b"{}"}, "begin\n"
    )
    return path


def test_git_says_its_version() -> None:
    said = subprocess.run(("git", "version"), check=True, capture_output=True, text=True).stdout.split()[2]
    found = probe.version(os.environ)
    assert len(found) >= 2
    assert said.startswith(".".join(map(str, found)))


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize(("setting", "can"), [("true", True), ("false", False)])
def test_whether_a_server_takes_atomic_pushes(tmp_path: Path, setting: str, can: bool, far: bool) -> None:  # noqa: FBT001
    path = begun(tmp_path, receive_advertiseAtomic=setting)
    log = count_pushes(path)
    with served(tmp_path) as root:
        url = f"{root}/state.git" if far else path.as_uri()
        state = GitState(url, str(tmp_path / "cache/state.git"))
        mirror = Mirror(url, str(tmp_path / "cache/state.git"), os.environ)
        old = state.fetch()
        assert probe.takes_atomic(mirror, old.tip) is can
        assert log.read_text() == ""
        GitState(path.as_uri(), str(tmp_path / "other")).record(old, {"a.json": b"[]"}, "others go on\n")
        assert probe.takes_atomic(mirror, old.tip) is can
    assert probe.takes_atomic(Mirror((tmp_path / "nowhere.git").as_uri(), mirror.path, os.environ), old.tip) is None


def test_how_a_repository_of_this_machine_guards_the_branch(tmp_path: Path) -> None:
    for number, (rewriting, removal) in enumerate([("true", "yes"), ("1", "false"), ("no", "on")]):
        place = tmp_path / str(number)
        place.mkdir()
        path = bare(place / "state.git", receive_denyNonFastForwards=rewriting, receive_denyDeletes=removal)
        assert GitState(path.as_uri(), str(place / "cache")).guarded() == Guard(rewriting != "no", removal != "false")
    plain = bare(tmp_path / "plain.git")
    assert GitState(plain.as_uri(), str(tmp_path / "cache")).guarded() == Guard(rewriting=False, removal=False)


def test_a_repository_elsewhere_or_broken_does_not_say(tmp_path: Path) -> None:
    assert GitState("https://example.org/x.git", str(tmp_path / "cache")).guarded() is None
    broken = bare(tmp_path / "broken.git")
    (broken / "config").write_text("[receive\n")
    assert GitState(broken.as_uri(), str(tmp_path / "cache")).guarded() is None
