"""`publish:` is a ceiling."""

from __future__ import annotations

from typing import Any

import pytest

from hz_team.ceiling import Asked, Home, judge, matches
from hz_team.model.draft import Draft, Refusal

HOME = Home("digest", "A digest", "2026-12-02", "acme/housework", ("acme/docs",), ("hooks.example.org",))


def judged(asked: Asked, **publish: Any) -> Draft | Refusal:
    return judge(asked, publish, HOME)


def draft(asked: Asked, **publish: Any) -> Draft:
    found = judged(asked, **publish)
    assert isinstance(found, Draft), found
    return found


def refusal(asked: Asked, **publish: Any) -> Refusal:
    found = judged(asked, **publish)
    assert isinstance(found, Refusal), found
    return found


def test_the_only_kind_need_not_be_named() -> None:
    assert draft(Asked("b"), issue={}).kind == "issue"
    assert draft(Asked("b", kind="comment", target="#7"), issue={}, comment={}).kind == "comment"


@pytest.mark.parametrize("kind", ["", "release"])
def test_of_several_kinds_one_must_be_named(kind: str) -> None:
    assert refusal(Asked("b", kind=kind), issue={}, comment={}).ceiling == "one of these kinds: issue, comment"


def test_without_publish_a_draft_is_kept() -> None:
    assert draft(Asked("b", title="T")) == Draft("", "", "T", "b")
    assert refusal(Asked("b", kind="issue")).asked == "kind: issue"


def test_a_title_that_is_said_stands() -> None:
    assert draft(Asked("b"), issue={"title": "Fixed"}).title == "Fixed"
    assert draft(Asked("b", title="Fixed"), issue={"title": "Fixed"}).title == "Fixed"
    assert refusal(Asked("b", title="Mine"), issue={"title": "Fixed"}) == Refusal("title: Mine", "title: Fixed", "Mine")


def test_a_title_that_is_open_may_be_filled_or_is_found() -> None:
    assert draft(Asked("b", title=" A\n\ttitle\x07 "), issue={}).title == "A title"
    assert draft(Asked("text\n## A \\*heading\\* ##\n"), issue={}).title == "A *heading*"
    assert draft(Asked("no heading"), issue={}).title == "A digest"
    assert len(draft(Asked("b", title="x" * 999), issue={}).title) == 256


@pytest.mark.parametrize(
    ("spec", "asked", "labels"),
    [
        ({}, ("a", "b", "a"), ("a", "b")),
        ({"labels": ["news"]}, (), ("news",)),
        ({"labels": ["news"]}, ("news",), ("news",)),
        ({"labels": ["news"], "allow": ["bug"]}, ("bug",), ("news", "bug")),
        ({"labels": "news"}, (), ("news",)),
    ],
)
def test_labels_within(spec: dict[str, Any], asked: tuple[str, ...], labels: tuple[str, ...]) -> None:
    assert draft(Asked("b", labels=asked), issue=spec).labels == labels


@pytest.mark.parametrize(
    ("spec", "asked"),
    [
        ({"labels": ["news"]}, ("bug",)),
        ({"allow": ["bug"]}, ("docs",)),
        ({}, ("hz:approved",)),
        ({"allow": ["hz:approved"]}, ("hz:approved",)),
        ({}, ("x" * 51,)),
        ({}, tuple(map(str, range(30)))),
    ],
)
def test_labels_beyond(spec: dict[str, Any], asked: tuple[str, ...]) -> None:
    assert "label" in refusal(Asked("b", labels=asked), issue=spec).asked


def test_a_label_draft_needs_a_label_that_is_allowed() -> None:
    assert draft(Asked(kind="label", target="#7", labels=("bug",)), label={"allow": ["bug"]}).labels == ("bug",)
    assert refusal(Asked(target="#7"), label={"allow": ["bug"]}).asked == "no label"


@pytest.mark.parametrize(
    ("spec", "asked", "target"),
    [
        ({}, "", "here"),
        ({}, "here", "here"),
        ({}, "Acme/Housework", "here"),
        ({}, "acme/docs", "acme/docs"),
        ({"repository": "acme/docs"}, "", "acme/docs"),
    ],
)
def test_repositories_within(spec: dict[str, Any], asked: str, target: str) -> None:
    assert draft(Asked("b", target=asked), issue=spec).target == target


@pytest.mark.parametrize(
    "asked", ["evil/repo", "acme/housework/../../evil", "https://github.com/evil/repo", "#7", "../x"]
)
def test_another_repository_is_refused_and_both_are_named(asked: str) -> None:
    found = refusal(Asked("b", target=asked), issue={})
    assert found.asked == f"target: {asked}"
    assert "publish.repositories of .hz/hz.yaml (acme/docs)" in found.ceiling


def test_a_fixed_repository_is_not_the_drafts_to_choose() -> None:
    assert (
        refusal(Asked("b", target="acme/docs"), issue={"repository": "acme/housework"}).ceiling
        == "repository: acme/housework"
    )


@pytest.mark.parametrize(
    ("asked", "target"),
    [("#7", "#7"), ("7", "#7"), ("acme/housework#7", "#7"), ("acme/docs#7", "acme/docs#7")],
)
def test_numbers_within(asked: str, target: str) -> None:
    assert draft(Asked("b", target=asked), comment={}).target == target


@pytest.mark.parametrize("asked", ["", "#0", "#x", "evil/repo#7", "#7\n", "#7; rm", "here"])
def test_numbers_beyond(asked: str) -> None:
    if asked.strip() == "#7":
        assert draft(Asked("b", target=asked), comment={}).target == "#7"
    else:
        assert refusal(Asked("b", target=asked), comment={}).asked.startswith("target: ")


