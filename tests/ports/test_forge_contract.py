"""What every forge must do, whatever it is made of. A new one joins by a row in FORGES and passes all of this."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from hz_team.adapters.local import LocalForge
from hz_team.ports import Forge
from hz_team.publishers import marker
from tests.publishers.sample import HOSTILE, PATCH

Opening = Callable[[], Forge]
"""Opens the same forge once more, as the next process would."""
ONE, TWO = marker("1" * 64), marker("2" * 64)
FILES = {"docs/news.md": "# News\n", "logo.png": {"base64": "iVBORw=="}, "old.md": None}
CONTENTS: dict[str, dict[str, Any]] = {
    "issue": {"target": "here", "title": "Digest", "labels": ("newsletter",), "body": "Seven items.\n"},
    "comment": {"target": "#7", "body": "Quiet since June.\n"},
    "file": {"title": "News", "files": FILES},
    "pull_request": {
        "title": "Changelog",
        "labels": (),
        "base": "main",
        "branch": "hz/changelog",
        "files": {"CHANGELOG.md": "# Changes\n"},
        "patch": PATCH,
        "body": "From 3 pull requests.\n",
    },
}


def local(folder: Path) -> Opening:
    return lambda: LocalForge(str(folder))


FORGES: Mapping[str, Callable[[Path], Opening]] = {"local": local}


@pytest.fixture(params=FORGES)
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> Opening:
    return FORGES[request.param](tmp_path)


@pytest.fixture
def forge(opening: Opening) -> Forge:
    return opening()


def test_it_has_a_name(forge: Forge) -> None:
    assert forge.repository


@pytest.mark.parametrize("kind", CONTENTS)
def test_nothing_is_there_before_it_is_made(forge: Forge, kind: str) -> None:
    assert (forge.find(kind, ONE).status, forge.find(kind, ONE).refs) == ("absent", ())


@pytest.mark.parametrize("kind", CONTENTS)
def test_what_was_made_is_found_by_its_marker_by_the_next_process(opening: Opening, kind: str) -> None:
    ref = opening().create(kind, CONTENTS[kind], ONE)
    found = opening().find(kind, ONE)
    assert (found.status, found.refs) == ("found", (ref,))
    assert opening().find(kind, TWO).status == "absent"
    assert opening().link(ref)


@pytest.mark.parametrize("kind", CONTENTS)
def test_a_kind_is_not_taken_for_another(forge: Forge, kind: str) -> None:
    forge.create(kind, CONTENTS[kind], ONE)
    assert all(forge.find(other, ONE).status == "absent" for other in CONTENTS if other != kind)


@pytest.mark.parametrize("kind", CONTENTS)
def test_doubles_are_listed_lowest_first_and_a_withdrawn_one_no_more(forge: Forge, kind: str) -> None:
    refs = [forge.create(kind, CONTENTS[kind], ONE) for _ in range(11)]
    assert len(set(refs)) == 11
    assert forge.find(kind, ONE).refs == tuple(refs)
    for ref in refs[1:]:
        forge.withdraw(kind, ref, f"double of {refs[0]}")
        forge.withdraw(kind, ref, "said twice")
    assert forge.find(kind, ONE).refs == (refs[0],)


def test_create_never_looks_first(forge: Forge) -> None:
    assert forge.create("issue", CONTENTS["issue"], ONE) != forge.create("issue", CONTENTS["issue"], ONE)


@pytest.mark.parametrize("kind", ["issue", "comment", "pull_request"])
def test_a_marker_in_a_text_is_not_the_outcomes_own(forge: Forge, kind: str) -> None:
    quoting = {**CONTENTS[kind], "title": f"a {TWO}\n{TWO}", "body": f"{TWO}\n\n---\n{TWO}\n"}
    ref = forge.create(kind, quoting, ONE)
    assert forge.find(kind, ONE).refs == (ref,)
    assert forge.find(kind, TWO).status == "absent"


@pytest.mark.parametrize("text", HOSTILE)
def test_d09_texts_of_strangers_are_carried_and_do_nothing(forge: Forge, text: str) -> None:
    ref = forge.create("issue", {"target": "here", "title": text, "labels": (), "body": text}, ONE)
    assert forge.find("issue", ONE).refs == (ref,)


def test_there_is_no_page_before_one_is_put(forge: Forge) -> None:
    assert forge.page("dashboard") is None
    assert forge.page("p-3f9c21ab") is None


@pytest.mark.parametrize("name", ["dashboard", "p-3f9c21ab", "p-12345678"])
def test_a_page_is_read_back_as_it_was_put(opening: Opening, name: str) -> None:
    text = "<!-- hz:dashboard 1 acme/housework -->\n- [ ] Ünï \U0001f9dd\n\n"
    assert opening().put_page(name, text, expected=None)
    page = opening().page(name)
    assert page is not None
    assert page.text == text
    assert opening().link(name)


def test_a_page_is_replaced_only_while_it_is_what_was_read(forge: Forge) -> None:
    assert forge.put_page("dashboard", "- [ ] one\n", expected=None)
    assert not forge.put_page("dashboard", "- [ ] two\n", expected=None)
    assert not forge.put_page("dashboard", "- [ ] two\n", expected="- [x] one\n")
    page = forge.page("dashboard")
    assert page is not None
    assert page.text == "- [ ] one\n"
    assert forge.put_page("dashboard", "- [ ] two\n", expected="- [ ] one\n")
    assert not forge.put_page("p-3f9c21ab", "anything\n", expected="was there\n")


def test_a_page_that_is_right_already_is_fine(forge: Forge) -> None:
    forge.put_page("dashboard", "same\n", expected=None)
    assert forge.put_page("dashboard", "same\n", expected="another\n")


def test_a_closed_page_goes_and_may_go_twice(forge: Forge) -> None:
    forge.put_page("p-3f9c21ab", "text\n", expected=None)
    forge.put_page("p-81d0c7e2", "text\n", expected=None)
    forge.drop_page("p-3f9c21ab")
    forge.drop_page("p-3f9c21ab")
    assert forge.page("p-3f9c21ab") is None
    assert forge.page("p-81d0c7e2") is not None


def test_links_of_different_things_differ(forge: Forge) -> None:
    refs = [forge.create(kind, CONTENTS[kind], ONE) for kind in CONTENTS]
    names = ["dashboard", "p-3f9c21ab", "p-12345678", *refs]
    assert len({forge.link(name) for name in names}) == len(names)


def test_nobody_has_no_role(forge: Forge) -> None:
    role, how = forge.role("")
    assert role == "none"
    assert how
