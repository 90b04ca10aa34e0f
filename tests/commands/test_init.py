"""`hz-team init`: two files, and a welcome that is published by ticking it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.commands.terminal import Team, hz

if TYPE_CHECKING:
    from pathlib import Path


def test_two_files_and_a_box(tmp_path: Path) -> None:
    run = hz("init", cwd=tmp_path)
    assert run.err == ""
    assert run.out.startswith("wrote .hz/hz.yaml and .hz/jobs/welcome.yaml\n")
    assert "\n  show     .hz/local/DASHBOARD.md\n" in run.out
    assert run.out.endswith(
        "\nNext  1  open .hz/local/DASHBOARD.md and put an x into the first box: - [x]\n"
        "      2  hz-team tick, which publishes it, once\n"
        "Or       hz-team inbox, the same without an editor\n"
    )
    files = [path for path in (tmp_path / ".hz").rglob("*") if path.is_file() and "local" not in path.parts]
    assert sorted(path.name for path in files) == ["hz.yaml", "welcome.yaml"]
    team = Team(tmp_path)
    assert team.hz("validate").out == "1 helper, 0 watches, all files read\n"
    name = team.tick_box()
    ticked = hz("tick", cwd=tmp_path)
    assert f"  wake     you ticked {name}\n" in ticked.out
    assert "  publish  issue         .hz/local/outbox/issue-1.md\n" in ticked.out
    assert team.out == ["issue-1.md"]
    before = team.contents()
    assert hz("tick", cwd=tmp_path).out == "Nothing due.\n"
    assert team.contents() == before


def test_elsewhere(tmp_path: Path) -> None:
    run = hz("--root", "my team", "init", cwd=tmp_path)
    assert "open my team/.hz/local/DASHBOARD.md and" in run.out
    assert "hz-team tick --root 'my team', which" in run.out
    assert Team(tmp_path / "my team").board.count("hz:approve ") == 1


def test_it_overwrites_nothing(tmp_path: Path) -> None:
    hz("init", cwd=tmp_path)
    team = Team(tmp_path)
    before = team.contents()
    said = hz("init", cwd=tmp_path, code=2).said
    assert said == "hz-team: .hz/hz.yaml is there already and nothing was changed; `hz-team tick` runs what is there"
    assert team.contents() == before


@pytest.mark.parametrize("name", [".hz/hz.yaml", ".hz/jobs/welcome.yaml"])
def test_not_even_a_dead_link(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.symlink_to("nowhere")
    assert name in hz("init", cwd=tmp_path, code=2).said
    assert [path.name for path in tmp_path.rglob("*") if not path.is_dir()] == [path.name]


def test_a_place_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert re.search(
        "Not a directory; nothing can be written there$", hz("init", "--root", str(tmp_path / "file"), code=2).said
    )


def test_as_json(tmp_path: Path) -> None:
    made = hz("init", "--json", cwd=tmp_path).json
    assert made["wrote"] == [".hz/hz.yaml", ".hz/jobs/welcome.yaml"]
    assert len(made["tick"]["open"]) == 1
