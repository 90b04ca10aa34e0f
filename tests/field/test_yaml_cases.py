"""Field kind H: files that loaded as something else, or with a message nobody could read, and the right value."""

import time
from pathlib import Path
from typing import Any

import pytest

from hz_team import config, yaml
from hz_team.model.job import Index

NOW = 1_790_000_000
JOB = "on: poke\nsteps:\n  - run: date\n"


def nothing(path: str, modules: tuple[str, ...]) -> dict[str, Any]:
    del modules
    return pytest.fail(f"{path} is no Python file")


def load(root: Path, **files: str | bytes) -> Index:
    """The configuration of these job files, `__` standing for the dot."""
    for name, text in files.items():
        path = root / ".hz/jobs" / name.replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return config.load(str(root), declare=nothing, now=NOW)


def errors(index: Index) -> list[str]:
    return [str(finding) for finding in index.findings if finding.level == "error"]


def test_h01_words_that_look_like_truth_stay_words(tmp_path: Path) -> None:
    text = "name: yes\non: poke\ninputs: {no: {default: no}, off: {type: boolean, default: true}}\nsteps: [{run: on}]\n"
    (job,) = load(tmp_path, a__yaml=text).jobs
    assert (job.name, job.steps[0].spec, job.inputs["no"].default, job.inputs["off"].default) == (
        "yes",
        {"run": "on"},
        "no",
        True,
    )


@pytest.mark.parametrize("word", ["yes", "no", "on", '"true"', "1"])
def test_h01_only_true_and_false_are_booleans(tmp_path: Path, word: str) -> None:
    index = load(tmp_path, a__yaml=f"{JOB}enabled: {word}\n")
    assert errors(index) == [
        f".hz/jobs/a.yaml:4: `enabled`: `{word.strip(chr(34))}` is text here; write true or false, without quotes"
    ]


def test_h03_a_key_that_stands_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    text = "schedule: ['2026-12-01T09:00Z']\nsteps: [{run: date}]\nschedule: ['2026-12-02T09:00Z']\n"
    assert errors(load(tmp_path, a__yaml=text)) == [
        ".hz/jobs/a.yaml:3: the key `schedule` stands twice, in lines 1 and 3; keep one"
    ]


def test_h03_one_id_in_two_files_is_refused_with_both_places(tmp_path: Path) -> None:
    index = load(tmp_path, a__yaml="id: same\n" + JOB, b__yaml="name: B\nid: same\n" + JOB, c__yaml=JOB)
    assert [job.id for job in index.jobs] == ["c"]
    assert "`same`: .hz/jobs/a.yaml:1 and .hz/jobs/b.yaml:1" in errors(index)[0]


@pytest.mark.parametrize("text", ["10:30", "09:30"])
def test_h04_times_of_day_stay_as_written(tmp_path: Path, text: str) -> None:
    (job,) = load(tmp_path, a__yaml=f"{JOB}inputs: {{at: {{default: {text}}}}}\n").jobs
    assert job.inputs["at"].default == text
    assert yaml.load(f"at: {text}") == {"at": text}


def test_h04_a_duration_that_can_be_read_in_two_ways_is_refused(tmp_path: Path) -> None:
    assert errors(load(tmp_path, a__yaml=f"{JOB}timeout: 1:30\n")) == [
        ".hz/jobs/a.yaml:4: `timeout`: `1:30` is unclear; write `1h30m` or `1m30s`"
    ]


@pytest.mark.parametrize("cron", ["*/5 * * * *", "@daily", "* * * * *"])
def test_h06_a_bare_schedule_is_told_to_be_quoted_and_other_files_load(tmp_path: Path, cron: str) -> None:
    index = load(tmp_path, a__yaml=f"name: A\non:\n  - cron: {cron}\nsteps: [{{run: date}}]\n", b__yaml=JOB)
    assert errors(index) == [f'.hz/jobs/a.yaml:3: quote the schedule: `cron: "{cron}"`']
    assert [job.id for job in index.jobs] == ["b"]
    assert index.broken == ("a",)


@pytest.mark.parametrize("start", ["\ufeff", "\ufeff---\n"])
def test_h08_a_byte_order_mark_at_the_start_is_nothing(tmp_path: Path, start: str) -> None:
    (job,) = load(tmp_path, a__yaml=f"{start}name: A\n{JOB}").jobs
    assert job.name == "A"


def test_h08_a_byte_order_mark_inside_is_named(tmp_path: Path) -> None:
    (text,) = errors(load(tmp_path, a__yaml=f"name: A\n\ufeff{JOB}"))
    assert text.startswith(".hz/jobs/a.yaml:2: an invisible byte order mark (U+FEFF)")


def test_h09_a_tab_as_indent_is_named(tmp_path: Path) -> None:
    (text,) = errors(load(tmp_path, a__yaml="on: poke\nsteps:\n\t- run: date\n"))
    assert text == ".hz/jobs/a.yaml:3: a tab is used as indent; YAML takes only spaces, write two instead"


