"""What follows from answers and policies."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hz_team.decision import approvals, decide, permitted
from hz_team.decision.objection import VERBS, person
from hz_team.model.job import Approve, Policy
from hz_team.model.proposal import APPROVED, AWAITING, UNKNOWN, Answer, Decision, Proposal

DIGEST = "5d41402abc4b" + "0" * 52
OTHER = "7d793037a076" + "1" * 52
BORN, NOW, LAPSE = 1000, 2000, 9000


def proposal(state: str = AWAITING, **fields: Any) -> Proposal:
    rules = {name: fields.pop(name) for name in ("by", "need", "not_author", "from_page") if name in fields}
    made = Proposal(
        id="p-3f9c21ab",
        key="0" * 64,
        job="weekly-digest",
        kind="issue",
        target="here",
        title="Digest",
        digest=DIGEST,
        state=state,
        created_at=BORN,
        expires_at=LAPSE,
        cause="schedule",
        slot=None,
        refs=(),
        snapshot={},
        base={},
        by=Approve(**rules)._asdict(),
    )
    return made._replace(**fields)


def said(
    verb: str = "approve", by: str = "octocat", *, role: str = "write", via: str = "page", **fields: Any
) -> Answer:
    fields = {"at": NOW, "digest": DIGEST[:12], **fields}
    return Answer("p-3f9c21ab", verb, by, role, via, **fields)


def policy(**fields: Any) -> Policy:
    made = Policy("mona", "weekly-digest", "issue", "here", NOW + 1, "abc123abc123")
    return made._replace(**fields)


def reasons(found: Decision) -> list[str]:
    return [reason for _, reason in found.refused]


def given_by(found: Decision) -> list[str]:
    return [answer.by for answer in found.answers]


# a yes ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("via", ["box", "page", "comment", "command", "file", "file-page"])
def test_a_yes_approves_and_is_bound_to_the_full_digest(via: str) -> None:
    found = decide(proposal(), [said(via=via)], (), NOW)
    assert (found.outcome, found.refused) == ("approved", ())
    assert found.answers == (said(via=via, digest=DIGEST),)


def test_nothing_said_is_nothing_decided() -> None:
    assert decide(proposal(), (), (), NOW) == Decision("p-3f9c21ab", "wait")


def test_answers_to_other_proposals_are_left_alone() -> None:
    assert decide(proposal(), [said()._replace(proposal="p-00000000")], (), NOW).outcome == "wait"


def test_two_people_are_two_and_one_person_is_one() -> None:
    first = decide(proposal(need=2), [said(), said(by="OctoCat", at=NOW + 1)], (), NOW)
    assert (first.outcome, given_by(first), first.reason, first.refused) == ("answered", ["octocat"], "1 of 2 yes", ())
    second = decide(proposal(need=2, answers=first.answers), [said(by="hubot")], (), NOW)
    assert (second.outcome, given_by(second)) == ("approved", ["octocat", "hubot"])
    again = decide(proposal(need=2, answers=first.answers), [said(at=NOW + 9)], (), NOW)
    assert (again.outcome, again.refused) == ("wait", ())


def test_whoever_changes_a_file_counts_once() -> None:
    both = [said(by="local:mona", role="local"), said(by="local:hugo", role="local", at=NOW + 1)]
    assert decide(proposal(need=2), both, (), NOW).outcome == "answered"
    assert decide(proposal(need=2), [*both, said()], (), NOW).outcome == "approved"


def test_always_is_a_yes_too() -> None:
    assert decide(proposal(), [said("always")], (), NOW).outcome == "approved"


@pytest.mark.parametrize(
    ("by", "who", "role", "why"),
    [
        (("write",), "monalisa", "read", "monalisa may read but not write here"),
        (("role:write",), "monalisa", "triage", "monalisa may triage but not write here"),
        (("write",), "monalisa", "none", "monalisa has no access here"),
        (("write",), "monalisa", "", "what monalisa may do here could not be looked up"),
        (("monalisa",), "monalisa", "", "what monalisa may do here could not be looked up"),
        (("monalisa",), "monalisa", "none", "monalisa is not among those who may decide: monalisa"),
        (("write",), "monalisa", "owner", "what monalisa may do here could not be looked up"),
        (("role:maintain",), "octocat", "write", "octocat is not among those who may decide: anyone with maintain"),
        (("role:king",), "octocat", "admin", "octocat is not among those who may decide: anyone with king"),
        (
            ("hubot", "acme/docs", "role:admin"),
            "octocat",
            "maintain",
            "octocat is not among those who may decide: hubot, acme/docs or anyone with admin",
        ),
        (
            ("hubot", "acme/docs"),
            "local:mona",
            "local",
            "a changed file does not tell who changed it, and only hubot or acme/docs may decide; use --as LOGIN",
        ),
    ],
)
def test_who_may_not_decide_is_told_why(by: tuple[str, ...], who: str, role: str, why: str) -> None:
    for verb in ("approve", "reject", "withdraw", "redraft", "edit"):
        found = decide(proposal(by=by), [said(verb, who, role=role)], (), NOW, teams={"acme/docs": ("monalisa",)})
        assert (found.outcome, found.answers, reasons(found)) == ("wait", (), [why])


@pytest.mark.parametrize(
    ("by", "who", "role"),
    [
        (("write",), "octocat", "write"),
        (("write",), "octocat", "admin"),
        (("role:maintain",), "octocat", "maintain"),
        (("role:maintain",), "octocat", "admin"),
        (("Octocat",), "octocat", "read"),
        (("acme/docs",), "octocat", "read"),
        (("nobody", "write"), "octocat", "write"),
        (("write",), "local:mona", "local"),
        (("role:admin",), "local:mona", "local"),
        (("octocat",), "octocat", "local"),  # --as octocat
        (("role:admin",), "octocat", "local"),
    ],
)
def test_who_may_decide(by: tuple[str, ...], who: str, role: str) -> None:
    teams = {"acme/docs": ("OctoCat",)}
    assert permitted(said(by=who, role=role), proposal(by=by), teams)
    assert decide(proposal(by=by), [said(by=who, role=role)], (), NOW, teams=teams).outcome == "approved"


@pytest.mark.parametrize("author", ["octocat", "OCTOCAT"])
def test_no_self_approval_where_the_job_asks_for_another(author: str) -> None:
    found = decide(proposal(author=author, not_author=True), [said()], (), NOW)
    assert reasons(found) == ["octocat asked for or changed this draft, and somebody else must say yes to it"]
    assert decide(proposal(author=author, not_author=True), [said(by="hubot")], (), NOW).outcome == "approved"
    assert decide(proposal(author=author, not_author=True), [said("reject")], (), NOW).outcome == "rejected"
    assert decide(proposal(author=author), [said()], (), NOW).outcome == "approved"


def test_another_name_for_the_local_user_is_no_second_person() -> None:
    mine = proposal(author="local:mona", not_author=True)
    assert decide(mine, [said(by="local:hugo", role="local")], (), NOW).outcome == "wait"


# which draft, and where -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("digest", [OTHER, OTHER[:12], DIGEST[:11], DIGEST + "0", "5d41402abc4c"])
@pytest.mark.parametrize("verb", ["approve", "always", "reject", "redraft", "edit", "withdraw"])
def test_an_answer_to_another_draft_is_void(verb: str, digest: str) -> None:
    found = decide(proposal(), [said(verb, digest=digest)], (), NOW)
    assert (found.outcome, found.answers) == ("wait", ())
    assert reasons(found) == ["changed since: the draft is now 5d41402abc4b; read it again, then answer"]


@pytest.mark.parametrize(("via", "counts"), [("command", True), ("comment", True), ("box", False), ("page", False)])
def test_only_words_may_leave_the_draft_unnamed(via: str, counts: bool) -> None:  # noqa: FBT001
    found = decide(proposal(), [said(via=via, digest="")], (), NOW)
    assert (found.outcome == "approved") is counts
    assert [answer.digest for answer in found.answers] == [DIGEST] * counts


def test_yeses_on_record_for_another_draft_no_longer_count() -> None:
    held = (said(digest=OTHER), said(by="hubot", digest=""))
    assert approvals(proposal(answers=held)) == ()
    assert decide(proposal(need=2, answers=held), [said(by="mona")], (), NOW).reason == "1 of 2 yes"
    assert decide(proposal(APPROVED, answers=held), (), (), NOW).outcome == "withdrawn"


@pytest.mark.parametrize("via", ["box", "file"])
@pytest.mark.parametrize("verb", ["approve", "always"])
def test_what_cannot_be_undone_is_approved_where_it_is_shown(verb: str, via: str) -> None:
    found = decide(proposal(kind="webhook"), [said(verb, via=via)], (), NOW, undoable=False)
    assert found.outcome == "wait"
    assert "a webhook cannot be undone" in reasons(found)[0]
    strict = decide(proposal(from_page=True), [said("approve", via=via)], (), NOW)
    assert reasons(strict) == ["this job asks for a yes on the page of p-3f9c21ab, where the draft is shown"]
    assert decide(proposal(from_page=True), [said("reject", via=via)], (), NOW).outcome == "rejected"


@pytest.mark.parametrize("via", ["page", "comment", "command", "file-page"])
def test_the_page_is_good_enough_for_everything_but_always(via: str) -> None:
    final = proposal(kind="release", from_page=True)
    assert decide(final, [said(via=via)], (), NOW, undoable=False).outcome == "approved"
    always = decide(final, [said("always", via=via)], (), NOW, undoable=False)
    assert reasons(always) == ["a release cannot be undone, so every one needs its own yes"]


# no, back, again ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [AWAITING, APPROVED, UNKNOWN])
def test_a_no_goes_first(state: str) -> None:
    answers = [said(by="hubot"), said("reject", note="last week's list again"), said(by="mona", at=NOW + 1)]
    found = decide(proposal(state, answers=(said(by="old", digest=DIGEST),)), answers, [policy()], NOW)
    assert (found.outcome, given_by(found), found.reason) == ("rejected", ["octocat"], "last week's list again")
    assert [answer.by for answer, _ in found.refused] == ["hubot", "mona"]


def test_whoever_said_yes_and_no_said_no() -> None:
    assert decide(proposal(), [said("reject", at=1), said(at=2)], (), NOW).outcome == "rejected"
    assert decide(proposal(), [said("reject"), said()], (), NOW).outcome == "rejected"


@pytest.mark.parametrize("state", [AWAITING, APPROVED])
def test_a_yes_is_taken_back_before_publication(state: str) -> None:
    held = (said(digest=DIGEST),)
    found = decide(proposal(state, need=2 if state == AWAITING else 1, answers=held), [said("withdraw")], (), NOW)
    assert (found.outcome, found.reason) == ("withdrawn", "octocat took the yes back")
    assert [answer.verb for answer in found.answers] == ["withdraw"]


def test_taking_back_leaves_the_others() -> None:
    held = (said(digest=DIGEST), said(by="hubot", digest=DIGEST))
    found = decide(proposal(APPROVED, need=2, answers=held), [said("withdraw")], (), NOW)
    assert (found.outcome, given_by(found)) == ("withdrawn", ["hubot", "octocat"])
    enough = decide(proposal(APPROVED, need=1, answers=held), [said("withdraw")], (), NOW)
    assert (enough.outcome, given_by(enough)) == ("answered", ["hubot"])
    assert enough.reason == "octocat took the yes back; the others are enough"


def test_a_shared_box_that_somebody_else_cleared_is_no_yes() -> None:
    held = (said(digest=DIGEST), said(by="hubot", digest=DIGEST))
    found = decide(proposal(APPROVED, need=2, answers=held), [said("withdraw", "mona")], (), NOW)
    assert (found.outcome, given_by(found)) == ("withdrawn", ["mona"])


def test_the_last_word_of_one_person_counts() -> None:
    assert decide(proposal(), [said("withdraw", at=5), said(at=4)], (), NOW).outcome == "withdrawn"
    assert decide(proposal(), [said("withdraw", at=4), said(at=5)], (), NOW).outcome == "approved"
    assert decide(proposal(), [said("withdraw"), said()], (), NOW).outcome == "withdrawn"  # same second: with care


def test_taking_back_nothing_is_nothing() -> None:
    assert decide(proposal(), [said("withdraw")], (), NOW) == Decision("p-3f9c21ab", "wait")


def test_more_yeses_change_nothing_once_it_is_approved() -> None:
    held = (said(digest=DIGEST),)
    found = decide(proposal(APPROVED, answers=held), [said(by="hubot")], (), LAPSE + 1)
    assert (found.outcome, found.answers, found.refused) == ("wait", held, ())


def test_another_draft_is_asked_for() -> None:
    found = decide(proposal(), [said("redraft", note="shorter"), said(by="hubot")], [policy()], NOW)
    assert (found.outcome, given_by(found), found.reason) == ("redraft", ["octocat"], "shorter")
    assert reasons(found) == ["octocat asked for another draft"]


def test_an_edit_voids_what_was_said_of_the_old_text() -> None:
    found = decide(proposal(), [said("edit", body="New"), said(by="hubot"), said("redraft", "mona")], [policy()], NOW)
    assert (found.outcome, found.answers[0].body, found.reason) == ("edited", "New", "edited by octocat")
    assert reasons(found) == ["changed since: octocat edited the draft; read it again, then answer"] * 2


@pytest.mark.parametrize("verb", ["edit", "redraft"])
def test_what_is_approved_is_not_changed(verb: str) -> None:
    found = decide(proposal(APPROVED, answers=(said(digest=DIGEST),)), [said(verb)], (), NOW)
    assert (found.outcome, reasons(found)) == ("wait", ["it is approved already; take the yes back first"])


# time -----------------------------------------------------------------------------------------------------------------


def test_without_an_answer_it_lapses() -> None:
    assert decide(proposal(), (), (), LAPSE - 1).outcome == "wait"
    found = decide(proposal(need=2, answers=(said(digest=DIGEST),)), (), (), LAPSE)
    assert (found.outcome, found.reason) == ("expired", "nobody decided in time")


def test_a_yes_given_in_time_counts_though_it_is_read_late() -> None:
    assert decide(proposal(), [said(at=LAPSE - 1)], (), LAPSE + 500).outcome == "approved"
    late = decide(proposal(), [said(at=LAPSE)], (), LAPSE + 500)
    assert (late.outcome, reasons(late)) == ("expired", ["it had lapsed by then; run the job again for a new draft"])


@pytest.mark.parametrize("state", [APPROVED, UNKNOWN])
def test_what_is_approved_or_in_doubt_never_lapses(state: str) -> None:
    assert decide(proposal(state, answers=(said(digest=DIGEST),)), (), (), LAPSE + 1).outcome == "wait"
    complete = decide(proposal(answers=(said(digest=DIGEST),)), (), (), LAPSE + 1)
    assert complete.outcome == "approved"


# a write of unknown fate ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["arrived", "again"])
def test_a_person_settles_what_nobody_knows(verb: str) -> None:
    found = decide(proposal(UNKNOWN), [said(verb, via="box")], (), NOW)
    assert (found.outcome, given_by(found)) == (verb, ["octocat"])
    assert reasons(decide(proposal(), [said(verb)], (), NOW)) == ["nothing was sent whose arrival is in doubt"]


def test_when_people_disagree_nothing_is_sent() -> None:
    found = decide(proposal(UNKNOWN), [said("again", at=NOW + 1), said("arrived", "hubot")], (), NOW)
    assert (found.outcome, reasons(found)) == ("arrived", ["hubot saw that it arrived"])


@pytest.mark.parametrize("verb", ["approve", "withdraw", "edit", "redraft"])
def test_other_words_do_not_settle_it(verb: str) -> None:
    found = decide(proposal(UNKNOWN), [said(verb)], [policy()], NOW)
    assert found.outcome == "wait"
    assert reasons(found) == ["it may be out already; say whether it arrived or is to be sent again"]


def test_an_unknown_word_is_refused() -> None:
    assert reasons(decide(proposal(), [said("bless")], (), NOW)) == [
        "bless is not an answer; say approve, reject or redraft"
    ]


# policies -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rights", [None, lambda _: "write", lambda _: "admin"])
@pytest.mark.parametrize("target", ["here", "*"])
def test_a_policy_says_yes_in_its_owners_name(rights: Callable[[str], str] | None, target: str) -> None:
    found = decide(proposal(need=2), (), [policy(target=target)], NOW, rights=rights)
    assert (found.outcome, found.reason) == ("approved", "policy abc123abc123 of mona")
    (yes,) = found.answers
    assert (yes.by, yes.via, yes.digest, yes.note) == ("policy:abc123abc123", "policy", DIGEST, found.reason)
    held = proposal(APPROVED, need=2, answers=found.answers)
    assert decide(held, (), (), NOW).outcome == "wait"


@pytest.mark.parametrize(
    "fields", [{"job": "x"}, {"kind": "comment"}, {"target": "there"}, {"target": "h*"}, {"until": NOW}, {"until": 0}]
)
def test_a_policy_for_something_else_says_nothing(fields: Mapping[str, Any]) -> None:
    assert decide(proposal(), (), [policy(**fields)], NOW) == Decision("p-3f9c21ab", "wait")


@pytest.mark.parametrize("role", ["read", "none", "", "triage"])
def test_a_policy_whose_owner_lost_the_right_says_so(role: str) -> None:
    found = decide(proposal(), (), [policy()], NOW, rights=lambda _: role)
    assert found.outcome == "wait"
    assert found.reason == "policy abc123abc123 does not count: its owner mona may not write here"
    asked = {"mona": role, "hubot": "write"}
    second = decide(proposal(), (), [policy(), policy(owner="hubot", id="d" * 12)], NOW, rights=asked.__getitem__)
    assert second.reason == "policy dddddddddddd of hubot"


def test_no_policy_speaks_for_what_cannot_be_undone_or_has_lapsed() -> None:
    assert decide(proposal(), (), [policy()], NOW, undoable=False).outcome == "wait"
    assert decide(proposal(), (), [policy(until=LAPSE + 9)], LAPSE).outcome == "expired"


def test_no_owner_is_looked_up_in_vain() -> None:
    asked: list[str] = []

    def rights(owner: str) -> str:
        asked.append(owner)
        return "write"

    held = (said(digest=DIGEST),)
    for item in (proposal(APPROVED, answers=held), proposal(UNKNOWN), proposal(kind="comment")):
        assert decide(item, (), [policy()], NOW, rights=rights).outcome == "wait"
    assert decide(proposal(), [said("reject")], [policy()], NOW, rights=rights).outcome == "rejected"
    assert asked == []


def test_no_policy_speaks_after_a_person_took_the_yes_back() -> None:
    yes = decide(proposal(), (), [policy()], NOW).answers
    back = decide(proposal(APPROVED, answers=yes), [said("withdraw")], [policy()], NOW)
    assert (back.outcome, given_by(back)) == ("withdrawn", ["octocat"])
    later = proposal(withdrawn="octocat")
    assert decide(later, (), [policy()], NOW).outcome == "wait"
    assert decide(later, [said()], [policy()], NOW).outcome == "approved"
    unread = decide(proposal(), [said(at=1), said("withdraw", at=2)], [policy()], NOW)
    assert unread.outcome == "withdrawn"


# what always holds ----------------------------------------------------------------------------------------------------

PEOPLE = ("octocat", "hubot", "mona", "local:mona", "local:hugo")
answers = st.lists(
    st.builds(
        said,
        st.sampled_from(VERBS),
        st.sampled_from(PEOPLE),
        role=st.sampled_from(["write", "read", "admin", ""]),
        via=st.sampled_from(["box", "page", "command", "file"]),
        at=st.integers(NOW - 3, NOW),
        digest=st.sampled_from([DIGEST, DIGEST[:12], OTHER[:12], ""]),
    ),
    max_size=8,
)
proposals = st.builds(
    proposal,
    st.sampled_from([AWAITING, APPROVED, UNKNOWN]),
    need=st.integers(1, 3),
    author=st.sampled_from(["", "octocat", "local:mona"]),
    not_author=st.booleans(),
    from_page=st.booleans(),
    answers=st.lists(st.sampled_from(PEOPLE), unique_by=person).map(
        lambda people: tuple(said(by=name, digest=DIGEST) for name in people)
    ),
)
standing = st.sampled_from([(), (policy(),)])


@given(proposals, answers, standing, st.randoms(use_true_random=False))
def test_the_order_in_which_answers_are_read_does_not_matter(
    item: Proposal, heard: list[Answer], policies: Sequence[Policy], chance: Any
) -> None:
    shuffled = list(heard)
    chance.shuffle(shuffled)
    assert decide(item, shuffled, policies, NOW) == decide(item, heard, policies, NOW)


@given(proposals, answers, standing)
def test_reading_twice_changes_nothing_but_the_refusals(
    item: Proposal, heard: list[Answer], policies: Sequence[Policy]
) -> None:
    once, twice = decide(item, heard, policies, NOW), decide(item, heard + heard, policies, NOW)
    assert twice.outcome == once.outcome
    assert {answer.by for answer in twice.answers} == {answer.by for answer in once.answers}


def test_a_box_that_is_read_twice_takes_back_one_yes() -> None:
    """The second reading of one un-tick must not clear what other people said."""
    both = proposal(answers=tuple(said(by=name, digest=DIGEST) for name in ("octocat", "hubot")))
    once = said("withdraw", by="octocat", via="box", digest=DIGEST)
    assert decide(both, [once, once], (), NOW) == decide(both, [once], (), NOW)


@given(proposals, answers, standing)
def test_a_permitted_no_always_wins(item: Proposal, heard: list[Answer], policies: Sequence[Policy]) -> None:
    assert decide(item, [*heard, said("reject", at=NOW - 1)], policies, NOW).outcome == "rejected"


@given(proposals, answers, standing)
def test_no_yes_outlives_its_draft(item: Proposal, heard: list[Answer], policies: Sequence[Policy]) -> None:
    """Whatever was counted for one digest counts for nothing after it changed."""
    counted = decide(item, heard, policies, NOW).answers
    assert all(answer.digest == DIGEST for answer in counted)
    changed = item._replace(digest=OTHER, answers=counted, state=AWAITING)
    assert approvals(changed) == ()
    assert decide(changed, (), (), NOW).outcome == "wait"
    stale = [answer for answer in heard if answer.digest and DIGEST.startswith(answer.digest)]
    assert decide(changed, stale, (), NOW).outcome == "wait"


@given(proposals, answers, standing)
def test_approved_means_enough_people_or_a_policy(
    item: Proposal, heard: list[Answer], policies: Sequence[Policy]
) -> None:
    found = decide(item, heard, policies, NOW)
    if found.outcome == "approved":
        people = {person(answer.by) for answer in found.answers}
        assert all(answer.verb in {"approve", "always"} for answer in found.answers)
        assert len(people) >= item.by["need"] or found.answers[-1].via == "policy"
    assert all(reason for reason in reasons(found))
