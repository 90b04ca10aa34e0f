"""Job processes: each under its own supervisor, contained, bounded in time and output, and killed as a whole tree.

What may be read without being named: the system's programs and libraries, this Python, the little of /etc that programs
need. Nothing else, and nothing of a folder in `private` even where it lies below one of these.
"""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hz_team import redaction
from hz_team.ports import Command, Finished

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Sequence

SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/snap", "/nix/store", "/proc"),
    *("/home/linuxbrew/.linuxbrew", "/sys/devices/system/cpu", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage"),
    *("/dev/random", "/dev/urandom"),
)
ETC = (
    *(
        "alternatives",
        "ca-certificates",
        "ca-certificates.conf",
        "crypto-policies",
        "debian_version",
        "fonts",
        "gai.conf",
    ),
    *("group", "host.conf", "hosts", "inputrc", "java", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias"),
    *("localtime", "lsb-release", "magic", "mime.types", "networks", "nsswitch.conf", "os-release", "passwd", "perl"),
    *("pki", "protocols", "resolv.conf", "services", "shells", "ssl", "terminfo", "timezone"),
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
BOOT = "import sys; sys.path.append(sys.argv[1]); from hz_team.adapters.supervisor import main; main()"
PATIENCE = 30.0
"""Seconds that a supervisor may take longer than its command before it is given up."""


class SupervisedProcesses:
    """The real `Processes`."""

    def __init__(self, *, private: Sequence[str] = ()) -> None:
        """`private`: folders to keep out of reach though they may lie below /opt or /usr (the team's own checkout)."""
        self._private = tuple(os.path.realpath(path) for path in private)

    def run(self, command: Command) -> Finished:
        """Run one command to its end, its time-out or our death. Raises nothing for what the command does."""
        started = time.monotonic()
        forms = redaction.pattern(command.secrets)
        answer = self._supervise(command, redaction.margin(command.secrets))
        ms = int((time.monotonic() - started) * 1000)
        return _finished(command, answer, forms)._replace(ms=ms, level=contained())

    def _supervise(self, command: Command, margin: int) -> dict[str, Any]:
        order = json.dumps(self._order(command, margin)).encode("utf-8") + b"\n"
        supervisor = subprocess.Popen(
            (sys.executable, "-I", "-S", "-c", BOOT, _source()),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"LC_ALL": "C.UTF-8"},
            start_new_session=True,
            cwd="/",
        )
        assert supervisor.stdin  # noqa: S101  (asked for two lines above; the type does not know)
        try:
            supervisor.stdin.write(order)
            supervisor.stdin.flush()
            out, err = _read(supervisor, time.monotonic() + command.timeout + PATIENCE)
        except BrokenPipeError:
            out, err = _read(supervisor, time.monotonic() + PATIENCE)
        finally:
            _let_go(supervisor)
        try:
            answer: dict[str, Any] = json.loads(out)
        except ValueError:
            return {"lost": err.decode("utf-8", "backslashreplace").strip()[-500:], "code": supervisor.returncode}
        return answer

    def _order(self, command: Command, margin: int) -> dict[str, Any]:
        limits = command.limits
        return {
            "argv": command.argv,
            "cwd": command.cwd,
            "env": dict(command.env),
            "timeout": command.timeout,
            "stdin": base64.b64encode(command.stdin).decode(),
            "read": [*self._spared(), *command.read],
            "write": [*DEVICES, *command.write],
            "browse": [_source()],
            "keep": limits.output // 2 + margin,
            "memory": limits.memory,
            "file_size": limits.file_size,
            "open_files": limits.open_files,
            "processes": limits.processes,
        }

    def _spared(self) -> Iterator[str]:
        """Yield what every command may read, going round what is private."""
        for path in (*SYSTEM, *(f"/etc/{name}" for name in ETC), *_python()):
            yield from _around(path, self._private)


def contained() -> str:
    """Return the containment that job processes reach on this machine: `landlock-N` or `none`."""
    if not sys.platform.startswith("linux"):
        return "none"
    from hz_team.adapters import landlock

    version = landlock.abi()
    return f"landlock-{version}" if version else "none"


def _source() -> str:
    """Return the folder that holds this package; of the folder itself, only names may be listed."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _python() -> Iterable[str]:
    """Return the folders of this Python and of this package."""
    return dict.fromkeys((sys.prefix, sys.exec_prefix, sys.base_prefix, os.path.join(_source(), "hz_team")))


def _around(path: str, private: Sequence[str]) -> Iterator[str]:
    """Yield the path, or, if something private lies below it, its entries but that one."""
    real = os.path.realpath(path)
    inside = [one for one in private if one == real or one.startswith(real.rstrip("/") + "/")]
    if not inside:
        yield path
        return
    if real in inside or not os.path.isdir(real):
        return
    for name in sorted(os.listdir(real)):
        entry = os.path.join(real, name)
        if not os.path.islink(entry):
            yield from _around(entry, inside)


def _read(supervisor: subprocess.Popen[bytes], deadline: float) -> tuple[bytes, bytes]:
    """Read both streams to their end or the deadline. `communicate` would close the lifeline."""
    assert supervisor.stdout  # noqa: S101  (asked for in Popen)
    assert supervisor.stderr  # noqa: S101
    streams = {supervisor.stdout.fileno(): bytearray(), supervisor.stderr.fileno(): bytearray()}
    out, err = streams.values()
    poll = select.poll()
    for number in streams:
        poll.register(number, select.POLLIN | select.POLLHUP)
    while streams and time.monotonic() < deadline:
        for number, _ in poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            data = os.read(number, 1 << 18)
            streams[number] += data
            if not data:
                poll.unregister(number)
                del streams[number]
    return bytes(out), bytes(err)


def _let_go(supervisor: subprocess.Popen[bytes]) -> None:
    """Close the lifeline and wait: whatever is still running is killed by the supervisor."""
    assert supervisor.stdin  # noqa: S101  (asked for in Popen)
    with suppress(BrokenPipeError):
        supervisor.stdin.close()
    try:
        supervisor.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        supervisor.kill()
        supervisor.wait()
    for stream in (supervisor.stdout, supervisor.stderr):
        if stream:
            stream.close()


def _finished(command: Command, answer: dict[str, Any], forms: re.Pattern[bytes] | None) -> Finished:
    if "lost" in answer:
        return Finished(None, 9, stderr=f"the supervisor of this step was killed ({answer['code']}): {answer['lost']}")
    half = command.limits.output // 2
    out, out_dropped = _shown(answer["stdout"], half, forms)
    err, err_dropped = _shown(answer["stderr"], half, forms)
    code, reason = answer["code"], answer["reason"]
    if answer["failure"]:
        err += f"\n{command.argv[0]} {answer['failure']}\n"
    if reason == "processes":
        err += f"\nmore than {command.limits.processes} processes at once: the step was ended\n"
    return Finished(
        code=code if code is not None and code >= 0 and not reason else None,
        signal=-code if code is not None and code < 0 else (9 if reason == "processes" else 0),
        timed_out=reason == "timeout",
        stdout=out,
        stderr=err.lstrip("\n"),
        dropped=out_dropped + err_dropped,
    )


def _shown(stream: dict[str, Any], half: int, forms: re.Pattern[bytes] | None) -> tuple[str, int]:
    """Return a stream as people see it, and how many bytes were left out. Masked first, cut then."""
    head, tail = (base64.b64decode(stream[name]) for name in ("head", "tail"))
    total = int(stream["total"])
    if total == len(head) + len(tail):
        head = tail = head + tail
    if total <= 2 * half:
        return _text(_masked(head, 0, len(head), forms)), 0
    dropped = total - 2 * half
    first = _text(_masked(head, 0, half, forms))
    last = _text(_masked(tail, len(tail) - half, len(tail), forms))
    return f"{first}\n… {dropped:,} bytes left out …\n{last}", dropped


def _masked(data: bytes, start: int, end: int, forms: re.Pattern[bytes] | None) -> bytes:
    """Return data[start:end]; a secret that reaches into it is masked, even where the cut goes through it."""
    parts, at = [], start
    for first, last in redaction.spans(data, forms):
        if last <= at or first >= end:
            continue
        parts.append(data[at : max(at, first)] + redaction.MASK.encode())
        at = min(last, end)
    return b"".join((*parts, data[at:end]))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