def test_a_fixed_number_stands() -> None:
    for said in ("#7", "7"):
        assert draft(Asked("b"), comment={"issue": said}).target == "#7"
        assert draft(Asked("b", target="#7"), comment={"issue": said}).fields == {}
        assert refusal(Asked("b", target="#8"), comment={"issue": said}).ceiling == "issue: 7"


@pytest.mark.parametrize(
    ("spec", "asked"),
    [
        ({"path": "docs/a.md"}, ""),
        ({"paths": ["docs/**"]}, "docs/a.md"),
        ({"paths": ["docs/"]}, "docs/a.md"),
        ({}, "docs/a.md"),
    ],
)
def test_paths_within(spec: dict[str, Any], asked: str) -> None:
    assert draft(Asked("b", target=asked), file=spec).target == "docs/a.md"


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../a", "a/../../b", ".git/config", "a/.GIT/hooks/x", "a//b", "a\\b", "a\x00b", "./a", ""]
)
def test_no_path_leads_out_of_the_repository(path: str) -> None:
    assert isinstance(judged(Asked("b", target=path), file={}), Refusal)
    if path:
        assert isinstance(judged(Asked("b", files={path: "x"}, patch="d"), pull_request={}), Refusal)


def test_files_stay_within_the_paths() -> None:
    spec = {"paths": ["CHANGELOG.md", "docs/*.md"], "branch": "hz/log", "base": "trunk"}
    found = draft(Asked("b", files={"docs/a.md": "x"}, patch="diff"), pull_request=spec)
    assert (found.target, found.files, found.fields) == (
        "hz/log",
        {"docs/a.md": "x"},
        {"base": "trunk", "branch": "hz/log", "patch": "diff"},
    )
    for path in ("docs/deep/a.md", "README.md", ".github/workflows/x.yml"):
        assert (
            refusal(Asked("b", files={path: "x"}, patch="d"), pull_request=spec).ceiling
            == "paths: CHANGELOG.md, docs/*.md"
        )


def test_a_pull_request_comes_from_a_checkout() -> None:
    for asked in (Asked("b"), Asked("b", files={"a": "x"}), Asked("b", patch="d")):
        assert refusal(asked, pull_request={}).ceiling == "the change that a step made `in: repo`"


def test_other_kinds_take_no_files() -> None:
    assert refusal(Asked("b", files={"a": "x"}), issue={}).asked == "files: a"


@pytest.mark.parametrize(
    ("spec", "asked", "branch"),
    [
        ({}, "", "hz/digest-2026-12-02"),
        ({}, "hz/mine", "hz/mine"),
        ({"branch": "auto/x"}, "", "auto/x"),
        ({"branch": "hz/a b..c~^:?*[\\.lock"}, "", "hz/a-b-c-------"),
    ],
)
def test_branches_within(spec: dict[str, Any], asked: str, branch: str) -> None:
    assert draft(Asked("b", target=asked, files={"a": "x"}, patch="d"), pull_request=spec).target == branch


@pytest.mark.parametrize(
    ("spec", "asked"), [({}, "main"), ({}, "release/1"), ({"branch": "hz/a"}, "hz/b"), ({"branch": "main"}, "")]
)
def test_branches_beyond(spec: dict[str, Any], asked: str) -> None:
    assert isinstance(judged(Asked("b", target=asked, files={"a": "x"}, patch="d"), pull_request=spec), Refusal)


def test_a_webhook_goes_where_publish_or_the_hosts_say() -> None:
    assert draft(Asked("b"), webhook={"url": "https://other.example/x"}).target == "https://other.example/x"
    assert draft(Asked("b", target="https://hooks.example.org/x"), webhook={}).target == "https://hooks.example.org/x"
    for url in ("https://evil.example/x", "ftp://hooks.example.org/x", "https://hooks.example.org@evil.example/", ""):
        assert isinstance(judged(Asked("b", target=url), webhook={}), Refusal)


def test_what_else_publish_says_goes_to_the_publisher() -> None:
    assert draft(Asked("b"), issue={"labels": ["a"], "milestone": "v1"}).fields == {"milestone": "v1"}


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.md", "a.md", True),
        ("*.md", "d/a.md", False),
        ("**/*.md", "a.md", True),
        ("**/*.md", "d/e/a.md", True),
        ("docs/**", "docs/a/b", True),
        ("docs/**", "docs2/a", False),
        ("docs/", "docs/a", True),
        ("a?c", "abc", True),
        ("a.c", "abc", False),
        ("a?c", "a/c", False),
    ],
)
def test_patterns(pattern: str, path: str, fits: bool) -> None:  # noqa: FBT001
    assert matches(path, pattern) is fits


def test_a_repository_that_a_job_fixes_is_held_to_the_list_of_the_team_too() -> None:
    spec = {"issue": {"repository": "acme/other"}}
    home = Home("news", "News", "2026-12-01")
    assert judge(Asked("x"), spec, home) == Refusal(
        "target: acme/other", "this repository and publish.repositories of .hz/hz.yaml (none is listed)", ""
    )
    listed = judge(Asked("x"), spec, home._replace(repositories=("acme/other",)))
    assert isinstance(listed, Draft)
    assert listed.target == "acme/other"


def test_the_target_that_a_job_fixes_for_an_added_kind_is_the_package_s_affair() -> None:
    made = judge(Asked("x"), {"newsletter.send": {"target": "all readers"}}, Home("news", "News", "2026-12-01"))
    assert isinstance(made, Draft)
    assert made.target == "all readers"
    over = judge(Asked("x", target="acme/other"), {"newsletter.send": {}}, Home("news", "News", "2026-12-01"))
    assert isinstance(over, Refusal)