def test_h11_a_bomb_of_aliases_is_refused_before_anything_walks_it(tmp_path: Path) -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(8)
    )
    before = time.monotonic()
    with pytest.raises(yaml.YamlError, match="aliases make more than"):
        yaml.load(bomb)
    assert time.monotonic() - before < 1
    assert len(bomb) < 500
    index = load(tmp_path, a__yaml=bomb, b__yaml=JOB)
    assert ([job.id for job in index.jobs], len(errors(index))) == (["b"], 1)


def test_h13_line_ends_change_neither_the_job_nor_its_contract(tmp_path: Path) -> None:
    text = "name: A\non: poke\nsteps:\n  - run: |\n      echo one\n      echo two\n    prompt: |\n      Write.\n"
    (unix,) = load(tmp_path / "unix", a__yaml=text).jobs
    (windows,) = load(tmp_path / "windows", a__yaml=text.replace("\n", "\r\n")).jobs
    assert windows == unix
    (other,) = load(tmp_path / "other", a__yaml=text.replace("two", "three")).jobs
    assert other.contract != unix.contract


def test_h13_front_matter_is_found_whatever_the_line_ends() -> None:
    text = "---\ntitle: A\nlabels: [x]\n---\n# Body\n\ntext\n"
    assert yaml.front_matter(text.replace("\n", "\r\n")) == yaml.front_matter(text)


NAMES = ["Daily report", "a..b", "yarn.lock", "x.", "a:b", "q?", "a[1]", "@{x", "+", "-x", "日本語", "x" * 250]


@pytest.mark.parametrize("name", NAMES)
def test_f01_any_words_are_a_name_and_no_id_without_a_suggestion(tmp_path: Path, name: str) -> None:
    quoted = f'name: "{name}"\n{JOB}'
    (job,) = load(tmp_path / "named", helper__yaml=quoted).jobs
    assert (job.id, job.name) == ("helper", name)
    (text,) = errors(load(tmp_path / "id", helper__yaml=f'id: "{name}"\n{JOB}'))
    assert "cannot be an id" in text
    suggested = text.partition("`id: ")[2].partition("`")[0]
    (mended,) = load(tmp_path / "mended", helper__yaml=f"id: {suggested}\n{JOB}").jobs
    assert mended.id == suggested


def test_f03_a_slash_is_no_part_of_an_id(tmp_path: Path) -> None:
    (text,) = errors(load(tmp_path, a__yaml=f"id: reports/daily\n{JOB}", reports__yaml=JOB))
    assert "write `id: reports-daily`" in text


def test_f04_two_spellings_of_one_accent_are_one_name(tmp_path: Path) -> None:
    (one, other) = load(tmp_path, a__yaml=f"name: cafe\u0301\n{JOB}", b__yaml=f"name: caf\u00e9\n{JOB}").jobs
    assert one.name == other.name == "caf\u00e9"


ZONES = [
    ("IST", "Asia/Kolkata, Europe/Dublin or Asia/Jerusalem"),
    ("asia/kolkata", "write Asia/Kolkata"),
    ("UTC+2", "Etc/GMT-2"),
    ("+02:00", "Etc/GMT-2"),
    ("", "no time zone is written"),
    ("Europe/Berln", "did you mean Europe/Berlin?"),
    ("localtime", "is not a time zone"),
]


@pytest.mark.parametrize(("zone", "hint"), ZONES)
def test_a15_zones_are_checked_at_load_with_a_suggestion(tmp_path: Path, zone: str, hint: str) -> None:
    text = f'on: {{cron: "0 9 * * *", timezone: "{zone}"}}\nsteps: [{{run: date}}]\n'
    (found,) = errors(load(tmp_path, a__yaml=text))
    assert found.startswith(".hz/jobs/a.yaml:1: `on.timezone`: ")
    assert hint in found


@pytest.mark.parametrize(("zone", "warned"), [("America/Indianapolis", False), ("US/Eastern", False), ("EST", True)])
def test_a15_old_names_work_and_fixed_offsets_are_warned_of(tmp_path: Path, zone: str, *, warned: bool) -> None:
    text = f'on: {{cron: "0 9 * * *", timezone: {zone}}}\nsteps: [{{run: date}}]\n'
    index = load(tmp_path, a__yaml=text)
    assert index.jobs[0].triggers[0].zone == zone
    assert ["one offset all year" in str(finding) for finding in index.findings] == [True] * warned


def test_a07_both_day_fields_are_warned_of_with_dates(tmp_path: Path) -> None:
    index = load(tmp_path, a__yaml='on: {cron: "0 9 13 * 5"}\nsteps: [{run: date}]\n')
    (warning,) = index.findings
    assert (warning.level, warning.line, "either is enough" in warning.text) == ("warning", 1, True)
