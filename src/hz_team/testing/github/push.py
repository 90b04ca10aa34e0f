"""Pushes as events tell of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.testing.github.bare import NOTHING, GitRefused
from hz_team.testing.github.shape import iso

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.testing.github.bare import Bare, Commit, Signed
    from hz_team.testing.github.deed import Actor

_MOST = 20
"""Commits that a payload lists."""
WORKFLOWS = ".github/workflows/"


def tell_difference(actor: Actor, before: Mapping[str, str]) -> None:
    """Write an event for every branch and tag that moved since."""
    after = actor.repo.bare.refs()
    for ref in sorted({*before, *after}):
        old, new = before.get(ref, NOTHING), after.get(ref, NOTHING)
        if old != new and ref.startswith(("refs/heads/", "refs/tags/")):
            tell(actor, ref, old, new)


def tell(actor: Actor, ref: str, old: str, new: str) -> None:
    """Write the event of one ref that moved; `old`, `new`: zeros for absent."""
    if actor.quiet:
        return
    commits = _commits(actor.repo.bare, old, new)
    page = actor.site.page(actor.repo)
    shown = [_commit(page, actor.repo.bare, one) for one in reversed(commits[:_MOST])]
    actor.tell(
        "push",
        ref=ref,
        before=old,
        after=new,
        created=old == NOTHING,
        deleted=new == NOTHING,
        forced=NOTHING not in (old, new) and not actor.repo.bare.follows(new, old),
        base_ref=None,
        compare=f"{page}/compare/{old[:12]}...{new[:12]}",
        commits=shown,
        head_commit=shown[-1] if shown else None,
        pusher={"name": actor.account.login, "email": f"{actor.account.login}@users.noreply.github.com"},
    )
    _tell_pulls(actor, ref, old, new)


def _tell_pulls(actor: Actor, ref: str, old: str, new: str) -> None:
    """Tell of the open pull requests whose branch grew."""
    for pull in actor.repo.pulls:
        if pull.state == "open" and ref == f"refs/heads/{pull.head}" and NOTHING not in (old, new):
            pull.updated_at = actor.store.time()
            actor.tell_thread(pull, "synchronize", before=old, after=new)


def _commits(bare: Bare, old: str, new: str) -> list[Commit]:
    if new == NOTHING:
        return []
    try:
        return bare.log(new, f"--max-count={_MOST}", *([] if old == NOTHING else [f"^{old}"]))
    except GitRefused:
        return []  # a tag of something that is no commit


def _commit(page: str, bare: Bare, one: Commit) -> dict[str, Any]:
    files = bare.git("diff-tree", "-r", "-z", "--root", "--no-commit-id", "--name-status", one.sha).decode()
    words = files.split("\0")[:-1]
    changes = list(zip(words[::2], words[1::2], strict=True))
    return {
        "id": one.sha,
        "tree_id": one.tree,
        "distinct": True,
        "message": one.message,
        "timestamp": iso(one.committer.at),
        "url": f"{page}/commit/{one.sha}",
        "author": _person(one.author),
        "committer": _person(one.committer),
        "added": [path for status, path in changes if status == "A"],
        "removed": [path for status, path in changes if status == "D"],
        "modified": [path for status, path in changes if status not in ("A", "D")],
    }


def _person(one: Signed) -> dict[str, Any]:
    return {"name": one.name, "email": one.email}


def touches_workflows(bare: Bare, old: str, new: str) -> bool:
    """Whether what a push brings writes a workflow file."""
    try:
        if old == NOTHING:
            return bool(bare.git("log", "--name-only", "--format=", new, "--not", "--all", "--", WORKFLOWS).strip())
        return bool(bare.git("diff-tree", "-r", "--name-only", old, new, "--", WORKFLOWS).strip())
    except GitRefused:
        return False  # it is no commit
