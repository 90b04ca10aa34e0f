"""`webhook`: sends a draft to a host that the team's settings list. What was sent cannot be taken back or looked for.

The address may be a secret (many services put a token into it): only its host is ever shown.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from hz_team.errors import PublishRefused, PublishUnknown, TryAgain
from hz_team.ports import Found, HttpError, Request
from hz_team.publishers import targets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.proposal import Part
    from hz_team.ports import PublishTools, Response

KIND = "webhook"
UNDOABLE = False
DEADLINE = 20.0
ANSWER = 1_000_000
"""Bytes of an answer that are read; nothing in it matters but the status."""
_UNSENT = ("offline", "refused")
"""Failures of HttpError that come before a single byte of the draft has left."""


class Address(NamedTuple):
    """Where a webhook goes."""

    host: str
    """ASCII, lower case, without a final dot; an IPv6 address without brackets."""
    port: int

    @property
    def names(self) -> tuple[str, str]:
        """As `publish.hosts` may list it."""
        return self.host, f"{self.host}:{self.port}"


def find(part: Part, tools: PublishTools) -> Found:  # noqa: ARG001  (every kind is asked alike)
    """Nobody can look there."""
    return Found("unknown")


def publish(part: Part, tools: PublishTools) -> str:
    """POST the draft once; return host and status.

    Raises PublishRefused when the settings or the host said no, PublishUnknown when nobody can tell whether it
    arrived, TryAgain when nothing was sent.
    """
    address = where(part.target)
    listed = tuple(name for name in address.names if name in {host.lower() for host in tools.settings.hosts})
    if not listed:
        raise PublishRefused(
            f"{address.host} is not among `publish: {{hosts: […]}}` of .hz/hz.yaml; list it there first"
        )
    try:
        return _judged(tools.http.send(_request(part, listed, tools.deadline)), address)
    except HttpError as error:
        if error.kind in _UNSENT:
            raise TryAgain(f"nothing was sent: {address.host} cannot be reached ({error.kind})") from error
        if error.kind == "forbidden":
            raise PublishRefused(f"nothing was sent: {address.host} leads to an address that is not listed") from error
        raise PublishUnknown(f"it was sent to {address.host}, and no answer came back ({error.kind})") from error


def where(target: str) -> Address:
    """Take an address apart. Raises PublishRefused if it is none that can be posted to."""
    try:
        parts = urlsplit(target)
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
        host = parts.hostname or ""
        host = (host if host.isascii() else host.encode("idna").decode()).lower().removesuffix(".")
    except (ValueError, KeyError):
        host, port, parts = "", 0, urlsplit("")
    if not host:
        raise PublishRefused("the webhook's target is no address; write https://host/path")
    if "@" in parts.netloc:
        raise PublishRefused(f"the address of {host} carries a user or password; take it out")
    return Address(host, port)


def _request(part: Part, listed: tuple[str, ...], deadline: float) -> Request:
    told = {"title": part.title, "body": part.body, "job": part.job, "proposal": part.proposal, "key": part.key}
    return Request(
        url=part.target,
        method="POST",
        headers={
            "Accept": "*/*",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json; charset=utf-8",
            "Idempotency-Key": part.key,
        },
        body=json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode(),
        deadline=min(DEADLINE, deadline),
        limit=ANSWER,
        redirects=0,
        private=listed,
    )


def _judged(response: Response, address: Address) -> str:
    status = response.status
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return f"{address.host} {status}"
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        raise PublishRefused(f"{address.host} answered {status} and points elsewhere; write the final address")
    if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
        raise PublishRefused(f"{address.host} answered {status} and did not take it; it is not sent again")
    raise PublishUnknown(
        f"it was sent to {address.host}, which answered {status}: nobody can tell whether it was taken"
    )


def words(payload: Mapping[str, Any]) -> str:
    """Return "sends to hooks.example.org"."""
    return f"sends to {' and '.join(_hosts(payload))}"


def becomes(payload: Mapping[str, Any], repository: str = "") -> str:  # noqa: ARG001  (every kind is asked alike)
    """Return "exactly the text between the lines is sent to hooks.example.org. This cannot be undone"."""
    return f"exactly the text between the lines is sent to {' and '.join(_hosts(payload))}. This cannot be undone"


def _hosts(payload: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_host(target) for target in targets(payload)))


def _host(target: str) -> str:
    try:
        return where(target).host
    except PublishRefused:
        return "no address"
