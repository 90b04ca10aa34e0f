"""Canonical JSON has one spelling a value, and refuses what has none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hz_team.fingerprint import NotCanonical, canonical, digest, sha256, short

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
WHOLE = st.integers(-(2**53) + 1, 2**53 - 1)
VALUES = st.recursive(
    st.none() | st.booleans() | WHOLE | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def shuffled(value: object) -> object:
    """The same value with every mapping written in the opposite order."""
    if isinstance(value, dict):
        return {key: shuffled(item) for key, item in reversed(value.items())}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@given(VALUES)
def test_canonical_json_reads_back_as_the_same_value(value: object) -> None:
    assert json.loads(canonical(value)) == value


@given(VALUES)
def test_the_order_of_keys_does_not_count(value: object) -> None:
    assert canonical(shuffled(value)) == canonical(value)


@given(VALUES)
def test_how_it_was_escaped_before_does_not_count(value: object) -> None:
    escaped, raw = (json.loads(json.dumps(value, ensure_ascii=ascii_)) for ascii_ in (True, False))
    assert canonical(escaped) == canonical(raw) == canonical(json.loads(canonical(value)))


@given(VALUES, VALUES)
def test_two_values_have_two_spellings(one: object, other: object) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (canonical(one) == canonical(other)) == same


def test_keys_are_sorted_by_utf_16_as_the_standard_says() -> None:
    assert canonical({"\ufb33": 1, "\U0001f600": 2, "1": 3}).decode() == '{"1":3,"\U0001f600":2,"\ufb33":1}'


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1.0, r"\$ is the float 1.0"),
        ({"cost": [0.5]}, r"\$\.cost\[0\] is the float"),
        ({"n": 2**53}, r"\$\.n is 9007199254740992"),
        ({1: 2}, "the key 1"),
        ("\ud800", "no canonical JSON"),
        ({"a": object()}, "no canonical JSON"),
    ],
)
def test_what_has_no_canonical_form_is_refused_by_its_place(value: object, said: str) -> None:
    with pytest.raises(NotCanonical, match=said):
        canonical(value)


def test_tuples_are_arrays_and_digests_are_over_the_canonical_bytes() -> None:
    assert canonical(("a", True, None)) == b'["a",true,null]'
    assert digest({"b": 1, "a": "ä"}) == sha256('{"a":"ä","b":1}'.encode())
    assert short(digest([])) == sha256(b"[]")[:12]
