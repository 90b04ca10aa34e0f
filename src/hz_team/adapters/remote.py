"""Which Git URLs a state may live behind. What a person wrote becomes a URL that Git may be given, or a sentence."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hz_team.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

PORTS = {"https": "443", "http": "80"}
FORGE = "https://github.com"


def url_of(text: str, environ: Mapping[str, str]) -> str:
    """Return the URL or absolute path of a state: https, http, ssh, host:path, file, a path, or owner/name on GitHub.

    Raises UsageError for anything else, and for a URL with a password in it, which the sentence does not show.
    """
    if text.startswith(("/", "./", "../")) or text in {".", ".."}:
        return os.path.abspath(text)
    if not text.isprintable() or " " in text or text.startswith("-"):
        raise UsageError(f"{text!a} is no Git URL: write it without blanks, control characters and a dash in front")
    scheme, mark, rest = text.partition("://")
    if mark and scheme.isalnum():
        return _checked(text, scheme.lower(), rest)
    host, colon, path = text.partition(":")
    if colon and path and "/" not in host and not path.startswith(":"):
        _refuse_password(f"{host}:…", is_secret="@" in path.partition("/")[0])
        return text
    if is_name(text):
        return f"{server_of(environ)}/{text.removesuffix('.git')}.git"
    raise UsageError(
        f"{text}: the state lives behind https, http, ssh (also as git@host:owner/repo.git), a file URL, a path that "
        "begins with / or ., or owner/name on GitHub; write one of these",
    )


def is_name(text: str) -> bool:
    """Whether a text is owner/name of a repository on GitHub."""
    owner, slash, name = text.partition("/")
    allowed = all(part and part.isascii() and part.strip(".") for part in (owner, name))
    return bool(slash and allowed) and not (owner + name).strip(".-_").translate(_NAMED)


_NAMED = {ord(letter): None for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"}


def name_of(url: str, environ: Mapping[str, str]) -> str:
    """Return owner/name of a repository on GitHub (or the GitHub that GITHUB_SERVER_URL names), "" for any other."""
    here = origin(server_of(environ))
    scheme, mark, rest = url.partition("://")
    if mark and scheme != "ssh":
        same, path = origin(url) == here, rest.partition("/")[2]
    else:
        place, _, path = rest.partition("/") if mark else url.partition(":")
        same = place.rpartition("@")[2].partition(":")[0].lower() == here[1]
    path = path.strip("/").removesuffix(".git")
    return path if same and is_name(path) else ""


def server_of(environ: Mapping[str, str]) -> str:
    """Return the address of the GitHub this environment belongs to."""
    return (environ.get("GITHUB_SERVER_URL") or FORGE).rstrip("/")


def origin(url: str) -> tuple[str, str, str]:
    """Return scheme, host and port of a URL; ("", "", "") for what has none, or has a user in it."""
    scheme, mark, rest = url.partition("://")
    place = _place(rest)
    if not mark or "@" in place:
        return ("", "", "")
    host, _, port = place.rpartition(":") if place.rpartition(":")[2].isdigit() else (place, "", "")
    scheme = scheme.lower()
    return (scheme, host.lower(), port or PORTS.get(scheme, ""))


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by its very name."""
    if host == "localhost":
        return True
    if not host.startswith(("127.", "[")):
        return False
    from ipaddress import ip_address

    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_here(url: str) -> bool:
    """Whether a URL leads to this machine."""
    return url.startswith(("/", "file:")) or is_loopback(origin(url)[1])


def _checked(url: str, scheme: str, rest: str) -> str:
    """Return the URL with its scheme in the letters that Git knows. Raises UsageError."""
    if scheme == "file":
        if rest.startswith("/"):
            return f"file://{rest}"
        raise UsageError(f"{url}: a file URL has three slashes and then a path of this machine; write file:///…")
    if scheme not in {"https", "http", "ssh"}:
        raise UsageError(f"{scheme}://…: the state is reached by https, http, ssh or as a file; write such a URL")
    place = _place(rest)
    user, at, host = place.rpartition("@")
    shown = f"{scheme}://{host}…"
    _refuse_password(shown, is_secret=bool(at) and (":" in user or scheme != "ssh"))
    if scheme != "ssh":
        _refuse_password(shown, is_secret="?" in rest or "#" in rest)
    if not host or host.startswith("-") or user.startswith("-") or len(place) + 1 >= len(rest):
        raise UsageError(f"{shown}: the URL of a state names a host and a repository there; write both")
    return f"{scheme}://{rest}"


def _refuse_password(shown: str, *, is_secret: bool) -> None:
    if is_secret:
        raise UsageError(
            f"{shown}: the URL holds a name, a password or a query, which would stand in files and lists of processes; "
            "put the token into HZ_TOKEN and write the URL without it",
        )


def _place(rest: str) -> str:
    """Return what stands between scheme and path."""
    return rest.partition("/")[0].partition("?")[0].partition("#")[0]
