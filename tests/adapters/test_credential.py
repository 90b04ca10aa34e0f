"""Which token goes where, what really travels, and that it is written down nowhere. Real Git, real servers."""

import os
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from hz_team.adapters import credential
from hz_team.adapters.mirror import Mirror
from hz_team.adapters.nearby import BRANCH
from hz_team.adapters.state import GitState
from hz_team.errors import RemoteError
from tests.git_server import Server, bare, watched

TOKEN = "ghs_16C7e42F292c6912E7710c838347Ae178B4a"
BASIC = b64encode(f"x-access-token:{TOKEN}".encode()).decode()
HEADER = f"Authorization: Basic {BASIC}"
DIGEST = {"drafts/aa/1.json": b"1"}
FOREIGN = "Authorization: Basic Zm9yZWlnbg=="
"""A header that an earlier checkout left."""
SPY = """#!/bin/sh
printf '%s\\n' "$@" >> {place}/argv
case "$2" in fetch|push) env >> {place}/talking ;; *) env >> {place}/silent ;; esac
exec {git} "$@"
"""
"""Stands before Git: notes its words and its environment."""


def command_lines() -> str:
    """Return the words of every process of this machine, as anybody on it may list them."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            found.append(Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b"\n").decode("latin-1"))
    return "".join(found)


class Site:
    """A repository behind HTTP, and a machine that asks it."""

    def __init__(self, place: Path, server: Server) -> None:
        self.place, self.server = place, server
        self.url = f"{server.url}/remote.git"
        self.environ = {**os.environ, "GIT_ALLOW_PROTOCOL": "http"}

    def open(self, cache: str = "cache", **environ: str) -> GitState:
        return GitState(self.url, str(self.place / cache / "state.git"), environ={**self.environ, **environ})


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    bare(tmp_path / "remote.git")
    with watched(tmp_path) as server:
        server.demanded = HEADER.partition(": ")[2]
        yield Site(tmp_path, server)


def token_for(url: str, **environ: str) -> str:
    return credential.token_for(url, environ)


def test_our_own_token_is_for_the_state_wherever_it_is() -> None:
    for url in ("https://github.com/a/b.git", "https://git.example.org/b", "http://127.0.0.1:80/b"):
        assert token_for(url, HZ_TOKEN="own", GITHUB_TOKEN="forge") == "own"
    assert token_for("https://git.example.org/b", HZ_TOKEN=" own\n") == "own"


def test_a_forge_token_is_for_its_forge_alone() -> None:
    here = "https://github.com/a/b.git"
    assert token_for(here, GITHUB_TOKEN="forge", GH_TOKEN="other") == "forge"
    assert token_for(here, GH_TOKEN="other") == token_for("https://GITHUB.com:443/a", GH_TOKEN="other") == "other"
    for url in (
        "https://git.example.org/a/b.git",
        "https://github.com.evil.example/a/b.git",
        "https://github.com@evil.example/a/b.git",
        "https://evil.example/github.com/b.git",
        "https://evil.example?github.com/",
        "https://github.com:8443/a/b.git",
    ):
        assert token_for(url, GITHUB_TOKEN="forge", GH_TOKEN="other") == "", url
    server = {"GITHUB_SERVER_URL": "https://git.acme.example", "GITHUB_TOKEN": "forge"}
    assert token_for("https://git.acme.example/a/b", **server) == "forge"
    assert token_for(here, **server) == ""


@pytest.mark.parametrize(
    "url",
    [
        "http://github.com/a/b.git",
        "http://10.0.0.1/a.git",
        "http://127.evil.example/a.git",
        "ssh://git@github.com/a/b.git",
        "git@github.com:a/b.git",
        "file:///a/b.git",
        "/a/b.git",
        "https://user@github.com/a/b.git",
    ],
)
def test_no_token_for_what_is_not_encrypted_or_takes_none(url: str) -> None:
    environ = {"HZ_TOKEN": "own", "GITHUB_TOKEN": "forge", "GITHUB_SERVER_URL": "http://github.com"}
    assert credential.access(url, environ) == credential.Access()


def test_the_server_gets_the_token_once_in_every_request(site: Site) -> None:
    state = site.open(HZ_TOKEN=TOKEN)
    written = state.record(state.fetch(), DIGEST, "one\n")
    assert site.open("other", HZ_TOKEN=TOKEN).fetch() == written
    asked = site.server.since()
    assert len(asked) > 5
    assert {one.authorizations for one in asked} == {(HEADER.partition(": ")[2],)}


def test_a_forge_token_opens_its_own_server(site: Site) -> None:
    assert site.open(GITHUB_TOKEN=TOKEN, GITHUB_SERVER_URL=site.server.url).fetch().tip == ""
    with pytest.raises(RemoteError, match=r"put a token that may read and write it into HZ_TOKEN"):
        site.open("other", GITHUB_TOKEN=TOKEN).fetch()
    assert {one.authorizations for one in site.server.since()} == {(HEADER.partition(": ")[2],), ()}


@pytest.mark.parametrize("key", ["http.extraheader", "http.{server}/.extraheader", "http.{url}.extraheader"])
def test_a_header_that_an_earlier_checkout_left_is_not_sent(site: Site, key: str) -> None:
    """As actions/checkout leaves one in a configuration file, for the host or for all."""
    state = site.open(HZ_TOKEN=TOKEN)
    state.fetch()
    cache = site.place / "cache/state.git"
    name = key.format(server=site.server.url, url=site.url)
    subprocess.run(("git", f"--git-dir={cache}", "config", name, FOREIGN), check=True)
    site.server.since()
    state.record(state.fetch(), DIGEST, "one\n")
    asked = site.server.since()
    assert {one.authorizations for one in asked} == {(HEADER.partition(": ")[2],)}


def test_without_the_empty_value_both_would_be_sent(site: Site) -> None:
    """What the empty value is for, and that the server would show it (PROTOCOL)."""
    mirror = Mirror(site.url, str(site.place / "cache/state.git"), {**site.environ, "HZ_TOKEN": TOKEN})
    with mirror.writing() as repository:
        subprocess.run(("git", f"--git-dir={repository.path}", "config", "http.extraheader", FOREIGN), check=True)
    command = ("git", f"--git-dir={mirror.path}", "ls-remote", site.url)

    def sent(settings: tuple[tuple[str, str], ...]) -> set[tuple[str, ...]]:
        environ = {**site.environ, "GIT_CONFIG_COUNT": str(len(settings))}
        for number, (name, value) in enumerate(settings):
            environ |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
        site.server.since()
        subprocess.run(command, env=environ, check=False, capture_output=True)
        return {one.authorizations for one in site.server.since()}

    ours = HEADER.partition(": ")[2]
    for_all = tuple(("http.extraheader", value) for _, value in mirror.repository.access[:2])
    assert sent(for_all[1:]) == {(FOREIGN.partition(": ")[2], ours)}
    assert sent(for_all) == sent(mirror.repository.access) == {(ours,)}


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are listed by /proc")
def test_the_token_is_written_down_nowhere(site: Site) -> None:
    git = subprocess.run(("sh", "-c", "command -v git"), check=True, capture_output=True, text=True).stdout.strip()
    shim = site.place / "bin/git"
    shim.parent.mkdir()
    shim.write_text(SPY.format(place=site.place, git=git))
    shim.chmod(0o755)
    environ = {"PATH": f"{shim.parent}:{os.environ['PATH']}", "GIT_TRACE": "1", "GIT_CURL_VERBOSE": "1"}
    seen: list[str] = []
    site.server.look = lambda: seen.append(command_lines())
    state = site.open(HZ_TOKEN=TOKEN, **environ)
    written = state.record(state.fetch(), DIGEST, "one\n")
    assert site.open("other", HZ_TOKEN=TOKEN, **environ).read(written, list(DIGEST)) == DIGEST
    argv = (site.place / "argv").read_text() + "".join(seen)
    assert site.url in argv  # Git's helper names it: its children were seen as well
    cached = [path for name in ("cache", "other") for path in (site.place / name).rglob("*") if path.is_file()]
    assert cached
    for text in (argv, *(path.read_bytes().decode("latin-1") for path in cached)):
        assert TOKEN not in text
        assert BASIC not in text
    assert BASIC in (site.place / "talking").read_text()
    silent = (site.place / "silent").read_text()  # who writes or reads here has no use for it
    assert "GIT_CONFIG_COUNT" in silent
    assert BASIC not in silent
    assert TOKEN not in (site.place / "talking").read_text() + silent


def test_a_server_that_quotes_the_header_does_not_get_it_shown(site: Site) -> None:
    site.server.demanded = "Basic other"
    with pytest.raises(RemoteError) as told:
        site.open(HZ_TOKEN=TOKEN).fetch()
    assert "HZ_TOKEN" in str(told.value)
    assert BASIC not in str(told.value)
    assert site.server.since()[0].authorizations == (HEADER.partition(": ")[2],)


def test_a_hook_that_quotes_the_token_does_not_get_it_shown(site: Site) -> None:
    state = site.open(HZ_TOKEN=TOKEN)
    view = state.fetch()
    hook = site.place / "remote.git/hooks/pre-receive"
    hook.write_text(f"#!/bin/sh\necho 'no {BASIC} nor {TOKEN} here' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(RemoteError, match=r"no \*\*\* nor \*\*\* here") as told:
        state.record(view, DIGEST, "one\n")
    assert TOKEN not in str(told.value) + BASIC


def test_a_redirect_does_not_take_the_token_along(site: Site, tmp_path: Path) -> None:
    """Git follows the first one, and sends its headers to where it led."""
    (tmp_path / "there").mkdir()
    bare(tmp_path / "there/remote.git")
    with watched(tmp_path / "there") as other:
        site.server.elsewhere = other.url
        with pytest.raises(RemoteError, match=r"has moved .*302.*; write the URL it has now"):
            site.open(HZ_TOKEN=TOKEN).fetch()
        assert other.since() == []
        assert site.open("without").fetch().tip == ""  # who shows nothing may be led on
        assert {one.authorizations for one in other.since()} == {()}


def test_loopback_is_asked_without_a_proxy(site: Site) -> None:
    with watched(site.place) as proxy:
        lured = dict.fromkeys(("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"), proxy.url)
        assert site.open(HZ_TOKEN=TOKEN, **lured).fetch().tip == ""
        assert proxy.since() == []


def test_no_token_no_settings(site: Site) -> None:
    site.server.demanded = ""
    state = site.open()
    state.record(state.fetch(), DIGEST, "one\n")
    assert {one.authorizations for one in site.server.since()} == {()}
    tip = subprocess.run(
        ("git", f"--git-dir={site.place}/remote.git", "rev-parse", BRANCH), check=True, capture_output=True
    )
    assert tip.stdout
