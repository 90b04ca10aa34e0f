"""The Git data API: blobs, trees, commits and refs, made and read in the bare repository."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hz_team.testing.github import push, shape_git
from hz_team.testing.github.bare import NOTHING, GitRefused, Signed
from hz_team.testing.github.call import Answer, Refused, invalid, missing, route

if TYPE_CHECKING:
    from hz_team.testing.github.bare import Commit
    from hz_team.testing.github.call import Call

GIT = "/repos/{owner}/{repo}/git"
READ, WRITE = "contents:read", "contents:write"
_MODES = ("100644", "100755", "040000", "160000", "120000")


@route("GET", f"{GIT}/ref/{{ref}}", READ)
def get_ref(call: Call) -> Answer:
    """Show where one ref stands."""
    name = f"refs/{call.args['ref']}"
    found = call.repo.bare.resolve(name)
    if not found:
        raise missing()
    return Answer(200, shape_git.ref(call.site, call.repo, name, found))


@route("GET", f"{GIT}/matching-refs/{{ref}}", READ)
def list_refs(call: Call) -> Answer:
    """List the refs that begin with a name."""
    found = sorted(call.repo.bare.refs(f"refs/{call.args['ref']}").items())
    return call.page(found, lambda pair: shape_git.ref(call.site, call.repo, *pair))


@route("POST", f"{GIT}/refs", WRITE)
def create_ref(call: Call) -> Answer:
    """Make a ref. Refused: 422 if it is there, or the name or the object is not right."""
    name, sha, bare = call.text("ref", resource="Reference"), call.text("sha", resource="Reference"), call.repo.bare
    if not name.startswith("refs/") or name.count("/") < 2:  # noqa: PLR2004  (refs/heads/x)
        raise Refused(422, "Reference name must start with 'refs/' and have at least two slashes")
    if not bare.kind(sha):
        raise Refused(422, "Object does not exist")
    if bare.resolve(name):
        raise Refused(422, "Reference already exists")
    _move(call, name, sha, "")
    shown = shape_git.ref(call.site, call.repo, name, sha)
    return Answer(201, shown, {"Location": shown["url"]})


@route("PATCH", f"{GIT}/refs/{{ref}}", WRITE)
def update_ref(call: Call) -> Answer:
    """Move a ref. Refused: 422 if it is not there, or is no fast-forward and not forced."""
    name, sha, bare = f"refs/{call.args['ref']}", call.text("sha", resource="Reference"), call.repo.bare
    old = bare.resolve(name)
    if not old:
        raise Refused(422, "Reference does not exist")
    if not bare.kind(sha):
        raise Refused(422, "Object does not exist")
    if not call.words().get("force") and not bare.follows(sha, old):
        raise Refused(422, "Update is not a fast forward")
    _move(call, name, sha, old)
    return Answer(200, shape_git.ref(call.site, call.repo, name, sha))


@route("DELETE", f"{GIT}/refs/{{ref}}", WRITE)
def delete_ref(call: Call) -> Answer:
    """Remove a ref. Refused: 422 if it is not there."""
    name = f"refs/{call.args['ref']}"
    old = call.repo.bare.resolve(name)
    if not old:
        raise Refused(422, "Reference does not exist")
    _move(call, name, "", old)
    return Answer(204)


@route("POST", f"{GIT}/blobs", WRITE)
def create_blob(call: Call) -> Answer:
    """Store a blob."""
    sha = call.repo.bare.blob(bytes_of(call, call.words().get("encoding") or "utf-8"))
    url = f"{call.site.repository(call.repo)}/git/blobs/{sha}"
    return Answer(201, {"sha": sha, "url": url}, {"Location": url})


@route("GET", f"{GIT}/blobs/{{file_sha}}", READ)
def get_blob(call: Call) -> Answer:
    """Show a blob."""
    try:
        content = call.repo.bare.read(call.args["file_sha"])
    except GitRefused:
        raise missing() from None
    return Answer(200, shape_git.blob(call.site, call.repo, call.args["file_sha"], content))


@route("POST", f"{GIT}/trees", WRITE)
def create_tree(call: Call) -> Answer:
    """Store a tree, on top of another or not. Refused: 404 for an unknown base, 422 for an entry that is not right."""
    words, bare = call.words(), call.repo.bare
    base, entries = str(words.get("base_tree") or ""), words.get("tree")
    if base and bare.kind(base) not in ("tree", "commit"):
        raise missing()
    if not isinstance(entries, list):
        raise Refused(422, 'Invalid request.\n\n"tree" wasn\'t supplied.')
    sha = bare.tree([_entry(call, one) for one in entries], f"{base}^{{tree}}" if base else "")
    return Answer(201, shape_git.tree(call.site, call.repo, sha, bare.entries(sha)))


@route("GET", f"{GIT}/trees/{{tree_sha}}", READ)
def get_tree(call: Call) -> Answer:
    """Show a tree by its id, a commit or a branch."""
    bare = call.repo.bare
    sha = bare.resolve(f"{call.args['tree_sha']}^{{tree}}")
    if not sha:
        raise missing()
    entries = bare.entries(sha, recursive=bool(call.query.get("recursive")))
    return Answer(200, shape_git.tree(call.site, call.repo, sha, entries))


@route("POST", f"{GIT}/commits", WRITE)
def create_commit(call: Call) -> Answer:
    """Store a commit. Refused: 422 for a tree or parent that is not there."""
    words, bare = call.words(), call.repo.bare
    tree = call.text("tree", resource="Commit")
    parents = [str(one) for one in words.get("parents") or []]
    if bare.kind(tree) != "tree":
        raise Refused(422, "Tree SHA does not exist")
    for parent in parents:
        if bare.kind(parent) != "commit":
            raise Refused(422, "Parent SHA does not exist or is not a commit object")
    author = signed(call, words.get("author"))
    committer = signed(call, words.get("committer")) if words.get("committer") else author
    sha = bare.commit(tree, parents, call.text("message", resource="Commit"), author, committer)
    shown = shape_git.git_commit(call.site, call.repo, commit_of(call, sha))
    return Answer(201, shown, {"Location": shown["url"]})


@route("GET", f"{GIT}/commits/{{commit_sha}}", READ)
def get_commit(call: Call) -> Answer:
    """Show a commit."""
    return Answer(200, shape_git.git_commit(call.site, call.repo, commit_of(call, call.args["commit_sha"])))


def commit_of(call: Call, name: str) -> Commit:
    """Return a commit by its id or the name of a branch. Raises Refused: 404."""
    bare = call.repo.bare
    sha = bare.branch(name) or bare.resolve(f"{name}^{{commit}}")
    if not sha:
        raise missing()
    return bare.one(sha)


def bytes_of(call: Call, encoding: str) -> bytes:
    """Return the body's `content`. Raises Refused: 422."""
    content = call.words().get("content")
    if not isinstance(content, str):
        raise invalid("Blob", "content", "missing_field")
    if encoding != "base64":
        return content.encode()
    try:
        return base64.b64decode(content)
    except binascii.Error:
        raise Refused(422, "content is not valid Base64") from None


