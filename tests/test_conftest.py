"""The guards hold: a slip ends the test."""

import os
import socket
import subprocess
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import BeyondLoopbackError, is_address, is_loopback

DOCUMENTATION = "192.0.2.1"
"""An address that is nobody's (RFC 5737)."""


def test_home_is_a_folder_of_this_test(nobodys_home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert Path.home() == nobodys_home
    assert nobodys_home.is_relative_to(tmp_path_factory.getbasetemp())
    assert list(nobodys_home.iterdir()) == []


def test_git_knows_no_person() -> None:
    done = subprocess.run(("git", "config", "--list"), cwd="/", capture_output=True, text=True, check=True)
    assert done.stdout == ""


def test_nothing_of_a_runner_is_seen() -> None:
    assert [name for name in os.environ if name.startswith(("GITHUB_", "HZ_", "RUNNER_"))] == []


def test_connecting_beyond_loopback_is_refused() -> None:
    with socket.socket() as one, pytest.raises(BeyondLoopbackError, match="tests stay on"):
        one.connect((DOCUMENTATION, 80))


def test_a_datagram_beyond_loopback_is_refused() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as one, pytest.raises(BeyondLoopbackError, match="tests stay on"):
        one.sendto(b"", (DOCUMENTATION, 53))


def test_listening_beyond_loopback_is_refused() -> None:
    with socket.socket() as one, pytest.raises(BeyondLoopbackError, match="tests stay on"):
        one.bind(("", 0))


def test_asking_a_name_server_is_refused() -> None:
    with pytest.raises(BeyondLoopbackError, match="ask no name server"):
        urllib.request.urlopen("http://example.org/", timeout=1)


def test_loopback_and_local_sockets_work() -> None:
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        socket.create_connection(("127.0.0.1", server.server_port)).close()
    left, right = socket.socketpair()
    with left, right:
        left.sendall(b"a")
        assert right.recv(1) == b"a"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "::1%lo", "localhost", b"localhost"])
def test_this_machine(host: object) -> None:
    assert is_loopback(host)
    assert is_address(host)


@pytest.mark.parametrize("host", ["", None, "::", "10.0.0.1", "example.org", "localhost.example.org"])
def test_other_machines(host: object) -> None:
    assert not is_loopback(host)


@given(st.integers())
def test_property_tests_get_along_with_the_guards(number: int) -> None:
    assert number == int(str(number))
