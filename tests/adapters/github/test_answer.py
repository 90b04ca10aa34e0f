"""What one HTTP answer of GitHub's means."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hz_team.adapters.github.answer import judged, next_of
from hz_team.errors import Deferred, Forbidden, HzError, RemoteError, TryAgain

NOW = 1_796_000_000
HOME = "https://ghe.example/api/v3"
SAML = "Resource protected by organization SAML enforcement. You must grant your token access to this organization."
ALLOW = "Although you appear to have the correct authorization, acme has an IP allow list and 192.0.2.1 is not on it."
SECONDARY = "You have exceeded a secondary rate limit"


def ask(status: int, body: Any = None, headers: dict[str, str] | None = None, permission: str = "issues: write") -> Any:
    raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return judged(status, headers or {}, raw, asked="GET /x", permission=permission, now=NOW, home=HOME)


def complaint(status: int, body: Any = None, headers: dict[str, str] | None = None, permission: str = "") -> HzError:
    with pytest.raises(HzError) as raised:
        ask(status, body, headers, permission)
    assert str(raised.value).startswith("GET /x: ")
    assert "\n" not in str(raised.value)
    return raised.value


@pytest.mark.parametrize("status", [204, 301, 302, 304, 307, 404, 409, 410, 422])
@pytest.mark.parametrize("body", [b"", b"<html>", b"null", b"[" * 100_000], ids=["none", "html", "null", "deep"])
def test_facts_are_replies_whatever_came_with_them(status: int, body: bytes) -> None:
    assert ask(status, body)[:2] == (status, None)


def test_a_reply_has_its_document() -> None:
    assert ask(200, [1]).data == [1]
    assert ask(422, {"message": "Validation Failed"}).data == {"message": "Validation Failed"}


SAYS = [
    (401, {"message": "Bad credentials"}, RemoteError, "the token is not valid (any more): Bad credentials"),
    (401, None, RemoteError, "not valid"),
    (403, {"message": "Resource not accessible by integration"}, Forbidden, "the token may not do that"),
    (403, {"message": "Resource not accessible by personal access token"}, Forbidden, "the token may not do that"),
    (403, {"message": "Must have admin rights to Repository."}, Forbidden, "admin rights"),
    (403, {"message": SAML}, RemoteError, SAML),
    (403, {"message": ALLOW}, RemoteError, ALLOW),
    (403, b"<html>Blocked by proxy</html>", RemoteError, "is a proxy between?"),
    (403, b"null", RemoteError, "is a proxy between?"),
    (500, b"<html>Unicorn!</html>", TryAgain, "answered 500"),
    (502, None, TryAgain, "answered 502"),
    (503, {"message": "no"}, TryAgain, "the next tick"),
    (200, b"<html>", RemoteError, "no JSON"),
    (200, None, RemoteError, "no JSON"),
    (200, b"null", RemoteError, "no JSON"),
    (201, b"\xff", RemoteError, "no JSON"),
    (418, {"message": "I am a teapot\nand \u202emore"}, RemoteError, "I am a teapot and more"),
    (418, {"message": "Wrong", "errors": [{"message": "this"}, "that"]}, RemoteError, "Wrong this that"),
    (418, {"message": None, "errors": None}, RemoteError, "answered 418"),
    (418, [1], RemoteError, "answered 418"),
    pytest.param(418, b"[" * 100_000, RemoteError, "answered 418", id="418-deep"),
    pytest.param(200, b"[" * 100_000, RemoteError, "no JSON", id="200-deep"),
]


@pytest.mark.parametrize(("status", "body", "kind", "words"), SAYS)
def test_everything_else_is_one_error(status: int, body: Any, kind: type[HzError], words: str) -> None:
    error = complaint(status, body)
    assert (type(error), words in str(error)) == (kind, True), error


def test_githubs_own_words_are_cut() -> None:
    assert len(str(complaint(418, {"message": "x" * 10_000}))) < 400


@pytest.mark.parametrize(
    ("permission", "words"),
    [
        ("issues: write", "add the line `issues: write` below `permissions:` of the workflow"),
        ("pull_requests: read", "needs the permission `pull_requests: read`"),
        ("pull_requests: read", "add the line `pull-requests: read` below"),
        ("members: read", "`members: read`, which a workflow cannot give its own token"),
        ("", "by integration)"),
    ],
)
def test_a_missing_permission_is_named_with_its_line(permission: str, words: str) -> None:
    said = {"message": "Resource not accessible by integration"}
    assert words in str(complaint(403, said, permission=permission))


RESET = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NOW + 3300)}


@pytest.mark.parametrize(
    ("status", "words", "headers", "until"),
    [
        (403, "API rate limit exceeded", RESET, NOW + 3300),
        (429, "", RESET, NOW + 3300),
        (403, "API rate limit exceeded", {**RESET, "x-ratelimit-reset": str(NOW - 5)}, NOW + 1),
        (403, SECONDARY, {}, NOW + 60),
        (403, SECONDARY, {**RESET, "x-ratelimit-remaining": "17"}, NOW + 60),
        (403, "You have triggered an abuse detection mechanism", {}, NOW + 60),
        (429, "", {"retry-after": "90"}, NOW + 90),
        (403, "anything", {"retry-after": "90"}, NOW + 90),
        (429, "", {}, NOW + 60),
        (403, SECONDARY, {**RESET, "retry-after": "7"}, NOW + 7),
        (403, SECONDARY, {"retry-after": "Tue, 01 Dec 2026 08:00:00 GMT"}, NOW + 60),
        (403, SECONDARY, {"retry-after": "²"}, NOW + 60),
        (403, SECONDARY, {"retry-after": "999999999999"}, NOW + 86_400),
        (429, "", {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 400}, NOW + 60),
    ],
)
def test_until_when_to_wait(status: int, words: str, headers: dict[str, str], until: int) -> None:
    error = complaint(status, {"message": words}, headers)
    assert isinstance(error, Deferred)
    assert error.until == until
    assert "UTC; a later tick goes on" in str(error)


@pytest.mark.parametrize(
    ("link", "path"),
    [
        (
            f'<{HOME}/repositories/1/issues?page=2>; rel="next", <{HOME}/x?page=9>; rel="last"',
            "/repositories/1/issues?page=2",
        ),
        (f'<{HOME}/x?page=1>; rel="prev", <{HOME}/x?labels=a,b&page=3>; rel="next"', "/x?labels=a,b&page=3"),
        (f'<{HOME}/x?after=Y%3D>; type="t"; rel=next', "/x?after=Y%3D"),
        (f'<{HOME}/x?page=9>; rel="last"', ""),
        (f'<{HOME}/x?rel="next">; rel="last"', ""),
        ("", ""),
        ('<; rel="next"', ""),
    ],
)
def test_the_next_page_is_a_path_below_the_api(link: str, path: str) -> None:
    assert next_of(link, HOME, "GET /x") == path


def test_a_link_and_a_redirect_to_another_host_are_errors() -> None:
    for headers, status in (
        ({"link": '<https://evil.example/x>; rel="next"'}, 200),
        ({"location": "//evil.example"}, 301),
    ):
        error = complaint(status, [], headers)
        assert isinstance(error, RemoteError)
        assert "GITHUB_API_URL" in str(error)
    assert ask(301, None, {"location": f"{HOME}/repositories/2/issues/1"}).status == 301
