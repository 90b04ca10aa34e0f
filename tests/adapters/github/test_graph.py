"""What one answer of GitHub's GraphQL means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hz_team.adapters.github.graph import data_of
from hz_team.errors import Deferred, Forbidden, HzError, PublishUnknown, RemoteError, TryAgain
from hz_team.ports import Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

NOW = 1_796_000_000
INTEGRATION = "Resource not accessible by integration"
LOST = "Something went wrong while executing your query. Please include `0000:1111` when reporting this issue."


def ask(document: Any, headers: Mapping[str, str] | None = None, *, writes: bool = False) -> Mapping[str, Any]:
    reply = Reply(200, document, headers or {})
    return data_of(reply, asked="GraphQL X", permission="discussions: write", now=NOW, writes=writes)


def error(message: str, **more: str) -> dict[str, str]:
    return {"message": message, **more}


@pytest.mark.parametrize(
    ("data", "kind", "expected"),
    [
        ({"node": None}, "NOT_FOUND", {"node": None}),
        (None, "NOT_FOUND", {}),
        ({"a": {"b": None}}, "FORBIDDEN", {"a": {"b": None}}),
        ({"a": None, "b": {}}, "FORBIDDEN", {"a": None, "b": {}}),
    ],
)
def test_a_field_that_is_not_there_is_none(data: Any, kind: str, expected: Any) -> None:
    assert ask({"data": data, "errors": [error("no", type=kind)]}) == expected


def test_data_without_errors() -> None:
    assert ask({"data": {"a": 1}}) == {"a": 1}
    assert ask({"data": {"a": 1}, "errors": None}) == {"a": 1}
    assert ask({"data": {"a": 1}, "errors": []}) == {"a": 1}


@pytest.mark.parametrize(
    ("data", "errors", "kind", "words"),
    [
        (None, [error(INTEGRATION, type="FORBIDDEN")], Forbidden, "add the line `discussions: write`"),
        ({"create": None}, [error(INTEGRATION, type="FORBIDDEN")], Forbidden, INTEGRATION),
        (None, [error("Your token requires a scope", type="INSUFFICIENT_SCOPES")], Forbidden, "scope"),
        (None, [error("Resource protected by organization SAML enforcement", type="FORBIDDEN")], RemoteError, "SAML"),
        (None, [error("Field 'x' doesn't exist on type 'Y'")], RemoteError, "Field 'x'"),
        ({"a": 1}, [error("Odd", type="NEW_KIND")], RemoteError, "Odd"),
        (
            {"a": None},
            [error("gone", type="NOT_FOUND"), error("two\nlines\u202e")],
            RemoteError,
            "refused it: two lines",
        ),
        (None, [error(LOST)], TryAgain, "went wrong"),
        ({"a": None}, [error(LOST)], TryAgain, "the next tick asks again"),
        (None, [{"message": None}], RemoteError, "does not say why"),
        (None, [], RemoteError, "no data"),
        (None, ["x"], RemoteError, "no data"),
        ([1], None, RemoteError, "no data"),
    ],
)
def test_everything_else_is_one_error(data: Any, errors: Any, kind: type[HzError], words: str) -> None:
    with pytest.raises(HzError) as raised:
        ask({"data": data, "errors": errors})
    assert (type(raised.value), words in str(raised.value)) == (kind, True), raised.value


@pytest.mark.parametrize("document", [[], "text", 1])
def test_no_answer_of_graphql_is_a_sentence(document: Any) -> None:
    with pytest.raises(RemoteError, match="GraphQL X: what came is no answer"):
        ask(document)


def test_a_mutation_that_was_lost_is_unknown() -> None:
    with pytest.raises(PublishUnknown, match="nobody can tell whether it was done"):
        ask({"data": None, "errors": [error(LOST)]}, writes=True)


@pytest.mark.parametrize(
    ("one", "headers", "until"),
    [
        (
            error("API rate limit exceeded", type="RATE_LIMITED"),
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NOW + 9)},
            9,
        ),
        (error("x", type="RATE_LIMIT"), {}, 60),
        (error("You have exceeded a secondary rate limit"), {"retry-after": "30"}, 30),
    ],
)
def test_a_limit_is_deferred(one: dict[str, str], headers: dict[str, str], until: int) -> None:
    with pytest.raises(Deferred) as raised:
        ask({"data": {"a": 1}, "errors": [one]}, headers)
    assert raised.value.until == NOW + until
