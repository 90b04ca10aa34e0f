"""Where a GitHub is, and what it may not lead us to."""

from __future__ import annotations

import pytest

from hz_team.adapters.github.address import Address, address_at, address_of, path_of
from hz_team.errors import RemoteError, UsageError

GHE = "https://ghe.example"
PUBLIC = ("https://api.github.com", "https://api.github.com/graphql")
ENTERPRISE = (f"{GHE}/api/v3", f"{GHE}/api/graphql")


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, PUBLIC),
        ({"GITHUB_SERVER_URL": "https://github.com/"}, PUBLIC),
        ({"GITHUB_API_URL": "https://api.github.com/"}, PUBLIC),
        ({"GITHUB_API_URL": "https://api.github.com/api/v3"}, PUBLIC),
        ({"GITHUB_API_URL": "https://github.com/api/v3/"}, PUBLIC),
        ({"GITHUB_SERVER_URL": GHE}, ENTERPRISE),
        ({"GITHUB_SERVER_URL": f"{GHE}/", "GITHUB_API_URL": f"{GHE}/api/v3/"}, ENTERPRISE),
        ({"GITHUB_SERVER_URL": f"{GHE}/api/v3"}, ENTERPRISE),
        ({"GITHUB_SERVER_URL": GHE, "GITHUB_API_URL": f" {GHE}/api/v3/api/v3// "}, ENTERPRISE),
        ({"GITHUB_API_URL": f"{GHE}/api/v3"}, ENTERPRISE),
        ({"GITHUB_SERVER_URL": GHE, "GITHUB_GRAPHQL_URL": f"{GHE}/api/graphql/"}, ENTERPRISE),
        ({"GITHUB_SERVER_URL": GHE, "GITHUB_API_URL": "https://api.ghe.example"}, ("https://api.ghe.example",) * 2),
        ({"GITHUB_SERVER_URL": "https://acme.ghe.com"}, ("https://api.acme.ghe.com",) * 2),
    ],
)
def test_where_a_github_is(environ: dict[str, str], expected: tuple[str, str]) -> None:
    rest, graphql = expected
    address = address_of(environ)
    assert address.rest == rest
    assert address.graphql == (graphql if graphql != rest else f"{rest}/graphql")
    assert not address.is_here


def test_the_pages_address_has_no_api_in_it() -> None:
    assert address_at(f"{GHE}/api/v3/").server == GHE
    assert address_of({"GITHUB_SERVER_URL": f"{GHE}/"}).server == GHE


@pytest.mark.parametrize("name", ["GITHUB_API_URL", "GITHUB_GRAPHQL_URL", "GITHUB_SERVER_URL"])
@pytest.mark.parametrize(
    "url",
    [
        "http://ghe.example/api/v3",
        "https://mona:secret@ghe.example/api/v3",
        "ghe.example",
        "https://",
        "file:///etc",
        "https://ghe.example/api/v3?key=secret",
        "https://ghe.example/\napi",
        "https://ghe.example#secret",
    ],
)
def test_no_token_is_shown_to_such_an_address(name: str, url: str) -> None:
    with pytest.raises(UsageError, match=name) as raised:
        address_of({"GITHUB_SERVER_URL": GHE, name: url})
    assert "secret" not in str(raised.value)
    assert "write an https address such as https://" in str(raised.value)


@pytest.mark.parametrize("place", ["127.0.0.1:80", "localhost:8080", "[::1]:80"])
def test_a_server_on_this_machine_is_known_as_such(place: str) -> None:
    assert address_of({"GITHUB_SERVER_URL": f"http://{place}"}).is_here
    assert not Address("", f"{GHE}/api/v3", "").is_here


@pytest.mark.parametrize(
    ("url", "path"),
    [
        (f"{GHE}/api/v3/repositories/1/issues?page=2", "/repositories/1/issues?page=2"),
        ("http://GHE.example:8080/api/v3/repositories/1", "/repositories/1"),
        (f"{GHE}/repositories/1", "/repositories/1"),
        ("/api/v3/repositories/1", "/repositories/1"),
        (f"{GHE}/api/v3x", "/api/v3x"),
    ],
)
def test_an_address_of_the_servers_own_is_a_path(url: str, path: str) -> None:
    assert path_of(url, f"{GHE}/api/v3", "GET /x") == path


def test_github_has_no_path_before_its_paths() -> None:
    assert path_of("https://api.github.com/user/1?a=b", "https://api.github.com", "GET /x") == "/user/1?a=b"


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/api/v3/x",
        "https://ghe.example.evil.example/x",
        "https://ghe.example@evil.example/x",
        "//evil.example/x",
        "evil.example",
        "",
    ],
)
def test_another_hosts_address_is_a_sentence_that_names_the_setting(url: str) -> None:
    with pytest.raises(RemoteError, match=r"^GET /x: .* not to ghe\.example, .*GITHUB_API_URL"):
        path_of(url, f"{GHE}/api/v3", "GET /x")
