from __future__ import annotations

import importlib
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from hz_team import publishers, registry
from hz_team.errors import UsageError
from tests.publishers.sample import DRAFTS, KEY, REPOSITORY

HERE = Path(__file__).parents[1]
TABLES = {"watches": registry.WATCHES, "steps": registry.STEPS, "publishers": registry.PUBLISHERS}
COMPLETE = "KIND = 'x'\nUNDOABLE = True\ndef find(*a): ...\n\npublish = words = becomes = find\n"


def install(site: Path, name: str, module: str, code: str, points: str) -> None:
    (site / f"{module}.py").write_text(code, encoding="utf-8")
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(points, encoding="utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    return tmp_path


@pytest.mark.parametrize(("group", "kind"), [(group, kind) for group, table in TABLES.items() for kind in table])
def test_every_row_names_a_module_of_its_group(group: str, kind: str) -> None:
    assert TABLES[group][kind] == f"hz_team.{group}.{kind}"
    assert find_spec(TABLES[group][kind]) is not None


@pytest.mark.parametrize("kind", registry.WATCHES)
def test_watches_poll(kind: str) -> None:
    assert callable(registry.watch(kind).poll)


@pytest.mark.parametrize("kind", registry.STEPS)
def test_steps_make_a_command(kind: str) -> None:
    assert callable(registry.step(kind).command)


@pytest.mark.parametrize("kind", registry.PUBLISHERS)
def test_publishers_know_their_name(kind: str) -> None:
    assert kind == importlib.import_module(registry.PUBLISHERS[kind]).KIND
    assert registry.publisher(kind).kind == kind


def test_only_a_webhook_cannot_be_undone_and_what_nobody_knows() -> None:
    lasting = [kind for kind in registry.PUBLISHERS if not registry.undoable(kind)]
    assert lasting == ["webhook"]
    assert not registry.undoable("release")


def test_the_first_key_is_that_of_part_zero() -> None:
    (part,) = registry.publisher("issue").parts(DRAFTS["issue"].payload(), REPOSITORY, KEY)
    assert registry.first_key(REPOSITORY, KEY) == part.key == publishers.key_of(REPOSITORY, KEY, 0)


@pytest.mark.parametrize(
    ("ask", "noun"), [(registry.watch, "watch"), (registry.step, "step"), (registry.publisher, "publisher")]
)
def test_an_unknown_kind_is_a_sentence_with_what_there_is(ask: object, noun: str) -> None:
    assert callable(ask)
    with pytest.raises(UsageError, match=rf"there is no {noun} `nothing`; there are .*, and what packages add"):
        ask("nothing")


def test_importing_the_table_imports_no_kind_and_nothing_heavy() -> None:
    code = "import sys; from hz_team import registry; registry.WATCHES; print(*sys.modules)"
    run = subprocess.run(
        (sys.executable, "-c", code), env={"PYTHONPATH": str(HERE / "src")}, capture_output=True, check=True, text=True
    )
    loaded = set(run.stdout.split())
    assert not [name for name in loaded if name.startswith(("hz_team.watches", "hz_team.steps", "hz_team.publishers"))]
    assert not {"importlib.metadata", "pathlib", "email", "inspect"} & loaded


def test_a_package_adds_a_kind(site: Path) -> None:
    install(
        site,
        "acme-book",
        "acme_book",
        COMPLETE,
        "[hz_team.publishers]\nbook = acme_book\n[hz_team.steps]\nodd = os:path\n",
    )
    assert registry.publisher("book").kind == "book"
    with pytest.raises(UsageError, match="the step `odd` of acme-book lacks command"):
        registry.step("odd")


def test_a_package_cannot_replace_a_kind(site: Path) -> None:
    install(site, "evil", "evil_issue", "raise SystemExit('imported')", "[hz_team.publishers]\nissue = evil_issue\n")
    assert registry.publisher("issue").words(DRAFTS["issue"].payload()).startswith("opens an issue")


def test_two_packages_with_one_kind_are_both_named(site: Path) -> None:
    for name in ("one", "two"):
        install(site, name, f"book_{name}", COMPLETE, f"[hz_team.publishers]\nshelf = book_{name}\n")
    with pytest.raises(UsageError, match="one and two both bring a publisher `shelf`; uninstall one of them"):
        registry.publisher("shelf")


@pytest.mark.parametrize("code", ["import not_there_at_all", "def broken(:"])
def test_a_package_that_cannot_be_loaded_is_named(site: Path, code: str) -> None:
    install(site, "acme-torn", "acme_torn", code, "[hz_team.watches]\ntorn = acme_torn\n")
    with pytest.raises(UsageError, match="the watch `torn` of acme-torn cannot be loaded: "):
        registry.watch("torn")


def test_what_is_accepted_and_not_run_yet_says_so() -> None:
    with pytest.raises(UsageError, match=r"^watch type `github\.pulls` is not run yet$"):
        registry.watch("github.pulls")
