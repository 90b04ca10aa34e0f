from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hz_team.adapters.local import LocalForge
from hz_team.errors import PublishRefused, RemoteError
from hz_team.model.draft import Draft
from hz_team.publishers import file
from tests.publishers.sample import DRAFTS, part_of, tools_of

BOTH: dict[str, Any] = {"a/b.txt": "text", "logo.png": {"base64": "iVBORw=="}}


def test_words() -> None:
    assert file.words(DRAFTS["file"].payload()) == "writes docs/news.md"
    assert file.words(Draft("file", "", "t", "", files=BOTH).payload()) == "writes 2 files"


def test_becomes() -> None:
    told = file.becomes(DRAFTS["file"].payload(), "acme/housework")
    assert told == "exactly the text between the lines becomes the file `docs/news.md` in acme/housework"
    two = file.becomes(Draft("file", "", "t", "", files=BOTH).payload(), "local")
    assert two == "exactly what is shown between the lines is written to `a/b.txt` and `logo.png`"


def test_the_body_becomes_the_file_byte_for_byte(tmp_path: Path) -> None:
    part = part_of("file", body="no end of line")
    assert file.publish(part, tools_of(LocalForge(str(tmp_path)))) == "file-1"
    assert (tmp_path / ".hz/local/outbox/files/docs/news.md").read_bytes() == b"no end of line"
    record = (tmp_path / ".hz/local/outbox/file-1.md").read_text(encoding="utf-8")
    assert record == (f'---\ntitle: "News"\nfiles: {{"docs/news.md": "written"}}\n---\n<!-- hz:key {part.key} -->\n')


def test_several_files_bytes_and_a_removed_one(tmp_path: Path) -> None:
    tools = tools_of(LocalForge(str(tmp_path)))
    file.publish(part_of("file", files=BOTH), tools)
    outbox = tmp_path / ".hz/local/outbox/files"
    assert (outbox / "a/b.txt").read_bytes() == b"text"
    assert (outbox / "logo.png").read_bytes() == b"\x89PNG"
    file.publish(part_of("file", files={"a/b.txt": None, "never/was.txt": None}), tools)
    assert not (outbox / "a/b.txt").exists()


def test_a_file_that_is_the_same_is_not_written_again(tmp_path: Path) -> None:
    tools = tools_of(LocalForge(str(tmp_path)))
    file.publish(part_of("file"), tools)
    written = tmp_path / ".hz/local/outbox/files/docs/news.md"
    before = written.stat()
    file.publish(part_of("file"), tools)
    assert (written.stat().st_mtime_ns, written.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "a/../../../../x", ".git/config", ".hz/jobs/x.yaml", ".hz-new", "a/.hz-new"]
)
def test_a_path_that_leads_elsewhere_is_refused(path: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    with pytest.raises(PublishRefused, match=r"path|configuration"):
        file.publish(part_of("file", target=path), tools_of(LocalForge(str(root))))
    assert not list(tmp_path.rglob("x*"))
    assert not list(root.rglob("file-*.md"))


@pytest.mark.parametrize("link", ["docs", "docs/news.md"])
def test_a_link_in_the_way_is_never_followed(link: str, tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    place = root / ".hz/local/outbox/files" / link
    place.parent.mkdir(parents=True)
    elsewhere.mkdir()
    (elsewhere / "news.md").write_text("mine", encoding="utf-8")
    place.symlink_to(elsewhere / "news.md" if link.endswith(".md") else elsewhere)
    with pytest.raises(RemoteError, match="move it away"):
        file.publish(part_of("file"), tools_of(LocalForge(str(root))))
    assert (elsewhere / "news.md").read_text(encoding="utf-8") == "mine"
    assert not list(root.rglob("file-*.md"))


def test_a_file_where_a_folder_should_be_is_a_sentence(tmp_path: Path) -> None:
    tools = tools_of(LocalForge(str(tmp_path)))
    file.publish(part_of("file", target="docs"), tools)
    with pytest.raises(RemoteError, match="outbox/files/docs"):
        file.publish(part_of("file", target="docs/news.md"), tools)
