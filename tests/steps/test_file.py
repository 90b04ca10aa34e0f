"""`file`: writes below the working folder, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from hz_team.model.job import Step
from hz_team.steps.file import OutsideError, write
from tests.drafting import run, shell

SPECS = [
    {"path": "out/a.txt", "content": "hello"},
    {"file": "out/a.txt", "content": "hello"},
    {"file": {"path": "out/a.txt", "content": "hello"}},
]


@pytest.mark.parametrize("spec", SPECS)
def test_a_file_is_written(tmp_path: Path, spec: dict[str, object]) -> None:
    outcome = run(tmp_path, Step("file", spec), shell('cat out/a.txt > "$HZ_DRAFT"'))
    assert outcome.drafts[0].body == "hello"


def test_content_is_no_template_and_no_shell(tmp_path: Path) -> None:
    text = "{{ slot.week }} $(id) `id`\n"
    write(str(tmp_path), {"path": "a", "content": text})
    assert (tmp_path / "a").read_text() == text


def test_a_file_is_copied_and_appended(tmp_path: Path) -> None:
    write(str(tmp_path), {"path": "a", "content": "one"})
    write(str(tmp_path), {"path": "b", "from": "a"})
    write(str(tmp_path), {"path": "b", "content": " two", "append": True})
    assert (tmp_path / "b").read_text() == "one two"


@pytest.mark.parametrize("path", ["../a", "/tmp/a", "x/../../a", ".", "", "link/a"])
def test_outside_is_refused(tmp_path: Path, path: str) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (folder / "link").symlink_to("../outside")
    with pytest.raises(OutsideError, match="working folder"):
        write(str(folder), {"path": path, "content": "x"})
    assert list(outside.iterdir()) == []
