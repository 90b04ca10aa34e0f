"""The webhook payloads of the double have what GitHub's own examples have."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from hz_team.testing.github import GitHub
from tests.testing.github.asking import HERE, NAME, Client
from tests.testing.github.published import EXAMPLES, published

if TYPE_CHECKING:
    from collections.abc import Iterator

ELSEWHERE = {"installation", "organization", "enterprise"}
"""Of the place where an example was made."""
PARTS = ("issue", "comment", "pull_request", "release", "discussion", "label", "assignee", "head_commit", "pusher")


@cache
def told() -> tuple[tuple[str, dict[str, Any]], ...]:
    """Do everything that causes an event, once."""
    with GitHub() as github:
        repo = github.repository(NAME)
        github.repository("acme/other")
        mona = github.person("mona", "write", repo=NAME)
        mona.pushes(repo, {"a": "1\n"})
        issue = mona.opens(repo, "One", "text", labels=["hz"])
        mona.edits(issue, "other text", title="Two")
        comment = mona.comments(issue, "hello")
        mona.edits_comment(comment, "hi")
        mona.deletes_comment(comment)
        mona.assigns(issue, "mona")
        mona.unlabels(issue, "hz")
        mona.locks(issue)
        mona.unlocks(issue)
        mona.pins(issue)
        mona.closes(issue)
        mona.reopens(issue)
        mona.transfers(issue, "acme/other")
        mona.deletes(mona.opens(repo, "Three"))
        mona.pushes(repo, {"b": "2\n"}, branch="main")
        mona.pushes(repo, {"a": None, "b": "3\n"})
        repo.bare.update("refs/heads/side", repo.bare.branch("main"))
        mona.pushes(repo, {"c": "3\n"}, branch="side")
        mona.merges(mona.opens_pull(repo, "Side", "side"))
        mona.releases(repo, "v1", "first")
        mona.discusses(repo, "Talk", "text")
        mona.dispatches(repo, "hz-poke", {"job": "digest"})
        mona.starts(repo, "tick.yml", {"a": "b"})
        return tuple(github.events)


def examples(name: str, action: str | None) -> Iterator[dict[str, Any]]:
    """Yield GitHub's examples of an event; of any action if there is none of this one."""
    every = next(row["examples"] for row in published(EXAMPLES) if row["name"] == name)
    same = [one for one in every if one.get("action") == action]
    yield from same or every


def shared(dicts: list[dict[str, Any]]) -> set[str]:
    """Return the keys that all have."""
    return set.intersection(*(set(one) for one in dicts)) if dicts else set()


def lacking(name: str, payload: dict[str, Any]) -> list[str]:
    """Return what all of GitHub's examples of an event have and ours has not."""
    given = list(examples(name, payload.get("action")))
    found = [f"{name}: {key}" for key in sorted(shared(given) - ELSEWHERE - set(payload))]
    for part in PARTS:
        parts = [one[part] for one in given if isinstance(one.get(part), dict)]
        if part in payload:
            found += [f"{name}: {part}.{key}" for key in sorted(shared(parts) - set(payload[part] or {}))]
    return found


def test_payloads_have_the_keys_of_examples() -> None:
    assert [said for name, payload in told() for said in lacking(name, payload)] == []
    name, payload = next(one for one in told() if one[0] == "issues")
    assert lacking(name, {**payload, "issue": {}})
    assert lacking(name, {"action": "opened"})


COMMON = {"repository", "sender", "organization"}
OURS = {
    "push": {"ref", "before", "after", "created", "deleted", "forced", "commits", "head_commit", "pusher"},
    "issues": {"action", "issue"},
    "issue_comment": {"action", "issue", "comment"},
    "pull_request": {"action", "number", "pull_request"},
    "release": {"action", "release"},
    "discussion": {"action", "discussion"},
    "repository_dispatch": {"action", "branch", "client_payload"},
    "workflow_dispatch": {"inputs", "ref", "workflow"},
}


def test_payloads_have_what_we_read() -> None:
    assert {name for name, _ in told()} == set(OURS)
    for name, payload in told():
        assert OURS[name] | COMMON <= set(payload), name
        assert payload["sender"]["login"] == "mona"
        assert payload["repository"]["full_name"] == NAME


def test_every_deed_is_told_once_and_in_order() -> None:
    assert [(name, payload.get("action")) for name, payload in told()] == [
        ("push", None),
        ("issues", "opened"),
        ("issues", "labeled"),
        ("issues", "edited"),
        ("issue_comment", "created"),
        ("issue_comment", "edited"),
        ("issue_comment", "deleted"),
        *[("issues", action) for action in ("assigned", "unlabeled", "locked", "unlocked", "pinned", "closed")],
        *[("issues", action) for action in ("reopened", "transferred", "opened", "deleted")],
        ("push", None),
        ("push", None),
        ("push", None),
        ("pull_request", "opened"),
        ("pull_request", "closed"),
        ("push", None),
        ("push", None),
        *[("release", action) for action in ("created", "published", "released")],
        ("discussion", "created"),
        ("repository_dispatch", "hz-poke"),
        ("workflow_dispatch", None),
    ]


def test_changes_hold_what_stood_there() -> None:
    edited = next(payload for name, payload in told() if (name, payload.get("action")) == ("issues", "edited"))
    assert edited["changes"] == {"title": {"from": "One"}, "body": {"from": "text"}}
    pushed = [payload for name, payload in told() if name == "push"]
    assert [pushed[2]["head_commit"][key] for key in ("added", "removed", "modified")] == [[], ["a"], ["b"]]
    assert (pushed[0]["created"], pushed[1]["created"], pushed[1]["forced"]) == (True, False, False)


def test_a_pull_request_tells_that_its_branch_grew() -> None:
    with GitHub() as github:
        repo, mona = github.repository(NAME), github.person("mona", "write", repo=NAME)
        first = mona.pushes(repo, {"a": "1"})
        repo.bare.update("refs/heads/side", first)
        mona.pushes(repo, {"b": "1"}, branch="side")
        pull = mona.opens_pull(repo, "Side", "side")
        github.events.clear()
        grown = mona.pushes(repo, {"b": "2"}, branch="side")
        mona.pushes(repo, {"a": "2"})
        said = [(name, payload.get("action"), payload["after"]) for name, payload in github.events]
        assert said[:2] == [("push", None, grown), ("pull_request", "synchronize", grown)]
        assert (len(said), github.events[1][1]["pull_request"]["head"]["sha"]) == (3, grown)
        assert pull.head_sha == grown


def test_the_token_of_actions_causes_no_events() -> None:
    with GitHub() as github:
        github.person("mona", "write", repo=NAME)
        repo = github.repository(NAME)
        issue = github.person("mona").opens(repo, "One")
        github.events.clear()
        for kind, expected in (("actions", []), ("app", ["issue_comment"]), ("classic", ["issue_comment"])):
            client = Client(github, github.token(kind, NAME, who="mona" if kind == "classic" else "helper"))
            assert client("POST", f"{HERE}/issues/{issue.number}/comments", {"body": kind}).status == 201
            assert [name for name, _ in github.events] == expected
            github.events.clear()
        client = Client(github, github.token("actions", NAME))
        assert client("POST", f"{HERE}/dispatches", {"event_type": "hz-poke"}).status == 204
        assert [payload["sender"]["login"] for _, payload in github.events] == ["github-actions[bot]"]
