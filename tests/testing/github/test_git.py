"""One repository behind REST and Git: what one makes the other sees."""

from __future__ import annotations

import base64
import subprocess
from typing import TYPE_CHECKING

import pytest

from hz_team.testing.github.bare import GitRefused, environment
from tests.testing.github.asking import HERE, NAME, Client

if TYPE_CHECKING:
    from pathlib import Path

    from hz_team.testing.github import GitHub, Person, Repository

GIT = f"{HERE}/git"


def git(where: Path, *words: str, token: str = "") -> subprocess.CompletedProcess[str]:
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    extra = ("-c", f"http.extraheader=Authorization: Basic {basic}") if token else ()
    who = ("-c", "user.name=Mona", "-c", "user.email=mona@users.noreply.github.com")
    env = {**environment(), "GIT_TERMINAL_PROMPT": "0"}
    return subprocess.run(
        ("git", "-C", str(where), *extra, *who, *words), env=env, capture_output=True, text=True, check=False
    )


@pytest.fixture
def token(github: GitHub, repo: Repository, mona: Person) -> str:
    mona.pushes(repo, {"README.md": "# Here\n"}, "First")
    return github.token("actions", NAME, permissions={"contents": "write"})


def test_what_rest_makes_git_fetches(github: GitHub, repo: Repository, token: str, tmp_path: Path) -> None:
    ask = Client(github, token)
    head = ask("GET", f"{GIT}/ref/heads/main").data["object"]["sha"]
    tree = ask(
        "POST", f"{GIT}/trees", {"base_tree": head, "tree": [{"path": "a/b.txt", "mode": "100644", "content": "b\n"}]}
    )
    commit = ask("POST", f"{GIT}/commits", {"message": "Add b", "tree": tree.data["sha"], "parents": [head]}).data
    assert commit["author"]["name"] == "github-actions[bot]"
    ask("POST", f"{GIT}/refs", {"ref": "refs/heads/side", "sha": commit["sha"]})
    done = git(tmp_path, "clone", "-q", "-b", "side", f"{github.url}/{NAME}.git", "clone", token=token)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "clone/a/b.txt").read_text() == "b\n"
    assert (tmp_path / "clone/README.md").exists()
    assert repo.bare.files("side") == {"README.md": b"# Here\n", "a/b.txt": b"b\n"}


def test_what_git_pushes_rest_shows(github: GitHub, repo: Repository, token: str, tmp_path: Path) -> None:
    github.events.clear()
    mine = github.token("classic", who="mona")
    git(tmp_path, "clone", "-q", f"{github.url}/{NAME}.git", "clone", token=mine)
    (tmp_path / "clone/new.txt").write_text("new\n")
    git(tmp_path / "clone", "add", ".")
    git(tmp_path / "clone", "commit", "-q", "-m", "Add new")
    done = git(tmp_path / "clone", "push", "-q", "origin", "HEAD:main", token=mine)
    assert done.returncode == 0, done.stderr
    got = Client(github, token)("GET", f"{HERE}/contents/new.txt").data
    assert base64.b64decode(got["content"]) == b"new\n"
    newest = Client(github, token)("GET", f"{HERE}/commits?per_page=1").data[0]
    assert (newest["commit"]["message"], newest["author"]["login"]) == ("Add new", "mona")
    assert [(name, payload["ref"], payload["head_commit"]["added"]) for name, payload in github.events] == [
        ("push", "refs/heads/main", ["new.txt"])
    ]
    assert github.count("POST", "git-receive-pack", status=200) == 1


def test_git_asks_for_a_token_and_says_no(github: GitHub, repo: Repository, token: str, tmp_path: Path) -> None:
    url = f"{github.url}/{NAME}.git"
    reader = github.token("actions", NAME, permissions={"contents": "read"})
    assert "Authentication failed" in (failed := git(tmp_path, "ls-remote", url).stderr) or "could not read" in failed
    assert git(tmp_path, "ls-remote", url, token=reader).returncode == 0
    git(tmp_path, "clone", "-q", url, "clone", token=reader)
    assert "403" in git(tmp_path / "clone", "push", url, "HEAD:refs/heads/x", token=reader).stderr
    elsewhere = github.token("actions", "acme/other")
    assert "not found" in git(tmp_path, "ls-remote", url, token=elsewhere).stderr
    github.revoke(reader)
    assert git(tmp_path, "ls-remote", url, token=reader).returncode != 0


