"""GitHub's API for reading: conditional GETs and GraphQL on our own transport, counted; silent while told to wait."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from hz_team import __version__
from hz_team.adapters.github import answer
from hz_team.adapters.remote import origin
from hz_team.errors import Deferred, HzError, RemoteError, TryAgain, UsageError
from hz_team.ports import HttpError, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hz_team.adapters.github.address import Address
    from hz_team.ports import Http, Reply, Response

VERSION = "2022-11-28"
"""Of the REST API (docs.github.com: "API Versions")."""
BUDGET = 200
"""Requests of one tick; GITHUB_TOKEN has 1,000 an hour for all workflows of a repository together."""
LARGEST = 12_000_000
"""Bytes of one answer: a hundred issues of 65,536 characters each, and what is around them."""
DEADLINE = 20.0
"""Seconds for one request."""
_UNSENT = ("offline", "refused")
"""Kinds of HttpError before which nothing left this machine."""


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
        """Nothing is asked yet. `budget`: requests that this process may make. Raises UsageError: that is no token."""
        if not token.isascii() or not token.isprintable() or " " in token:
            raise UsageError("the token for GitHub has blanks or letters that no token has; store it again without")
        self.repository, self.requests = repository, 0
        self._http, self._address, self._token, self._clock = http, address, token, clock
        self._budget = budget
        self._private = tuple({origin(url)[1].strip("[]") for url in (address.rest, address.graphql)})
        """Hosts that may have a private address: an Enterprise server may stand anywhere, it was named by hand."""
        self._silence = ("", 0)
        """Why GitHub is not asked, and until when."""
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
        """Return one GET of a path, or of an earlier reply's `next`. An ETag is trusted, a date only without one."""
        place, _, query = path.partition("?")
        if not place.startswith("/") or {".", ".."} & set(place.split("/")):
            raise RemoteError(f"{answer.line(place)!a} is no path of GitHub's API; a name in it is wrong")
        query = "&".join(part for part in (query, urlencode(params)) if part)
        url = f"{self._address.rest}{quote(place, safe='/:@+,~-._%')}{f'?{query}' if query else ''}"
        condition = {"If-None-Match": etag} if etag else {"If-Modified-Since": modified} if modified else {}
        asked = f"GET {answer.line(place)}"
        return self._judged(self._sent(Request(url, headers=condition), asked), asked, permission)

    def query(self, operation: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the data of one GraphQL operation. Raises PublishUnknown for a mutation that may have been done."""
        import json

        from hz_team.adapters.github import graph
        from hz_team.adapters.github.queries import DOCUMENTS, PERMISSIONS

        document, asked, permission = DOCUMENTS[operation], f"GraphQL {operation}", PERMISSIONS[operation]
        writes = document.startswith("mutation")
        said = json.dumps({"query": document, "operationName": operation, "variables": dict(variables)}).encode()
        request = Request(self._address.graphql, "POST", {"Content-Type": "application/json"}, said)
        reply = self._judged(self._sent(request, asked, writes=writes), asked, permission, writes=writes)
        try:
            return graph.data_of(reply, asked=asked, permission=permission, now=int(self._clock()), writes=writes)
        except Deferred as error:
            self._silence = (str(error), error.until)
            raise

    def time(self) -> int | None:
        """Return GitHub's time by its newest answer."""
        from email.utils import parsedate_to_datetime

        try:
            said = parsedate_to_datetime(self._date).timestamp() if self._date else None
        except (ValueError, OverflowError):
            return None
        return None if said is None else int(said + self._clock() - self._seen)

    def _sent(self, request: Request, asked: str, *, writes: bool = False) -> Response:
        """Make one request, if any may be made now."""
        now = int(self._clock())
        silence, until = self._silence
        if now < until:
            raise Deferred(silence, until)
        if self.requests >= self._budget:
            raise Deferred(
                f"{asked}: the tick's budget of {self._budget} requests is used up; the next one goes on", now
            )
        self.requests += 1
        headers = {**self._headers(), **request.headers}
        try:
            return self._http.send(
                request._replace(headers=headers, private=self._private, deadline=DEADLINE, limit=LARGEST, redirects=0)
            )
        except HttpError as error:
            raise _unanswered(error, asked, writes=writes) from None

    def _headers(self) -> dict[str, str]:
        return {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self._token}",
            "User-Agent": f"hz-team/{__version__}",
            "X-GitHub-Api-Version": VERSION,
        }

    def _judged(self, response: Response, asked: str, permission: str, *, writes: bool = False) -> Reply:
        """Return what an answer says, and keep its time and what it asks of us."""
        if date := response.headers.get("date", ""):
            self._date, self._seen = date, self._clock()
        now, home, status = int(self._clock()), self._address.rest, response.status
        body = response.body if status in answer.FACTS else self._masked(response.body)
        try:
            return answer.judged(status, response.headers, body, asked=asked, permission=permission, now=now, home=home)
        except Deferred as error:
            self._silence = (str(error), error.until)
            raise
        except (TryAgain, RemoteError):
            if writes and (status in answer.FULL or status >= answer.BROKEN):
                raise answer.lost(asked, f"GitHub answered {status} and nothing else", writes=True) from None
            raise

    def _masked(self, body: bytes) -> bytes:
        """Return an error's body without the token: a proxy may show what it was sent."""
        return body.replace(self._token.encode(), b"***") if self._token else body


def _unanswered(error: HttpError, asked: str, *, writes: bool) -> HzError:
    """Return what a missing answer means; its sentence holds no header and no query."""
    if error.kind in _UNSENT:
        return TryAgain(f"{asked}: GitHub cannot be reached: {error}; the next tick asks again")
    if error.kind == "forbidden" or (error.kind == "too-large" and not writes):
        return RemoteError(f"{asked}: {error}")
    return answer.lost(asked, f"no answer came: {error}", writes=writes)
