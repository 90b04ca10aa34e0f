"""What one HTTP answer of GitHub's means."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hz_team.adapters.github.answer import judged, next_of
from hz_team.errors import Deferred, Forbidden, HzError, RemoteError, TryAgain

NOW = 1_796_000_000


def ask(status: int, body: Any = None, headers: dict[str, str] | None = None, permission: str = "issues: write") -> Any:
    raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return judged(status, headers or {}, raw, asked="GET /x", permission=permission, now=NOW)


@pytest.mark.parametrize("status", [200, 201, 204, 301, 304, 404, 410, 422])
def test_facts_are_replies(status: int) -> None:
    assert ask(status).status == status


SAYS = [
    (401, {"message": "Bad credentials"}, {}, RemoteError, "does not know the token"),
    (403, {"message": "Resource not accessible by integration"}, {}, Forbidden, "`issues: write`"),
    (403, {"message": "Must have admin rights to Repository."}, {}, Forbidden, "admin rights"),
    (403, {"message": "You have exceeded a secondary rate limit"}, {}, Deferred, "wait until"),
    (
        403,
        {"message": "API rate limit exceeded"},
        {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1796003300"},
        Deferred,
        "",
    ),
    (
        403,
        {"message": "Although you appear to have the correct authorization, your IP is not allowed"},
        {},
        RemoteError,
        "refused",
    ),
    (429, None, {"retry-after": "90"}, Deferred, ""),
    (429, None, {}, Deferred, ""),
    (500, b"<html>Unicorn!</html>", {}, TryAgain, "answered 500"),
    (502, None, {}, TryAgain, "answered 502"),
    (200, b"<html>", {}, RemoteError, "no JSON"),
    (418, {"message": "I am a teapot\nand \u202emore"}, {}, RemoteError, "I am a teapot and more"),
]


@pytest.mark.parametrize(("status", "body", "headers", "kind", "words"), SAYS)
def test_everything_else_is_one_error(
    status: int, body: Any, headers: dict[str, str], kind: type[HzError], words: str
) -> None:
    with pytest.raises(HzError) as raised:
        ask(status, body, headers)
    assert (type(raised.value), words in str(raised.value)) == (kind, True), raised.value


@pytest.mark.parametrize(
    ("status", "headers", "until"),
    [
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NOW + 3300)}, NOW + 3300),
        (429, {"retry-after": "90"}, NOW + 90),
        (429, {}, NOW + 60),
        (403, {"retry-after": "7", "x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NOW + 3300)}, NOW + 7),
    ],
)
def test_until_when_to_wait(status: int, headers: dict[str, str], until: int) -> None:
    with pytest.raises(Deferred) as raised:
        ask(status, {"message": "You have exceeded a secondary rate limit"}, headers)
    assert raised.value.until == until


def test_the_next_page_is_a_path_and_its_host_is_never_believed() -> None:
    link = '<http://evil.example/repositories/1/issues?page=2>; rel="next", <https://x/y?page=9>; rel="last"'
    assert next_of(link) == "/repositories/1/issues?page=2"
    assert next_of('<https://x/y?page=9>; rel="last"') == ""
    assert next_of("") == ""


def test_an_answer_without_a_body_has_no_document() -> None:
    assert ask(204).data is None
    assert ask(200, b"null").data is None
    assert ask(404, b"<html>").data is None
