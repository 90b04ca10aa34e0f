"""Which token Git is given, for which host, and how: in its environment, for one URL, and for no other host.

Nothing of it stands in arguments, files, remote URLs or in what Git is heard to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team.adapters.remote import is_loopback, origin, server_of

if TYPE_CHECKING:
    from collections.abc import Mapping

OWN = "HZ_TOKEN"
"""For the state's host, whichever it is."""
FORGE = ("GITHUB_TOKEN", "GH_TOKEN")
"""For the host of GITHUB_SERVER_URL, and no other."""


class Access(NamedTuple):
    """What lets Git in at one URL."""

    settings: tuple[tuple[str, str], ...] = ()
    """Configuration for the questions that talk to the remote."""
    secrets: tuple[str, ...] = ()
    """Texts that nobody may see in what Git says."""


def access(url: str, environ: Mapping[str, str]) -> Access:
    """Return how Git shows who we are at a URL; nothing for ssh, files, and hosts that no token here is for."""
    token = token_for(url, environ)
    if not token:
        return Access()
    from base64 import b64encode

    basic = b64encode(f"x-access-token:{token}".encode("utf-8", "surrogateescape")).decode()
    settings = [
        (f"http.{url}.extraheader", ""),  # or a header that an earlier checkout left somewhere is sent as well
        (f"http.{url}.extraheader", f"Authorization: Basic {basic}"),
        (f"http.{url}.followRedirects", "false"),  # Git would take the header along, to whatever host
    ]
    if url.startswith("http:"):
        settings.append((f"http.{url}.proxy", ""))  # loopback: nobody stands between
    return Access(tuple(settings), (token, basic))


def token_for(url: str, environ: Mapping[str, str]) -> str:
    """Return the token for a URL, "" for none: never over plain http, but to this machine."""
    scheme, host, port = origin(url)
    if scheme != "https" and not (scheme == "http" and is_loopback(host)):
        return ""
    names = (OWN, *FORGE) if origin(server_of(environ)) == (scheme, host, port) else (OWN,)
    return next((token for name in names if (token := environ.get(name, "").strip())), "")
