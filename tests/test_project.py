"""The project holds together: linters, types, layers, locks, one README, and nothing of a machine in any file."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from itertools import pairwise
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import hz_team

ROOT = Path(__file__).parent.parent
TOOLS = Path(sys.executable).parent
"""Where the programs of this environment are."""

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

TOP_LEVEL = {
    *(".ci", ".gitattributes", ".github", ".gitignore"),
    *("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md"),
    *("action.yml", "constraints.txt", "pyproject.toml", "requirements.lock"),
    *("bench", "docs", "schemas", "src", "tests", "workflow-templates"),
}

OF_A_MACHINE = {
    "a registry's host": re.compile(r"\b(pypi|pythonhosted|registry\.npmjs|(deb|security)\.debian)\.org\b"),
    "an index option": re.compile(r"^\s*--(extra-)?(index-url|find-links)\b", re.MULTILINE),
    "a path of one machine": re.compile(r"(?<![\w.~])/(root|opt|Users)/\w"),
    "where this very checkout lies": re.compile(
        rf"(?<![\w.~]){re.escape(str(ROOT))}\b" if len(ROOT.parts) > 2 else "(?!)"
    ),
}


def show(*command: str, **environment: str) -> None:
    """Run a tool at the root; when it is not content, its own words are the failure."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": f"{TOOLS}:/usr/bin:/bin", "PYTHONPATH": str(ROOT / "src"), **environment},
    )
    if done.returncode != 0:
        pytest.fail(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}", pytrace=False)


