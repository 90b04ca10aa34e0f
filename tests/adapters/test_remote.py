"""What a person may write as the place of the state, and what becomes of it."""

import os
from pathlib import Path

import pytest

from hz_team.adapters import nearby, remote
from hz_team.errors import UsageError


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/housework.git",
        "https://git.example.org:8443/x/y",
        "http://127.0.0.1:8080/state.git",
        "http://[::1]:8080/state.git",
        "ssh://git@github.com/acme/housework.git",
        "ssh://host:2222/x.git",
        "git@github.com:acme/housework.git",
        "host:x.git",
        "file:///srv/state.git",
        "/srv/state.git",
    ],
)
def test_git_urls_are_taken_as_they_are(url: str) -> None:
    assert remote.url_of(url, {}) == url


def test_a_scheme_is_written_as_git_knows_it() -> None:
    assert remote.url_of("HTTPS://Git.Example.org/x", {}) == "https://Git.Example.org/x"
    assert remote.url_of("File:///srv/x", {}) == "file:///srv/x"


def test_owner_and_name_are_on_github() -> None:
    assert remote.url_of("acme/house-work", {}) == "https://github.com/acme/house-work.git"
    assert remote.url_of("acme/x.git", {}) == "https://github.com/acme/x.git"
    own = {"GITHUB_SERVER_URL": "https://git.acme.example/"}
    assert remote.url_of("acme/x", own) == "https://git.acme.example/acme/x.git"


def test_a_path_of_this_machine_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert remote.url_of("./state.git", {}) == f"{tmp_path}/state.git"
    assert remote.url_of("/srv/of the team/x", {}) == "/srv/of the team/x"
    assert remote.url_of("../state.git", {}) == f"{tmp_path.parent}/state.git"


@pytest.mark.parametrize(
    "url",
    [
        "https://octocat:hunter2@github.com/acme/x.git",
        "https://hunter2@github.com/acme/x.git",
        "HTTPS://hunter2@github.com/acme/x.git",
        "http://a:hunter2@127.0.0.1/x.git",
        "ssh://git:hunter2@github.com/acme/x.git",
        "git:hunter2@github.com:acme/x.git",
        "https://git.example.org/x.git?private_token=hunter2",
    ],
)
def test_a_url_that_holds_a_secret_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(UsageError, match="put the token into HZ_TOKEN and write the URL without it") as told:
        remote.url_of(url, {})
    assert "hunter2" not in str(told.value)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("git://github.com/acme/x.git", "git://…: the state is reached by https, http, ssh or as a file"),
        ("ftp://host/x", "ftp://…: the state is reached by"),
        ("ext::sh -c id", "is no Git URL"),
        ("ext::sh", "the state lives behind https"),
        ("fd::17", "the state lives behind https"),
        ("state.git", "the state lives behind https"),
        ("a/b/c", "the state lives behind https"),
        ("../", ""),
        ("acme/..", "the state lives behind https"),
        ("--upload-pack=id", "a dash in front"),
        ("ssh://-oProxyCommand=id/x", "names a host and a repository"),
        ("https://github.com", "names a host and a repository"),
        ("https://github.com/", "names a host and a repository"),
        ("file://host/x", "three slashes"),
        ("https://github.com/a\nb", "control characters"),
    ],
)
def test_what_is_no_place_for_a_state_is_a_sentence(url: str, says: str) -> None:
    if not says:
        assert os.path.isabs(remote.url_of(url, {}))
        return
    with pytest.raises(UsageError, match=says):
        remote.url_of(url, {})


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/acme/housework.git", "acme/housework"),
        ("https://GitHub.com/acme/housework/", "acme/housework"),
        ("ssh://git@github.com/acme/housework.git", "acme/housework"),
        ("git@github.com:acme/housework.git", "acme/housework"),
        ("https://github.com.evil.example/acme/housework.git", ""),
        ("https://gitlab.com/acme/housework.git", ""),
        ("https://github.com/acme", ""),
        ("/srv/github.com/acme/housework.git", ""),
        ("file:///acme/housework.git", ""),
    ],
)
def test_the_name_of_a_repository_on_github(url: str, name: str) -> None:
    assert remote.name_of(url, {}) == name


def test_the_name_of_a_repository_on_another_github() -> None:
    own = {"GITHUB_SERVER_URL": "https://git.acme.example"}
    assert remote.name_of("git@git.acme.example:a/b", own) == "a/b"
    assert remote.name_of("https://github.com/a/b", own) == ""


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.1", "[::1]"])
def test_loopback(host: str) -> None:
    assert remote.is_loopback(host)
    assert remote.is_here(f"http://{host}:8080/x.git")


@pytest.mark.parametrize("host", ["", "github.com", "127.evil.example", "localhost.evil.example", "10.0.0.1", "[::2]"])
def test_no_loopback(host: str) -> None:
    assert not remote.is_loopback(host)
    assert not remote.is_here(f"https://{host}/x.git")


def test_where_a_clone_came_from(tmp_path: Path) -> None:
    assert nearby.origin_of(str(tmp_path)) == ""
    (tmp_path / ".git").mkdir()
    assert nearby.origin_of(str(tmp_path)) == ""
    text = '[core]\n\turl = no\n[remote "fork"]\n\turl = no\n[remote "origin"]\n\turl = git@github.com:a/b.git\n\tfetch = x\n'
    (tmp_path / ".git/config").write_text(text)
    below = tmp_path / "team/deep"
    below.mkdir(parents=True)
    assert nearby.origin_of(str(below)) == nearby.origin_of(str(tmp_path)) == "git@github.com:a/b.git"
    (below / ".git").write_text("gitdir: elsewhere\n")
    assert nearby.origin_of(str(below)) == ""
