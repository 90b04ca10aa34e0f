"""`in: repo`: a throw-away checkout, and its difference."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hz_team.checkout import repository
from tests.drafting import LANDLOCK, WHY_NOT, git, run, shell, team

if TYPE_CHECKING:
    from hz_team.model.draft import Outcome

PATHS = {"pull_request": {"paths": ["CHANGELOG.md", "docs/**"]}}


def made(root: Path, script: str, **more: Any) -> Outcome:
    return run(root, shell(script, place="repo"), **{"publish": PATHS, **more})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return team(
        tmp_path / "team", {"CHANGELOG.md": "old\n", "docs/a.md": "a\n", "tool.sh": "echo new > CHANGELOG.md\n"}
    )


def test_the_difference_becomes_a_pull_request(root: Path, tmp_path: Path) -> None:
    outcome = made(root, "bash tool.sh; rm docs/a.md; printf '\\377\\0' > docs/b.bin; echo '# News' > $HZ_DRAFT")
    (draft,) = outcome.drafts
    assert (draft.kind, draft.target, draft.title, draft.body) == (
        "pull_request",
        "hz/digest-2026-12-02",
        "News",
        "# News",
    )
    assert draft.files == {
        "CHANGELOG.md": "new\n",
        "docs/a.md": None,
        "docs/b.bin": {"base64": base64.b64encode(b"\xff\0").decode()},
    }
    assert draft.fields["base"] == "main"
    subprocess.run(("git", "apply", "--check", "-"), cwd=root, input=draft.fields["patch"], text=True, check=True)


def test_the_teams_own_checkout_is_not_touched(root: Path) -> None:
    before = (git(root, "status", "--porcelain"), git(root, "rev-parse", "HEAD"), git(root, "for-each-ref"))
    made(root, "bash tool.sh; git -c user.name=x -c user.email=x@x commit -qam mine; git branch other; git tag t")
    assert (git(root, "status", "--porcelain"), git(root, "rev-parse", "HEAD"), git(root, "for-each-ref")) == before


def test_commits_of_the_step_are_part_of_the_difference(root: Path) -> None:
    outcome = made(root, "bash tool.sh; git -c user.name=x -c user.email=x@x commit -qam mine")
    assert outcome.drafts[0].files == {"CHANGELOG.md": "new\n"}


def test_history_and_tags_are_there(root: Path) -> None:
    git(root, "tag", "v1")
    outcome = made(root, "git log --oneline > docs/a.md; git describe --tags >> docs/a.md")
    assert outcome.drafts[0].files["docs/a.md"].endswith(" all\nv1\n")


def test_a_change_outside_the_paths_is_refused(root: Path) -> None:
    outcome = made(root, "echo x > README.md; bash tool.sh")
    assert (outcome.status, outcome.drafts) == ("refused", ())
    assert (outcome.refusals[0].asked, outcome.refusals[0].ceiling) == (
        "file: README.md",
        "paths: CHANGELOG.md, docs/**",
    )


def test_no_change_is_nothing_to_propose(root: Path) -> None:
    outcome = made(root, "echo text > $HZ_DRAFT")
    assert (outcome.status, outcome.drafts) == ("rendered", ())
    assert "no file was changed" in outcome.warnings[0]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("ln -sf /etc/passwd docs/a.md", "became a link"),
        (
            "git init -q docs/sub; git -C docs/sub -c user.name=x -c user.email=x@x commit -q --allow-empty -m x",
            "became a repository",
        ),
    ],
)
def test_what_is_no_file_is_refused(root: Path, script: str, words: str) -> None:
    outcome = made(root, script)
    assert outcome.status == "failed"
    assert words in outcome.error


def test_settings_that_a_step_leaves_in_its_checkout_run_nothing_of_ours(root: Path, tmp_path: Path) -> None:
    trap = (
        "touch trapped; git config core.fsmonitor 'touch $PWD/../trap; false'; git config diff.external 'touch trap2'"
    )
    outcome = made(root, f"bash tool.sh; {trap}; printf '* filter=evil diff=evil\\n' > docs/.gitattributes; rm trapped")
    assert sorted(outcome.drafts[0].files) == ["CHANGELOG.md", "docs/.gitattributes"]


def test_the_branch_that_publish_names_is_checked_out(root: Path) -> None:
    git(root, "switch", "-qc", "trunk")
    (root / "CHANGELOG.md").write_text("trunk\n")
    git(root, "commit", "-qam", "trunk")
    git(root, "switch", "-q", "main")
    outcome = made(root, "cat CHANGELOG.md > docs/a.md", publish={"pull_request": {"base": "trunk"}})
    assert (outcome.drafts[0].files, outcome.drafts[0].fields["base"]) == ({"docs/a.md": "trunk\n"}, "trunk")


def test_the_branch_as_the_forge_has_it_comes_first(root: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(root), "clone")
    (root / "CHANGELOG.md").write_text("newer\n")
    git(root, "commit", "-qam", "newer")
    git(tmp_path / "clone", "fetch", "-q")
    outcome = made(tmp_path / "clone", "cat CHANGELOG.md > docs/a.md")
    assert outcome.drafts[0].files == {"docs/a.md": "newer\n"}


def test_a_shallow_clone_will_do(root: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{root}", "shallow")
    assert made(tmp_path / "shallow", "bash tool.sh").drafts[0].files == {"CHANGELOG.md": "new\n"}


def test_a_linked_worktree_will_do(root: Path, tmp_path: Path) -> None:
    git(root, "worktree", "add", "-q", str(tmp_path / "linked"))
    assert repository(str(tmp_path / "linked")) == str(root / ".git")
    assert made(tmp_path / "linked", "bash tool.sh").drafts[0].files == {"CHANGELOG.md": "new\n"}


def test_a_folder_that_is_no_repository_is_told(tmp_path: Path) -> None:
    outcome = made(tmp_path, "true")
    assert outcome.status == "failed"
    assert "`in: repo` needs a Git repository, and the folder of .hz/ is in none: run `git init` there" in outcome.error


def test_a_repository_without_a_commit_is_told(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    error = made(tmp_path, "true").error
    assert error == "no checkout could be made of the team's repository: it has no commit yet: make the first one"


@pytest.mark.skipif(not LANDLOCK, reason=WHY_NOT)
def test_no_credentials_and_no_settings_of_the_repository_are_within_reach(root: Path) -> None:
    git(root, "config", "http.extraheader", "AUTHORIZATION: basic c2VjcmV0")
    script = f"cat {root}/.git/config {root}/.hz/x; git config --list --show-origin; git remote -v; env"
    outcome = made(root, f"{{ {script}; }} > docs/a.md 2>&1 || true")
    text = outcome.drafts[0].files["docs/a.md"]
    assert "c2VjcmV0" not in text
    assert "Permission denied" in text
    assert "origin\t" not in text
