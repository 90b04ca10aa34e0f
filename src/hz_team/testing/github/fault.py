"""Mishaps on demand: what goes wrong with which requests, and how often."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from hz_team.testing.github.call import Answer, Refused

HOUR = 55 * 60
"""Seconds until a used-up limit is reset."""
OVERSIZE = 16_000_000
"""Bytes of blanks before an answer that is too large."""
BEFORE = ("before-500", "forbidden", "secondary", "too-many", "rate", "not-found", "dead-token", "dropped")
"""Nothing is done."""
AFTER = ("after-500", "timeout", "after-dropped", "lag", "null-body", "null-user", "oversize", "not-stored", "not-json")
"""It is done (`not-stored`: on a copy), and something is wrong with the answer."""


@dataclass(eq=False)
class Fault:
    """One kind of mishap for the next `times` requests that match; 0: for all."""

    method: str
    pattern: re.Pattern[str]
    kind: str
    times: int = 1
    horizon: int = 0
    """`lag`: lists do not show what was made after this serial."""
    spent: int = 0

    def strikes(self, method: str, path: str) -> bool:
        """Whether it meets a request, by its path with or without the query; counts it."""
        if self.method not in (method, "*") or (self.times and self.spent >= self.times):
            return False
        if not self.pattern.search(path) and not self.pattern.search(path.partition("?")[0]):
            return False
        self.spent += 1
        return True


def refusal(kind: str, now: int) -> Refused:
    """Return what is said instead of doing it."""
    if kind == "before-500":
        return Refused(502, "Server Error")
    if kind == "forbidden":
        return Refused(403, "Resource not accessible by integration")
    if kind == "secondary":
        return Refused(
            403,
            "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. "
            "Please retry your request again later.",
        )
    if kind == "too-many":
        return Refused(429, "You have exceeded a secondary rate limit.", headers={"Retry-After": "90"})
    if kind == "rate":
        reset = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(now + HOUR)}
        return Refused(403, "API rate limit exceeded for installation ID 1.", headers=reset)
    if kind == "dead-token":
        return Refused(401, "Bad credentials")
    return Refused(404, "Not Found")


def spoil(kind: str, answer: Answer) -> Answer:
    """Return an answer that went through the mishap."""
    if kind == "after-500":
        return Refused(502, "Server Error").answer
    if kind == "null-body":
        return answer._replace(data=_without(answer.data, "body"))
    if kind == "null-user":
        return answer._replace(data=_without(answer.data, "user"))
    return answer


def _without(data: Any, key: str) -> Any:
    if isinstance(data, list):
        return [_without(one, key) for one in data]
    return {**data, key: None} if isinstance(data, dict) and key in data else data
