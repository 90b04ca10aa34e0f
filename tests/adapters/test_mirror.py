"""The cache over its life: how old it may grow, and what is saved before it is thrown away."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from hz_team.adapters.nearby import BRANCH
from hz_team.adapters.state import GitState
from hz_team.errors import RemoteError
from tests.git_server import bare, served

BASE = {"drafts/aa/1.json": b"1", "receipts/2026/10/old.json": b"an old one"}


def receipt(number: int) -> tuple[str, bytes]:
    """Id and bytes of a receipt."""
    data = {"v": 1, "job": "digest", "seq": number, "prev": "", "disposition": "rendered"}
    content = json.dumps(data, sort_keys=True, separators=(",", ":")).encode()
    return sha256(content).hexdigest(), content


def filed(*numbers: int) -> dict[str, bytes | None]:
    """Receipts as files of the branch."""
    return {f"receipts/2026/11/{name}.json": content for name, content in map(receipt, numbers)}


class Site:
    """A repository, and one machine's cache of it; what it says is kept."""

    def __init__(self, place: Path, url: str) -> None:
        self.place, self.url = place, url
        self.remote = place / "remote.git"
        self.cache = place / "ann/state.git"
        self.rescued = place / "ann/rescued"
        self.said: list[str] = []

    def open(self, cache: str = "ann") -> GitState:
        return GitState(self.url, str(self.place / cache / "state.git"), say=self.said.append)

    def refuse(self, *, still: bool = True) -> None:
        """Let the repository take no push, or take them again."""
        hook = self.remote / "hooks/pre-receive"
        hook.write_text("#!/bin/sh\nexit 1\n" if still else "#!/bin/sh\n")
        hook.chmod(0o755)

    def kept(self) -> dict[str, bytes]:
        """What was saved, by receipt id."""
        return {path.stem: path.read_bytes() for path in self.rescued.glob("*.json")}

    def unsent(self, *numbers: int) -> None:
        """Make a record that does not arrive."""
        state = self.open()
        view = state.fetch()
        self.refuse()
        with pytest.raises(RemoteError, match="refused"):
            state.record(view, {**filed(*numbers), "drafts/aa/4.json": b"4"}, "ours\n")
        self.refuse(still=False)


@pytest.fixture(params=["near", "far"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    remote = bare(tmp_path / "remote.git")
    if request.param == "near":
        made = Site(tmp_path, remote.as_uri())
        made.open("first").record(made.open("first").fetch(), BASE, "base\n")
        yield made
        return
    with served(tmp_path) as url:
        made = Site(tmp_path, f"{url}/remote.git")
        made.open("first").record(made.open("first").fetch(), BASE, "base\n")
        yield made


def lose_head(cache: Path) -> None:
    (cache / "HEAD").write_bytes(b"")


def lose_fetched(cache: Path) -> None:
    """Truncate what was fetched; what was made here is whole."""
    for path in (cache / "objects/pack").glob("*.promisor"):
        pack = path.with_suffix(".pack")
        pack.chmod(0o644)
        pack.write_bytes(pack.read_bytes()[:20])
    lose_head(cache)


def lose_settings(cache: Path) -> None:
    (cache / "config").write_bytes(b"[nonsense\n")


@pytest.mark.parametrize("lose", [lose_head, lose_fetched, lose_settings])
def test_a_receipt_that_did_not_arrive_is_saved_before_the_cache_is_made_anew(
    site: Site, lose: Callable[[Path], None]
) -> None:
    """F10."""
    site.unsent(1, 2)
    lose(site.cache)
    (site.cache / f"view-{tip(site)}.json").unlink(missing_ok=True)
    view = site.open().fetch()
    assert view.tip == tip(site)
    assert site.kept() == dict((receipt(1), receipt(2)))
    (told,) = site.said
    assert told == (
        f"the cache of {site.url} was damaged and made anew; 2 receipts that had not arrived there: kept in "
        f"{site.rescued}, and not part of the ledger; this tick plans that work again"
    )
    after = site.open().record(view, {"drafts/aa/2.json": b"2"}, "two\n")
    assert site.open("other").fetch() == after
    lose_head(site.cache)
    site.open().fetch()
    assert len(site.said) == 1  # nothing new was lost, nothing is told twice
    assert len(site.kept()) == 2


def test_a_cache_whose_receipts_cannot_be_saved_is_kept(site: Site) -> None:
    site.unsent(1)
    lose_head(site.cache)
    (site.cache / f"view-{tip(site)}.json").unlink(missing_ok=True)
    site.rescued.write_text("in the way")
    with pytest.raises(
        RemoteError, match=r"rescued: receipts of a damaged cache cannot be saved \(.*\), so it is kept"
    ):
        site.open().fetch()
    (kept,) = site.cache.parent.glob("state.git.[0-9]*")
    assert (kept / "refs/hz/new").exists()
    assert site.open().fetch().tip == tip(site)


def test_what_arrived_after_all_is_not_kept(site: Site) -> None:
    """Its answer was lost, and somebody else's commit came after it."""
    site.unsent(1)
    other = site.open("other")
    other.record(other.fetch(), filed(1), "the same, replayed\n")
    lose_head(site.cache)
    site.open().fetch()
    assert (site.kept(), site.said) == ({}, [])


@pytest.mark.parametrize("seen", ["in its answer", "by a later look"])
def test_what_was_acknowledged_is_not_saved(site: Site, seen: str) -> None:
    state = site.open()
    state.record(state.fetch(), filed(1), "ours\n")
    if seen == "by a later look":
        other = site.open("other")
        other.record(other.fetch(), {"drafts/aa/3.json": b"3"}, "theirs\n")
        state.fetch()
        other.record(other.fetch(), {next(iter(filed(1))): None}, "sealed\n")
    lose_head(site.cache)
    site.open().fetch()
    assert not site.rescued.exists() or not list(site.rescued.iterdir())


def test_a_cache_without_anything_unsent_is_made_anew_in_silence(site: Site) -> None:
    site.open().fetch()
    lose_head(site.cache)
    for path in site.cache.glob("view-*"):
        path.unlink()
    assert site.open().fetch().tip == tip(site)
    assert site.said == []
    assert not site.rescued.exists()


def tip(site: Site) -> str:
    words = ("git", f"--git-dir={site.remote}", "rev-parse", BRANCH)
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def test_a_cache_that_nobody_used_for_two_weeks_is_made_anew(tmp_path: Path) -> None:
    """All that happened since costs more than to begin again; while somebody looks, an old tip is as good as a new."""
    bare(tmp_path / "remote.git")
    with served(tmp_path) as url:
        site = Site(tmp_path, f"{url}/remote.git")
        state, other = site.open(), site.open("other")
        view = other.record(other.fetch(), BASE, "base\n")
        state.fetch()
        lock = Path(f"{site.cache}.lock")
        born = (site.cache / "made").stat().st_ino
        for days, anew in ((13, False), (15, True)):
            at = time.time() - days * 86_400
            os.utime(lock, (at, at))
            for number in range(3):
                view = other.record(other.fetch(), {"drafts/aa/1.json": b"%d %d" % (days, number)}, "more\n")
            assert site.open().fetch() == view
            assert ((site.cache / "made").stat().st_ino != born) is anew
            words = ("git", f"--git-dir={site.cache}", "rev-list", "--count", view.tip)
            known = subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
            assert known == ("1" if anew else "4")
        assert site.open().fetch() == view
