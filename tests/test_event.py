"""What the event file of a run says: small payloads of our own, anything at all, and GitHub's own examples."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hz_team import event
from hz_team.dashboard.hearing import merge
from hz_team.event import sight
from hz_team.event.dispatch import CHARACTERS
from hz_team.model.job import Index, Input, Job, Trigger
from hz_team.model.observation import Heard
from hz_team.model.wake import Said
from hz_team.testing.github import GitHub
from tests.testing.github.published import EXAMPLES, published

HOME = "acme/housework"
NOW = 1_796_029_200
RUN = "4711"
PAGE = "<!-- hz:proposal p-3f9c21ab 5d41402abc4b -->\n- [ ] <!-- hz:approve p-3f9c21ab 5d41402abc4b --> Yes\n"
TICKED = PAGE.replace("[ ]", "[x]")
DIGEST = Job("digest", "Digest", ".hz/jobs/digest.yaml", inputs={"week": Input("number"), "tone": Input()})
CUT = Job(
    "cut",
    "Cut",
    ".hz/jobs/cut.yaml",
    triggers=(Trigger("dispatch", name="release-cut"),),
    inputs={"since": Input(pattern="v[0-9.]+")},
)
TRIAGE = Job(
    "triage",
    "Triage",
    ".hz/jobs/triage.yaml",
    triggers=(Trigger("event", name="issues", types=("opened", "reopened")),),
)
LOOKOUT = Job(
    "lookout",
    "Lookout",
    ".hz/jobs/lookout.yaml",
    triggers=tuple(Trigger("event", name=name) for name in ("push", "release", "workflow_run", "discussion")),
)


def heard(name: str, payload: Any = None, *jobs: Job, repository: str = HOME, run: str = RUN, **more: Any) -> Said:
    config = Index("key", NOW, jobs=jobs or (CUT, DIGEST))
    return event.heard(name, payload, config=config, repository=repository, run=run, **{"now": NOW, **more})


def sent(by: str = "mona", **keys: Any) -> dict[str, Any]:
    """A payload of this repository."""
    kind = "Bot" if by.endswith("[bot]") else "User"
    place = {"full_name": HOME, "fork": False, "default_branch": "main"}
    return {"repository": place, "sender": {"login": by, "type": kind}, **keys}


def issue(action: str, *, body: str | None = PAGE, by: str = "mona", **keys: Any) -> dict[str, Any]:
    """Something that was done to issue 7."""
    return sent(by, action=action, issue={"number": 7, "body": body, "state": "open", "labels": []}, **keys)


def comment(*, by: str = "mona", action: str = "created", **thread: Any) -> dict[str, Any]:
    """A comment below issue 7."""
    about = {"number": 7, "body": PAGE, "state": "open", "labels": [], **thread}
    return sent(by, action=action, issue=about, comment={"id": 1, "body": "/hz approve"})


def dispatch(kind: str, client: Any, by: str = "mona") -> dict[str, Any]:
    return sent(by, action=kind, branch="main", client_payload=client)


def test_the_clock_says_nothing() -> None:
    assert heard("schedule", {"schedule": "7 6 * * *", **sent()}) == Said() == heard("schedule", None)
    assert Said().text == "schedule"


# Pages


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        (issue("edited", body=TICKED, changes={"body": {"from": PAGE}}), "mona ticked a box on #7"),
        (issue("edited", body=PAGE, changes={"body": {"from": TICKED}}), "mona edited #7"),
        (issue("edited", body="gone", changes={"body": {"from": PAGE}}), "mona edited #7"),
        (issue("edited", body=None, changes={"body": {"from": PAGE}}), "mona edited #7"),
        (issue("edited", changes={"title": {"from": "Old"}}), "mona edited #7"),
        (issue("closed"), "mona closed #7"),
        (issue("reopened", body="<!-- hz:dashboard 1 acme/housework -->"), "mona reopened #7"),
        (issue("closed", by="a\x1b[31m b"), "somebody closed #7"),
        (issue("closed; rm -rf /"), "mona changed #7"),
    ],
)
def test_what_a_person_does_to_a_page_of_ours_counts(payload: dict[str, Any], text: str) -> None:
    said = heard("issues", payload)
    assert (said.text, said.issue, said.ignored, said.pokes) == (text, 7, "", ())
    assert said.by in ("mona", "somebody")


def test_a_page_is_known_by_its_label_where_its_text_is_gone() -> None:
    payload = issue("edited", body="gone")
    assert heard("issues", payload).ignored
    payload["issue"]["labels"] = [None, {"name": "bug"}, {"name": "hz"}]
    assert heard("issues", payload).ignored == ""


@pytest.mark.parametrize(
    ("name", "payload", "why"),
    [
        (
            "issues",
            issue("opened", body="It is broken"),
            "#7 is no page of ours, and no helper wakes on issues that are opened",
        ),
        ("issues", issue("edited", by="github-actions[bot]"), "github-actions[bot] is this program's own account"),
        ("issues", issue("edited", by="helpers[bot]"), "helpers[bot] is this program's own account"),
        ("issues", issue("edited", by="stale[bot]"), "stale[bot] is a bot, and bots answer nothing on #7"),
        ("issue_comment", comment(by="github-actions[bot]"), "github-actions[bot] is this program's own account"),
        ("issue_comment", comment(by="renovate[bot]"), "renovate[bot] is a bot, and bots answer nothing on #7"),
        ("issue_comment", comment(pull_request={"url": "x"}), "#7 is a pull request, where comments answer nothing"),
        ("issue_comment", comment(body="It is broken"), "#7 is no page of ours"),
        ("issue_comment", comment(body=None), "#7 is no page of ours"),
        ("issue_comment", comment(state="closed"), "#7 is closed, and nothing is answered there any more"),
        ("issue_comment", comment(action="edited"), "a comment on #7 was edited, and only new ones count"),
        ("push", sent("helpers[bot]", ref="refs/heads/main"), "helpers[bot] is this program's own account"),
        (
            "push",
            sent(ref="refs/heads/hz-state"),
            "refs/heads/hz-state is not the default branch, whose files alone count",
        ),
    ],
)
def test_what_does_not_count_says_why(name: str, payload: dict[str, Any], why: str) -> None:
    said = heard(name, payload, own="helpers[bot]")
    assert (said.ignored, said.pokes, said.woken) == (why, (), ())


def test_a_comment_below_an_open_page_counts() -> None:
    assert heard("issue_comment", comment())[:2] == ("mona commented on #7", "mona")


@pytest.mark.parametrize("name", ["schedule", "issues", "repository_dispatch", "push"])
def test_a_fork_is_not_the_home_unless_somebody_says_so(name: str) -> None:
    payload = {**issue("edited"), "repository": {"full_name": "someone/fork", "fork": True}}
    why = heard(name, payload, repository="someone/fork").ignored
    assert why.startswith("someone/fork is a fork and not the home repository")
    assert "not the home" in heard(name, payload, repository="someone/fork", home=HOME).ignored
    assert "not the home" not in heard(name, payload, repository="someone/fork", home="Someone/Fork").ignored


def test_another_repository_than_ours_is_not_the_home() -> None:
    payload = {**sent(), "repository": {"full_name": "acme/copy", "fork": False}}
    assert heard("schedule", payload).ignored == "acme/copy is not the home repository, that is acme/housework"
    assert heard("schedule", sent(), repository="Acme/HouseWork").ignored == ""


# Events that only make helpers look


@pytest.mark.parametrize(
    ("action", "woken"),
    [("opened", ("triage",)), ("reopened", ("triage",)), ("closed", ())],
)
def test_an_issue_of_others_wakes_the_helpers_that_name_it(action: str, woken: tuple[str, ...]) -> None:
    said = heard("issues", issue(action, body="It is broken"), TRIAGE, LOOKOUT)
    assert (said.woken, bool(said.ignored), said.pokes) == (woken, not woken, ())


@pytest.mark.parametrize(
    ("name", "keys", "text"),
    [
        ("push", {"ref": "refs/heads/main"}, "mona pushed"),
        ("release", {"action": "published", "release": {"tag_name": "v1"}}, "mona published a release"),
        (
            "workflow_run",
            {"action": "completed", "workflow_run": {"id": 9, "name": "@all `x`", "conclusion": "timed_out"}},
            "workflow run 9 completed (timed out)",
        ),
        ("discussion", {"action": "created", "discussion": {"number": 4}}, "mona created discussion #4"),
    ],
)
def test_an_event_wakes_the_helpers_that_name_it_and_no_others(name: str, keys: dict[str, Any], text: str) -> None:
    said = heard(name, sent(**keys), LOOKOUT, TRIAGE)
    assert (said.text, said.woken, said.ignored) == (text, ("lookout",), "")
    assert heard(name, sent(**keys), TRIAGE)[1:] == said._replace(woken=())[1:]


def test_a_workflow_run_of_the_built_in_token_counts() -> None:
    payload = sent("github-actions[bot]", action="completed", workflow_run={"id": 9})
    assert heard("workflow_run", payload, LOOKOUT).woken == ("lookout",)


def pull(action: str, head: str | None, **keys: Any) -> dict[str, Any]:
    repo = {"full_name": head} if head else None
    return sent(action=action, number=5, pull_request={"number": 5, "head": {"repo": repo}, **keys})


def test_a_pull_request_from_a_fork_is_left_to_the_next_tick() -> None:
    assert heard("pull_request", pull("opened", HOME)).text == "mona opened #5"
    assert heard("pull_request", pull("closed", HOME, merged=True)).text == "mona merged #5"
    assert heard("pull_request", pull("closed", HOME, merged=False)).text == "mona closed #5"
    for head in ("someone/fork", None):
        assert "#5 comes from a fork" in heard("pull_request", pull("opened", head)).ignored


def test_an_event_nobody_knows_wakes() -> None:
    assert heard("deployment_status", sent(action="created")).text == "mona created a deployment status"
    assert heard("page_build", sent()).text == "mona caused a page build"
    assert heard("<!--", sent()).text == "mona caused a nameless event"


@pytest.mark.parametrize(
    ("kind", "name", "whether"),
    [
        ("github.issues", "issues", True),
        ("github.issues", "push", False),
        ("files", "push", True),
        ("files", "issues", False),
        ("feed", "issues", True),
        ("python", "anything", True),
    ],
)
def test_which_watch_shows_what(kind: str, name: str, *, whether: bool) -> None:
    assert sight.shows(kind, name) is whether


# Dispatches


def poked(client: Any, **more: Any) -> Said:
    return heard("repository_dispatch", dispatch("hz-poke", client), **more)


def test_a_dispatch_asks_for_a_job() -> None:
    said = poked({"job": "digest", "inputs": {"week": 49, "tone": "dry"}})
    (poke,) = said.pokes
    assert (said.text, said.refused, said.ignored) == ("mona poked digest", (), "")
    assert poke[1:] == ("digest", "external", "mona", "dispatch", NOW, {"week": 49, "tone": "dry"})
    assert re.fullmatch(r"[0-9a-f]{16}", poke.id)


def test_a_delivery_is_known_by_its_run_and_by_what_it_asks_for() -> None:
    client = {"job": "digest", "inputs": {"week": 49}}

    def name(client: dict[str, Any], **more: Any) -> str:
        return poked(client, **more).pokes[0].id

    first = name(client)
    assert name(client, now=NOW + 600) == name({**client, "inputs": {"week": "49"}}) == first
    others = {name(client, run="4712"), name({"job": "digest"}), name({"job": "cut"}), first}
    assert len(others) == 4


def test_a_dispatch_of_another_workflow_counts() -> None:
    payload = dispatch("hz-poke", {"job": "digest"}, by="github-actions[bot]")
    assert [one.by for one in heard("repository_dispatch", payload).pokes] == ["github-actions[bot]"]


@pytest.mark.parametrize(
    ("client", "sentence"),
    [
        ({"job": "digets"}, "mona: no helper called digets; did you mean digest?"),
        ({"job": "\x1b[2J@all" + "x" * 9000}, "mona: no helper called ??2J?all"),
        ({}, "mona: it names no helper"),
        ({"job": ["digest"]}, "mona: it names no helper"),
        ({"job": "digest", "week": 3}, "mona: hz-poke takes {job, inputs: {name: value}}, and it says week"),
        ({"job": "digest", "inputs": [1]}, "and its inputs are no mapping; nothing was asked for"),
        ({"job": "digest", "inputs": {"since": "v1"}}, "mona: digest has no input since; declared: tone, week"),
        ({"job": "digest", "inputs": {"@all\n": "v1"}}, "mona: digest has no input '@all\\n'; declared"),
        ({"job": "digest", "inputs": {"week": "soon"}}, "mona: digest: input week must be a whole number"),
        ({"job": "digest", "inputs": {"week": 1.5}}, "mona: digest: input week must be a whole number"),
        ({"job": "digest", "inputs": {"tone": {"a": 1}}}, "input tone is neither text nor a number nor true or false"),
        ({"job": "digest", "inputs": {"tone": None}}, "input tone is neither text nor a number nor true or false"),
        ({"job": "digest", "inputs": {"tone": "\ud800"}}, "input tone holds bytes that are no text"),
        ({"job": "digest", "inputs": {"tone": "x" * 1001}}, "input tone is longer than 1000 characters"),
        ({str(n): n for n in range(11)}, "the payload of this dispatch has 11 keys, and 10 are taken"),
        ({"job": "x" * CHARACTERS}, "has 65,545 characters, and 65,535 are taken"),
        ("digest", "the payload of this dispatch is no mapping"),
    ],
)
def test_what_does_not_fit_is_a_sentence_and_nothing_is_asked_for(client: Any, sentence: str) -> None:
    said = poked(client)
    assert (said.pokes, said.ignored, len(said.refused)) == ((), "", 1)
    assert sentence in said.refused[0]
    assert said.refused[0].isprintable()
    assert len(said.refused[0]) < 250


def test_a_declared_dispatch_asks_for_every_job_that_names_it() -> None:
    other = CUT._replace(id="also", inputs={})
    client = {"since": "v1.2", "actor": {"deep": []}}
    said = heard("repository_dispatch", dispatch("release-cut", client), CUT, other, DIGEST)
    assert [(poke.job, poke.inputs) for poke in said.pokes] == [("cut", {"since": "v1.2"}), ("also", {})]
    assert (said.text, said.refused) == ("mona sent release-cut", ())
    wrong = heard("repository_dispatch", dispatch("release-cut", {"since": "main"}), CUT, other)
    assert [poke.job for poke in wrong.pokes] == ["also"]
    assert wrong.refused == ("mona: cut: input since must match v[0-9.]+",)


def test_a_dispatch_that_nobody_waits_for_is_ignored() -> None:
    assert heard("repository_dispatch", dispatch("deploy", {})).ignored == "no helper wakes on the dispatch deploy"
    assert heard("repository_dispatch", dispatch("<b>", None)).ignored.endswith("?b?")


def test_a_run_started_by_hand_may_name_a_job() -> None:
    form = {"job": "digest", "week": "49", "tone": "", "debug": "true"}
    said = heard("workflow_dispatch", sent(inputs=form))
    assert [(poke.job, poke.cause, poke.inputs) for poke in said.pokes] == [("digest", "manual", {"week": 49})]
    assert said.refused == ("mona: digest has no input debug; it was left out",)
    by_bot = heard("workflow_dispatch", sent("helpers[bot]", inputs={"job": "digest"}))
    assert [poke.cause for poke in by_bot.pokes] == ["external"]
    for nothing in (None, {}, {"job": ""}, "x"):
        plain = heard("workflow_dispatch", sent(inputs=nothing))
        assert (plain.text, plain.pokes, plain.refused) == ("mona started this run by hand", (), ())


def test_what_pages_say_as_well_keeps_what_the_event_said() -> None:
    said = poked({"job": "digest"})
    both = merge(Heard(event=said, pokes=said.pokes), Heard(refused=("no",)))
    assert (both.event, both.pokes, both.refused) == (said, said.pokes, ("no",))


# Anything at all

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)
KEYS = (
    *(
        "action",
        "issue",
        "comment",
        "pull_request",
        "sender",
        "repository",
        "changes",
        "body",
        "labels",
        "client_payload",
    ),
    *("inputs", "job", "ref", "workflow_run", "login", "number", "full_name", "fork", "head", "repo", "default_branch"),
)
PAYLOADS = st.recursive(JSON, lambda inner: st.dictionaries(st.sampled_from(KEYS), inner, max_size=8), max_leaves=12)
NAMES = (*event.READERS, "release", "discussion", "check_run", "")


@given(name=st.sampled_from(NAMES), payload=PAYLOADS)
def test_no_payload_raises(name: str, payload: Any) -> None:
    said = heard(name, payload, CUT, DIGEST, TRIAGE, LOOKOUT)
    assert said.ignored or said.text
    assert all(text.isprintable() and len(text) < 400 for text in (said.text, said.by, said.ignored, *said.refused))


def test_a_payload_of_a_thousand_floors_raises_nothing() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert "nested too deeply" in poked({"job": deep}).refused[0]


# What GitHub, and the double, send

PLAIN = re.compile(r"schedule|(?:[A-Za-z0-9-]+(?:\[bot\])?|a? ?workflow run [0-9]*) ?[a-z #0-9()-]+")


def test_every_example_of_github_is_understood() -> None:
    """Each says something plain about its sender, or why not; in a home that is a fork as well."""
    rows = [row for row in published(EXAMPLES) if row["name"] in (*event.READERS, "release", "discussion")]
    assert len(rows) >= 9
    waits = LOOKOUT._replace(triggers=tuple(Trigger("event", name=row["name"]) for row in rows))
    asked = CUT._replace(triggers=(Trigger("dispatch", name="on-demand-test"),), inputs={})
    for row in rows:
        for example in row["examples"]:
            place = example["repository"]["full_name"]
            said = heard(row["name"], example, waits, asked, repository=place, home=place)
            sender = example["sender"]["login"]
            assert said.by == sender
            assert said.ignored or sender in said.text or said.text.startswith("workflow run ")
            assert PLAIN.fullmatch(said.text), said.text
            assert said.refused == ()
            numbers = [example[key]["number"] for key in ("issue", "pull_request", "discussion") if key in example]
            assert said.ignored or said.issue in numbers or not numbers
            other = heard(row["name"], example, waits, asked, repository=place)
            assert bool(example["repository"]["fork"]) == ("is a fork" in other.ignored)
    assert [
        row["name"] for row in rows if all(_ignored(row["name"], one, waits, asked) for one in row["examples"])
    ] == []


def _ignored(name: str, example: dict[str, Any], *jobs: Job) -> bool:
    place = example["repository"]["full_name"]
    return bool(heard(name, example, *jobs, repository=place, home=place).ignored)


def test_what_people_do_on_the_double_is_understood() -> None:
    with GitHub() as github:
        repo = github.repository(HOME)
        mona = github.person("mona", "write", repo=HOME)
        page = mona.opens(repo, "Digest", PAGE)
        mona.ticks(page, "approve", "p-3f9c21ab")
        mona.comments(page, "/hz approve")
        mona.comments(mona.opens(repo, "Broken", "It is broken"), "me too")
        mona.closes(page)
        mona.dispatches(repo, "hz-poke", {"job": "digest"})
        mona.starts(repo, "tick.yml", {"job": "digest"})
        told = [heard(name, payload) for name, payload in github.events if name != "push"]
    assert [said.ignored or said.text for said in told] == [
        "mona opened #1",
        "mona ticked a box on #1",
        "mona commented on #1",
        "#2 is no page of ours, and no helper wakes on issues that are opened",
        "#2 is no page of ours",
        "mona closed #1",
        "mona poked digest",
        "mona poked digest",
    ]
