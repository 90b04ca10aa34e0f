"""Git objects, commits and files as GitHub writes them."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from hz_team.testing.github import shape
from hz_team.testing.github.shape import iso

if TYPE_CHECKING:
    from hz_team.testing.github.bare import Bare, Commit, Entry, Signed
    from hz_team.testing.github.shape import Site
    from hz_team.testing.github.store import Repository, Store

_UNSIGNED = {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None}
_NOREPLY = "@users.noreply.github.com"


def ref(site: Site, repository: Repository, name: str, sha: str) -> dict[str, Any]:
    """Show where a ref stands."""
    kind = repository.bare.kind(sha) or "commit"
    return {
        "ref": name,
        "node_id": f"REF_{name}",
        "url": f"{_git(site, repository)}/{name}",
        "object": {"type": kind, "sha": sha, "url": f"{_git(site, repository)}/{kind}s/{sha}"},
    }


def git_commit(site: Site, repository: Repository, one: Commit) -> dict[str, Any]:
    """Show a commit as Git data."""
    place, page = _git(site, repository), site.page(repository)
    return {
        "sha": one.sha,
        "node_id": f"C_{one.sha}",
        "url": f"{place}/commits/{one.sha}",
        "html_url": f"{page}/commit/{one.sha}",
        "author": _signed(one.author),
        "committer": _signed(one.committer),
        "tree": {"sha": one.tree, "url": f"{place}/trees/{one.tree}"},
        "message": one.message,
        "parents": _parents(f"{place}/commits", page, one),
        "verification": _UNSIGNED,
    }


def commit(site: Site, store: Store, repository: Repository, one: Commit) -> dict[str, Any]:
    """Show a commit as history does."""
    data, url = git_commit(site, repository, one), f"{site.repository(repository)}/commits/{one.sha}"
    kept = ("author", "committer", "message", "tree", "url", "verification")
    return {
        "sha": one.sha,
        "node_id": data["node_id"],
        "commit": {**{name: data[name] for name in kept}, "comment_count": 0},
        "url": url,
        "html_url": data["html_url"],
        "comments_url": f"{url}/comments",
        "author": _account(site, store, one.author),
        "committer": _account(site, store, one.committer),
        "parents": _parents(f"{site.repository(repository)}/commits", site.page(repository), one),
    }


def tree(site: Site, repository: Repository, sha: str, entries: list[Entry]) -> dict[str, Any]:
    """Show a tree."""
    place = _git(site, repository)
    shown = [
        {
            "path": one.path,
            "mode": one.mode,
            "type": one.type,
            "sha": one.sha,
            "url": f"{place}/{one.type}s/{one.sha}",
            **({} if one.size is None else {"size": one.size}),
        }
        for one in entries
    ]
    return {"sha": sha, "url": f"{place}/trees/{sha}", "tree": shown, "truncated": False}


def blob(site: Site, repository: Repository, sha: str, content: bytes) -> dict[str, Any]:
    """Show a blob."""
    return {
        "sha": sha,
        "node_id": f"B_{sha}",
        "size": len(content),
        "url": f"{_git(site, repository)}/blobs/{sha}",
        "content": _encoded(content),
        "encoding": "base64",
    }


def content(site: Site, repository: Repository, one: Entry, at: str, bare: Bare | None = None) -> dict[str, Any]:
    """Show a file or folder of a branch; `bare`: with the file's bytes."""
    url = f"{site.repository(repository)}/contents/{one.path}?ref={at}"
    data = _git(site, repository)
    page = f"{site.page(repository)}/{'tree' if one.type == 'tree' else 'blob'}/{at}/{one.path}"
    git_url = f"{data}/{one.type}s/{one.sha}"
    shown = {
        "name": one.path.rpartition("/")[2],
        "path": one.path,
        "sha": one.sha,
        "size": one.size or 0,
        "url": url,
        "html_url": page,
        "git_url": git_url,
        "download_url": None if one.type == "tree" else f"{site.page(repository)}/raw/{at}/{one.path}",
        "type": "dir" if one.type == "tree" else "file",
        "_links": {"self": url, "git": git_url, "html": page},
    }
    if bare and one.type == "blob":
        shown |= {"content": _encoded(bare.read(one.sha)), "encoding": "base64"}
    return shown


def _git(site: Site, repository: Repository) -> str:
    return f"{site.repository(repository)}/git"


def _signed(one: Signed) -> dict[str, Any]:
    return {"name": one.name, "email": one.email, "date": iso(one.at)}


def _parents(url: str, page: str, one: Commit) -> list[dict[str, Any]]:
    return [{"sha": sha, "url": f"{url}/{sha}", "html_url": f"{page}/commit/{sha}"} for sha in one.parents]


def _account(site: Site, store: Store, one: Signed) -> dict[str, Any] | None:
    """Return whose address it is, None for an address that is nobody's."""
    login = one.email.removesuffix(_NOREPLY).rpartition("+")[2]
    known = one.email.endswith(_NOREPLY) and login.lower() in store.accounts
    return shape.account(site, store.account(login)) if known else None


def _encoded(content: bytes) -> str:
    return base64.encodebytes(content).decode()
