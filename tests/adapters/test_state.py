"""The state branch through everything that goes wrong between a tick and its repository."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hz_team.adapters import mirror, view
from hz_team.adapters.nearby import BRANCH, local_directory
from hz_team.adapters.state import GitState
from hz_team.errors import HzError, RemoteError, TryAgain
from hz_team.model.state import Position, View, document

DIGEST = {"jobs/digest.json": json.dumps(document(Position("digest", 1, "a" * 64))).encode()}
FAR_HOST = """#!/bin/sh
while [ "$1" = -o ]; do shift 2; done
case "$(cat {mode} 2>/dev/null)-$2" in
  before-git-receive-pack*) exit 255 ;;
  after-git-receive-pack*)
    advert=$(eval "git receive-pack --http-backend-info-refs ${{2#git-receive-pack }}" | wc -c)
    sh -c "$2" | head -c "$advert"; rm -f {mode}; exit 255 ;;
  off-*) echo "ssh: connect to host far.invalid port 22: Network is unreachable" >&2; exit 255 ;;
  denied-git-receive-pack*) echo "ERROR: Permission to acme/housework.git denied to octocat." >&2; exit 128 ;;
esac
exec sh -c "$2"
"""
"""Stands in for ssh; the word in a file says how the far host misbehaves."""


class Site:
    """One repository, ways to open it, and a count of the Git processes that were started on it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.url = GitState.create_local(str(place / "remote.git"))
        self.remote = place / "remote.git"
        self.cache = place / "cache"
        bin_folder = place / "bin"
        bin_folder.mkdir()
        shim = bin_folder / "git"
        shim.write_text(f'#!/bin/sh\necho "$2" >> {place}/calls\nexec {shutil.which("git")} "$@"\n')
        shim.chmod(0o755)
        self.environ = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}

    def open(self, cache: str = "cache", *, clock: Callable[[], float] = time.time) -> GitState:
        return GitState(self.url, str(self.place / cache), environ=self.environ, clock=clock)

    def far(self) -> "Site":
        """Reach the same repository as one on another host."""
        with (self.remote / "config").open("a") as config:
            config.write("[uploadpack]\n\tallowFilter = true\n")
        script = self.place / "ssh"
        script.write_text(FAR_HOST.format(mode=self.place / "mode"))
        script.chmod(0o755)
        self.url = f"ssh://far.invalid{self.remote}"
        self.environ |= {"GIT_SSH_COMMAND": str(script), "GIT_SSH_VARIANT": "ssh", "GIT_ALLOW_PROTOCOL": "ssh"}
        return self

    def misbehave(self, mode: str) -> None:
        (self.place / "mode").write_text(mode)

    def calls(self) -> list[str]:
        """The Git commands since the last look."""
        calls = self.place / "calls"
        found = calls.read_text().split() if calls.exists() else []
        calls.unlink(missing_ok=True)
        return found

    def git(self, *words: str) -> str:
        command = ("git", f"--git-dir={self.remote}", *words)
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def hook(self, name: str, script: str) -> None:
        path = self.remote / "hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_an_idle_fetch_beside_the_repository_starts_no_process(site: Site) -> None:
    state = site.open()
    written = state.record(state.fetch(), DIGEST, "one\n")
    site.calls()
    assert site.open().fetch() == written
    assert site.calls() == []


def test_an_idle_fetch_from_another_host_is_one_process(site: Site) -> None:
    site.far()
    state = site.open()
    written = state.record(state.fetch(), DIGEST, "one\n")
    site.open().fetch()
    site.calls()
    before = sorted(path for path in site.cache.rglob("*") if path.is_file())
    assert site.open().fetch() == written
    assert site.calls() == ["fetch"]
    assert sorted(path for path in site.cache.rglob("*") if path.is_file()) == before


def test_a_packed_branch_is_found_too(site: Site) -> None:
    state = site.open()
    written = state.record(state.fetch(), DIGEST, "one\n")
    site.git("pack-refs", "--all")
    site.calls()
    assert site.open().fetch() == written
    assert site.calls() == ["for-each-ref"]


