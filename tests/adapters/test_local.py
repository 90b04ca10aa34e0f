"""The forge of one machine: what its files look like, and what it refuses."""

from __future__ import annotations

import os
import pwd
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hz_team.adapters import folder
from hz_team.adapters.local import LocalForge, local_user
from hz_team.errors import PublishRefused, RemoteError, TryAgain
from tests.publishers.sample import HOSTILE

MARKER = f"<!-- hz:key {'1' * 64} -->"
DASHBOARD = ".hz/local/DASHBOARD.md"
PAGES = {
    "dashboard": DASHBOARD,
    "dashboard-2": ".hz/local/DASHBOARD-2.md",
    "p-3f9c21ab": ".hz/local/inbox/p-3f9c21ab.md",
}


@pytest.fixture
def forge(tmp_path: Path) -> LocalForge:
    return LocalForge(str(tmp_path))


@pytest.mark.parametrize(("name", "path"), PAGES.items())
def test_pages_are_files(forge: LocalForge, name: str, path: str, tmp_path: Path) -> None:
    assert forge.put_page(name, "text\n", expected=None)
    assert (tmp_path / path).read_bytes() == b"text\n"
    assert forge.link(name) == path.removeprefix(".hz/local/")


def test_looking_writes_nothing(forge: LocalForge, tmp_path: Path) -> None:
    assert forge.page("dashboard") is None
    assert forge.find("issue", MARKER).status == "absent"
    forge.drop_page("p-3f9c21ab")
    assert not list(tmp_path.iterdir())