def files() -> tuple[Path, ...]:
    """Every file that is, or would be, part of a commit."""
    listed = subprocess.run(
        ("git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file())


def text(path: Path) -> str:
    """Read a file that may hold any bytes."""
    return path.read_bytes().decode("utf-8", "replace")


def sources() -> tuple[str, ...]:
    """Folders of ours that hold Python."""
    return tuple(name for name in ("src", "tests", "bench") if any((ROOT / name).rglob("*.py")))


def commands() -> tuple[str, ...]:
    """The set-up commands of the README, in order: the demo's and the tests'."""
    return tuple(re.findall(r"^ {4}(python3 -m venv .+)$", text(ROOT / "README.md"), re.MULTILINE))


def pins(name: str) -> dict[str, str]:
    """Project → version of a lock file."""
    found = re.findall(r"^([a-z0-9][a-z0-9-]*)==(\S+)(?: ;[^\n]*| \\)*$", text(ROOT / name), re.MULTILINE)
    return dict(found)


def wanted(*, extra: str = "") -> tuple[Requirement, ...]:
    """What pyproject.toml asks for by name, with or without an extra."""
    lines = [*PROJECT["dependencies"], *(PROJECT["optional-dependencies"][extra] if extra else ())]
    return tuple(Requirement(line) for line in lines)


def needed(requirements: tuple[Requirement, ...]) -> set[str]:
    """Every project that these need here, directly or through others."""
    seen: set[tuple[str, str]] = set()
    todo = [(canonicalize_name(one.name), extra) for one in requirements for extra in ("", *one.extras)]
    while todo:
        name, extra = todo.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        for one in map(Requirement, requires(name) or ()):
            if one.marker is None or one.marker.evaluate({"extra": extra}):
                todo += [(canonicalize_name(one.name), more) for more in ("", *one.extras)]
    return {name for name, _ in seen}


# Linters


@pytest.mark.timeout(300)
@pytest.mark.parametrize("command", ["check --no-fix", "format --check --diff"])
def test_ruff(command: str) -> None:
    show(sys.executable, "-m", "ruff", *command.split())


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_mypy() -> None:
    show(sys.executable, "-m", "mypy", *sources())


@pytest.mark.timeout(300)
def test_imports_point_downward() -> None:
    show(str(TOOLS / "lint-imports"), "--no-logo")


# One README, one test command


def test_the_readme_has_two_set_up_commands() -> None:
    demo, tests = commands()
    assert demo.endswith(" && .venv/bin/python -m hz_team demo")
    assert tests.endswith(" && .venv-test/bin/python -m pytest")


def test_ci_runs_what_the_readme_says() -> None:
    _, tests = commands()
    assert text(ROOT / ".ci/run").splitlines()[-1] == tests


def test_ci_is_a_program_that_bash_can_read() -> None:
    run = ROOT / ".ci/run"
    assert run.stat().st_mode & 0o111
    show("bash", "-n", str(run))


def test_the_readme_shows_each_command_on_one_line() -> None:
    assert [line for line in text(ROOT / "README.md").splitlines() if line.endswith("\\")] == []


# The package


def test_the_version_stands_in_two_places() -> None:
    assert hz_team.__version__ == PROJECT["version"]


def test_the_console_scripts() -> None:
    assert PROJECT["scripts"] == {
        "hz-team": "hz_team.cli:main",
        "hz-personal": "hz_personal.__main__:main",
        "hz-draft": "hz_team.steps.hz_draft:main",
    }


def test_hz_personal_says_that_it_is_not_built() -> None:
    done = subprocess.run(
        (sys.executable, "-m", "hz_personal", "tick"), capture_output=True, text=True, check=False, cwd="/"
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "hz-personal: not built yet; team jobs run with `hz-team tick`\n"


@pytest.mark.parametrize("package", ["hz_team", "hz_personal"])
def test_the_packages_say_that_they_are_typed(package: str) -> None:
    assert (ROOT / "src" / package / "py.typed").is_file()


# Locks


def test_constraints_pin_all_that_the_project_asks_for() -> None:
    versions = pins("constraints.txt")
    for one in wanted(extra="test"):
        assert one.specifier.contains(versions[canonicalize_name(one.name)]), one


def test_the_lock_pins_all_that_the_program_asks_for() -> None:
    versions = pins("requirements.lock")
    for one in wanted():
        assert one.specifier.contains(versions[canonicalize_name(one.name)]), one


def test_the_lock_and_the_constraints_are_one_resolution() -> None:
    lock, constraints = pins("requirements.lock"), pins("constraints.txt")
    assert lock.items() <= constraints.items()


def test_the_locks_are_complete_and_hold_nothing_else() -> None:
    assert needed(wanted(extra="test")) <= pins("constraints.txt").keys()
    assert needed(wanted()) <= pins("requirements.lock").keys()
    tools = {canonicalize_name(one.name) for one in {*wanted(extra="test")} - {*wanted()}}
    assert not tools & pins("requirements.lock").keys()


def test_every_line_of_a_lock_is_a_pin_or_a_hash() -> None:
    for name, other in (("constraints.txt", r"(?!)"), ("requirements.lock", r" {4}--hash=sha256:[0-9a-f]{64}( \\)?")):
        lines = text(ROOT / name).splitlines()
        rest = [line for line in lines if not re.fullmatch(rf"[a-z0-9-]+==\S+.*|{other}", line)]
        assert rest == [], name
        assert len(lines) - sum("--hash" in line for line in lines) == len(pins(name)), name


def test_every_pin_of_the_lock_has_a_hash() -> None:
    lines = text(ROOT / "requirements.lock").splitlines()
    assert [one for one, after in pairwise([*lines, ""]) if "==" in one and "--hash" not in after] == []


# Files


def test_the_top_level_holds_only_what_the_design_names() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in files()} <= TOP_LEVEL


@pytest.mark.parametrize("kind", OF_A_MACHINE)
def test_no_file_holds(kind: str) -> None:
    hits = [
        f"{path.relative_to(ROOT)}: {hit[0]}"
        for path in files()
        if not path.is_relative_to(ROOT / "tests/data")
        for hit in OF_A_MACHINE[kind].finditer(text(path))
    ]
    assert hits == []


@pytest.mark.parametrize(
    ("kind", "sample"),
    [
        ("a registry's host", "https://{}/simple".format("pypi" + ".org")),
        ("a registry's host", "https://files.{}/x".format("pythonhosted" + ".org")),
        ("an index option", "--index-url x"),
        ("a path of one machine", "file://{}wheels".format("/opt" + "/")),
        ("a path of one machine", "{}.cache".format("/root" + "/x")),
    ],
)
def test_what_is_of_a_machine_is_seen(kind: str, sample: str) -> None:
    assert OF_A_MACHINE[kind].search(sample)


def test_decisions_are_numbered_in_order_and_have_three_parts() -> None:
    records = sorted((ROOT / "docs/decisions").glob("*.md"))
    assert [path.name[:5] for path in records] == [f"{number:04}-" for number in range(1, len(records) + 1)]
    for number, path in enumerate(records, 1):
        assert text(path).startswith(f"# {number}. "), path.name
        assert re.findall(r"^## (.*)$", text(path), re.MULTILINE) == ["Context", "Decision", "Consequence"], path.name


def test_links_between_our_pages_lead_somewhere() -> None:
    dead = [
        f"{path.relative_to(ROOT)}: {target}"
        for path in files()
        if path.suffix == ".md" and not path.is_relative_to(ROOT / "tests")
        for target in re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", text(path))
        if not (path.parent / target).exists()
    ]
    assert dead == []
