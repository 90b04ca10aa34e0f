"""Git over smart HTTP: `git http-backend` behind the same tokens, faults and events as the API."""

from __future__ import annotations

import os
import subprocess
from email.utils import formatdate
from typing import TYPE_CHECKING

from hz_team.testing.github import access
from hz_team.testing.github.bare import DEADLINE, environment
from hz_team.testing.github.call import Refused
from hz_team.testing.github.desk import Sent

if TYPE_CHECKING:
    from hz_team.testing.github.access import Token
    from hz_team.testing.github.desk import Asked, Desk
    from hz_team.testing.github.store import Repository

_SERVER_ERROR = 500
_WORKFLOWS = """#!/bin/sh
# A token without the permission `workflows` pushes no workflow file, as on GitHub.
test -n "$HZ_NO_WORKFLOWS" || exit 0
while read -r old new ref; do
  case "$new" in *[!0]*) ;; *) continue ;; esac
  case "$old" in
    *[!0]*) changed=$(git diff-tree -r --name-only "$old" "$new" -- .github/workflows) ;;
    *) changed=$(git log --name-only --format= "$new" --not --all -- .github/workflows) ;;
  esac
  test -z "$changed" && continue
  echo "refusing to allow a GitHub App to create or update workflow $changed without workflows permission" >&2
  exit 1
done
"""


def repository_of(desk: Desk, path: str) -> Repository | None:
    """Return the repository whose Git a path means, None if it is no such path."""
    name, found, _ = path.partition(".git/")
    return desk.store.repositories.get(name.strip("/").lower()) if found else None


def is_push(asked: Asked) -> bool:
    """Whether a request is part of a push."""
    return "git-receive-pack" in asked.path


def answer(desk: Desk, asked: Asked, repository: Repository) -> tuple[Sent, Token | None]:
    """Answer one request of Git's; the caller holds no lock meanwhile."""
    token: Token | None = None
    struck = desk.strike(asked.method, asked.path)
    kind = struck.kind if struck else ""
    try:
        token = desk.token(asked.headers)
        _admit(token, repository, "write" if is_push(asked) else "read")
    except Refused as refused:
        return _refused(desk, refused), token
    if kind == "dead-token" and token:
        token.revoked = True
        return _refused(desk, Refused(401, "Bad credentials")), token
    if kind in ("dropped", "before-500", "forbidden", "not-found"):
        status = {"before-500": 502, "forbidden": 403, "not-found": 404}.get(kind, 0)
        return Sent(status, {}, b"", "" if status else "dropped"), token
    done = _run(desk, asked, repository, token)
    if kind in ("timeout", "after-dropped"):
        return Sent(0, {}, b"", "timeout" if kind == "timeout" else "dropped"), token
    return (done._replace(status=502, body=b"") if kind == "after-500" else done), token


def _admit(token: Token | None, repository: Repository, level: str) -> None:
    """Let in who may. Raises Refused: 401 asks Git for a token, 404 for what it may not see, 403 for a push."""
    if token is None and (repository.private or level == "write"):
        raise Refused(401, "Repository not found.")
    if not access.sees(token, repository):
        raise Refused(404, "Repository not found.")
    if not access.may(token, repository, access.Need(("contents",), level)):
        login = token.account.login if token else ""
        raise Refused(403, f"Permission to {repository.name}.git denied to {login}.")


def _refused(desk: Desk, refused: Refused) -> Sent:
    headers = {"Content-Type": "text/plain", "Date": formatdate(desk.store.clock(), usegmt=True)}
    if refused.status == 401:  # noqa: PLR2004  (HTTP's own)
        headers["WWW-Authenticate"] = 'Basic realm="GitHub"'
    return Sent(refused.status, headers, f"{refused}\n".encode())


def _run(desk: Desk, asked: Asked, repository: Repository, token: Token | None) -> Sent:
    path, _, query = asked.path.partition("?")
    inside = path.partition(".git/")[2]
    bare = repository.bare
    hook = os.path.join(bare.path, "hooks/pre-receive")
    if is_push(asked) and not os.path.exists(hook):
        os.makedirs(os.path.dirname(hook), exist_ok=True)
        with open(hook, "w", encoding="utf-8") as stream:
            stream.write(_WORKFLOWS)
        os.chmod(hook, 0o755)  # noqa: S103  (Git runs it)
    limited = token is not None and token.is_installation and token.level("workflows") != "write"
    environ = {
        **environment(),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_PROJECT_ROOT": desk.store.root,
        "GIT_PROTOCOL": asked.headers.get("git-protocol", ""),
        "HTTP_CONTENT_ENCODING": asked.headers.get("content-encoding", ""),
        "CONTENT_LENGTH": str(len(asked.body)),
        "CONTENT_TYPE": asked.headers.get("content-type", ""),
        "PATH_INFO": f"/{repository.name}.git/{inside}",
        "QUERY_STRING": query,
        "REMOTE_ADDR": "127.0.0.1",
        "REMOTE_USER": token.account.login if token else "",
        "REQUEST_METHOD": asked.method,
        **({"HZ_NO_WORKFLOWS": "1"} if limited else {}),
    }
    done = subprocess.run(
        ("git", "http-backend"), input=asked.body, env=environ, capture_output=True, timeout=DEADLINE, check=False
    )
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().splitlines() if ": " in line)
    status = int(headers.pop("Status", "200" if head else str(_SERVER_ERROR)).split()[0])
    headers["Date"] = formatdate(desk.store.clock(), usegmt=True)
    return Sent(status, headers, content)
