"""What Git's refusals mean for a tick, as sentences: try again, or somebody must mend something."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hz_team.adapters.git_runner import last_words
from hz_team.errors import RemoteError, TryAgain

if TYPE_CHECKING:
    from hz_team.adapters.git_runner import GitError
    from hz_team.errors import HzError

ATOMIC = ("atomic push failed", "atomic push failure", "reference already exists")
LOST = ("stale info", "failed to update ref", "fetch first", "non-fast-forward", "atomic transaction failed", *ATOMIC)
"""Words of a refusal that mean: somebody else was faster."""
CANNOT = "does not support --atomic"
"""Git's word for a server that cannot move several refs all or nothing."""
MOVED = ("error: 301", "error: 302", "error: 307", "error: 308")
"""With a token no redirect is followed: Git would take the token along."""
UNKNOWN = ("could not read Username", "error: 401", "error: 403", "Authentication failed", "not found")
"""The other side does not know us, or does not let on that there is a repository."""
DENIED = ("denied", "error: 403", "error: 401", "Authentication failed", "not authorized")


def shown(url: str) -> str:
    """Return a URL as it may be printed: without what stands before the host's @."""
    scheme, mark, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}" if mark else url


def unreachable(url: str, stderr: str) -> RemoteError:
    """The remote did not answer as a repository."""
    path = url.removeprefix("file://")
    if path.startswith("/") and not os.path.exists(path):
        return RemoteError(
            f"{url}: there is no repository; make one with `git init --bare`, or correct the state's URL"
        )
    said = _said(url, stderr)
    if any(sign in stderr for sign in MOVED):
        return RemoteError(f"{shown(url)}: the state repository has moved ({said}); write the URL it has now")
    advice = "check the URL, the network and who may read it"
    if url.startswith("http") and any(sign in stderr for sign in UNKNOWN):
        advice = "put a token that may read and write it into HZ_TOKEN (it is sent by https alone), or use an ssh URL"
    return RemoteError(f"{shown(url)}: the state repository did not answer: {said}; {advice}")


def damaged(url: str, error: GitError) -> RemoteError:
    """Git cannot read the repository, even with a new cache."""
    if error.remote:
        return unreachable(url, error.stderr)
    said = _said(url, error.stderr)
    return RemoteError(f"{shown(url)}: Git cannot work with the state: {said}; `git fsck` there names the damage")


def judge(url: str, ref: str, answer: tuple[str, str], stderr: str) -> HzError | None:
    """Return what the flag and words of a push say about a ref; None: it was moved as we wanted."""
    flag, said = answer
    if flag in {" ", "*", "=", "-"}:
        return None
    if flag != "!":
        raise RuntimeError(f"the push of {ref} was reported as {flag!r}, {said}: the expected value was not the parent")
    if any(sign in said for sign in LOST):
        return moved(url)
    told = f"; {_said(url, stderr)}" if "remote:" in stderr else ""
    return RemoteError(
        f"{shown(url)}: the repository refused the record: {said}{told}; let this account write {ref}",
    )


def moved(url: str) -> TryAgain:
    """Another commit is at the tip than the one we built on."""
    return TryAgain(f"{shown(url)}: another tick recorded first, so this one recorded nothing; run it again")


def is_denied(stderr: str) -> bool:
    """Whether the other side knows us and says no."""
    return any(sign in stderr for sign in DENIED)


def denied(url: str, stderr: str) -> RemoteError:
    """We may read, not write."""
    return RemoteError(
        f"{shown(url)}: the repository refused the record: {_said(url, stderr)}; this account may not write"
    )


def unknown(url: str, stderr: str) -> RemoteError:
    """Nobody answered the push, nor the question what became of it."""
    return RemoteError(
        f"{shown(url)}: no answer to the record ({_said(url, stderr)}), so it is unknown whether it arrived; "
        "the next tick looks before it writes",
    )


def lost(url: str, stderr: str) -> TryAgain:
    """Nobody answered the push, and our commit is not on the branch."""
    return TryAgain(f"{shown(url)}: the record did not arrive ({_said(url, stderr)}); run the tick again")


def no_lease(url: str, ref: str, commit: str) -> RemoteError:
    """A lease ref holds something that is none."""
    return RemoteError(
        f"{shown(url)}: {ref} at {commit[:12]} is no lease that this hz-team can read; upgrade it, or, when nobody is "
        "at work, put a free one there: `hz-team doctor --repair`",
    )


def _said(url: str, stderr: str) -> str:
    return last_words(stderr.replace(url, shown(url)))
