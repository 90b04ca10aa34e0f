"""The loader keeps text, knows lines, and refuses what is more often a slip than meant."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hz_team import yaml
from hz_team.model.written import line_of


@pytest.mark.parametrize(
    "text", ["on", "no", "yes", "10:30", "3.10", "0755", "1e5", "0x1F", "2026-11-30", "0123456", "~"]
)
def test_scalars_stay_the_text_that_was_written(text: str) -> None:
    assert yaml.load(f"key: {text}") == {"key": text}


def test_only_unquoted_truth_nothing_and_whole_numbers_convert() -> None:
    document = yaml.load('a: [true, null, 12, -3, "true", "12", yes, 3.10, 007, 12345678901234567]\nb:')
    assert yaml.natural(document) == {
        "a": [True, None, 12, -3, "true", "12", "yes", "3.10", "007", "12345678901234567"],
        "b": None,
    }


def test_every_key_and_entry_knows_its_line() -> None:
    document = yaml.load("a: 1\nb:\n  - x\n  - {c: d,\n     e: f}\n")
    assert [line_of(document, path) for path in [("a",), ("b",), ("b", 1), ("b", 1, "e"), ("b", "tag", 0)]] == [
        1,
        2,
        4,
        5,
        3,
    ]
    assert line_of(document, ("nowhere", "b", 1, "e")) == 5


REFUSED = [
    ("a: 1\nb: 2\na: 3\n", 3, "`a` stands twice, in lines 1 and 3"),
    ("a: {b: 1, b: 2}", 1, "`b` stands twice"),
    ("a:\n\t- b\n", 2, "a tab is used as indent"),
    ("a: b\n\tc: d\n", 2, "a tab is used as indent"),
    ('a: "b\n\tc"\n', 1, "a tab is used as indent"),
    ("a: 1\n---\nb: 2\n", 2, "a second document begins here"),
    ("name: Fix issue #12\n", 1, "ends before `#12`"),
    ("a: 1\ncolour: #fff\n", 2, "ends before `#fff`"),
    ("- x\n- #12\n", 2, "ends before `#12`"),
    ("a: one\n  two #three\n", 1, "ends before `#three`"),
    ("cron: */5 * * * *\n", 1, 'quote the schedule: `cron: "*/5 * * * *"`'),
    ("on:\n  - cron: @daily\n", 2, 'quote the schedule: `cron: "@daily"`'),
    ("on: {cron: * * * * *, timezone: UTC}\n", 1, 'quote the schedule: `cron: "* * * * *"`'),
    ("approve: @octocat\n", 1, 'needs quotes: `approve: "@octocat"`'),
    ("a: *nobody\n", 1, "needs quotes"),
    ("a: &b [*b]\n", 1, "stands inside of what it names"),
    ("run: echo: x\n", 1, "quote a value that holds `: `"),
    ("a: !!int 3\n", 1, "tags"),
    ("a: &x {b: 1}\nc:\n  <<: *x\n", 3, "merge keys"),
    ("? [a]\n: b\n", 1, "a key must be text"),
    ("a: 1\nb: \x07\n", 2, "control character"),
    ("a: [\n", 2, "this is not YAML"),
    ("[" * 200, 1, "levels"),
    ("a: 1\n\ufeffb: 2\n", 2, "byte order mark"),
]


@pytest.mark.parametrize(("text", "line", "said"), REFUSED)
def test_slips_are_refused_with_their_line(text: str, line: int, said: str) -> None:
    with pytest.raises(yaml.YamlError) as caught:
        yaml.load(text)
    assert (caught.value.line, said in caught.value.text) == (line, True), str(caught.value)


def test_bytes_that_are_no_utf_8_are_refused_with_their_line() -> None:
    with pytest.raises(yaml.YamlError, match="line 2: this is not UTF-8"):
        yaml.load(b"a: 1\nb: \xff\n")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: b # a comment\n", {"a": "b"}),
        ("a: b #\n", {"a": "b"}),
        ("#12 is a line of its own\na: b\n", {"a": "b"}),
        ("a:\n#12\n  - b\n", {"a": ["b"]}),
        ('a: "b #12"\n', {"a": "b #12"}),
        ("a: b#12\n", {"a": "b#12"}),
        ("a: |\n  b #12\n  \tc\n", {"a": "b #12\n\tc\n"}),
        ("a: [b] #12\n", {"a": ["b"]}),
        ("a: &x 1\nb: *x\n", {"a": "1", "b": "1"}),
        ("--- # one\na: b\n...\n", {"a": "b"}),
        ("", None),
        ("# nothing\n", None),
    ],
)
def test_what_is_meant_is_taken(text: str, value: object) -> None:
    assert yaml.load(text) == value


def test_long_files_and_bombs_end_at_once() -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(8)
    )
    before = time.monotonic()
    for text in (bomb, "x" * 1_000_001, "- x\n" * 20_000):
        with pytest.raises(yaml.YamlError, match=r"10,000 values|longer than"):
            yaml.load(text)
    assert len(bomb) < 500
    assert time.monotonic() - before < 3


@given(st.lists(st.sampled_from(["key: value", "  more", "- x", "", "#c", "a: |", "\tb", "'q'", "[a, {b: c}]", "---"])))
def test_any_text_is_read_or_refused_with_a_line_within_it(lines: list[str]) -> None:
    text = "\n".join(lines)
    unix, windows = outcome(text), outcome(text.replace("\n", "\r\n"))
    assert unix == windows
    if isinstance(unix, tuple):
        assert 1 <= unix[0] <= len(lines) + 1


def outcome(text: str) -> object:
    """The document, or line and words of the refusal."""
    try:
        return yaml.load(text)
    except yaml.YamlError as error:
        return error.line, error.text


@pytest.mark.parametrize(
    ("text", "fields", "body"),
    [
        ("---\ntitle: 3.10\nlabels: [a, b]\n---\n# Body\n", {"title": "3.10", "labels": ["a", "b"]}, "# Body\n"),
        ("\ufeff---\r\ntitle: x\r\n---\r\nBody\r\n", {"title": "x"}, "Body\n"),
        ("---\n---\nBody", {}, "Body"),
        ("---\ntitle: x\n...\nBody", {"title": "x"}, "Body"),
        ("---\na rule, and no end\n", {}, "---\na rule, and no end\n"),
        ("Body\n---\nmore: x\n---\n", {}, "Body\n---\nmore: x\n---\n"),
        ("", {}, ""),
    ],
)
def test_front_matter_is_split_from_the_body(text: str, fields: dict[str, object], body: str) -> None:
    assert yaml.front_matter(text) == (fields, body)
    assert yaml.front_matter(text.encode()) == (fields, body)


def test_front_matter_that_is_no_mapping_is_refused_by_its_line() -> None:
    with pytest.raises(yaml.YamlError, match="front matter must be"):
        yaml.front_matter("---\njust words\n---\nBody")
    with pytest.raises(yaml.YamlError) as caught:
        yaml.front_matter("---\ntitle: a\ntitle: b\n---\n")
    assert caught.value.line == 3
