"""Where a GitHub is: its pages, its REST API, its GraphQL; github.com or an Enterprise server."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team.adapters.remote import is_loopback, origin, server_of
from hz_team.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

PUBLIC = "https://github.com"


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

    Raises UsageError for an address that no token may be shown to: Enterprise serves REST below `/api/v3`.
    """
    server = server_of(environ)
    public = server == PUBLIC
    rest = _said(environ, "GITHUB_API_URL") or ("https://api.github.com" if public else f"{server}/api/v3")
    graphql = _said(environ, "GITHUB_GRAPHQL_URL")
    if not graphql:
        graphql = f"{rest}/graphql" if public else f"{rest.removesuffix('/v3')}/graphql"
    for name, url in (("GITHUB_API_URL", rest), ("GITHUB_GRAPHQL_URL", graphql)):
        scheme, host, _ = origin(url)
        if not host or not (scheme == "https" or (scheme == "http" and is_loopback(host))):
            raise UsageError(
                f"{name} is {url}: write an https address, such as {PUBLIC}/api/v3, without user or password"
            )
    return Address(server, rest, graphql)


def _said(environ: Mapping[str, str], name: str) -> str:
    """Return an address as it was meant: without slashes at its end, and without a path that stands there twice."""
    url = environ.get(name, "").strip().rstrip("/")
    while url.endswith("/api/v3/api/v3"):
        url = url.removesuffix("/api/v3")
    return url
