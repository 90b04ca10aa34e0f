"""What steps leave behind."""

from __future__ import annotations

import pytest

from hz_team.ceiling import Asked
from hz_team.errors import HzError
from hz_team.handover import HandoverError, cost, cost_of, manuscript, outputs
from hz_team.model.draft import Cost
from hz_team.workroom import document


def test_text_without_front_matter_is_the_body() -> None:
    assert manuscript("draft.md", b"# Hi\r\nthere\x97").asked == (Asked("# Hi\nthere\\x97"),)


def test_front_matter_says_the_rest() -> None:
    text = "---\nkind: issue\ntitle: On, off: no\nlabels: [bug, on]\ntarget: '#7'\nfiles: {a.md: 'x', b.md: null}\ncost: {usd: 0.5, tokens: 7}\n---\nBody\n"
    read = manuscript("draft.md", text.replace("On, off: no", "'On, off: no'").encode())
    assert read.asked == (Asked("Body\n", "issue", "On, off: no", "#7", ("bug", "on"), {"a.md": "x", "b.md": None}),)
    assert read.cost == Cost(0, 7, 500_000)


def test_each_is_one_draft_an_entry() -> None:
    text = "---\nkind: comment\nlabels: [a]\neach:\n  - {target: '#1', body: one}\n  - {target: '#2', labels: [b]}\n---\ndefault\n"
    assert manuscript("d", text.encode()).asked == (
        Asked("one", "comment", "", "#1", ("a",)),
        Asked("default\n", "comment", "", "#2", ("b",)),
    )


def test_what_front_matter_may_not_say_is_refused() -> None:
    (refusal,) = manuscript("d", b"---\nassignees: [me]\nrepository: x\ntitle: T\n---\n").refused
    assert (refusal.asked, refusal.title) == ("assignees, repository", "T")


@pytest.mark.parametrize(
    "text",
    [
        "---\n- a\n---\n",
        "---\nlabels: {a: b}\n---\n",
        "---\nfiles: [a]\n---\n",
        "---\neach: 1\n---\n",
        "---\neach: [{kind: x}]\n---\n",
        "---\na: 1\na: 2\n---\n",
    ],
)
def test_front_matter_that_cannot_be_understood_is_told(text: str) -> None:
    with pytest.raises(HzError):
        manuscript("draft.md", text.encode())


@pytest.mark.parametrize("body", ["", "plain", "---\nlooks: like it\n---\n", "\n---\n", "é\u2028\U0001f600"])
def test_what_we_write_is_read_back(body: str) -> None:
    fields = {
        "title": 'a: "b" #c \u2028 \x85 \x07 \U0001f600',
        "labels": ["no", "1.10"],
        "files": {"a/b": "l1\n\tl2\n", "c": None},
    }
    (asked,) = manuscript("d", document(fields, body).encode()).asked
    assert (asked.body, asked.title, asked.labels, asked.files) == (
        body,
        fields["title"],
        ("no", "1.10"),
        fields["files"],
    )


def test_outputs() -> None:
    text = "one=1\n\ntwo-three=a=b `id` $(id)\nmany<<END\nx=1\n\ny\nEND\nempty=\n"
    assert outputs(text) == {"ONE": "1", "TWO_THREE": "a=b `id` $(id)", "MANY": "x=1\n\ny", "EMPTY": ""}


@pytest.mark.parametrize("text", ["no sign", "1a=b", "a<<END\nnever", "=x"])
def test_outputs_that_cannot_be_understood_are_told(text: str) -> None:
    with pytest.raises(HandoverError, match="HZ_OUTPUT line 1"):
        outputs(text)


def test_costs_add_up_and_are_rounded_up() -> None:
    assert cost(b'{"usd": 0.0000001, "tokens": 5}\n\n{"usd": "1.5"}\n') == Cost(0, 5, 1_500_001)
    assert cost(None) == Cost()


@pytest.mark.parametrize(
    "value", [{"usd": "-1"}, {"usd": "x"}, {"usd": "NaN"}, {"usd": "1e99"}, [], "5", {"tokens": "1e99"}]
)
def test_costs_that_are_none_are_told(value: object) -> None:
    with pytest.raises(HandoverError, match="cost"):
        cost_of(value)


def test_a_cost_file_that_is_no_json_is_told() -> None:
    with pytest.raises(HandoverError, match=r"\$HZ_COST line 2"):
        cost(b"{}\nusd=1\n")
