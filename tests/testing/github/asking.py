"""A client for the double without a library: one request, one answer."""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.testing.github import GitHub

NAME = "acme/housework"
HERE = f"/repos/{NAME}"


class Got(NamedTuple):
    """One answer."""

    status: int
    headers: dict[str, str]
    """Lower-case names."""
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body) if self.body else None


class Client:
    """Asks one GitHub with one token."""

    def __init__(self, github: GitHub, token: str = "") -> None:
        self.github, self.token = github, token

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Got:
        return self.raw(method, f"/api/v3{path}", None if body is None else json.dumps(body).encode(), headers)

    def query(self, operation: str, variables: Mapping[str, Any]) -> Any:
        words = {"query": f"query {operation} {{ x }}", "variables": variables}
        return self.raw("POST", "/api/graphql", json.dumps(words).encode(), {}).data

    def raw(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Got:
        sent = {"User-Agent": "tests", **{name.replace("_", "-"): text for name, text in headers.items()}}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        link = http.client.HTTPConnection("127.0.0.1", int(self.github.url.rpartition(":")[2]), timeout=10)
        try:
            link.request(method, path, body, sent)
            response = link.getresponse()
            return Got(response.status, {name.lower(): text for name, text in response.getheaders()}, response.read())
        finally:
            link.close()
