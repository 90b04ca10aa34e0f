"""Releases: listed, made, changed, removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.testing.github import shape_release, work
from hz_team.testing.github.call import Answer, invalid, missing, route
from hz_team.testing.github.routes.issues import body_of

if TYPE_CHECKING:
    from hz_team.testing.github.call import Call
    from hz_team.testing.github.noun import Release

RELEASES = "/repos/{owner}/{repo}/releases"
RELEASE = f"{RELEASES}/{{release_id}}"
READ, WRITE = "contents:read", "contents:write"


def show(call: Call, one: Release) -> dict[str, Any]:
    """Show a release."""
    return shape_release.release(call.site, call.repo, one)


def release_of(call: Call) -> Release:
    """Return the release of the path. Raises Refused: 404."""
    number = call.number("release_id")
    return _first(call, lambda one: one.id == number)


@route("GET", RELEASES, READ)
def list_releases(call: Call) -> Answer:
    """List releases, newest first; drafts only for who may push."""
    found = [one for one in reversed(call.shown(call.repo.releases)) if call.pushes or not one.draft]
    return call.page(found, lambda one: show(call, one))


@route("POST", RELEASES, WRITE)
def create_release(call: Call) -> Answer:
    """Make a release. Refused: 422 if its tag has one, or no commit is there for a new tag."""
    words, bare = call.words(), call.repo.bare
    tag = call.text("tag_name", resource="Release")
    draft, target = bool(words.get("draft")), str(words.get("target_commitish") or call.repo.default_branch)
    if any(one.tag == tag and not one.draft for one in call.repo.releases):
        raise invalid("Release", "tag_name", "already_exists")
    if not draft and not bare.resolve(f"refs/tags/{tag}") and not (bare.branch(target) or bare.kind(target)):
        raise invalid("Release", "target_commitish", "invalid")
    one = work.releases(
        call.actor_here,
        tag,
        body_of(call, "Release"),
        name=words.get("name"),
        target=target,
        draft=draft,
        prerelease=bool(words.get("prerelease")),
    )
    shown = show(call, one)
    return Answer(201, shown, {"Location": shown["url"]})


@route("GET", f"{RELEASES}/latest", READ)
def get_latest(call: Call) -> Answer:
    """Show the newest that is neither draft nor prerelease."""
    found = [one for one in call.repo.releases if not one.draft and not one.prerelease]
    if not found:
        raise missing()
    return Answer(200, show(call, found[-1]))


@route("GET", f"{RELEASES}/tags/{{tag}}", READ)
def get_by_tag(call: Call) -> Answer:
    """Show the release of a tag; a draft has none."""
    one = _first(call, lambda one: one.tag == call.args["tag"] and not one.draft)
    return Answer(200, show(call, one), modified=one.updated_at)


@route("GET", RELEASE, READ)
def get_release(call: Call) -> Answer:
    """Show one."""
    one = release_of(call)
    return Answer(200, show(call, one), modified=one.updated_at)


@route("PATCH", RELEASE, WRITE)
def update_release(call: Call) -> Answer:
    """Change one; a draft may be published."""
    one, words = release_of(call), call.words()
    one.tag, one.name = str(words.get("tag_name") or one.tag), words.get("name", one.name)
    one.prerelease = bool(words.get("prerelease", one.prerelease))
    if "body" in words:
        call.store.write(one, body_of(call, "Release"), call.actor)
    if one.draft and words.get("draft") is False:
        one.draft, one.published_at = False, call.store.time()
        work.tags(call.actor_here, one)
        call.actor_here.tell("release", "published", release=show(call, one))
    one.updated_at = call.store.time()
    return Answer(200, show(call, one))


@route("DELETE", RELEASE, WRITE)
def delete_release(call: Call) -> Answer:
    """Remove a release; its tag stays."""
    one = release_of(call)
    call.repo.releases.remove(one)
    call.actor_here.tell("release", "deleted", release=show(call, one))
    return Answer(204)


def _first(call: Call, fits: Any) -> Release:
    found = next((one for one in call.repo.releases if fits(one)), None)
    if found is None or (found.draft and not call.pushes):
        raise missing()
    return found
