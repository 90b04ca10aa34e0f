from __future__ import annotations

from pathlib import Path

import pytest

from hz_team.adapters.local import LocalForge
from hz_team.model.draft import Draft
from hz_team.publishers import issue
from tests.publishers.sample import DRAFTS, HOSTILE, part_of, tools_of

SEVERAL = ({"target": "here"}, {"target": "here"}, {"target": "here"})


@pytest.mark.parametrize(
    ("draft", "words", "becomes"),
    [
        (
            DRAFTS["issue"],
            "opens an issue here, labelled newsletter",
            "exactly the text between the lines becomes an issue in acme/housework, labelled `newsletter`",
        ),
        (
            Draft("issue", "acme/garden", "t", "b", ("a", "b", "c")),
            "opens an issue in acme/garden, labelled a, b, c",
            "exactly the text between the lines becomes an issue in acme/garden, labelled `a`, `b` and `c`",
        ),
        (
            Draft("issue", "here", "t", "b", parts=SEVERAL),
            "opens 3 issues",
            "exactly the 3 texts between the lines become issues",
        ),
    ],
)
def test_words(draft: Draft, words: str, becomes: str) -> None:
    assert issue.words(draft.payload()) == words
    assert issue.becomes(draft.payload(), "acme/housework") == becomes


def test_on_one_machine_it_is_an_issue_here() -> None:
    assert issue.becomes(DRAFTS["issue"].payload(), "local").startswith(
        "exactly the text between the lines becomes an issue here,"
    )


def test_what_was_read_is_what_goes_out(tmp_path: Path) -> None:
    tools = tools_of(LocalForge(str(tmp_path)))
    part = part_of("issue", body="### Digest\n\n- **uv**\n\n\n")
    assert issue.find(part, tools).status == "absent"
    assert issue.publish(part, tools) == "issue-1"
    assert issue.find(part, tools).refs == ("issue-1",)
    assert (tmp_path / ".hz/local/outbox/issue-1.md").read_text(encoding="utf-8") == (
        '---\ntarget: "here"\ntitle: "Digest, week 49"\nlabels: ["newsletter"]\n---\n'
        f"<!-- hz:key {part.key} -->\n\n### Digest\n\n- **uv**\n"
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_d09_titles_and_bodies_are_stored_literally_and_name_no_file(text: str, tmp_path: Path) -> None:
    import json

    tools = tools_of(LocalForge(str(tmp_path)))
    part = part_of("issue", title=text, body=text, labels=[text])
    assert issue.publish(part, tools) == "issue-1"
    stored = (tmp_path / ".hz/local/outbox/issue-1.md").read_bytes().decode()
    head = dict(line.split(": ", 1) for line in stored.split("\n---\n")[0].split("\n")[1:])
    assert json.loads(head["title"]) == text
    assert json.loads(head["labels"]) == [text]
    assert stored.endswith(f"<!-- hz:key {part.key} -->\n\n{text}\n")
    assert issue.find(part, tools).refs == ("issue-1",)
    assert issue.find(part._replace(key="0" * 64), tools).status == "absent"
    assert [path.name for path in (tmp_path / ".hz/local/outbox").iterdir()] == ["issue-1.md"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".hz"]
