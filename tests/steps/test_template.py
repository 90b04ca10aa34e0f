"""`template`: rendered in a child, with what the watches saw."""

from __future__ import annotations

from pathlib import Path

import pytest

from hz_team.model.facet import Facets
from hz_team.model.job import Settings, Step
from tests.drafting import run, shell, team

DIGEST = """---
title: "Digest, week {{ slot.week }}: {{ releases.added[0].title }}"
---
{% for item in releases.added %}
- **{{ item.title }}** [read]({{ item.link }})
{% else %}
nothing
{% endfor %}
"""
ITEM = {"id": "1", "title": "*All* @everyone <b>", "link": "https://example.org/a_(b)"}


def template(name: str = "digest.md.j2") -> Step:
    return Step("template", {"template": name})


def test_a_template_drafts_and_its_values_are_inert(tmp_path: Path) -> None:
    team(tmp_path, {".hz/templates/digest.md.j2": DIGEST})
    draft = run(tmp_path, template(), facets={"releases": Facets(added=(ITEM,))}).drafts[0]
    assert draft.body.startswith("- **\\*All\\* @")
    assert "@everyone" not in draft.body
    assert "\\<b\\>" in draft.body
    assert draft.body.endswith("[read](https://example.org/a_%28b%29)")
    assert draft.title.startswith("Digest, week 49: *All* @")
    assert "@everyone" not in draft.title


def test_an_empty_template_is_no_draft_worth_proposing(tmp_path: Path) -> None:
    team(tmp_path, {".hz/templates/digest.md.j2": ""})
    outcome = run(tmp_path, template())
    assert (outcome.status, outcome.drafts) == ("rendered", ())


def test_earlier_outputs_are_variables(tmp_path: Path) -> None:
    team(tmp_path, {".hz/templates/digest.md.j2": "{{ outputs.COUNT }} {{ inputs.since }} {{ job.name }}"})
    outcome = run(tmp_path, shell("echo 'count=*7*' >> $HZ_OUTPUT"), template(), inputs={"since": "v1"})
    assert outcome.drafts[0].body == "\\*7\\* v1 A digest"


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("\n{{ nothing }}", "digest.md.j2:2: 'nothing' is undefined"),
        ("{% for %}", "digest.md.j2:1: "),
        ("{{ ().__class__ }}", "digest.md.j2:1: not allowed in a template"),
        ("{% include 'other' %}", "other: there is no such template"),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_not_tried_again(tmp_path: Path, source: str, error: str) -> None:
    team(tmp_path, {".hz/templates/digest.md.j2": source})
    outcome = run(tmp_path, template())
    assert (outcome.status, outcome.retry) == ("failed", False)
    assert error in outcome.error


def test_a_template_elsewhere_is_refused(tmp_path: Path) -> None:
    team(tmp_path, {"secret.md": "treasure", ".hz/templates/x": ""})
    (tmp_path / ".hz/templates/link.md").symlink_to("../../secret.md")
    for name in ("../../secret.md", "link.md", str(tmp_path / "secret.md")):
        outcome = run(tmp_path, template(name))
        assert outcome.status == "failed"
        assert "treasure" not in outcome.error + outcome.tail


def test_a_template_without_end_is_ended(tmp_path: Path) -> None:
    loop = "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}"
    team(tmp_path, {".hz/templates/digest.md.j2": loop})
    outcome = run(tmp_path, template()._replace(timeout=2))
    assert "was ended after 2 s" in outcome.error


def test_titles_and_branches_of_publish_are_rendered(tmp_path: Path) -> None:
    publish = {"issue": {"title": "Digest, week {{ slot.week }} of {{ slot.year }}", "labels": ["news"]}}
    draft = run(tmp_path, shell("echo hi > $HZ_DRAFT"), publish=publish).drafts[0]
    assert (draft.title, draft.labels, draft.target) == ("Digest, week 49 of 2026", ("news",), "here")


def test_a_title_that_cannot_be_rendered_is_told(tmp_path: Path) -> None:
    outcome = run(tmp_path, shell("echo hi > $HZ_DRAFT"), publish={"issue": {"title": "{{ slto.week }}"}})
    assert (outcome.status, outcome.retry) == ("failed", False)
    assert ".hz/jobs/digest.yaml: publish.issue.title:1: 'slto' is undefined" in outcome.error


def test_the_slot_is_the_teams_time(tmp_path: Path) -> None:
    team(tmp_path, {".hz/templates/digest.md.j2": "{{ slot.date }} {{ slot.time }} {{ slot.weekday }}"})
    settings = Settings(timezone="Pacific/Auckland")
    assert run(tmp_path, template(), settings=settings).drafts[0].body == "2026-12-02 21:26 Wednesday"


INLINE = """\
---
title: "{{ releases.added[0].title }}"
---
{% include "head.md.j2" %}
{% for item in releases.added %}
- {{ item.title }}
{% endfor %}
"""


def test_text_with_a_line_break_is_the_template_itself(tmp_path: Path) -> None:
    team(tmp_path, {".hz/templates/head.md.j2": "# News\n"})
    draft = run(tmp_path, template(INLINE), facets={"releases": Facets(added=(ITEM,))}).drafts[0]
    assert draft.title.startswith("*All* @")
    assert draft.body.startswith("# News\n- \\*All\\* @")
    assert "@everyone" not in draft.body


def test_an_inline_template_needs_no_folder_and_tells_its_line(tmp_path: Path) -> None:
    assert run(tmp_path, template("hello\n")).drafts[0].body.strip() == "hello"
    outcome = run(tmp_path, template("hello\n{{ nix }}\n"))
    assert "step 1 (template) line:2: 'nix' is undefined" in outcome.error
    assert not outcome.retry
