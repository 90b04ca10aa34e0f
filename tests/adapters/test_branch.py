"""What the state branch costs at the server, and what is known of its history. Over real smart HTTP."""

import json
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from hz_team.adapters import ancestry, git
from hz_team.adapters.git_runner import Repository, scrubbed
from hz_team.adapters.lease_chain import PLACE
from hz_team.adapters.nearby import BRANCH
from hz_team.adapters.state import GitState
from hz_team.errors import RemoteError, TryAgain
from hz_team.model.state import Position, View, document
from tests.git_server import Asked, Server, bare, watched

AUTHOR = "hz-team <hz-team@localhost>"
RECEIPTS = 2_000
NOW = 1_800_000_000


class Site:
    """A repository behind HTTP, and machines that ask it."""

    def __init__(self, place: Path, server: Server) -> None:
        self.place, self.server = place, server
        self.remote = place / "remote.git"
        self.url = f"{server.url}/remote.git"

    def open(self, cache: str = "ann") -> GitState:
        return GitState(self.url, str(self.place / cache / "state.git"))

    def here(self) -> Repository:
        """The repository itself, to write there without being counted."""
        return Repository(str(self.remote), scrubbed(os.environ))

    def put(self, files: dict[str, bytes | None], ref: str = BRANCH) -> str:
        """Put a commit on top of a branch, as another machine would."""
        parent = git.commit_of(self.here(), ref)
        commit = git.commit(self.here(), parent, files, git.Message("theirs\n", AUTHOR, NOW))
        self.move(commit, ref)
        return commit

    def move(self, commit: str, ref: str = BRANCH) -> None:
        """Set a ref by hand."""
        subprocess.run(("git", f"--git-dir={self.remote}", "update-ref", ref, commit), check=True)

    def asked(self) -> list[Asked]:
        """What the server was asked since the last question."""
        return self.server.since()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    bare(tmp_path / "remote.git")
    with watched(tmp_path) as server:
        yield Site(tmp_path, server)


def receipt(number: int) -> tuple[str, bytes]:
    content = json.dumps({"v": 1, "n": number}).encode()
    return f"receipts/2026/11/{sha256(content).hexdigest()}.json", content


def full(jobs: int = 100) -> dict[str, bytes | None]:
    """A branch that has seen some work."""
    files: dict[str, bytes | None] = dict(receipt(number) for number in range(RECEIPTS))
    for number in range(jobs):
        position = Position(f"job-{number}", number + 1, f"{number:064}")
        files[f"jobs/job-{number}.json"] = json.dumps(document(position)).encode()
    return files


def words(asked: Sequence[Asked]) -> list[str]:
    """Requests in short: what kind, in order."""
    return [f"{one.method} {one.path.rpartition('/')[2].partition('?service=')[2] or 'pack'}" for one in asked]


def test_a_cold_look_is_five_requests_and_a_warm_one_two(site: Site) -> None:
    """Advertisement, refs, commits and trees; then all blobs of the view at once, however many."""
    site.put(full())
    view = site.open().fetch()
    assert len(view.positions) == 100
    cold = site.asked()
    assert len(cold) == 5, words(cold)
    site.open().fetch()
    warm = site.asked()
    assert len(warm) == 2, words(warm)
    assert sum(one.sent for one in warm) < 1_000


def test_a_hundred_missing_files_are_one_fetch(site: Site) -> None:
    files = {f"drafts/aa/{number}.json": b"%d" % number for number in range(100)}
    site.put({**files})
    state = site.open()
    view = state.fetch()
    site.asked()
    assert state.read(view, list(files)) == files
    assert len(site.asked()) == 2
    assert state.read(view, list(files)) == files
    assert site.asked() == []


def test_all_receipts_are_one_fetch(site: Site) -> None:
    site.put(full(1))
    state = site.open()
    view = state.fetch()
    site.asked()
    assert len(list(state.receipts(view))) == RECEIPTS
    assert len(site.asked()) == 2


