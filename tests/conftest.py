"""Guards: no test reads or writes the home of whoever runs it, and none talks to anything beyond loopback."""

import ipaddress
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("ci", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("wander", deadline=None, max_examples=2_000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ci")

FOREIGN = ("ACTIONS_", "GH_", "GITHUB_", "GIT_", "HZ_", "RUNNER_")
"""Variables that begin so come from the machine, an editor or a Git hook, and would change what is tested."""


class BeyondLoopbackError(BaseException):
    """A test tried to reach the network. Not an `Exception`: no code under test may take it for being offline."""


def is_loopback(host: object) -> bool:
    """Whether a socket address names this machine and nothing else."""
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(str(host).partition("%")[0]).is_loopback
    except ValueError:
        return False


def is_address(host: object) -> bool:
    """Whether a host is a literal address (or none), so that resolving it asks nobody."""
    try:
        ipaddress.ip_address(
            host.decode("ascii", "replace") if isinstance(host, bytes) else str(host).partition("%")[0]
        )
    except ValueError:
        return host in {None, "", b"", "localhost", b"localhost"}
    return True


def refuse_network(event: str, args: tuple[object, ...]) -> None:
    """Audit hook: refuse connections, listeners and name look-ups beyond loopback; local (Unix) sockets pass."""
    if event in {"socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"}:
        address = args[1]
        if isinstance(address, tuple) and not is_loopback(address[0]):
            message = f"{event} to {address!r}: tests stay on 127.0.0.1 and ::1"
            raise BeyondLoopbackError(message)
    elif event in {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"} and not is_address(args[0]):
        message = f"{event} of {args[0]!r}: tests ask no name server"
        raise BeyondLoopbackError(message)


def pytest_configure() -> None:
    """Put the guard up once a process; an audit hook cannot be taken down again."""
    sys.addaudithook(refuse_network)


@pytest.fixture(autouse=True)
def nobodys_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test an empty home, no Git settings, no forge around it, and UTC."""
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith(FOREIGN)]:
        monkeypatch.delenv(name)
    for name in ("CI", "CLICOLOR_FORCE", "FORCE_COLOR", "NO_COLOR", "SSH_AUTH_SOCK"):
        monkeypatch.delenv(name, raising=False)
    kept = {
        "HOME": home,
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_DATA_HOME": home / ".local/share",
        "XDG_STATE_HOME": home / ".local/state",
        "GIT_ALLOW_PROTOCOL": "file:http",  # remotes are folders, or served on loopback
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "TZ": "UTC",
    }
    for name, value in kept.items():
        monkeypatch.setenv(name, str(value))
    return home
