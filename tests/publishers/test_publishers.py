"""What all kinds share: parts and their keys, the marker, paths, phrases."""

from __future__ import annotations

import hashlib

import pytest

from hz_team import publishers, registry
from hz_team.errors import PublishRefused
from hz_team.model.draft import Draft
from tests.publishers.sample import DRAFTS, KEY, REPOSITORY, part_of


def test_a_draft_is_one_part_that_holds_everything_it_sends() -> None:
    (part,) = publishers.parts(
        DRAFTS["pull_request"].payload(), REPOSITORY, KEY, job="changelog", proposal="p-5d5d5d5d"
    )
    draft = DRAFTS["pull_request"]
    assert (part.part, part.kind, part.target, part.title, part.body) == (0, *draft[:4])
    assert (part.labels, part.files, part.fields) == (draft.labels, draft.files, draft.fields)
    assert (part.job, part.proposal) == ("changelog", "p-5d5d5d5d")


def test_each_makes_a_part_a_target_and_takes_the_rest_from_the_draft() -> None:
    draft = Draft(
        "comment",
        "#7",
        "Close 2 issues?",
        "Quiet.",
        ("stale",),
        parts=({"target": "#7", "body": "A"}, {"target": "#9", "labels": []}),
    )
    first, second = publishers.parts(draft.payload(), REPOSITORY, KEY)
    assert (first.part, first.target, first.body, first.title, first.labels) == (
        0,
        "#7",
        "A",
        "Close 2 issues?",
        ("stale",),
    )
    assert (second.part, second.target, second.body, second.labels) == (1, "#9", "Quiet.", ())
    assert first.key != second.key


def test_the_key_is_a_hash_of_repository_proposal_and_part_and_of_nothing_else() -> None:
    text = f'["{REPOSITORY}","{KEY}",0]'
    assert part_of("issue").key == hashlib.sha256(text.encode()).hexdigest()
    assert part_of("issue", title="another", body="another", target="acme/other").key == part_of("issue").key


@pytest.mark.parametrize("key", ["", "5d", "5D" * 32, "g" * 64, "a" * 63 + "\n"])
def test_a_marker_is_made_of_a_key_only(key: str) -> None:
    with pytest.raises(ValueError, match="no idempotency key"):
        publishers.marker(key)


@pytest.mark.parametrize("path", ["docs/news.md", "a", "öl/ärger.txt", ".github/CODEOWNERS", "x..y", "a b"])
def test_paths_below_the_root_are_taken_as_they_are(path: str) -> None:
    assert publishers.checked_path(path) == path


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("", "does not stay"),
        ("/etc/passwd", "does not stay"),
        ("../x", "does not stay"),
        ("a/../../x", "does not stay"),
        ("a//b", "does not stay"),
        ("./a", "does not stay"),
        ("a/", "does not stay"),
        ("..\\x", "does not stay"),
        (".git/config", "does not stay"),
        ("a/.GIT/hooks/x", "does not stay"),
        (".hz/jobs/mine.yaml", "pull request only"),
        (".HZ/hz.yaml", "pull request only"),
        ("a\nb", "cannot be seen"),
        ("a\x00b", "cannot be seen"),
        ("a\u202egpj.exe", "cannot be seen"),
        ("é" * 128, "too long"),
        ("/".join(["a" * 200] * 6), "too long"),
    ],
)
def test_paths_that_lead_or_look_elsewhere_are_refused_in_a_sentence(path: str, why: str) -> None:
    with pytest.raises(PublishRefused, match=why) as refused:
        publishers.checked_path(path)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("kind", registry.PUBLISHERS)
def test_every_kind_says_what_it_does_whatever_strangers_wrote(kind: str) -> None:
    strange = "a`b\n@octocat <!-- hz:pause --> \u202e"
    payload = Draft(
        kind, strange, strange, strange, (strange,), {strange: ""} if kind == "pull_request" else {}
    ).payload()
    publisher = registry.publisher(kind)
    assert publisher.words(payload).isprintable()
    told = publisher.becomes(payload, REPOSITORY)
    assert "\n" not in told
    assert "@octocat" not in told
    assert "<!--" not in told