def test_everything_is_for_this_user_alone_and_ignored_by_git(forge: LocalForge, tmp_path: Path) -> None:
    forge.put_page("dashboard", "text\n", expected=None)
    forge.put_page("p-3f9c21ab", "text\n", expected=None)
    forge.create("file", {"files": {"a/b": "c"}}, MARKER)
    for path in (tmp_path / ".hz/local", *(tmp_path / ".hz/local").rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    subprocess.run(("git", "init", "--quiet"), cwd=tmp_path, check=True)
    status = subprocess.run(("git", "status", "--porcelain"), cwd=tmp_path, check=True, capture_output=True)
    assert status.stdout == b""


def test_a_folder_that_somebody_made_before_is_closed_once(forge: LocalForge, tmp_path: Path) -> None:
    place = tmp_path / ".hz/local"
    place.mkdir(parents=True, mode=0o755)
    forge.prepare()
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    place.chmod(0o750)
    forge.prepare()
    assert stat.S_IMODE(place.stat().st_mode) == 0o750


def test_the_mode_that_a_person_gave_a_page_stays(forge: LocalForge, tmp_path: Path) -> None:
    forge.put_page("dashboard", "one\n", expected=None)
    (tmp_path / DASHBOARD).chmod(0o640)
    assert forge.put_page("dashboard", "two\n", expected="one\n")
    assert stat.S_IMODE((tmp_path / DASHBOARD).stat().st_mode) == 0o640


def test_an_unchanged_page_is_not_touched(forge: LocalForge, tmp_path: Path) -> None:
    forge.put_page("dashboard", "same\n", expected=None)
    os.utime(tmp_path / DASHBOARD, ns=(1, 1_000_000_000))
    folder_before = (tmp_path / ".hz/local").stat().st_mtime_ns
    assert forge.put_page("dashboard", "same\n", expected="same\n")
    assert (tmp_path / DASHBOARD).stat().st_mtime_ns == 1_000_000_000
    assert (tmp_path / ".hz/local").stat().st_mtime_ns == folder_before
    page = forge.page("dashboard")
    assert page is not None
    assert (page.by, page.at) == ("", 1)


@pytest.mark.parametrize(
    "saved", [b"\xef\xbb\xbf- [x] one\r\n\r\ntwo\r\n", b"- [x] one\r\rtwo\r", b"- [x] one\n\ntwo\n"]
)
def test_line_ends_of_other_systems_are_read_alike(forge: LocalForge, saved: bytes, tmp_path: Path) -> None:
    forge.put_page("dashboard", "- [ ] one\n\ntwo\n", expected=None)
    (tmp_path / DASHBOARD).write_bytes(saved)
    page = forge.page("dashboard")
    assert page is not None
    assert page.text == "- [x] one\n\ntwo\n"
    assert forge.put_page("dashboard", page.text, expected=page.text)
    assert (tmp_path / DASHBOARD).read_bytes() == saved
    assert forge.put_page("dashboard", "drawn anew\n", expected=page.text)


def test_a_page_in_another_encoding_is_a_sentence_and_is_kept_when_it_is_replaced(
    forge: LocalForge, tmp_path: Path
) -> None:
    forge.put_page("dashboard", "text\n", expected=None)
    for number in ("", "-2"):
        content = f"Größe{number}".encode("latin-1")
        (tmp_path / DASHBOARD).write_bytes(content)
        page = forge.page("dashboard")
        assert page is not None
        assert page.text == f"Gr\ufffd\ufffde{number}"
        assert page.damaged.startswith("DASHBOARD.md is not UTF-8, so nothing on it was taken; it is drawn again")
        assert not forge.put_page("dashboard", "new\n", expected="text\n")
        assert forge.put_page("dashboard", "new\n", expected=page.text)
        assert (tmp_path / DASHBOARD).read_text() == "new\n"
        assert (tmp_path / f".hz/local/DASHBOARD.bad{number}.md").read_bytes() == content
    assert forge.pages() == ("dashboard",)


def test_a_tick_that_is_made_between_reading_and_writing_is_not_lost(forge: LocalForge, tmp_path: Path) -> None:
    forge.put_page("dashboard", "- [ ] one\n", expected=None)
    page = forge.page("dashboard")
    assert page is not None
    (tmp_path / DASHBOARD).write_text("- [x] one\n", encoding="utf-8")
    assert not forge.put_page("dashboard", "drawn anew\n", expected=page.text)
    assert (tmp_path / DASHBOARD).read_text(encoding="utf-8") == "- [x] one\n"


@pytest.mark.parametrize(
    "name", ["", "inbox", "p-", "p-XYZ", "../x", "p-3f9c21ab/../../x", "dashboard\n", "dashboard-0", "/etc/passwd"]
)
def test_a_name_that_is_no_page_is_refused(forge: LocalForge, name: str, tmp_path: Path) -> None:
    with pytest.raises(RemoteError, match="there is no page"):
        forge.page(name)
    with pytest.raises(RemoteError, match="there is no page"):
        forge.put_page(name, "text", expected=None)
    with pytest.raises(RemoteError, match="there is no page"):
        forge.drop_page(name)
    assert forge.link(name) == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("link", [".hz", ".hz/local", ".hz/local/inbox", ".hz/local/outbox", DASHBOARD])
def test_links_are_not_followed(forge: LocalForge, link: str, tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    (root / link).parent.mkdir(parents=True)
    elsewhere.mkdir()
    target = elsewhere
    if link.endswith(".md"):
        target = elsewhere / "mine.md"
        target.write_text("mine\n", encoding="utf-8")
    (root / link).symlink_to(target)
    forge = LocalForge(str(root))
    with pytest.raises(RemoteError, match="behind a link"):
        _write(forge, link)
    assert [path.name for path in elsewhere.iterdir()] == (["mine.md"] if link.endswith(".md") else [])
    if link.endswith(".md"):
        assert target.read_text(encoding="utf-8") == "mine\n"
        with pytest.raises(RemoteError, match="behind a link"):
            forge.page("dashboard")


def _write(forge: LocalForge, link: str) -> None:
    if link.endswith("outbox"):
        forge.create("issue", {"title": "t"}, MARKER)
    else:
        forge.put_page("p-3f9c21ab" if link.endswith("inbox") else "dashboard", "ours\n", expected=None)


def test_no_page_is_read_from_a_pipe_or_a_folder(forge: LocalForge, tmp_path: Path) -> None:
    forge.prepare()
    os.mkfifo(tmp_path / DASHBOARD)
    with pytest.raises(RemoteError, match="is no plain file"):
        forge.page("dashboard")
    (tmp_path / DASHBOARD).unlink()
    (tmp_path / DASHBOARD).mkdir()
    with pytest.raises(RemoteError, match="no plain file"):
        forge.page("dashboard")


def test_what_cannot_be_read_is_unknown_and_not_absent(forge: LocalForge, tmp_path: Path) -> None:
    forge.create("issue", {"title": "t"}, MARKER)
    (tmp_path / ".hz/local/outbox/issue-2.md").mkdir()
    assert forge.find("issue", MARKER).status == "unknown"
    assert forge.find("comment", MARKER).status == "absent"


@pytest.mark.parametrize("edit", ["crlf", "bom", "headless", "longer"])
def test_an_outcome_that_somebody_edited_is_still_found(forge: LocalForge, edit: str, tmp_path: Path) -> None:
    forge.create("issue", {"title": "t", "body": "text"}, MARKER)
    path = tmp_path / ".hz/local/outbox/issue-1.md"
    content = path.read_bytes()
    edited = {
        "crlf": content.replace(b"\n", b"\r\n"),
        "bom": b"\xef\xbb\xbf" + content,
        "headless": content.partition(b"\n---\n")[2],
        "longer": content + b"\nand more\n",
    }
    path.write_bytes(edited[edit])
    assert forge.find("issue", MARKER).refs == ("issue-1",)


def test_files_of_others_in_the_outbox_are_left_alone(forge: LocalForge, tmp_path: Path) -> None:
    place = tmp_path / ".hz/local/outbox"
    place.mkdir(parents=True)
    for name in ("notes.md", "issue-x.md", "issue-01.md", "issue-.md", "Issue-9.md", "issue-9.md.bak"):
        (place / name).write_text(MARKER, encoding="utf-8")
    assert forge.find("issue", MARKER).status == "absent"
    assert forge.create("issue", {"title": "t"}, MARKER) == "issue-1"
    assert len(list(place.iterdir())) == 7


def test_an_outcome_never_replaces_another(forge: LocalForge, tmp_path: Path) -> None:
    forge.prepare()
    with folder.made(str(tmp_path), ".hz", "local") as place, place.turn():
        place.add("one", b"first")
        with pytest.raises(FileExistsError):
            place.add("one", b"second")
    assert (tmp_path / ".hz/local/one").read_bytes() == b"first"


def test_a_withdrawn_outcome_says_why_and_keeps_its_text(forge: LocalForge, tmp_path: Path) -> None:
    forge.create("issue", {"title": f"t {MARKER}", "body": "text"}, MARKER)
    forge.withdraw("issue", "issue-1", "double of issue-0\n<x>")
    assert (tmp_path / ".hz/local/outbox/issue-1.md").read_text(encoding="utf-8") == (
        f'---\ntitle: "t {MARKER}"\n---\n<!-- hz:closed {"1" * 64} -->\n\n> Closed: double of issue-0 <x>\n\ntext\n'
    )
    assert forge.find("issue", MARKER).status == "absent"
    assert forge.create("issue", {"title": "t"}, MARKER) == "issue-2"


@pytest.mark.parametrize("ref", ["", "comment-1", "issue-0", "../issue-1", "issue-1.md"])
def test_only_an_outcome_of_that_kind_is_withdrawn(forge: LocalForge, ref: str) -> None:
    with pytest.raises(RemoteError, match="is no outcome"):
        forge.withdraw("issue", ref, "note")


@pytest.mark.parametrize("kind", ["", "Issue", "../x", "a b", "a-b", *HOSTILE])
def test_a_kind_that_would_be_no_file_name_is_refused(forge: LocalForge, kind: str, tmp_path: Path) -> None:
    with pytest.raises(PublishRefused, match="is no kind of outcome"):
        forge.create(kind, {}, MARKER)
    assert not list(tmp_path.rglob("*.md"))


@pytest.mark.parametrize(
    ("login", "role"),
    [
        ("local:mona", "local"),
        ("local:Mona Lisa", "local"),
        ("octocat", "local"),
        ("dependabot[bot]", "local"),
        ("local:", "none"),
        ("", "none"),
        ("not a login", "none"),
    ],
)
def test_whoever_can_write_here_may_say_who_speaks(forge: LocalForge, login: str, role: str) -> None:
    assert forge.role(login) == (role, "this machine" if role == "local" else "nobody is called so")


def test_the_local_user_is_the_systems_and_not_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "octocat")
    assert local_user() == pwd.getpwuid(os.getuid()).pw_name


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(RemoteError, match=r"missing.* cannot be read or written: No such file"):
        LocalForge(str(tmp_path / "missing")).put_page("dashboard", "text", expected=None)


def test_writers_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "PATIENCE", 0.05)
    with folder.made(str(tmp_path), "x") as first, folder.made(str(tmp_path), "x") as second:
        with first.turn(), pytest.raises(TryAgain, match="another tick is writing"), second.turn():
            pass
        with second.turn():
            second.add("after", b"")


