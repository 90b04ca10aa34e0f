"""The documents, held to the program: commands are run, links followed, keys and options compared."""

from __future__ import annotations

import re
import subprocess
import sys
from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from hz_team import cli, config, handover, plugin
from hz_team.commands import assembly, option
from hz_team.model.config import job, publish, setting, step, trigger, watch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

HERE = Path(__file__).parents[1]
DOCS = HERE / "docs"
PAGES = (*sorted(HERE.glob("*.md")), *sorted(DOCS.rglob("*.md")))
BLOCK = re.compile(r"(?:^<!-- file: (\S+) -->\n)?^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)")
ID = r"p-[0-9a-f]{8}"


class Block(NamedTuple):
    """One fenced block of a page."""

    file: str
    """Where the reader puts it, "" for one that is no file."""
    kind: str
    text: str


def read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(text: str) -> Iterator[Block]:
    for file, kind, body in BLOCK.findall(text):
        yield Block(file, kind, body)


def commands(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each command of a console block and the lines that it is said to print."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.rstrip("\n").split("\n")
        yield command, tuple(shown)


def missing(shown: tuple[str, ...], output: str, known: dict[str, str] | None = None) -> list[str]:
    """Return the shown lines that are not printed in their order; an ellipsis stands for anything.

    A decision's id in a page stands for the one that comes in its place: `known` learns which that is.
    """
    lines, known = output.split("\n"), {} if known is None else known
    gone, at = [], 0
    for line in shown:
        if line.strip() == "…":
            continue
        pattern = _pattern(translated(line.rstrip(), known), known)
        found = next((place for place in range(at, len(lines)) if pattern.fullmatch(lines[place].rstrip())), None)
        if found is None:
            gone.append(line)
            continue
        match = pattern.fullmatch(lines[found].rstrip())
        known.update({f"p-{name[2:]}": said for name, said in (match.groupdict() if match else {}).items()})
        at = found + 1
    return gone


def translated(text: str, known: dict[str, str]) -> str:
    """Return a page's text with the ids that were printed in place of its own."""
    return re.sub(ID, lambda found: known.get(found[0], found[0]), text)


def _pattern(line: str, known: dict[str, str]) -> re.Pattern[str]:
    text = re.sub(r"(?:\\ )*…(?:\\ )*", ".*", re.escape(line))
    new = (
        (found, f"(?P<p_{found[2:]}>{ID})")
        for found in dict.fromkeys(re.findall(ID, line))
        if found not in known.values()
    )
    for found, group in new:
        text = text.replace(re.escape(found), group, 1)
    return re.compile(text)


def play(text: str, folder: Path, environ: dict[str, str]) -> None:
    """Do what a page says, from top to bottom: write its files, type its commands, compare."""
    known: dict[str, str] = {}
    for block in blocks(text):
        if block.file:
            path = folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        for command, shown in commands(block.text) if block.kind == "console" else ():
            if command.startswith("cd "):
                folder /= command.removeprefix("cd ")
                continue
            output = typed(translated(command, known), folder, environ)
            assert missing(shown, output, known) == [], f"$ {command}\n{output}"


def typed(command: str, folder: Path, environ: dict[str, str]) -> str:
    """Type a command; return what it prints."""
    done = subprocess.run(("bash", "-c", command), cwd=folder, env=environ, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    assert done.returncode == 0, f"$ {command}: exit {done.returncode}\n{output}"
    return output


@pytest.fixture
def environ(nobodys_home: Path, tmp_path: Path) -> dict[str, str]:
    return {
        "HOME": str(nobodys_home),
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(HERE / "src"),
        "TMPDIR": str(tmp_path),
        "TZ": "UTC",
    }


# What is executed


@pytest.mark.slow
def test_the_tutorial_goes_as_it_is_told(tmp_path: Path, environ: dict[str, str]) -> None:
    folder = tmp_path / "start"
    folder.mkdir()
    play(read("tutorial.md"), folder, environ)


@pytest.mark.parametrize(
    ("shown", "output", "gone"),
    [
        (("a", "b"), "a\nx\nb\n", []),
        (("b", "a"), "a\nb\n", ["a"]),
        (("head … end",), "head 12 34 end\n", []),
        (("head … end",), "head 12 34\n", ["head … end"]),
        (("…", "a (b)"), "a (b)\n", []),
        (("p-00000000 a", "p-00000000 b"), "p-12345678 a\np-12345678 b\n", []),
        (("p-00000000 a", "p-00000000 b"), "p-12345678 a\np-87654321 b\n", ["p-00000000 b"]),
    ],
)
def test_a_page_is_compared_line_by_line(shown: tuple[str, ...], output: str, gone: list[str]) -> None:
    assert missing(shown, output) == gone


# Links and words


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives a page's headings."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    dead = []
    for path, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            dead.append(f"{path}#{anchor}")
    assert dead == []


def test_the_glossary_defines_the_words_of_the_architecture() -> None:
    said = set(
        re.findall(r"\*\*([a-z ]+)\*\*", "\n".join(re.findall(r"^\|.*$", read("architecture.md"), re.MULTILINE)))
    )
    defined = set(re.findall(r"^\*\*([a-z ]+)\*\*:", read("glossary.md"), re.MULTILINE))
    assert said
    assert said - defined == set()


def test_every_file_that_the_architecture_names_exists() -> None:
    text = read("architecture.md")
    named = set(re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", text))
    named |= set(re.findall(r"`([a-z_]+/)`", section(text, "Packages and layers")))
    assert len(named) > 20
    assert [name for name in sorted(named) if not (HERE / "src/hz_team" / name).exists()] == []


# docs/commands.md


def parsers() -> dict[str, ArgumentParser]:
    """Return every command's parser, as the command itself makes it."""
    made: dict[str, ArgumentParser] = {}

    class Stop(Exception):
        """Leaves `parse` before it reads any words."""

    def stop(self: ArgumentParser, words: list[str]) -> Any:
        made[self.prog.removeprefix("hz-team ")] = self
        raise Stop

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ArgumentParser, "parse_args", stop)
        for name in cli.COMMANDS:
            module = import_module(f"hz_team.commands.{name}_command" if name == "try" else f"hz_team.commands.{name}")
            with pytest.raises(Stop):
                module.parse([])
    return made


def section(text: str, title: str) -> str:
    """Return what stands below a heading of the second rank."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert found, f"no section `{title}`"
    return found[1]


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_and_option_is_told(name: str) -> None:
    text = section(read("commands.md"), f"`hz-team {name}`")
    common = {one for action in option.parser("x", "")._actions for one in action.option_strings}  # noqa: SLF001
    mine = {one for action in parsers()[name]._actions for one in action.option_strings} - common  # noqa: SLF001
    assert set(re.findall(r"`(--[a-z-]+)", text)) == mine
    for action in parsers()[name]._actions:  # noqa: SLF001
        for choice in action.choices or ():
            assert f"`{choice}" in text, choice


def test_the_options_of_all_commands_are_told() -> None:
    text = section(read("commands.md"), "Options of every command")
    for action in option.parser("x", "")._actions:  # noqa: SLF001
        assert f"`{action.option_strings[-1]}" in text


def test_every_exit_code_is_told() -> None:
    from hz_team import errors

    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.HzError)]
    codes = {str(kind.code) for kind in kinds} | {"0", "3"}
    assert codes <= set(re.findall(r"^\| (\d+) \|", section(read("commands.md"), "Exit codes"), re.MULTILINE))


# docs/jobs.md

SHAPES: dict[str, type[BaseModel]] = {
    "job": job.JobFile,
    "input": job.Input,
    "cost": job.Cost,
    "trigger": trigger.TriggerText,
    "step": step.Step,
    "shell": step.Shell,
    "template": step.Template,
    "python step": step.Python,
    "file step": step.File,
    "tool": step.Tool,
    "retries": step.Retries,
    "watch": watch.Watch,
    "feed": watch.Feed,
    "files": watch.Files,
    "python watch": watch.Python,
    "publish": publish.Publish,
    "every kind": publish.Labelled,
    "issue": publish.Issue,
    "comment": publish.Comment,
    "pull_request": publish.PullRequest,
    "file": publish.PublishFile,
    "webhook": publish.Webhook,
    "release": publish.Release,
    "label": publish.Label,
    "discussion": publish.Discussion,
    "approve": publish.ApproveText,
    "hz.yaml": setting.SettingsFile,
    "budget": setting.Budget,
    "hz.yaml publish": setting.Ceilings,
    "state": setting.StatePlace,
    "limits": setting.Limits,
    "control.yaml": setting.ControlFile,
    "control.yaml cost": setting.CostCeilings,
    "policy": setting.PolicyEntry,
}
TABLES = {
    **{
        name: {field.alias or key for key, field in shape.model_fields.items()} - {"more"}
        for name, shape in SHAPES.items()
    },
    "front matter": set(handover.FIELDS),
}
ABOVE = {
    **dict.fromkeys(("shell", "template", "python step", "file step", "tool"), "step"),
    **dict.fromkeys(("feed", "files", "python watch"), "watch"),
    **dict.fromkeys(publish.KINDS, "every kind"),
}
"""Tables that hold only what is not in the one above them."""


def tables(text: str) -> dict[str, list[tuple[str, str]]]:
    """Return name → rows (key, the rest) of every table behind a `<!-- keys: NAME -->`."""
    found = {}
    for name, table in re.findall(r"^<!-- keys: (.+?) -->\n\n?((?:\|.*\n)+)", text, re.MULTILINE):
        rows = [line.strip("| \n").split(" | ", 1) for line in table.splitlines()[2:]]
        found[name] = [(key, rest) for keys, rest in rows for key in re.findall(r"`([^`]+)`", keys)]
    return found


@pytest.mark.parametrize("name", TABLES)
def test_every_key_is_told_once_and_no_other(name: str) -> None:
    told = [key for key, _ in tables(read("jobs.md"))[name]]
    assert sorted(told) == sorted(TABLES[name] - TABLES.get(ABOVE.get(name, ""), set()))


def test_every_table_of_keys_is_compared() -> None:
    assert set(tables(read("jobs.md"))) == set(TABLES)


def test_every_row_of_keys_says_something_and_shows_it() -> None:
    dumb = [
        f"{name}: {key}"
        for name, rows in tables(read("jobs.md")).items()
        for key, rest in rows
        if len(rest.split(" | ")) != 2 or not all(part.strip() for part in rest.split(" | "))
    ]
    assert dumb == []


def test_the_examples_are_valid(tmp_path: Path) -> None:
    for block in blocks(read("jobs.md")):
        if block.file:
            path = tmp_path / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
    index = config.load(str(tmp_path), declare=assembly.declare(str(tmp_path)), now=1_796_000_000)
    assert [f"{one.file}:{one.line}: {one.text}" for one in index.findings if one.level == "error"] == []
    assert {job.id for job in index.jobs} == {"ask", "changelog", "digest"}


def test_every_word_of_the_decorator_is_told() -> None:
    text = section(read("jobs.md"), "A job in Python")
    said = set(re.findall(r"\b[a-z_]+\b", (plugin.job.__doc__ or "").partition("(`")[2].partition("`)")[0]))
    assert said
    assert [word for word in sorted(said) if f"`{word}" not in text] == []


# README, security.md


def test_the_readme_shows_only_kinds_that_run() -> None:
    text = (HERE / "README.md").read_text(encoding="utf-8")
    for row in ("`tool:`", "hz-personal install"):
        assert row not in text.split("## Read on")[0]
