from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hz_team.markdown import url
from hz_team.markdown.address import host
from tests.gfm import Page
from tests.markdown.hostile import hostile


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://x.example/a?b=c&d=e#f", "https://x.example/a?b=c&d=e#f"),
        ("HTTP://X.Example", "http://x.example"),
        ("https://x.example/a (b)", "#"),
        ("https://x.example/a_(b)", "https://x.example/a_%28b%29"),
        ("https://x.example/?copy&copy;", "https://x.example/?copy%26copy;"),
        ("https://x.example/@mona", "https://x.example/%40mona"),
        ("https://user@x.example/", "#"),
        ("https://github.com@x.example/", "#"),
        ("https://x.example:8443/a", "https://x.example:8443/a"),
        ("https://x.example:port/a", "#"),
        ("https://münchen.example/ü%20x%", "https://xn--mnchen-3ya.example/%C3%BC%20x%25"),
        ("javascript:alert(1)", "#"),
        ("//x.example", "#"),
        ("https://", "#"),
        ("https://[::1]/", "#"),
        ("https://x.example/\nb", "#"),
        ("", "#"),
    ],
)
def test_only_what_works_as_a_link_is_one(text: str, address: str) -> None:
    assert url(text) == address


@pytest.mark.parametrize("path", ["issues/5", "pull/5", "pull/5/files#r1", "discussions/1", "commit/abc"])
def test_a_foreign_reference_goes_through_the_redirecting_host(path: str) -> None:
    address = f"https://github.com/o/r/{path}"
    assert url(address) == f"https://redirect.github.com/o/r/{path}"
    assert url(address, foreign=False) == address
    assert host(url(address)) == "github.com"


def test_other_pages_there_are_left_alone() -> None:
    assert url("https://github.com/o/r/releases") == "https://github.com/o/r/releases"


@given(st.builds("https://x.example/{}".format, hostile))
def test_an_address_is_one_link_wherever_it_is_put(text: str) -> None:
    address = url(text)
    assert url(address) == (address if address != "#" else "#")
    if address != "#":
        assert Page(f"[a]({address})").links == [address]
        assert Page(f"a {address} b").acting == []
