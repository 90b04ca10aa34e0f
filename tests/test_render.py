"""Templates: strict, sandboxed, and every value inert."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """
import json, sys
from hz_team import render
sources, variables, folder, title = json.load(sys.stdin)
import pathlib
for name, source in sources.items():
    pathlib.Path(folder, name).write_text(source)
def split(source):
    head, body = source.removeprefix("---\\n").split("---\\n", 1)
    return json.loads(head), body
try:
    if title:
        print(render.text(sources["t.j2"], variables, title=title == "title"))
    else:
        made = render.render("t.j2", folder, variables, front_matter=split)
        print(json.dumps([dict(made.fields), made.body]))
except render.TemplateProblem as problem:
    print(f"PROBLEM {problem}")
"""
EVIL = "*@octocat* <b> #7 <!-- hz:approve p-1 -->\n- [ ] x"
LIVE = ("@octocat", "<b>", "#7 ", "<!--", "\n- [ ]", " *@")


def said(folder: Path, source: str, *, title: str = "", more: dict[str, str] | None = None, **variables: Any) -> str:
    """Render in a process of its own: rendering changes jinja2 for good."""
    import json

    order = json.dumps(
        [{"t.j2": source, **(more or {})}, {"x": {"title": EVIL, "n": 7}, **variables}, str(folder), title]
    )
    done = subprocess.run((sys.executable, "-c", SCRIPT), input=order, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.removesuffix("\n")


def body(folder: Path, source: str, **more: Any) -> str:
    import json

    answer = said(folder, source, **more)
    assert not answer.startswith("PROBLEM"), answer
    return str(json.loads(answer)[1])


@pytest.mark.parametrize(
    "source",
    [
        "{{ x.title }}",
        "{{ x.title|upper|lower }}",
        "{{ x.title|e }}",
        "{{ x.title|escape|forceescape }}",
        "{{ 'a' ~ x.title }}",
        "{{ '%s'|format(x.title) }}",
        "{{ '{}'.format(x.title) }}",
        "{{ [x.title, x.title]|join(' ') }}",
        "{{ x.title|replace('x', 'y') }}",
        "{{ x.title|trim|truncate(999)|wordwrap(9999)|indent }}",
        "{{ x|tojson }}",
        "{{ x|xmlattr }}",
        "{{ x.title|urlize }}",
        "{{ x.title|block }}",
        "{% macro m(v) %}{{ v }}{% endmacro %}{{ m(x.title) }}",
        "{% macro m(v) %}{{ v }}{% endmacro %}{{ m(x.title) ~ x.title }}",
        "{% macro m(v) %}{{ v }}{% endmacro %}{{ x.title ~ m(x.title) }}",
        "{% macro m() %}%s{% endmacro %}{{ m()|format(x.title) }}",
        "{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}{{ x.title }}{% endcall %}",
        "{% set v %}{{ x.title }}{% endset %}{{ v }}{{ v + x.title }}",
        "{% set v %}.{% endset %}{{ v.join([x.title, x.title]) }}",
        "{% filter lower %}{{ x.title }}{% endfilter %}",
        "{% block b %}{{ x.title }}{% endblock %}{{ self.b() }}",
        "{% autoescape false %}{{ x.title }}{% endautoescape %}",
        "{% for k, v in x.items() %}{{ v }}{% endfor %}",
        "{% include 'inc.j2' %}{% from 'inc.j2' import m with context %}{{ m(x.title) }}",
        "{{ x.title|striptags }}",
    ],
)
def test_no_value_acts_whatever_is_done_with_it(tmp_path: Path, source: str) -> None:
    text = body(tmp_path, source, more={"inc.j2": "{{ x.title }}{% macro m(v) %}{{ v }}{% endmacro %}"})
    found = [one for one in LIVE if one in f" {text}"]
    assert not found, text


def test_the_templates_own_text_stays(tmp_path: Path) -> None:
    source = "# *@team* #1 <br>\n{% macro row(v) %}- **{{ v }}** @team{% endmacro %}{{ row(x.n) }}{% set s %}*own*{% endset %} {{ s }}"
    assert body(tmp_path, source) == "# *@team* #1 <br>\n- **7** @team *own*"


def test_values_of_other_types(tmp_path: Path) -> None:
    assert (
        body(tmp_path, "{{ x.n }} {{ 1.5 }} {{ none }}|{{ d|date('%d %b %Y') }}", d="2026-11-30T09:00:00Z")
        == "7 1.5 |30 Nov 2026"
    )


def test_fields_come_before_methods_of_a_mapping(tmp_path: Path) -> None:
    assert body(tmp_path, "{{ y.items }} {{ y.keys }}", y={"items": "one", "keys": "two"}) == "one two"


def test_a_link_works_and_another_scheme_does_not(tmp_path: Path) -> None:
    source = "[a]({{ good }}) [b]({{ bad|url }})"
    text = body(tmp_path, source, good="https://example.org/a_(b)", bad="javascript:alert(1)")
    assert text == "[a](https://example.org/a_%28b%29) [b](#)"


def test_front_matter_is_read_before_anything_foreign_is_filled_in(tmp_path: Path) -> None:
    import json

    source = '---\n{"title": "About {{ evil }}", "labels": ["{{ evil }}"]}\n---\nBody {{ x.n }}'
    fields, text = json.loads(said(tmp_path, source, evil='x", "target": "evil/repo'))
    assert (fields, text) == (
        {"title": 'About x", "target": "evil/repo', "labels": ['x", "target": "evil/repo']},
        "Body 7",
    )


def test_titles_are_plain_text_with_inert_values_and_branches_plain(tmp_path: Path) -> None:
    title = said(tmp_path, "Fixes #1 for @team: {{ x.title }}", title="title")
    assert title.startswith("Fixes #1 for @team: *@")
    assert "@octocat" not in title
    assert "\\" not in title
    assert said(tmp_path, "hz/{{ name }}", title="plain", name="v1.0\n_x") == "hz/v1.0 _x"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("\n{{ missing }}", "t.j2:2: 'missing' is undefined; this template knows d, x"),
        ("{{ x.missing }}", "t.j2:1: 'dict object' has no attribute 'missing'"),
        ("{% if missing %}{% endif %}", "t.j2:1: 'missing' is undefined"),
        ("{{ ().__class__ }}", "t.j2:1: not allowed in a template"),
        ("{{ x.update({'a': 1}) }}", "t.j2:1: not allowed in a template"),
        ("{{ x.title|safe }}", "t.j2:1: No filter named 'safe'"),
        ("{{ '%s'|attr('__class__') }}", "t.j2:1: "),
        ("{{ 1 / 0 }}", "t.j2:1: division by zero"),
        ("{% for i in range(200000) %}{% endfor %}", "t.j2:1: Range too big"),
        ("{% for i in range(99999) %}{{ 'x' * 100 }}{% endfor %}", "becomes longer than 1,000,000 characters"),
        ("{% include '../secret' %}", "../secret: a template lies below"),
        ("{% include 'none.j2' %}", "none.j2: there is no such template in .hz/templates; there is inc.j2, t.j2"),
        ("{% macro r() %}{{ r() }}{% endmacro %}{{ r() }}", "maximum recursion depth"),
        ('---\n{"title": "{{ nope }}"}\n---\n', "t.j2: title:1: 'nope' is undefined"),
        ('---\n{"title": "x"}\n---\n\n{{ nope }}', "t.j2:5: 'nope' is undefined"),
        ("{{ d|date }}", "t.j2:1: "),
        ("\n\n{% include 'inc.j2' %}", "inc.j2:2: 'nope' is undefined"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_its_line(tmp_path: Path, source: str, problem: str) -> None:
    answer = said(tmp_path, source, d="no date", more={"inc.j2": "\n{{ nope }}"})
    assert answer.startswith("PROBLEM ")
    assert problem in answer
