"""GitHub's API for reading: conditional GETs and GraphQL on our own transport, counted; silent while told to wait."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from hz_team import __version__
from hz_team.adapters.github import answer
from hz_team.errors import Deferred, Forbidden, RemoteError, TryAgain
from hz_team.ports import HttpError, Reply, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hz_team.adapters.github.address import Address
    from hz_team.ports import Http, Response

VERSION = "2022-11-28"
"""Of the REST API (docs.github.com: "API Versions")."""
BUDGET = 200
"""Requests of one tick; GITHUB_TOKEN has 1,000 an hour for all workflows of a repository together."""
LARGEST = 12_000_000
"""Bytes of one answer: a hundred issues of 65,536 characters each, and what is around them."""
DEADLINE = 20.0


class GitHubApi:
    """`ports.Api` on one GitHub."""

    def __init__(
        self,
        http: Http,
        address: Address,
        token: str,
        repository: str,
        *,
        budget: int = BUDGET,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Nothing is asked yet. `budget`: requests that this process may make."""
        self.repository, self.requests = repository, 0
        self._http, self._address, self._token, self._clock = http, address, token, clock
        self._budget, self._until = budget, 0
        self._date, self._seen = "", 0.0

    def __repr__(self) -> str:
        """Show no token."""
        return f"GitHubApi({self._address.rest}, {self.repository})"

    def get(
        self,
        path: str,
        params: Mapping[str, str | int] = {},
        *,
        etag: str = "",
        modified: str = "",
        permission: str = "",
    ) -> Reply:
        """Return one GET of a path."""
        headers = {"If-None-Match": etag} if etag else {"If-Modified-Since": modified} if modified else {}
        query = f"?{urlencode(params)}" if params else ""
        response = self._send(f"{self._address.rest}{quote(path, safe='/:@+,~-._%')}{query}", headers)
        return self._judged(response, f"GET {path}", permission)

    def query(self, operation: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the data of one GraphQL operation."""
        from hz_team.adapters.github.queries import DOCUMENTS

        said = {"query": DOCUMENTS[operation], "operationName": operation, "variables": dict(variables)}
        headers = {"Content-Type": "application/json"}
        response = self._send(self._address.graphql, headers, json.dumps(said).encode(), method="POST")
        reply = self._judged(response, f"GraphQL {operation}", "")
        if not isinstance(reply.data, dict):
            raise RemoteError(f"GraphQL {operation}: what came is no answer of GitHub's API")
        self._complain(operation, reply)
        data = reply.data.get("data")
        return data if isinstance(data, dict) else {}

    def time(self) -> int | None:
        """Return GitHub's time by its newest answer."""
        if not self._date:
            return None
        from email.utils import parsedate_to_datetime

        try:
            said = parsedate_to_datetime(self._date).timestamp()
        except ValueError:
            return None
        return int(said + self._clock() - self._seen)

    def _send(self, url: str, headers: Mapping[str, str], body: bytes = b"", *, method: str = "GET") -> Response:
        now = int(self._clock())
        if now < self._until:
            raise Deferred(f"GitHub asks us to wait until {_when(self._until)}; a later tick goes on", self._until)
        if self.requests >= self._budget:
            raise Deferred(f"the {self._budget} requests of one tick are used up; the next one goes on", now)
        self.requests += 1
        request = Request(
            url=url,
            method=method,
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self._token}",
                "User-Agent": f"hz-team/{__version__}",
                "X-GitHub-Api-Version": VERSION,
                **headers,
            },
            body=body,
            deadline=DEADLINE,
            limit=LARGEST,
            redirects=0,
            private=self._private(),
        )
        try:
            return self._http.send(request)
        except HttpError as error:
            shown = url.partition("?")[0]
            if error.kind in ("too-large", "forbidden"):
                raise RemoteError(f"{shown}: {error}") from None
            raise TryAgain(f"{shown}: no answer from GitHub ({error.kind}); the next tick asks again") from None

    def _private(self) -> tuple[str, ...]:
        """Return the hosts that may be private: an Enterprise server may stand anywhere, it was named by hand."""
        from urllib.parse import urlsplit

        places = (urlsplit(url) for url in (self._address.rest, self._address.graphql))
        return tuple({place.netloc for place in places} | {place.hostname or "" for place in places})

    def _judged(self, response: Response, asked: str, permission: str) -> Reply:
        now = int(self._clock())
        self._date, self._seen = response.headers.get("date", self._date), self._clock()
        try:
            return answer.judged(
                response.status, response.headers, response.body, asked=asked, permission=permission, now=now
            )
        except Deferred as deferred:
            self._until = deferred.until
            raise

    def _complain(self, operation: str, reply: Reply) -> None:
        """Raise what the errors of a GraphQL answer mean; one about a single field leaves that field empty."""
        errors = [one for one in reply.data.get("errors") or () if isinstance(one, dict)]
        kinds = {str(one.get("type") or "") for one in errors}
        words = " ".join(str(errors[0].get("message") or "").split())[:200] if errors else ""
        if kinds & {"RATE_LIMITED", "RATE_LIMIT"}:
            now = int(self._clock())
            self._until = answer.waits(reply.headers, words, now=now, limited=True)
            raise Deferred(f"GraphQL {operation}: GitHub asks us to wait until {_when(self._until)}", self._until)
        if reply.data.get("data") is None and errors:
            if kinds & {"FORBIDDEN", "INSUFFICIENT_SCOPES"}:
                raise Forbidden(f"GraphQL {operation}: the token may not do that ({words})")
            raise RemoteError(f"GraphQL {operation}: {words}")


def _when(at: int) -> str:
    return time.strftime("%H:%M:%S UTC", time.gmtime(at))