def test_a_far_cache_is_shallow_and_holds_only_the_blobs_that_were_read(site: Site) -> None:
    state = site.open()
    written = state.fetch()
    for number in range(3):
        written = state.record(written, {**DIGEST, f"drafts/aa/{number}.json": b"%d" % number}, "more\n")
    site.far()
    reader = site.open("far-cache")
    assert reader.fetch() == written
    far_cache = site.place / "far-cache"
    assert (far_cache / "shallow").read_text().split() == [written.tip]
    here = subprocess.run(
        ("git", f"--git-dir={far_cache}", "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)"),
        check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    assert here.count("blob") == 1
    assert reader.read(written, ["drafts/aa/2.json"]) == {"drafts/aa/2.json": b"2"}
    written = state.record(written, {"drafts/aa/4.json": b"4"}, "more\n")
    assert reader.fetch() == written
    assert len((far_cache / "shallow").read_text().split()) == 1  # warm: no further shallow line


def test_nothing_secret_lies_in_the_cache(site: Site) -> None:
    site.far()
    site.url = site.url.replace("ssh://", "ssh://octocat:hunter2@")
    state = site.open()
    state.record(state.fetch(), DIGEST, "one\n")
    everything = b"".join(path.read_bytes() for path in site.cache.rglob("*") if path.is_file())
    assert b"hunter2" not in everything
    site.misbehave("off")
    with pytest.raises(RemoteError) as told:
        state.fetch()
    assert "hunter2" not in str(told.value)
    assert str(told.value).startswith("ssh://far.invalid/")


@pytest.mark.parametrize("kind", ["near", "far"])
def test_the_cache_may_vanish_at_any_time(site: Site, kind: str) -> None:
    if kind == "far":
        site.far()
    state = site.open()
    view = state.record(state.fetch(), {**DIGEST, "drafts/aa/1.json": b"1", "receipts/2026/11/x.json": b"x"}, "one\n")
    shutil.rmtree(site.cache)
    assert state.fetch() == view
    shutil.rmtree(site.cache)
    assert state.read(view, ["drafts/aa/1.json"]) == {"drafts/aa/1.json": b"1"}
    shutil.rmtree(site.cache)
    assert list(state.receipts(view)) == [("x", b"x")]
    shutil.rmtree(site.cache)
    view = state.record(view, {"drafts/aa/2.json": b"2"}, "two\n")
    assert site.open("other").fetch() == view


def damage_packs(cache: Path) -> None:
    for path in (cache / "objects/pack").glob("*.pack"):
        path.chmod(0o644)
        path.write_bytes(path.read_bytes()[:20])


def damage_head(cache: Path) -> None:
    (cache / "HEAD").write_bytes(b"")


def damage_objects(cache: Path) -> None:
    """Leave empty files where objects should be, as a power cut does (F10)."""
    shutil.rmtree(cache / "objects/pack")
    (cache / "objects/pack").mkdir()
    for tip in {path.read_text().strip() for path in (cache / "refs/hz").glob("*")}:
        (cache / "objects" / tip[:2]).mkdir(exist_ok=True)
        (cache / "objects" / tip[:2] / tip[2:]).touch()


def damage_alternates(cache: Path) -> None:
    (cache / "objects/info").mkdir(exist_ok=True)
    (cache / "objects/info/alternates").write_text("/nowhere\n")


def damage_refs(cache: Path) -> None:
    for path in (cache / "refs/hz").iterdir():
        path.write_bytes(b"\x00\xffnonsense\n")


def damage_packed_refs(cache: Path) -> None:
    (cache / "packed-refs").write_bytes(b"nonsense\n")


def damage_shallow(cache: Path) -> None:
    (cache / "shallow").write_bytes(b"\xffnonsense\n")


def damage_config(cache: Path) -> None:
    (cache / "config").write_bytes(b"[nonsense\n")


@pytest.mark.parametrize(
    "damage",
    [
        damage_packs,
        damage_head,
        damage_objects,
        damage_alternates,
        damage_refs,
        damage_packed_refs,
        damage_shallow,
        damage_config,
    ],
)
@pytest.mark.parametrize("kind", ["near", "far"])
def test_a_damaged_cache_is_made_anew(site: Site, kind: str, damage: Callable[[Path], None]) -> None:
    if kind == "far":
        site.far()
    state = site.open()
    view = state.record(state.fetch(), {**DIGEST, "drafts/aa/1.json": b"1"}, "one\n")
    state.fetch()
    damage(site.cache)
    assert state.read(view, ["drafts/aa/1.json"]) == {"drafts/aa/1.json": b"1"}
    damage(site.cache)
    for path in site.cache.glob("view-*"):
        path.unlink()
    assert site.open().fetch() == view
    damage(site.cache)
    assert state.record(view, {"drafts/aa/2.json": b"2"}, "two\n") == site.open("other").fetch()


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"shape":"other","view":{}}', json.dumps({"shape": view.SHAPE, "view": {"tip": "x"}})]
)
def test_a_damaged_copy_of_the_view_is_not_believed(site: Site, content: str) -> None:
    state = site.open()
    written = state.record(state.fetch(), DIGEST, "one\n")
    (site.cache / f"view-{written.tip}.json").write_text(content)
    assert site.open().fetch() == written


