"""Questions asked of a real Git, and the environment it runs in."""

import os
import stat
import subprocess
import time
from pathlib import Path

import pytest

from hz_team.adapters import ancestry, git, git_runner
from hz_team.adapters.git_runner import GitError, Repository, scrubbed
from hz_team.adapters.nearby import loose_ref

ABOUT = git.Message(
    'Say it literally: `$(touch x)` "quotes"\nand @octocat closes #1\n', "hz-team <hz@localhost>", 1_700_000_000
)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    git.make(str(tmp_path / "cache"), scrubbed(os.environ))
    remote = tmp_path / "remote.git"
    git.make(str(remote), scrubbed(os.environ))
    return Repository(str(tmp_path / "cache"), scrubbed(os.environ), (("remote.origin.url", f"file://{remote}"),))


def remote_of(repository: Repository) -> Repository:
    return repository._replace(path=os.path.join(os.path.dirname(repository.path), "remote.git"), settings=())


def push(repository: Repository, commit: str, old: str = "", ref: str = "refs/heads/hz-state") -> git.Pushed:
    return git.push(repository, (git.Update(ref, old, commit),))


def test_the_environment_holds_no_token_and_nothing_that_steers_git() -> None:
    dirty = {
        "PATH": "/bin",
        "HOME": "/h",
        "GITHUB_TOKEN": "t",
        "GIT_DIR": "/elsewhere",
        "GIT_INDEX_FILE": "i",
        "GIT_CONFIG_PARAMETERS": "'a.b=c'",
        "GIT_TRACE": "1",
        "HTTPS_PROXY": "p",
        "SSH_ASKPASS": "x",
    }
    kept = scrubbed(dirty)
    assert {name: kept[name] for name in kept if name not in git_runner.FIXED} == {
        "PATH": "/bin",
        "HOME": "/h",
        "HTTPS_PROXY": "p",
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
    }
    assert kept["GIT_TERMINAL_PROMPT"] == "0"
    assert kept["LC_ALL"] == "C"


def test_own_ssh_commands_stay() -> None:
    assert scrubbed({"GIT_SSH": "mine"}).get("GIT_SSH_COMMAND") is None


def test_foreign_variables_do_not_reach_a_question(repository: Repository, tmp_path: Path) -> None:
    lured = repository._replace(
        environ=scrubbed({**os.environ, "GIT_DIR": str(tmp_path), "GIT_OBJECT_DIRECTORY": "/x"})
    )
    assert git.commit(lured, "", {"a": b"1"}, ABOUT)


