"""From one request to one answer: who asks, what goes wrong, which route, which headers."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import re
from email.utils import formatdate, parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl

from hz_team.testing.github import access, call, fault, graphql
from hz_team.testing.github.call import Answer, Call, Refused, missing
from hz_team.testing.github.fault import AFTER, OVERSIZE, Fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.testing.github.access import Token
    from hz_team.testing.github.shape import Site
    from hz_team.testing.github.store import Store

REST, GRAPHQL = "/api/v3", "/api/graphql"
OK, UNCHANGED = 200, 304
_NO_BODY = (204, 304)


class Asked(NamedTuple):
    """One request as it arrived."""

    method: str
    path: str
    """With its query."""
    headers: Mapping[str, str]
    """Lower-case names."""
    body: bytes


class Sent(NamedTuple):
    """What goes back."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    mishap: str = ""
    """`timeout`: nothing is ever said; `dropped`: the connection is cut."""


class Desk:
    """Answers requests to the API; one at a time."""

    def __init__(self, store: Store, site: Site, *, etags: str) -> None:
        """`etags`: `token` (an ETag counts for the token that got it) or `shared`."""
        self.store, self.site, self.etags = store, site, etags
        self.tokens: dict[str, Token] = {}
        self.faults: list[Fault] = []
        self._hours: dict[tuple[str, str], tuple[int, int]] = {}
        """Token and resource → when its hour began, requests since."""
        self._served = 0

    def token(self, headers: Mapping[str, str]) -> Token | None:
        """Return the token of a request, None for none. Raises Refused: 401 for one that does not count (any more)."""
        text = secret(headers.get("authorization", ""))
        if not text:
            return None
        found = self.tokens.get(text)
        if found is None or found.revoked:
            raise Refused(401, "Bad credentials")
        return found

    def strike(self, method: str, path: str) -> Fault | None:
        """Return the mishap that meets a request, if any."""
        return next((one for one in self.faults if one.strikes(method, path)), None)

    def answer(self, asked: Asked, shown: str) -> tuple[Sent, Token | None]:
        """Answer one request; `shown`: its path as the log and the faults know it."""
        token: Token | None = None
        struck = self.strike(asked.method, shown)
        kind = struck.kind if struck else ""
        resource = _resource(asked)
        try:
            token = self.token(asked.headers)
            if kind == "dead-token" and token:
                token.revoked = True
            if kind == "dropped":
                return Sent(0, {}, b"", "dropped"), token
            if kind and kind not in AFTER:
                raise fault.refusal(kind, self.store.time())
            self._admit(asked, token, resource)
            done = fault.spoil(kind, self._do(asked, token, struck))
        except Refused as refused:
            done = refused.answer
        if kind in ("timeout", "after-dropped"):
            return Sent(0, {}, b"", "timeout" if kind == "timeout" else "dropped"), token
        return self._sent(asked, token, done, kind), token

    def _admit(self, asked: Asked, token: Token | None, resource: str) -> None:
        """Refuse who says nothing of themselves, and who asked too often. Raises Refused."""
        if not asked.headers.get("user-agent"):
            raise Refused(
                403, "Request forbidden by administrative rules. Please make sure your request has a User-Agent header"
            )
        began, used = self._hour(token, resource)
        limit = access.LIMITS[token.kind if token else "none"]
        if used >= limit and not asked.path.startswith(f"{REST}/rate_limit"):
            raise Refused(403, f"API rate limit exceeded for {token.account.login if token else '127.0.0.1'}.")
        self._hours[_key(token, resource)] = (began, used + 1)

    def _hour(self, token: Token | None, resource: str) -> tuple[int, int]:
        now = self.store.time()
        began, used = self._hours.get(_key(token, resource), (now, 0))
        return (began, used) if began <= now < began + 3600 else (now, 0)

    def rate(self, token: Token | None, resource: str) -> dict[str, int]:
        """Return what a token has left of its hour."""
        began, used = self._hour(token, resource)
        limit = access.LIMITS[token.kind if token else "none"]
        return {"limit": limit, "used": used, "remaining": max(limit - used, 0), "reset": began + 3600}

    def _do(self, asked: Asked, token: Token | None, struck: Fault | None) -> Answer:
        store = self.store
        if struck and struck.kind == "not-stored":
            store, token = copy.deepcopy((store, token))
            for repository in store.repositories.values():
                repository.bare.frozen = True
        path, _, query = asked.path.partition("?")
        body = _document(asked.body)
        one = Call(
            store,
            self.site,
            method=asked.method,
            path=path.removeprefix(REST),
            query=dict(parse_qsl(query, keep_blank_values=True)),
            body=body,
            token=token,
            rate=self.rate,
            accept=asked.headers.get("accept", ""),
            horizon=struck.horizon if struck and struck.kind == "lag" else 0,
        )
        if path.rstrip("/") == GRAPHQL:
            return graphql.answer(one)
        if not path.startswith(f"{REST}/") and path != REST:
            raise missing()
        return _routed(one)

    def _sent(self, asked: Asked, token: Token | None, done: Answer, kind: str) -> Sent:
        resource, modified = _resource(asked), done.modified
        body = b"" if done.data is None else _bytes(done.data)
        rate = self.rate(token, resource)
        headers = {
            "Date": formatdate(self.store.clock(), usegmt=True),
            "Content-Type": "application/json; charset=utf-8",
            "Cache-Control": "private, max-age=60, s-maxage=60",
            "Vary": "Accept, Authorization, Cookie, X-GitHub-OTP, Accept-Encoding, Accept, X-Requested-With",
            "X-GitHub-Media-Type": "github.v3; format=json",
            "X-GitHub-Request-Id": self._request_id(),
            "X-RateLimit-Resource": resource,
            **{f"X-RateLimit-{name.capitalize()}": str(value) for name, value in rate.items()},
        }
        if asked.method == "GET" and done.status == OK:
            headers["ETag"] = self._etag(body, token)
            if modified:
                headers["Last-Modified"] = formatdate(modified, usegmt=True)
            if _unchanged(asked.headers, headers["ETag"], modified):
                self._forgive(token, resource)
                headers["X-RateLimit-Used"] = str(rate["used"] - 1)
                headers["X-RateLimit-Remaining"] = str(rate["remaining"] + 1)
                return Sent(UNCHANGED, {**headers, **done.headers}, b"")
        if kind == "oversize":
            body = b" " * OVERSIZE + body
        if kind == "not-json":
            body = b"<html><body>Unicorn!</body></html>"
        return Sent(done.status, {**headers, **done.headers}, b"" if done.status in _NO_BODY else body)

    def _forgive(self, token: Token | None, resource: str) -> None:
        """An answer of 304 costs nothing."""
        began, used = self._hour(token, resource)
        self._hours[_key(token, resource)] = (began, used - 1)

    def _etag(self, body: bytes, token: Token | None) -> str:
        whose = token.text.encode() if token and self.etags == "token" else b""
        return f'W/"{hashlib.sha256(whose + body).hexdigest()}"'

    def _request_id(self) -> str:
        self._served += 1
        return f"{self._served:04X}:1:1:1:1"