def test_a_copy_made_by_a_program_with_other_fields_is_not_believed(site: Site) -> None:
    state = site.open()
    written = state.record(state.fetch(), DIGEST, "one\n")
    path = site.cache / f"view-{written.tip}.json"
    copy = json.loads(path.read_text())
    path.write_text(json.dumps({**copy, "view": {**copy["view"], "count": 99}}))
    assert site.open().fetch().count == 99  # so much is a copy worth
    path.write_text(json.dumps({"shape": "other", "view": {**copy["view"], "count": 99}}))
    assert site.open().fetch() == written


def test_only_the_copy_of_the_newest_view_is_kept(site: Site) -> None:
    state = site.open()
    written = state.record(state.fetch(), DIGEST, "one\n")
    written = state.record(written, {"switches.json": b'{"v":1,"paused":{}}'}, "two\n")
    assert [path.name for path in site.cache.glob("view-*")] == [f"view-{written.tip}.json"]


def test_a_lock_that_a_killed_process_left_does_not_stop_the_next(site: Site) -> None:
    site.far()
    state = site.open()
    written = state.record(state.fetch(), DIGEST, "one\n")
    Path(f"{site.cache}.lock").write_text("4194304\n")  # its holder did not get to its end
    (site.cache / "refs/hz/new.lock").touch()
    (site.cache / "refs/hz/tip.lock").touch()
    assert state.fetch() == written
    assert not list(site.cache.rglob("*.lock"))


def test_a_lock_of_somebody_else_is_left_alone_while_it_is_young(site: Site) -> None:
    site.far()
    state = site.open()
    written = state.record(state.fetch(), DIGEST, "one\n")
    lock = site.cache / "refs/hz/new.lock"
    lock.touch()
    with pytest.raises(TryAgain, match=r"new\.lock: another Git works in this cache"):
        state.record(written, {"drafts/aa/2.json": b"2"}, "two\n")
    assert lock.exists() or Path(f"{site.cache}.lock").read_text()
    lock.touch()
    Path(f"{site.cache}.lock").write_text("")
    an_hour_ago = time.time() - 3600
    os.utime(lock, (an_hour_ago, an_hour_ago))
    assert state.record(written, {"drafts/aa/2.json": b"2"}, "two\n") == site.open("other").fetch()


