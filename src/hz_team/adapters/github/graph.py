"""One answer of GitHub's GraphQL: its data, or which error it is. Pure.

It is 200 whatever went wrong; `errors` says what, and the fields that failed are None in the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.adapters.github import answer
from hz_team.errors import HzError, RemoteError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.ports import Reply

LIMITED = frozenset({"RATE_LIMITED", "RATE_LIMIT"})
BARRED = frozenset({"FORBIDDEN", "INSUFFICIENT_SCOPES"})
ABSENT = frozenset({"NOT_FOUND"}) | BARRED
"""Types of errors that leave a field empty: it is not there, or this token may not see it."""
_LOST = "something went wrong"
"""GitHub's words where it did not come to an end."""


def data_of(reply: Reply, *, asked: str, permission: str, now: int, writes: bool) -> Mapping[str, Any]:
    """Return the data of an answer. `asked`: the operation in a few words; `writes`: it is a mutation.

    Raises Deferred, Forbidden (nothing came but that), TryAgain, RemoteError; PublishUnknown for a lost mutation.
    """
    document = reply.data if isinstance(reply.data, dict) else {}
    data, errors = document.get("data"), document.get("errors") or ()
    errors = [one for one in errors if isinstance(one, dict)] if isinstance(errors, list) else []
    if error := _trouble(reply, errors, asked=asked, now=now, writes=writes):
        raise error
    if not isinstance(data, dict) and not errors:
        raise RemoteError(f"{asked}: what came is no answer of GitHub's API (no data)")
    found = data if isinstance(data, dict) else {}
    barred = [one for one in errors if one.get("type") in BARRED]
    if barred and all(value is None for value in found.values()):
        raise answer.refused(asked, _words(barred), permission)
    return found


def _trouble(reply: Reply, errors: list[Mapping[str, Any]], *, asked: str, now: int, writes: bool) -> HzError | None:
    """Return the error that is more than a field which is not there, None if there is none."""
    words = _words(errors)
    if any(one.get("type") in LIMITED for one in errors) or answer.is_limit(words):
        return answer.deferred(asked, answer.waits(reply.headers, words, now=now, limited=True))
    strange = [one for one in errors if one.get("type") not in ABSENT]
    if not strange:
        return None
    words = _words(strange)
    if _LOST in words.lower():
        return answer.lost(asked, words, writes=writes)
    return RemoteError(f"{asked}: GitHub refused it: {words or 'it does not say why'}")


def _words(errors: list[Mapping[str, Any]]) -> str:
    return answer.line(" ".join(str(one.get("message") or "") for one in errors))