def _routed(one: Call) -> Answer:
    if match := _by_number(one):
        one.path = match
    found = call.find(one.method, one.path.rstrip("/") or "/")
    if found is None:
        raise missing()
    row, one.args = found
    if "repo" in one.args:
        _ = one.repo
    if row.need:
        one.demand(row.need)
    return row.handler(one)


def _by_number(one: Call) -> str:
    """Return the path with the repository's name where its id stands, "" where none does."""
    found = re.fullmatch(r"/repositories/(\d+)(/.*)?", one.path)
    for repository in one.store.repositories.values():
        if found and repository.id == int(found[1]):
            return f"/repos/{repository.name}{found[2] or ''}"
    return ""


def _resource(asked: Asked) -> str:
    return "graphql" if asked.path.startswith(GRAPHQL) else "core"


def secret(header: str) -> str:
    """Return the token of an Authorization header: bearer, token, or the password of basic."""
    scheme, _, value = header.partition(" ")
    if scheme.lower() != "basic":
        return value.strip()
    try:
        return base64.b64decode(value).decode().partition(":")[2]
    except ValueError:
        return "?"


def operation(body: bytes) -> str:
    """Return the name of the GraphQL operation in a body."""
    try:
        document = json.loads(body)
    except ValueError:
        return ""
    return graphql.name(document) if isinstance(document, dict) else ""


def _document(body: bytes) -> Any:
    if not body.strip():
        return None
    try:
        return json.loads(body)
    except ValueError:
        raise Refused(400, "Problems parsing JSON") from None


def _bytes(data: Any) -> bytes:
    return data if isinstance(data, bytes) else json.dumps(data, ensure_ascii=False).encode()


def _key(token: Token | None, resource: str) -> tuple[str, str]:
    return (token.text if token else "", resource)


def _unchanged(asked: Mapping[str, str], etag: str, modified: int) -> bool:
    if tags := asked.get("if-none-match"):
        bare = etag.removeprefix("W/")
        return any(tag.strip().removeprefix("W/") in (bare, "*") for tag in tags.split(","))
    if modified and (since := asked.get("if-modified-since")):
        return parsedate_to_datetime(since).timestamp() >= modified
    return False