def test_who_finds_the_cache_busy_waits_and_then_says_by_whom(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.open().fetch()
    holder = mirror.Mirror(site.url, str(site.cache), site.environ)
    monkeypatch.setattr(mirror, "WAIT", 0.1)
    with holder.writing(), pytest.raises(TryAgain, match=f"process {os.getpid()} works in this cache"):
        site.open().fetch()
    site.open().fetch()


def test_a_push_lock_left_in_the_repository_is_removed(site: Site) -> None:
    state = site.open()
    written = state.record(state.fetch(), DIGEST, "one\n")
    lock = site.remote / f"{BRANCH}.lock"
    lock.touch()
    with pytest.raises(TryAgain):
        state.record(written, {"drafts/aa/2.json": b"2"}, "two\n")
    assert not lock.exists()
    assert state.record(written, {"drafts/aa/2.json": b"2"}, "two\n") == site.open("other").fetch()


def test_after_a_crash_the_repository_is_freed_before_the_next_record(site: Site) -> None:
    state = site.open()
    written = state.record(state.fetch(), DIGEST, "one\n")
    (site.remote / f"{BRANCH}.lock").touch()
    Path(f"{site.cache}.lock").write_text("4194304\n")  # its holder did not get to its end
    assert state.record(written, {"drafts/aa/2.json": b"2"}, "two\n") == site.open("other").fetch()


def test_a_hook_that_refuses_is_named_and_nothing_was_written(site: Site) -> None:
    state = site.open()
    written = state.record(state.fetch(), DIGEST, "one\n")
    site.hook("pre-receive", "echo 'no bots on Fridays' >&2; exit 1")
    with pytest.raises(
        RemoteError, match=r"refused the record: .*declined.*no bots on Fridays.*let this account write"
    ) as told:
        state.record(written, {"drafts/aa/2.json": b"2"}, "two\n")
    assert told.value.code == 4
    assert site.git("rev-parse", BRANCH) == written.tip
    assert state.fetch() == written


def test_an_idle_fetch_beside_the_repository_does_not_even_load_git(site: Site) -> None:
    state = site.open()
    state.record(state.fetch(), DIGEST, "one\n")
    script = """
import sys
from hz_team.adapters.state import GitState
assert GitState(sys.argv[1], sys.argv[2]).fetch().positions
print(*sorted(name for name in sys.modules if name in {"subprocess", "contextlib", "tempfile"} or "hz_team.adapters." in name))
"""
    environ = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = (sys.executable, "-S", "-c", script, site.url, str(site.cache))
    loaded = subprocess.run(command, check=True, capture_output=True, text=True, env=environ).stdout.split()
    assert set(loaded) - {"contextlib"} == {
        "hz_team.adapters.nearby",
        "hz_team.adapters.state",
        "hz_team.adapters.view",
    }


def test_a_missing_repository_is_a_sentence(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/nowhere.git"
    with pytest.raises(RemoteError, match=r"nowhere\.git: there is no repository; make one"):
        GitState(url, str(tmp_path / "cache")).fetch()


def test_a_host_that_is_off_is_a_sentence_and_the_cache_stays(site: Site) -> None:
    site.far()
    state = site.open()
    written = state.record(state.fetch(), DIGEST, "one\n")
    state.fetch()
    site.misbehave("off")
    with pytest.raises(RemoteError, match=r"did not answer: .*check the URL, the network and who may read it"):
        state.fetch()
    with pytest.raises(RemoteError, match="unknown whether it arrived"):
        state.record(written, {"drafts/aa/2.json": b"2"}, "two\n")
    site.misbehave("")
    site.calls()
    assert state.fetch() == written
    assert site.calls() == ["fetch"]


def test_a_connection_cut_before_the_server_worked_wrote_nothing(site: Site) -> None:
    site.far()
    state = site.open()
    written = state.record(state.fetch(), DIGEST, "one\n")
    site.misbehave("before")
    with pytest.raises(TryAgain, match="did not arrive"):
        state.record(written, {"drafts/aa/2.json": b"2"}, "two\n")
    assert site.git("rev-parse", BRANCH) == written.tip


def test_a_connection_cut_after_the_server_worked_is_found_out(site: Site) -> None:
    site.far()
    state = site.open()
    written = state.record(state.fetch(), DIGEST, "one\n")
    site.misbehave("after")
    after = state.record(written, {"drafts/aa/2.json": b"2"}, "two\n")
    assert not (site.place / "mode").exists()  # the cut was made
    assert site.git("rev-parse", BRANCH) == after.tip
    assert site.open("other").fetch() == after


def test_an_account_that_may_only_read_is_told_so(site: Site) -> None:
    site.far()
    state = site.open()
    written = state.record(state.fetch(), DIGEST, "one\n")
    site.misbehave("denied")
    with pytest.raises(RemoteError, match=r"denied to octocat.*this account may not write"):
        state.record(written, {"drafts/aa/2.json": b"2"}, "two\n")


def test_a_document_of_a_newer_program_asks_for_an_upgrade(site: Site) -> None:
    other, state = site.open("other"), site.open()
    written = other.record(other.fetch(), DIGEST, "one\n")
    with pytest.raises(RemoteError, match=r"jobs/digest\.json .* has format 2; this hz-team reads up to 1: upgrade"):
        other.record(written, {"jobs/digest.json": b'{"v":2}'}, "never pushed\n")
    assert state.fetch() == written
    push_by_hand(site, "switches.json", '{"v":7,"paused":{}}')
    with pytest.raises(RemoteError, match=r"switches\.json .* has format 7") as told:
        state.fetch()
    assert told.value.code == 4


@pytest.mark.parametrize(
    "content", ["", "nonsense", "[]", '{"paused":{}}', '{"v":"1"}', '{"v":1,"paused":[[1]]}', "\\377"]
)
def test_a_document_that_cannot_be_read_names_its_path_and_the_way_on(site: Site, content: str) -> None:
    push_by_hand(site, "switches.json", content)
    with pytest.raises(RemoteError, match=r"^switches\.json on the state branch cannot be read .*receipts verify"):
        site.open().fetch()


@pytest.mark.parametrize(
    "content", ['{"v":1}', '{"v":1,"job":"x","triggers":{},"novel":1}', '{"v":1,"job":"x","triggers":[]}']
)
def test_a_position_that_cannot_be_read_names_its_path(site: Site, content: str) -> None:
    push_by_hand(site, "jobs/x.json", content)
    with pytest.raises(RemoteError, match=r"^jobs/x\.json on the state branch cannot be read"):
        site.open().fetch()


def push_by_hand(site: Site, path: str, content: str) -> None:
    """Write a file on the state branch as a person with Git would."""
    work = site.place / "work"
    script = f"""
        set -e; git init -q {work}; cd {work}; git config user.name x; git config user.email x@localhost
        git pull -q {site.remote} {BRANCH} 2>/dev/null || true
        mkdir -p $(dirname {path}); printf '%b' '{content}' > {path}; git add .; git commit -qm by-hand
        git push -q {site.remote} HEAD:{BRANCH}
    """
    subprocess.run(("sh", "-c", script), check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("cached", [True, False])
def test_a_repository_of_another_owner_works_with_an_exception_for_it_alone(site: Site, cached: bool) -> None:  # noqa: FBT001
    state = site.open()
    written = state.record(state.fetch(), DIGEST, "one\n")
    for path in (site.remote, *site.remote.rglob("*")):
        os.chown(path, 12345, 12345)
    refused = subprocess.run(("git", "-C", site.remote, "log", BRANCH), check=False, capture_output=True, text=True)
    assert "dubious ownership" in refused.stderr
    state = site.open("cache" if cached else "cold")
    assert state.fetch() == written
    assert state.record(written, {"drafts/aa/2.json": b"2"}, "two\n").tip == site_tip(site)


def site_tip(site: Site) -> str:
    return (site.remote / BRANCH).read_text().strip()


def test_odd_folder_names_work(tmp_path: Path) -> None:
    place = tmp_path / 'R&D <lab> "x" 100%done #é'
    place.mkdir()
    url = GitState.create_local(str(place / "state.git"))
    assert url.isascii()
    state = GitState(url, str(place / "cache"))
    written = state.record(state.fetch(), DIGEST, "one\n")
    shutil.rmtree(place / "cache")
    assert GitState(url, str(place / "cache")).fetch() == written


def test_a_plain_path_and_a_repository_with_a_working_tree_are_read_nearby(site: Site) -> None:
    subprocess.run(("git", "init", "-q", site.place / "tree"), check=True)
    for url in (f"file://{site.place}/tree", str(site.place / "tree")):
        assert local_directory(url) == f"{site.place}/tree/.git"
    state = GitState(str(site.place / "tree"), str(site.cache))
    written = state.record(state.fetch(), DIGEST, "one\n")
    assert GitState(f"file://{site.place}/tree", str(site.place / "c")).fetch() == written
    assert local_directory("ssh://host/x") == local_directory("relative") == ""


def test_the_embedded_repository_is_made_once(tmp_path: Path) -> None:
    first = GitState.create_local(str(tmp_path / "below/state.git"))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert GitState.create_local(str(tmp_path / "below/state.git")) == first
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    with pytest.raises(RemoteError, match="cannot be made"):
        GitState.create_local("/proc/nowhere/state.git")


def test_the_environment_of_the_caller_cannot_lead_git_elsewhere(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(site.place / "trap"))
    state = GitState(site.url, str(site.cache))
    written = state.record(state.fetch(), DIGEST, "one\n")
    assert not (site.place / "trap").exists()
    assert site_tip(site) == written.tip


def test_commits_carry_author_time_and_message(site: Site) -> None:
    state = site.open(clock=lambda: 1_700_000_000.9)
    state.record(state.fetch(), DIGEST, "Record 1 rendered (digest)\n")
    shown = site.git("log", "-1", "--format=%an <%ae>|%cn|%at|%ct|%B", BRANCH)
    assert shown == "hz-team <hz-team@localhost>|hz-team|1700000000|1700000000|Record 1 rendered (digest)"


def test_a_crowded_cache_is_thrown_away(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "CROWDED", 2)
    state = site.open()
    written = state.fetch()
    for number in range(8):
        written = state.record(written, {"drafts/aa/1.json": b"%d" % number}, "more\n")
    assert len(list((site.cache / "objects/pack").glob("*.pack"))) <= 3
    assert site.open("other").fetch() == written


def test_the_repository_that_is_the_only_copy_tidies_up_within_a_push(site: Site) -> None:
    site.git("config", "gc.auto", "3")
    state = site.open()
    written = state.fetch()
    for number in range(12):
        files = {f"drafts/aa/{number}-{extra}.json": b"%d %d" % (number, extra) for extra in range(80)}
        written = state.record(written, files, "more\n")
    loose = sum(len(list(path.iterdir())) for path in (site.remote / "objects").iterdir() if len(path.name) == 2)
    assert loose < 800, "960 files were written"
    assert not (site.remote / "packed-refs").exists()
    assert site_tip(site) == written.tip  # never packed: an idle tick reads it from its file
    assert site.open("other").fetch() == written


ENDLESS = """
import sys
from hz_team.adapters.state import GitState
from hz_team.errors import TryAgain
state = GitState(sys.argv[1], sys.argv[2])
while True:
    view = state.fetch()
    number = int((state.read(view, ["drafts/aa/n"]) or {"drafts/aa/n": b"0"})["drafts/aa/n"])
    state.record(view, {"drafts/aa/n": b"%d" % (number + 1), f"drafts/bb/{number}": b"x" * 2000}, "more\\n")
    print(number + 1, flush=True)
"""


@pytest.mark.parametrize("kind", ["near", "far"])
def test_kill_9_at_any_moment_loses_nothing_that_was_acknowledged(site: Site, kind: str) -> None:
    seed = 20261201
    rng = random.Random(seed)
    if kind == "far":
        site.far()
    acknowledged = 0
    for _ in range(12):
        environ = {**site.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        process = subprocess.Popen(
            (sys.executable, "-c", ENDLESS, site.url, str(site.cache)), env=environ, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout
        acknowledged = int(process.stdout.readline() or acknowledged)
        time.sleep(rng.random() * 0.15)
        process.send_signal(signal.SIGKILL)
        rest = process.communicate()[0].split()
        acknowledged = int(rest[-1]) if rest else acknowledged
        state = site.open()
        view = settled(state)
        number = int(state.read(view, ["drafts/aa/n"])["drafts/aa/n"])
        assert number >= acknowledged, f"seed {seed}"
        assert int(site.git("rev-list", "--count", BRANCH)) == number
    assert acknowledged > 12
    assert "missing" not in site.git("fsck", "--strict")


def settled(state: GitState) -> View:
    """Fetch until the push that a killed process left behind has ended."""
    view = state.fetch()
    while True:
        time.sleep(0.1)
        later = state.fetch()
        if later.tip == view.tip:
            return later
        view = later


def test_many_writers_lose_nothing(site: Site) -> None:
    writer = """
import sys
from hz_team.adapters.state import GitState
from hz_team.errors import TryAgain
state = GitState(sys.argv[1], sys.argv[2])
done = 0
while done < 6:
    try:
        state.record(state.fetch(), {f"drafts/aa/{sys.argv[3]}-{done}": b"x"}, "one\\n")
        done += 1
    except TryAgain:
        pass
"""
    environ = {**site.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    writers = [
        subprocess.Popen(
            (sys.executable, "-c", writer, site.url, str(site.place / f"cache{number % 2}"), str(number)), env=environ
        )
        for number in range(4)
    ]
    assert [process.wait() for process in writers] == [0, 0, 0, 0]
    names = site.git("ls-tree", "-r", "--name-only", BRANCH).split()
    assert sorted(names) == sorted(f"drafts/aa/{number}-{done}" for number in range(4) for done in range(6))
    assert site.git("rev-list", "--count", BRANCH) == "24"


def test_every_refusal_has_an_exit_code() -> None:
    assert (RemoteError.code, TryAgain.code) == (4, 75)
    assert issubclass(RemoteError, HzError)
