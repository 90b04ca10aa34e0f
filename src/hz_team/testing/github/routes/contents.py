"""Files of a branch, and the history of commits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team.testing.github import push, shape_git
from hz_team.testing.github.bare import NOTHING
from hz_team.testing.github.call import Answer, Refused, missing, route
from hz_team.testing.github.routes.git_data import READ, WRITE, bytes_of, commit_of, may_touch_workflows, signed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.testing.github.bare import Commit, Entry
    from hz_team.testing.github.call import Call

CONTENTS = "/repos/{owner}/{repo}/contents/{path}"


@route("GET", CONTENTS, READ)
def get_content(call: Call) -> Answer:
    """Show a file with its bytes, or what a folder holds."""
    at = call.query.get("ref") or call.repo.default_branch
    path, bare = call.args["path"].strip("/"), call.repo.bare
    commit = commit_of(call, at.removeprefix("refs/heads/"))
    entry = _entry(call, commit.tree, path)
    if entry is None:
        raise missing()
    if entry.type == "blob":
        if "raw" in call.accept:
            return Answer(200, bare.read(entry.sha), {"Content-Type": "application/vnd.github.raw; charset=utf-8"})
        return Answer(200, shape_git.content(call.site, call.repo, entry, at, bare))
    inside = bare.entries(entry.sha)
    shown = (one._replace(path=f"{path}/{one.path}") for one in inside)
    return Answer(200, [shape_git.content(call.site, call.repo, one, at) for one in shown])


@route("PUT", CONTENTS, WRITE)
def put_content(call: Call) -> Answer:
    """Write a file in one commit. Refused: 409 if `sha` is not what is there, 422 if it is missing and a file is."""
    words, path = call.words(), call.args["path"].strip("/")
    branch = str(words.get("branch") or call.repo.default_branch)
    old = call.repo.bare.branch(branch)
    entry = _entry(call, f"{old}^{{tree}}", path) if old else None
    given = words.get("sha")
    if entry and not given:
        raise Refused(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
    if entry and given != entry.sha:
        raise Refused(409, f"{path} does not match {given}")
    if path.startswith(push.WORKFLOWS) and not may_touch_workflows(call):
        raise Refused(403, "Resource not accessible by integration")
    message, content = call.text("message", resource="Commit"), bytes_of(call, "base64")
    commit = _commit(call, branch, {path: content}, message, words)
    found = _entry(call, commit.tree, path)
    if found is None:
        raise missing()
    shown = shape_git.content(call.site, call.repo, found, branch)
    data = {"content": shown, "commit": shape_git.git_commit(call.site, call.repo, commit)}
    return Answer(200 if entry else 201, data)


@route("GET", "/repos/{owner}/{repo}/commits", READ)
def list_commits(call: Call) -> Answer:
    """List the commits of a branch, newest first. Refused: 409 for a repository without any, 404 for no such branch."""
    query, bare = call.query, call.repo.bare
    start = query.get("sha") or call.repo.default_branch
    if not bare.refs("refs/heads/"):
        raise Refused(409, "Git Repository is empty.")
    options = [f"--{name}={query[name]}" for name in ("since", "until", "author") if query.get(name)]
    found = bare.log(commit_of(call, start).sha, *options, path=query.get("path", ""))
    return call.page(found, lambda one: shape_git.commit(call.site, call.store, call.repo, one))


@route("GET", "/repos/{owner}/{repo}/commits/{ref}", READ)
def get_commit(call: Call) -> Answer:
    """Show a commit by its id, a branch or a tag."""
    one = commit_of(call, call.args["ref"])
    return Answer(200, shape_git.commit(call.site, call.store, call.repo, one), modified=one.committer.at)


@route("GET", "/repos/{owner}/{repo}/branches/{branch}", READ)
def get_branch(call: Call) -> Answer:
    """Show a branch; one whose name has slashes is asked for in its encoded form."""
    name = call.args["branch"]
    if not call.repo.bare.branch(name):
        raise missing()
    one, url = commit_of(call, name), f"{call.site.repository(call.repo)}/branches/{name}"
    rules = call.repo.rules.get(name, [])
    shown = {
        "name": name,
        "commit": shape_git.commit(call.site, call.store, call.repo, one),
        "_links": {"self": url, "html": f"{call.site.page(call.repo)}/tree/{name}"},
        "protected": bool(rules),
        "protection": {"enabled": bool(rules)},
        "protection_url": f"{url}/protection",
    }
    return Answer(200, shown)


def _entry(call: Call, tree: str, path: str) -> Entry | None:
    found = call.repo.bare.entries(tree, path=path)
    return next((one for one in found if one.path == path), None)


def _commit(call: Call, branch: str, files: Mapping[str, bytes], message: str, words: Mapping[str, object]) -> Commit:
    bare, old = call.repo.bare, call.repo.bare.branch(branch)
    author = signed(call, words.get("author"))
    new = bare.put(branch, files, message, author)
    push.tell(call.actor_here, f"refs/heads/{branch}", old or NOTHING, new)
    return bare.one(new)