def test_the_token_of_actions_pushes_no_workflow(github: GitHub, repo: Repository, token: str, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", f"{github.url}/{NAME}.git", "clone", token=token)
    place = tmp_path / "clone/.github/workflows"
    place.mkdir(parents=True)
    (place / "x.yml").write_text("on: push\n")
    git(tmp_path / "clone", "add", ".")
    git(tmp_path / "clone", "commit", "-q", "-m", "Add workflow")
    for branch in ("main", "new"):
        done = git(tmp_path / "clone", "push", "origin", f"HEAD:refs/heads/{branch}", token=token)
        assert "without workflows permission" in done.stderr
    content = {"message": "x", "content": base64.b64encode(b"x").decode()}
    assert Client(github, token)("PUT", f"{HERE}/contents/.github/workflows/x.yml", content).status == 403
    wide = github.token("app", NAME, permissions={"contents": "write", "workflows": "write"})
    assert git(tmp_path / "clone", "push", "origin", "HEAD:refs/heads/new", token=wide).returncode == 0


def test_refs_move_only_forward(github: GitHub, repo: Repository, token: str, mona: Person) -> None:
    ask, first = Client(github, token), repo.bare.branch("main")
    second = mona.pushes(repo, {"b": "2\n"})
    assert ask("PATCH", f"{GIT}/refs/heads/main", {"sha": first}).data["message"] == "Update is not a fast forward"
    assert ask("PATCH", f"{GIT}/refs/heads/none", {"sha": first}).status == 422
    assert ask("POST", f"{GIT}/refs", {"ref": "heads/x", "sha": first}).status == 422
    assert ask("POST", f"{GIT}/refs", {"ref": "refs/heads/x", "sha": "1" * 40}).status == 422
    assert repo.bare.branch("main") == second
    assert ask("PATCH", f"{GIT}/refs/heads/main", {"sha": first, "force": True}).status == 200
    assert repo.bare.branch("main") == first


def test_packed_refs_are_seen(github: GitHub, repo: Repository, token: str) -> None:
    head = repo.bare.branch("main")
    repo.bare.git("pack-refs", "--all")
    assert Client(github, token)("GET", f"{GIT}/ref/heads/main").data["object"]["sha"] == head
    assert Client(github, token)("GET", f"{GIT}/ref/heads/../../config").status == 404


def test_a_merge_is_a_merge(github: GitHub, repo: Repository, token: str, mona: Person) -> None:
    base = repo.bare.branch("main")
    for branch in ("side", "clash"):
        repo.bare.update(f"refs/heads/{branch}", base)
    mona.pushes(repo, {"side.txt": "side\n"}, branch="side")
    mona.pushes(repo, {"README.md": "# There\n"}, branch="clash")
    mona.pushes(repo, {"README.md": "# Elsewhere\n"})
    pull, clash = mona.opens_pull(repo, "Side", "side"), mona.opens_pull(repo, "Clash", "clash")
    merged = mona.merges(pull)
    assert repo.bare.branch("main") == merged
    assert repo.bare.files("main") == {"README.md": b"# Elsewhere\n", "side.txt": b"side\n"}
    assert (pull.state, pull.merged, pull.merged_by, pull.merge_commit_sha) == ("closed", True, mona.account, merged)
    with pytest.raises(GitRefused):
        mona.merges(clash)
    assert (clash.state, clash.merged) == ("open", False)


def test_a_release_makes_its_tag(github: GitHub, repo: Repository, token: str) -> None:
    ask = Client(github, token)
    made = ask("POST", f"{HERE}/releases", {"tag_name": "v1", "body": "first"})
    assert repo.bare.resolve("refs/tags/v1") == repo.bare.branch("main")
    assert ask("POST", f"{HERE}/releases", {"tag_name": "v1"}).status == 422
    assert ask("POST", f"{HERE}/releases", {"tag_name": "v2", "target_commitish": "none"}).status == 422
    assert ask("DELETE", f"{HERE}/releases/{made.data['id']}").status == 204
    assert ask("GET", f"{HERE}/releases").data == []
    assert repo.bare.resolve("refs/tags/v1")
