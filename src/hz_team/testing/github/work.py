"""What an account does to pull requests, releases, discussions and workflows: each causes its event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.testing.github import push, shape_discussion, shape_pull, shape_release
from hz_team.testing.github.bare import NOTHING
from hz_team.testing.github.noun import Discussion, Pull, Release

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.testing.github.bare import Signed
    from hz_team.testing.github.deed import Actor
    from hz_team.testing.github.noun import Workflow


def opens_pull(actor: Actor, title: str, body: str | None, head: str, base: str, *, draft: bool = False) -> Pull:
    """Open a pull request between two branches that exist."""
    repo = actor.repo
    pull = Pull(
        **actor.store.begin(actor.account, body),
        number=repo.next_number(),
        title=title,
        head=head,
        base=base,
        head_sha=repo.bare.branch(head),
        base_sha=repo.bare.branch(base),
        draft=draft,
    )
    repo.threads[pull.number] = pull
    actor.tell_thread(pull, "opened")
    return pull


def merges(actor: Actor, pull: Pull, signed: Signed) -> str:
    """Merge a pull request with a merge commit; return that. Raises GitRefused on a conflict."""
    bare = actor.repo.bare
    head, base = shape_pull.current_head(actor.repo, pull), bare.branch(pull.base)
    tree = bare.git("merge-tree", "--write-tree", base, head).decode().split()[0]
    message = f"Merge pull request #{pull.number} from {actor.repo.owner}/{pull.head}\n\n{pull.title}\n"
    merged = bare.commit(tree, [base, head], message, signed, signed)
    bare.update(f"refs/heads/{pull.base}", merged, base)
    now = actor.store.time()
    pull.state, pull.closed_by, pull.closed_at, pull.updated_at = "closed", actor.account, now, now
    pull.merged_at, pull.merged_by, pull.merge_commit_sha = now, actor.account, merged
    actor.tell_thread(pull, "closed")
    push.tell(actor, f"refs/heads/{pull.base}", base, merged)
    return merged


def releases(
    actor: Actor,
    tag: str,
    body: str | None,
    *,
    name: str | None,
    target: str,
    draft: bool = False,
    prerelease: bool = False,
) -> Release:
    """Make a release; one that is no draft makes its tag, if there is a commit for it."""
    now = actor.store.time()
    one = Release(
        **actor.store.begin(actor.account, body),
        tag=tag,
        name=name,
        target=target,
        draft=draft,
        prerelease=prerelease,
        published_at=0 if draft else now,
    )
    actor.repo.releases.append(one)
    if not draft:
        tags(actor, one)
        shown = shape_release.release(actor.site, actor.repo, one)
        for action in ("created", "published", *(() if prerelease else ("released",))):
            actor.tell("release", action, release=shown)
    return one


def tags(actor: Actor, one: Release) -> None:
    """Make a release's tag unless it is there."""
    bare, ref = actor.repo.bare, f"refs/tags/{one.tag}"
    commit = bare.branch(one.target) or bare.resolve(one.target)
    if commit and not bare.resolve(ref):
        bare.update(ref, commit, "")
        push.tell(actor, ref, NOTHING, commit)


def discusses(actor: Actor, title: str, body: str, category: str) -> Discussion:
    """Start a discussion."""
    one = Discussion(
        **actor.store.begin(actor.account, body), number=actor.repo.next_number(), title=title, category=category
    )
    actor.repo.talks[one.number] = one
    tell_discussion(actor, one, "created")
    return one


def tell_discussion(actor: Actor, one: Discussion, action: str) -> None:
    """Write the event of a discussion."""
    actor.tell("discussion", action, discussion=shape_discussion.payload(actor.site, actor.repo, one))


def dispatches(actor: Actor, event: str, payload: Mapping[str, Any]) -> None:
    """Send a repository_dispatch: it starts workflows whoever sends it."""
    loud, branch = actor._replace(quiet=False), actor.repo.default_branch
    loud.tell("repository_dispatch", event, branch=branch, client_payload=dict(payload))


def starts(actor: Actor, workflow: Workflow, inputs: Mapping[str, Any], branch: str) -> None:
    """Start a workflow by hand, whoever asks."""
    loud, ref = actor._replace(quiet=False), f"refs/heads/{branch}"
    loud.tell("workflow_dispatch", inputs=dict(inputs), ref=ref, workflow=workflow.path)
