"""What others could write to is read without following anything out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hz_team.beneath import WorkroomError, listed, read_beneath


def test_a_plain_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_bytes(b"x")
    assert read_beneath(str(tmp_path), ("out", "a")) == b"x"
    assert read_beneath(str(tmp_path), ("out", "b")) is None
    assert listed(str(tmp_path), ("out",)) == ["a"]


def test_links_pipes_and_shared_files_are_refused(tmp_path: Path) -> None:
    for name in ("secret", "shared"):
        (tmp_path / name).write_bytes(b"treasure")
    out = tmp_path / "out"
    out.mkdir()
    (out / "link").symlink_to("../secret")
    os.mkfifo(out / "pipe")
    (out / "hard").hardlink_to(tmp_path / "shared")
    (out / "folder").mkdir()
    (out / "own").write_bytes(b"own")
    (tmp_path / "away").symlink_to("out")
    for names in (("out", "link"), ("out", "pipe"), ("out", "hard"), ("out", "folder"), ("away", "own")):
        with pytest.raises(WorkroomError):
            read_beneath(str(tmp_path), names)
    with pytest.raises(WorkroomError):
        listed(str(tmp_path), ("away",))


def test_a_large_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 11)
    assert read_beneath(str(tmp_path), ("a",), largest=11) == b"x" * 11
    with pytest.raises(WorkroomError, match="larger than 10 bytes"):
        read_beneath(str(tmp_path), ("a",), largest=10)