def test_a_refused_record_fetches_no_trees(site: Site) -> None:
    """PROTOCOL: without the expected value Git would fetch the unknown tip with all its trees."""
    site.put(full())
    state = site.open()
    view = state.fetch()
    trees = sum(one.sent for one in site.asked())
    site.put({"switches.json": b'{"v":1,"paused":{}}'})
    with pytest.raises(TryAgain):
        state.record(view, {"jobs/job-1.json": None}, "ours\n")
    refused = site.asked()
    assert [one.path.rpartition("/")[2] for one in refused] == ["refs?service=git-receive-pack"]
    assert refused[0].sent < 1_000 < trees / 50


def test_a_refused_lease_fetches_no_trees(site: Site) -> None:
    """Neither if the ref has moved, nor if it is there against all expectation."""
    site.put(full())
    state = site.open()
    state.fetch()
    repository = state._opened()._mirror.repository  # noqa: SLF001  (what leases push with)
    note = git.Message("ours\n", AUTHOR, NOW)
    first, moved = git.commit_empty(repository, ["", ""], [note, git.Message("more\n", AUTHOR, NOW)])
    for job in ("moved", "there"):
        site.put({"x": b"1"}, f"{PLACE}{job}")
    site.asked()
    updates = (git.Update(f"{PLACE}moved", first, moved), git.Update(f"{PLACE}there", "", first))
    pushed = git.push(repository, updates)
    assert {flag for flag, _ in pushed.lines.values()} == {"!"}
    refused = site.asked()
    assert [one.path.rpartition("/")[2] for one in refused] == ["refs?service=git-receive-pack"]
    assert refused[0].sent < 1_000


def test_a_record_on_thousands_of_receipts_sends_little_and_fetches_nothing(site: Site) -> None:
    site.put(full())
    state = site.open()
    view = state.fetch()
    site.asked()
    path, content = receipt(-1)
    state.record(view, {path: content}, "ours\n")
    asked = site.asked()
    assert [one.path.rpartition("/")[2] for one in asked] == ["refs?service=git-receive-pack", "git-receive-pack"]
    assert sum(one.sent for one in asked) < 1_000
    assert sum(one.received for one in asked) < 2_000


def test_a_server_that_leaves_nothing_out_works_with_the_same_code(tmp_path: Path) -> None:
    bare(tmp_path / "remote.git", uploadpack_allowFilter="false")
    with watched(tmp_path) as server:
        site = Site(tmp_path, server)
        assert site.open("first").fetch().tip == ""
        site.put({**full(2), "drafts/aa/1.json": b"1"})
        state = site.open()
        view = state.fetch()
        site.asked()
        assert state.read(view, ["drafts/aa/1.json"]) == {"drafts/aa/1.json": b"1"}
        assert site.asked() == []  # it came with the commit
        assert state.record(view, {"drafts/aa/2.json": b"2"}, "two\n") == site.open("other").fetch()


@pytest.mark.parametrize("any_object", ["true", "false"])
@pytest.mark.parametrize("speaks_2", [True, False])
def test_a_server_that_gives_out_no_single_files(tmp_path: Path, any_object: str, speaks_2: bool) -> None:  # noqa: FBT001
    """Under protocol 2 objects may be asked for by name whatever the settings say; under 0 only if they allow it."""
    bare(tmp_path / "remote.git", uploadpack_allowAnySHA1InWant=any_object)
    with watched(tmp_path) as server:
        server.speaks_2 = speaks_2
        site = Site(tmp_path, server)
        site.put({**full(2), "drafts/aa/1.json": b"1"})
        state = site.open()
        view = state.fetch()
        assert len(view.positions) == 2
        assert state.read(view, ["drafts/aa/1.json"]) == {"drafts/aa/1.json": b"1"}
        after = state.record(view, {"drafts/aa/2.json": b"2"}, "two\n")
        site.put({"drafts/aa/3.json": b"3"})
        late = state.fetch()
        wanted = ["drafts/aa/1.json", "drafts/aa/2.json", "drafts/aa/3.json"]
        assert state.read(late, wanted) == {path: path[-6:-5].encode() for path in wanted}
        assert state.follows(late, after.tip) is True
        assert (site.place / "ann/state.git/whole").exists() is (any_object == "false" and not speaks_2)