def test_a_writer_waits_for_its_turn(tmp_path: Path) -> None:
    done: list[str] = []

    def wait() -> None:
        with folder.made(str(tmp_path), "x") as place, place.turn():
            done.append("second")

    with folder.made(str(tmp_path), "x") as place, place.turn():
        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.1)
        done.append("first")
    thread.join()
    assert done == ["first", "second"]


def test_no_descriptor_is_left_open(forge: LocalForge, tmp_path: Path) -> None:
    def use() -> None:
        forge.put_page("dashboard", "text\n", expected=None)
        forge.page("p-3f9c21ab")
        forge.create("file", {"files": {"a/b": "c"}}, MARKER)
        forge.find("file", MARKER)
        with pytest.raises(RemoteError):
            folder.made(str(tmp_path), ".hz", "local", "DASHBOARD.md", "x")

    use()
    before = len(os.listdir("/dev/fd"))
    use()
    assert len(os.listdir("/dev/fd")) == before


def test_an_idle_look_imports_little() -> None:
    code = "import sys; from hz_team.adapters.local import LocalForge; print(*sys.modules)"
    environ = {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    run = subprocess.run((sys.executable, "-c", code), env=environ, capture_output=True, check=True, text=True)
    heavy = {
        "pathlib",
        "dataclasses",
        "inspect",
        "asyncio",
        "urllib.request",
        "logging",
        "tempfile",
        "shutil",
        "pydantic",
    }
    assert not heavy & set(run.stdout.split())
