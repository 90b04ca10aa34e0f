"""Where a GitHub is: its pages, its REST API, its GraphQL; github.com, an Enterprise server or a tenant of ghe.com."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team.adapters.remote import is_loopback, origin, server_of
from hz_team.errors import RemoteError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

PUBLIC = "https://github.com"
PUBLIC_API = "https://api.github.com"
TENANTS = ".ghe.com"
"""Their API has a host of its own, as that of github.com has (docs.github.com: "data residency")."""


class Address(NamedTuple):
    """Three addresses of one GitHub, without a slash at the end."""

    server: str
    rest: str
    graphql: str

    @property
    def is_here(self) -> bool:
        """Whether it is a server on this machine."""
        return is_loopback(origin(self.rest)[1])


def address_of(environ: Mapping[str, str]) -> Address:
    """Return the GitHub that an environment belongs to; what it does not say follows from GITHUB_SERVER_URL.

    Raises UsageError for an address that no token may be shown to.
    """
    usual = address_at(server_of(environ))
    _check("GITHUB_SERVER_URL", usual.server, PUBLIC)
    rest, graphql = _tidy(environ.get("GITHUB_API_URL", "")), _tidy(environ.get("GITHUB_GRAPHQL_URL", ""))
    _check("GITHUB_API_URL", rest or usual.rest, "https://ghe.example/api/v3")
    _check("GITHUB_GRAPHQL_URL", graphql or usual.graphql, "https://ghe.example/api/graphql")
    rest = _rest(rest or usual.rest)
    return Address(usual.server, rest, graphql or _graphql(rest))


def address_at(server: str) -> Address:
    """Return the GitHub whose pages are at a URL: github.com has its API on another host, Enterprise below `/api`."""
    server = _tidy(server).removesuffix("/api/v3")
    host = origin(server)[1]
    if host == origin(PUBLIC)[1]:
        rest = PUBLIC_API
    elif host.endswith(TENANTS):
        rest = f"https://api.{host.removeprefix('api.')}"
    else:
        rest = f"{server}/api/v3"
    return Address(server, rest, _graphql(rest))


def path_of(url: str, home: str, asked: str) -> str:
    """Return path and query of an address that an answer names, as they follow `home`, the API's own.

    Raises RemoteError for another host's: a token is shown to one only. Scheme and port are not believed, a server
    behind a proxy may name those it has itself. `asked`: the request, in a few words.
    """
    _, mark, rest = url.partition("://")
    is_path = not mark and url.startswith("/") and not url.startswith("//")
    ours, theirs = origin(home)[1], origin(url)[1]
    if not is_path and theirs != ours:
        shown = ascii(theirs)[1:-1] if theirs else "no address"
        raise RemoteError(
            f"{asked}: GitHub's answer leads to {shown}, not to {ours}, and the token is shown to no other host; if "
            "both are one server, let GITHUB_API_URL name it as it calls itself"
        )
    path = url if is_path else f"/{rest.partition('/')[2]}"
    prefix = f"/{home.partition('://')[2].partition('/')[2]}"
    return path.removeprefix(prefix) if path.startswith(f"{prefix}/") else path


def _check(name: str, url: str, example: str) -> None:
    """Raise UsageError for an address that no token may be shown to; a password in it is not shown either."""
    scheme, host, _ = origin(url)
    is_safe = scheme == "https" or (scheme == "http" and is_loopback(host))
    if not host or not is_safe or not url.isprintable() or any(mark in url for mark in " ?#@"):
        shown = f" ({scheme}://{ascii(host)[1:-1]}…)" if host else ""
        raise UsageError(
            f"{name}{shown} is no place for a token: write an https address such as {example}, without user, password "
            "and query"
        )


def _rest(url: str) -> str:
    """Return where REST is: `/api/v3` is of Enterprise servers only, whoever wrote it behind api.github.com."""
    return PUBLIC_API if origin(url)[1] in (origin(PUBLIC)[1], origin(PUBLIC_API)[1]) else url


def _graphql(rest: str) -> str:
    return f"{rest.removesuffix('/v3')}/graphql"


def _tidy(url: str) -> str:
    """Return an address without blanks and slashes around it, and without a path that stands there twice."""
    url = url.strip().rstrip("/")
    while url.endswith("/api/v3/api/v3"):
        url = url.removesuffix("/api/v3")
    return url