def test_history_that_goes_on_follows(site: Site) -> None:
    site.put({"a": b"1"})
    state = site.open()
    old = state.record(state.fetch(), {"a": b"2"}, "two\n")
    site.put({"b": b"3"})
    new = state.fetch()
    assert state.follows(new, old.tip) is True
    assert state.follows(new, new.tip) is True
    assert state.follows(View(""), old.tip) is False


@pytest.mark.parametrize("back", [1, 2, 3, 5])
@pytest.mark.parametrize("other", [True, False])
def test_a_branch_that_was_reset_does_not_follow(site: Site, back: int, other: bool) -> None:  # noqa: FBT001
    """A warm cache knows: to a commit it fetched, to where its history begins, and to one from before that."""
    commits = [site.put({"n": b"%d" % number}) for number in range(4)]
    state = site.open()
    old = state.fetch()  # the history that is known here begins with the fourth
    for number in range(2):
        commits.append(site.put({"n": b"more %d" % number}))
        old = state.fetch()
    site.move(commits[-1 - back])
    if other:
        site.put({"n": b"another history"})
    new = state.fetch()
    assert new.tip != old.tip
    assert state.follows(new, old.tip) is False


def test_a_cold_cache_cannot_tell(site: Site) -> None:
    old = site.put({"n": b"1"})
    site.put({"n": b"2"})
    state = site.open()
    assert state.follows(state.fetch(), old) is None


def test_a_history_that_was_cut_here_cannot_tell_though_both_commits_are_here(site: Site) -> None:
    """Git alone would say no: the commits between the two are missing."""
    old = site.put({"n": b"1"})
    state = site.open()
    state.fetch()
    new = [site.put({"n": b"more %d" % number}) for number in range(3)][-1]
    repository = state._opened()._mirror.repository  # noqa: SLF001  (to fetch as nobody here does)
    git.fetch(repository, f"+{BRANCH}:refs/hz/tip", depth=1)
    words = ("git", f"--git-dir={repository.path}", "merge-base", "--is-ancestor", old, new)
    assert subprocess.run(words, check=False).returncode == 1
    assert ancestry.is_ancestor(repository, old, new) is None
    assert state.follows(state.fetch(), old) is None
    assert state._opened().contains(repository, new, old)  # noqa: SLF001
    assert ancestry.is_ancestor(repository, old, new) is True  # the history between them was brought here


def test_a_first_record_without_an_answer_is_found_below_what_came_after(site: Site) -> None:
    """The cache is cold then, so that the tip alone does not tell."""
    state = site.open()
    empty = state.fetch()
    (site.place / "cut").write_text("after")
    theirs: list[str] = []

    def append() -> None:
        if not theirs and git.commit_of(site.here(), BRANCH):
            theirs.append(site.put({"b": b"theirs"}))

    site.server.look = append
    view = state.record(empty, {"a": b"ours"}, "one\n")
    assert [view.tip] == theirs
    assert state.read(view, ["a", "b"]) == {"a": b"ours", "b": b"theirs"}


def test_the_servers_clock(site: Site) -> None:
    site.server.ahead = 1_000
    state = site.open()
    before = int(time.time()) + 1_000
    said = state.time()
    assert said is not None
    assert before <= said + 1
    assert said <= int(time.time()) + 1_001
    assert [(one.path.rpartition("/")[2], one.authorizations) for one in site.asked()] == [
        ("refs?service=git-upload-pack", ())
    ]
    assert state.time() is not None
    assert site.asked() == []


def test_the_clock_of_a_server_that_knows_us_not(site: Site) -> None:
    site.server.demanded = "Basic somebody"
    assert site.open().time() is not None


def test_no_clock_beside_a_file_behind_ssh_or_where_nobody_answers(site: Site) -> None:
    cache = str(site.place / "x")
    assert GitState(site.remote.as_uri(), cache).time() is None
    assert GitState("git@host.invalid:x.git", cache).time() is None
    (site.place / "down").touch()
    state = site.open()
    assert state.time() is None
    with pytest.raises(RemoteError):
        state.fetch()
