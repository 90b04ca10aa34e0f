from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hz_team.adapters.local import LocalForge
from hz_team.errors import PublishRefused
from hz_team.model.draft import Draft
from hz_team.publishers import pull_request
from tests.publishers.sample import DRAFTS, PATCH, part_of, tools_of


def test_words_count_lines_and_not_what_looks_like_a_head() -> None:
    assert pull_request.words(DRAFTS["pull_request"].payload()) == "pull request, +2 −2 in CHANGELOG.md"
    two = Draft("pull_request", "hz/x", "t", "", (), {"a": "", "b": None}, {"patch": PATCH + PATCH})
    assert pull_request.words(two.payload()) == "pull request, +4 −4 in 2 files"
    bare = Draft("pull_request", "hz/x", "t", "", (), {"logo.png": {"base64": ""}}, {"patch": "GIT binary patch\n"})
    assert pull_request.words(bare.payload()) == "pull request, logo.png"


@pytest.mark.parametrize(
    ("patch", "size"),
    [
        ("", (0, 0)),
        ("@@ -0,0 +1 @@\n+one\n\\ No newline at end of file\n", (1, 0)),
        ("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", (1, 1)),
        ("@@ -1,2 +0,0 @@ def f():\n-a\n-b\n@@ -9 +8,2 @@\n c\n+@@ -1 +1 @@\n", (1, 2)),
    ],
)
def test_size(patch: str, size: tuple[int, int]) -> None:
    assert pull_request.size(patch) == size


def test_becomes() -> None:
    told = pull_request.becomes(DRAFTS["pull_request"].payload(), "acme/housework")
    assert told == (
        "exactly the changes between the lines become a pull request to `main` in acme/housework, labelled `docs`"
    )


def test_the_patch_is_one_that_git_applies(tmp_path: Path) -> None:
    part = part_of("pull_request")
    assert pull_request.publish(part, tools_of(LocalForge(str(tmp_path)))) == "pull-1"
    outbox = tmp_path / ".hz/local/outbox"
    assert (outbox / "pull-1.md").read_text(encoding="utf-8") == (
        '---\nbase: "main"\nbranch: "hz/changelog"\ntitle: "Changelog"\nlabels: ["docs"]\npatch: "pull-1.patch"\n---\n'
        f"<!-- hz:key {part.key} -->\n\nFrom 3 pull requests.\n"
    )
    target = tmp_path / "checkout"
    target.mkdir()
    (target / "CHANGELOG.md").write_text("# Changes\n\n-- a dash\nthe end\n", encoding="utf-8")
    subprocess.run(("git", "apply", str(outbox / "pull-1.patch")), cwd=target, check=True)
    assert (target / "CHANGELOG.md").read_text(encoding="utf-8") == part.files["CHANGELOG.md"]


@pytest.mark.parametrize("lost", [{"files": {}}, {"fields": {"base": "main"}}])
def test_nothing_to_pull_is_refused(lost: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(PublishRefused, match="no difference to pull"):
        pull_request.publish(part_of("pull_request", **lost), tools_of(LocalForge(str(tmp_path))))