def test_settings_are_no_arguments(repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shim = tmp_path / "bin/git"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {tmp_path}/argv\nenv >> {tmp_path}/environ\n')
    shim.chmod(0o755)
    environ = {**repository.environ, "PATH": f"{shim.parent}:{os.environ['PATH']}"}
    secret = ("http.extraheader", "Authorization: basic c2VjcmV0")
    git.fetch(Repository(repository.path, environ, (*repository.settings, secret)), "+refs/heads/x:refs/hz/tip")
    assert "c2VjcmV0" in (tmp_path / "environ").read_text()
    assert "c2VjcmV0" not in (tmp_path / "argv").read_text()
    assert "file://" not in (tmp_path / "argv").read_text()


def test_commit_writes_removes_and_keeps_the_message_literally(repository: Repository) -> None:
    first = git.commit(repository, "", {"a/1.json": b"\x00\xff", "a/2.json": b"2\n", "b.json": b""}, ABOUT)
    second = git.commit(repository, first, {"a/1.json": None, "c.json": b"3"}, ABOUT)
    assert [blob.path for blob in git.blobs(repository, first, "a", "b.json")] == ["a/1.json", "a/2.json", "b.json"]
    assert [blob.path for blob in git.blobs(repository, second, "a", "b.json", "c.json")] == [
        "a/2.json",
        "b.json",
        "c.json",
    ]
    assert git_runner.ask(repository, "log", "-1", "--format=%B%an|%at|%P", second).decode() == (
        f"{ABOUT.text}hz-team|1700000000|{first}\n"
    )
    assert ancestry.is_ancestor(repository, first, second)
    assert not ancestry.is_ancestor(repository, second, first)


def test_a_first_commit_has_no_parent_though_another_was_made_before(repository: Repository) -> None:
    git.commit(repository, "", {"a": b"1"}, ABOUT)
    again = git.commit(repository, "", {"b": b"1"}, ABOUT)
    assert [blob.path for blob in git.blobs(repository, again, "a", "b")] == ["b"]


@pytest.mark.parametrize("path", ["", "/a", "a/", "a//b", "../a", "a/../b", ".git/config", 'a"b', "a b", "a\nb", "ü"])
def test_odd_paths_are_a_bug_and_never_written(repository: Repository, path: str) -> None:
    with pytest.raises(ValueError, match="is no path for the state branch"):
        git.commit(repository, "", {path: b"x"}, ABOUT)


def test_contents_leaves_out_what_is_not_here(repository: Repository) -> None:
    tip = git.commit(repository, "", {"a/1": b"one\n", "a/2": b"two missing\n"}, ABOUT)
    names = [f"{tip}:a/1", f"{tip}:nowhere", f"{tip}:a", f"{tip}:a/2", "0" * 40]
    assert git.contents(repository, names) == {f"{tip}:a/1": b"one\n", f"{tip}:a/2": b"two missing\n"}


def test_stream_yields_every_blob_by_its_path(repository: Repository) -> None:
    files = {f"r/{number:04}": os.urandom(number) for number in range(300)}
    tip = git.commit(repository, "", files, ABOUT)
    assert dict(git.stream(repository, git.blobs(repository, tip, "r"))) == files


def test_stream_stops_at_a_missing_blob(repository: Repository) -> None:
    with pytest.raises(GitError, match="is missing"):
        list(git.stream(repository, [git.Blob("1" * 40, "r/1")]))


def test_stream_that_is_left_early_leaves_no_process(repository: Repository) -> None:
    tip = git.commit(repository, "", {f"r/{number}": b"x" * 9000 for number in range(100)}, ABOUT)
    stream = git.stream(repository, git.blobs(repository, tip, "r"))
    next(stream)
    stream.close()
    assert not children()


def children() -> list[str]:
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        try:
            about = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split() if name.isdigit() else []
        except OSError:
            continue
        if about and int(about[1]) == os.getpid():
            found.append(name)
    return found


def test_folders_and_absent_objects(repository: Repository) -> None:
    tip = git.commit(repository, "", {"receipts/2026/11/a": b"1", "receipts/2027/01/b": b"2"}, ABOUT)
    assert git.folders(repository, tip, "receipts/") == [
        "receipts",
        "receipts/2026",
        "receipts/2026/11",
        "receipts/2027",
        "receipts/2027/01",
    ]
    here = git.blobs(repository, tip, "receipts")[0].id
    assert git.absent(repository, [here, "2" * 40]) == ["2" * 40]


def test_push_says_what_became_of_each_ref(repository: Repository) -> None:
    first = git.commit(repository, "", {"a": b"1"}, ABOUT)
    second = git.commit(repository, first, {"a": b"2"}, ABOUT)
    other = git.commit(repository, first, {"a": b"3"}, ABOUT)
    state = "refs/heads/hz-state"
    assert push(repository, first).lines[state][0] == "*"
    assert push(repository, second, first).lines[state][0] == " "
    assert push(repository, second, first).lines[state][0] == "="
    flag, said = push(repository, other, first).lines[state]
    assert (flag, "stale info" in said) == ("!", True)
    assert push(repository, other).lines[state][0] == "!"  # absent was expected
    assert git.commit_of(remote_of(repository), state) == second


def test_an_atomic_push_moves_all_or_nothing(repository: Repository) -> None:
    first = git.commit(repository, "", {"a": b"1"}, ABOUT)
    push(repository, first, ref="refs/hz/lease/job/x")
    second = git.commit(repository, first, {"a": b"2"}, ABOUT)
    updates = (git.Update("refs/heads/hz-state", "", second), git.Update("refs/hz/lease/job/x", second, second))
    assert {flag for flag, _ in git.push(repository, updates, atomic=True).lines.values()} <= {"!", "="}
    assert git.commit_of(remote_of(repository), "refs/heads/hz-state") == ""


def test_an_empty_new_value_removes_a_ref(repository: Repository) -> None:
    first = git.commit(repository, "", {"a": b"1"}, ABOUT)
    push(repository, first, ref="refs/hz/lease/job/x")
    assert git.push(repository, (git.Update("refs/hz/lease/job/x", first, ""),)).lines["refs/hz/lease/job/x"][0] == "-"
    assert git.commit_of(remote_of(repository), "refs/hz/lease/job/x") == ""


def test_a_push_without_an_answer_has_no_lines(repository: Repository, tmp_path: Path) -> None:
    first = git.commit(repository, "", {"a": b"1"}, ABOUT)
    gone = repository._replace(settings=(("remote.origin.url", f"file://{tmp_path}/nowhere.git"),))
    pushed = push(gone, first)
    assert pushed.lines == {}
    assert "does not appear to be a git repository" in pushed.stderr


def test_a_missing_branch_is_told_from_a_missing_repository(repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(GitError) as missing:
        git.fetch(repository, "+refs/heads/hz-state:refs/hz/tip", depth=1)
    assert (missing.value.missing, missing.value.remote) == (True, False)
    gone = repository._replace(settings=(("remote.origin.url", f"file://{tmp_path}/nowhere.git"),))
    with pytest.raises(GitError) as unreachable:
        git.fetch(gone, "+refs/heads/hz-state:refs/hz/tip")
    assert (unreachable.value.missing, unreachable.value.remote) == (False, True)


def test_a_ref_is_read_from_its_file_or_from_the_packed_ones(repository: Repository) -> None:
    first = git.commit(repository, "", {"a": b"1"}, ABOUT)
    assert loose_ref(repository.path, "refs/hz/new") == first
    git_runner.ask(repository, "pack-refs", "--all")
    assert loose_ref(repository.path, "refs/hz/new") == ""
    assert git.commit_of(repository, "refs/hz/new") == first
    assert git.commit_of(repository, "refs/hz/none") == ""


@pytest.mark.parametrize("content", ["", "ref: refs/heads/main\n", "\0" * 41, "abc\n", "Z" * 40])
def test_a_ref_file_that_holds_no_id_says_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / "x").write_text(content)
    assert loose_ref(str(tmp_path), "x") == ""


def test_a_late_answer_is_none_and_leaves_no_process(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim = tmp_path / "bin/git"
    shim.parent.mkdir()
    shim.write_text(f"#!/bin/sh\nsleep 60 &\necho $! > {tmp_path}/pid\nwait\n")
    shim.chmod(0o755)
    monkeypatch.setattr(git_runner, "DEADLINE", 0.5)
    slow = repository._replace(environ={**repository.environ, "PATH": f"{shim.parent}:{os.environ['PATH']}"})
    start = time.monotonic()
    with pytest.raises(GitError, match=r"did not answer within"):
        git_runner.ask(slow, "fetch")
    assert time.monotonic() - start < 10
    child = int((tmp_path / "pid").read_text())
    for _ in range(100):
        if not os.path.exists(f"/proc/{child}") or Path(f"/proc/{child}/stat").read_text().split()[2] == "Z":
            break
        time.sleep(0.05)
    else:
        pytest.fail("the program that Git had started is still there")


def test_hooks_of_this_side_do_not_run(repository: Repository, tmp_path: Path) -> None:
    hook = Path(repository.path) / "hooks/reference-transaction"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    git.commit(repository, "", {"a": b"1"}, ABOUT)
    assert not (tmp_path / "ran").exists()
    subprocess.run(("git", "-C", repository.path, "update-ref", "refs/hz/x", "refs/hz/new"), check=True)
    assert (tmp_path / "ran").exists()  # it would have


def test_locks_are_found_wherever_they_lie(repository: Repository) -> None:
    for name in ("shallow.lock", "refs/hz/tip.lock"):
        path = Path(repository.path) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert sorted(os.path.relpath(path, repository.path) for path in git.locks(repository.path)) == [
        "refs/hz/tip.lock",
        "shallow.lock",
    ]


def test_last_words_are_one_line_without_advice() -> None:
    said = "hint: try this\nCloning\nfatal: no such thing\n\nerror: really\n"
    assert git_runner.last_words(said) == "fatal: no such thing; error: really"
    assert git_runner.last_words("") == "nothing"
    assert len(git_runner.last_words("fatal: " + "x" * 5000)) == 300
