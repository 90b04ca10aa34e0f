"""Addresses: which of them are private, and through which proxy a host is reached. Pure questions."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin, urlsplit

from hz_team.ports import HttpError

if TYPE_CHECKING:
    from collections.abc import Mapping

PORTS = {"http": 80, "https": 443}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_SAFE = "/%:@!$&'()*+,;=~?[]"


class Target:
    """Where one request goes, taken apart."""

    def __init__(self, url: str) -> None:
        """Raises HttpError for anything but a plain http(s) address without a user or password in it."""
        try:
            parts = urlsplit(url.strip())
            self.host = (parts.hostname or "").encode("idna" if not url.isascii() else "ascii").decode("ascii")
            self.port = parts.port or PORTS.get(parts.scheme, 0)
        except ValueError:
            raise HttpError("forbidden", "this is not an address; write https://host/path") from None
        if parts.scheme not in PORTS or not self.host:
            kind = parts.scheme or "relative"
            raise HttpError("forbidden", f"only http and https addresses are asked, not {kind} ones")
        if "@" in parts.netloc:
            raise HttpError("forbidden", f"the address of {self.host} carries a user or password; take it out")
        self.scheme = parts.scheme
        self.path = quote(parts.path or "/", safe=_SAFE)
        self.query = f"?{quote(parts.query, safe=_SAFE)}" if parts.query else ""
        self.origin = (self.scheme, self.host, self.port)
        port = "" if self.port == PORTS[self.scheme] else f":{self.port}"
        self.authority = (f"[{self.host}]" if ":" in self.host else self.host) + port

    def __str__(self) -> str:
        """The address as texts may show it: without its query, which may hold a key."""
        return f"{self.scheme}://{self.authority}{self.path}"[:200]

    @property
    def url(self) -> str:
        """The whole address, ready to be sent."""
        return f"{self.scheme}://{self.authority}{self.path}{self.query}"

    def join(self, location: str) -> Target:
        """Return where a redirect from here leads. Raises HttpError."""
        try:
            return Target(urljoin(self.url, location.strip()))
        except ValueError:
            raise HttpError("forbidden", f"{self} leads to something that is no address; not followed") from None

    def listed(self, names: tuple[str, ...]) -> bool:
        """Whether `host` or `host:port` is among the names."""
        return self.host in names or f"{self.host}:{self.port}" in names


def literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the IP address that a host spells out, None for a name."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


def is_private(address: str) -> bool:
    """Whether an IP address is anything but a public unicast one; addresses that carry another are judged by it."""
    ip = literal(address)
    if ip is None:
        return True
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_private(str(inner))
    return not ip.is_global or ip.is_multicast or ip.is_reserved or ip.is_unspecified


def is_local_name(host: str) -> bool:
    """Whether a host is this machine by its very name or a private address, so that no resolver need be asked."""
    name = host.rstrip(".")
    return name == "localhost" or name.endswith(".localhost") or (literal(host) is not None and is_private(host))


def proxy_of(target: Target, environ: Mapping[str, str]) -> str:
    """Return the proxy's address for a target, "" for none. Loopback never goes through one."""
    ip = literal(target.host)
    if target.host == "localhost" or (ip is not None and ip.is_loopback):
        return ""
    named = environ.get(f"{target.scheme}_proxy", "")
    if not named and not (target.scheme == "http" and "REQUEST_METHOD" in environ):  # there it is a client's header
        named = environ.get(f"{target.scheme.upper()}_PROXY", "")
    if not named or _direct(target, environ.get("no_proxy") or environ.get("NO_PROXY", "")):
        return ""
    return named if "://" in named else f"http://{named}"


def _direct(target: Target, exceptions: str) -> bool:
    for exception in exceptions.lower().replace(",", " ").split():
        host, _, port = exception.partition(":") if exception.count(":") == 1 else (exception, "", "")
        if host == "*":
            return True
        if port and port != str(target.port):
            continue
        host = host.lstrip(".")
        if target.host == host or target.host.endswith(f".{host}"):
            return True
    return False
