"""Runs Git: a tuple of arguments in a scrubbed environment.

Settings travel in that environment, never in arguments or files; hooks of this side, prompts and the machine's own
configuration are off.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterable, Mapping, Sequence

DEADLINE = 120.0
"""Seconds for one question."""
PASSED = (
    "ALL_PROXY",
    "GIT_ALLOW_PROTOCOL",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LD_LIBRARY_PATH",
    "LOGNAME",
    "NO_PROXY",
    "PATH",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TMPDIR",
    "TZ",
    "USER",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)
"""Variables that Git is given: how to reach a host and whom to trust. No token, no GIT_DIR, no index."""
FIXED = {
    "GIT_ASKPASS": "",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_DEFAULT_HASH": "sha1",
    "GIT_DEFAULT_REF_FORMAT": "files",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
SETTINGS = (
    ("core.hooksPath", os.devnull),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("fetch.writeCommitGraph", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("fastimport.unpackLimit", "1"),
    ("http.lowSpeedLimit", "1000"),
    ("http.lowSpeedTime", "30"),
)
REMOTE_SIGNS = (
    "Could not read from remote repository",
    "does not appear to be a git repository",
    "unable to access",
    "could not read Username",
    "Authentication failed",
    "hung up unexpectedly",
    "RPC failed",
    "repository not found",
    "transport '",
    "dubious ownership",
    "did not answer",
)


class GitError(Exception):
    """Git said no. `missing`: no such ref there; `remote`: the other side or the way to it; `locked`: a file here.

    `unadvertised`: the server gives out branches and no objects by their names.
    """

    def __init__(self, words: Sequence[str], code: int, stderr: str) -> None:
        """Keep what was asked and what Git said about it."""
        super().__init__(f"git {words[0]} ended with {code}: {last_words(stderr)}")
        self.stderr = stderr
        self.missing = "couldn't find remote ref" in stderr
        self.unadvertised = "unadvertised object" in stderr
        self.remote = any(sign in stderr for sign in REMOTE_SIGNS)
        self.locked = ".lock': File exists" in stderr or ".lock: File exists" in stderr


class Repository(NamedTuple):
    """A repository to ask, and how."""

    path: str
    """The Git directory."""
    environ: Mapping[str, str]
    """Already scrubbed."""
    settings: tuple[tuple[str, str], ...] = ()
    """Configuration for every question: the remote's URL, safe.directory."""
    lock: int = -1
    """A file descriptor that children keep open, so that a lock on it ends with the last of them."""
    access: tuple[tuple[str, str], ...] = ()
    """Configuration for the questions that talk to the remote: a token's header. No other Git is given it."""
    secrets: tuple[str, ...] = ()
    """Texts to mask in what Git says."""


def scrubbed(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment Git runs in: what it needs of ours, nothing that steers it elsewhere, no prompt."""
    kept = {name: value for name, value in environ.items() if name in PASSED}
    if not {"GIT_SSH", "GIT_SSH_COMMAND"} & kept.keys():
        kept["GIT_SSH_COMMAND"] = "ssh -o BatchMode=yes"  # ssh would ask on the terminal by itself
    return {**kept, **FIXED}


def run(repository: Repository, *words: str, stdin: bytes = b"", settings: Any = ()) -> tuple[int, bytes, str]:
    """Ask one question; return exit code, output and what was said besides. A late answer is none: its code is -9."""
    import subprocess

    process = start(repository, words, settings, stdin=subprocess.PIPE if stdin else subprocess.DEVNULL)
    try:
        out, err = process.communicate(stdin or None, timeout=DEADLINE)
    except subprocess.TimeoutExpired:
        end(process)
        return -9, b"", f"git {words[0]} did not answer within {DEADLINE:.0f} seconds"
    except BaseException:
        end(process)
        raise
    return process.returncode, out, masked(repository, err.decode("utf-8", "backslashreplace"))


def ask(repository: Repository, *words: str, stdin: bytes = b"", settings: Any = ()) -> bytes:
    """Ask one question and return the output. Raises GitError."""
    code, out, err = run(repository, *words, stdin=stdin, settings=settings)
    if code:
        raise GitError(words, code, err)
    return out


def masked(repository: Repository, text: str) -> str:
    """Return what Git said, without the token that a server or a trace may have quoted."""
    if not repository.secrets or not text:
        return text
    from hz_team.redaction import pattern, redact

    return redact(text, pattern(repository.secrets))


def last_words(stderr: str) -> str:
    """Return what Git said last, without its advice: one line, at most 300 characters."""
    said = [line.strip() for line in stderr.splitlines() if line.strip() and not line.startswith("hint:")]
    told = [line for line in said if line.startswith(("fatal:", "error:", "ERROR:", "remote:"))] or said
    return "; ".join(told[:3])[:300] or "nothing"


def start(
    repository: Repository,
    words: Sequence[str],
    settings: Iterable[tuple[str, str]],
    **streams: Any,
) -> subprocess.Popen[bytes]:
    """Start Git with pipes for what it says; `streams` are passed to Popen."""
    import subprocess

    pairs = (*SETTINGS, ("safe.directory", repository.path), *repository.settings, *settings)
    environ = {**repository.environ, "GIT_CONFIG_COUNT": str(len(pairs))}
    for number, (name, value) in enumerate(pairs):
        environ[f"GIT_CONFIG_KEY_{number}"], environ[f"GIT_CONFIG_VALUE_{number}"] = name, value
    return subprocess.Popen(
        ("git", f"--git-dir={repository.path}", *words),
        env=environ,
        pass_fds=(repository.lock,) if repository.lock >= 0 else (),
        process_group=0,  # the whole of it is ended at once when the answer is late
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams},
    )


def end(process: subprocess.Popen[bytes]) -> None:
    """End Git and the programs it started, and close the pipes."""
    import signal
    from contextlib import suppress

    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            pipe.close()