def signed(call: Call, given: Any) -> Signed:
    """Return who and when, as the body says or else the token's account now."""
    said = given if isinstance(given, dict) else {}
    login = call.actor.login
    mail = f"{call.actor.id}+{login}@users.noreply.github.com"
    at = call.store.time()
    if said.get("date"):
        at = int(datetime.fromisoformat(str(said["date"])).timestamp())
    return Signed(str(said.get("name") or login), str(said.get("email") or mail), at)


def may_touch_workflows(call: Call) -> bool:
    """Whether the token may write workflow files."""
    token = call.token
    return token is None or not token.is_installation or token.level("workflows") == "write"


def _entry(call: Call, one: Any) -> dict[str, Any]:
    path, mode, bare = str(one.get("path") or ""), str(one.get("mode") or ""), call.repo.bare
    if not path or path.startswith("/") or ".." in path.split("/"):
        raise Refused(422, "tree.path contains a malformed path component")
    if mode not in _MODES:
        raise Refused(422, f"Must supply a valid tree.mode, one of {', '.join(_MODES)}")
    if "content" in one:
        return {"path": path, "mode": mode, "sha": bare.blob(str(one["content"]).encode())}
    sha = one.get("sha")
    if sha is not None and not bare.kind(str(sha)):
        raise Refused(422, f"tree.sha {sha} does not exist")
    return {"path": path, "mode": mode, "sha": sha}


def _move(call: Call, name: str, new: str, old: str) -> None:
    """Move a ref and tell of it. Raises Refused: 422 when Git does not, 403 for a workflow file without permission."""
    if new and not may_touch_workflows(call) and push.touches_workflows(call.repo.bare, old or NOTHING, new):
        raise Refused(403, "Resource not accessible by integration")
    try:
        call.repo.bare.update(name, new, old)
    except GitRefused as error:
        raise Refused(422, f"Reference update failed: {error}") from None
    push.tell(call.actor_here, name, old or NOTHING, new or NOTHING)
