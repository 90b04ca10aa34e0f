"""`in: repo`: a throw-away checkout of the default branch, and the difference that steps made in it.

The checkout shares the objects of the team's repository and nothing else of it: no remote, no settings, no credentials.
What changed is asked of a second repository folder that no step could write to.
"""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team.beneath import WorkroomError, read_beneath
from hz_team.ports import Command, Limits
from hz_team.surroundings import QUIET, SYSTEM_PATH

if TYPE_CHECKING:
    from hz_team.ports import Processes
    from hz_team.workroom import Workroom

LARGEST = 1_000_000
"""Bytes of a difference, and of all new files together."""
LINK, SUBMODULE = "120000", "160000"
SAFE = (("safe.directory", "*"), ("core.hooksPath", "/dev/null"), ("core.fsmonitor", "false"), ("gc.auto", "0"))

# $1: the team's repository, $2: the branch asked for ("" for the default one). In the empty folder of the checkout.
PREPARE = """set -eu
git clone --quiet --shared --no-checkout --template= \
  -c 'remote.origin.fetch=+refs/remotes/origin/*:refs/remotes/upstream/*' -- "$1" .
if [ -n "$2" ]; then set -- "refs/remotes/upstream/$2" "refs/remotes/origin/$2"
else set -- refs/remotes/upstream/HEAD refs/remotes/origin/HEAD; fi
for ref do
  if commit=$(git rev-parse --quiet --verify "$ref^{commit}"); then break; fi
done
[ -n "$commit" ] || commit=$(git rev-parse --quiet --verify "HEAD^{commit}") || {
  echo 'it has no commit yet: make the first one' >&2; exit 1
}
name=$(git rev-parse --abbrev-ref refs/remotes/origin/HEAD 2>/dev/null || echo HEAD)
git remote remove origin
git checkout --quiet --detach "$commit"
printf '%s\\n%s\\n' "$commit" "${name#origin/}"
"""
# In the folder for the result.
COMPARE = """set -eu
git add --all -- .
git diff --cached --raw -z --no-renames HEAD > changed
git diff --cached --binary --full-index --no-color --no-ext-diff --no-textconv --no-renames HEAD > patch
"""


class Checkout(NamedTuple):
    """A checkout as it was handed to the steps."""

    base: str
    """Name of the branch it was made from."""
    commit: str
    objects: tuple[str, ...]
    """Folders of shared objects; steps may read them."""


class Difference(NamedTuple):
    """What steps changed in it."""

    patch: str
    files: dict[str, Any]
    """Path → new text, {"base64": text} for bytes, None if it was removed."""


def prepare(processes: Processes, room: Workroom, base: str) -> Checkout:
    """Make `repo/` in the room from the repository around its root. Raises WorkroomError with what to do."""
    source = repository(room.root)
    if not source:
        text = "`in: repo` needs a Git repository, and the folder of .hz/ is in none: run `git init` there"
        raise WorkroomError(text)
    objects = tuple(shared(os.path.join(source, "objects")))
    os.mkdir(room.path("repo"), 0o700)
    finished = processes.run(_git(room, PREPARE, (source, base), cwd="repo", read=(source, *objects), write=("repo",)))
    if finished.code != 0:
        last = finished.stderr.strip().rpartition("\n")[2]
        wanted = f" of {base}" if base else ""
        why = last or "Git did not say why"
        raise WorkroomError(f"no checkout{wanted} could be made of the team's repository: {why}")
    commit, _, branch = finished.stdout.strip().partition("\n")
    from shutil import copytree

    copytree(room.path("repo", ".git"), room.path("base.git"), symlinks=True)
    return Checkout(base or (branch if branch not in ("", "HEAD") else "main"), commit, objects)


def difference(processes: Processes, room: Workroom, made: Checkout) -> Difference:
    """Return what is different from the commit. Raises WorkroomError if it cannot become a pull request."""
    os.mkdir(room.path("compared"), 0o700)
    env = {"GIT_DIR": room.path("base.git"), "GIT_WORK_TREE": room.path("repo")}
    command = _git(
        room, COMPARE, (), cwd="compared", read=(room.path("repo"), *made.objects), write=("base.git", "compared")
    )
    finished = processes.run(command._replace(env={**command.env, **env}, cwd=room.path("compared")))
    if finished.code != 0:
        raise WorkroomError(f"the difference of the checkout cannot be read: {finished.stderr.strip()[-300:]}")
    patch = read_beneath(room.folder, ("compared", "patch"), largest=LARGEST) or b""
    changed = read_beneath(room.folder, ("compared", "changed"), largest=LARGEST) or b""
    try:
        return Difference(patch.decode(), _files(room, changed.decode()))
    except UnicodeDecodeError as error:
        raise WorkroomError(
            "the difference has text or names that are not UTF-8; a pull request takes UTF-8"
        ) from error


def _files(room: Workroom, changed: str) -> dict[str, Any]:
    """Return the new content of every path of `git diff --raw -z`."""
    files: dict[str, Any] = {}
    fields = changed.split("\0")
    for entry, path in zip(fields[::2], fields[1::2], strict=False):
        mode = entry.split(" ")[1]
        if mode in (LINK, SUBMODULE):
            raise WorkroomError(
                f"{path} became a {'link' if mode == LINK else 'repository'}; a pull request takes files"
            )
        content = (
            None if entry.endswith("D") else read_beneath(room.folder, ("repo", *path.split("/")), largest=LARGEST)
        )
        files[path] = None if content is None else _text(content)
    if sum(len(str(content)) for content in files.values()) > LARGEST:
        raise WorkroomError(f"the changed files are larger than {LARGEST:,} bytes together")
    return files


def _text(content: bytes) -> str | dict[str, str]:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def repository(root: str) -> str:
    """Return the Git folder of the repository around a folder (for a linked worktree the main one), "" if none."""
    place = os.path.realpath(root)
    while not os.path.exists(os.path.join(place, ".git")):
        if place == os.path.dirname(place):
            return ""
        place = os.path.dirname(place)
    found = os.path.join(place, ".git")
    if os.path.isfile(found):
        with open(found, encoding="utf-8") as stream:
            found = os.path.join(place, stream.read().removeprefix("gitdir:").strip())
    common = os.path.join(found, "commondir")
    if os.path.isfile(common):
        with open(common, encoding="utf-8") as stream:
            found = os.path.join(found, stream.read().strip())
    return os.path.realpath(found)


def shared(objects: str, *, depth: int = 5) -> list[str]:
    """Return a folder of objects and those that it borrows from (gitrepository-layout(5), info/alternates)."""
    found = [objects]
    try:
        with open(os.path.join(objects, "info", "alternates"), encoding="utf-8") as stream:
            borrowed = [os.path.join(objects, line.strip()) for line in stream if line.strip() and line[0] != "#"]
    except FileNotFoundError:
        return found
    for path in borrowed if depth else ():
        found.extend(shared(os.path.realpath(path), depth=depth - 1))
    return found


def _git(
    room: Workroom,
    script: str,
    words: tuple[str, ...],
    *,
    cwd: str,
    read: tuple[str, ...],
    write: tuple[str, ...],
) -> Command:
    settings = {
        name: value
        for number, (key, said) in enumerate(SAFE)
        for name, value in ((f"GIT_CONFIG_KEY_{number}", key), (f"GIT_CONFIG_VALUE_{number}", said))
    }
    return Command(
        argv=("sh", "-c", script, "git", *words),
        cwd=room.path(cwd),
        env={
            **QUIET,
            **settings,
            "GIT_CONFIG_COUNT": str(len(SAFE)),
            "HOME": room.path("home"),
            "PATH": ":".join(SYSTEM_PATH),
            "TMPDIR": room.path("tmp"),
        },
        timeout=room.timeout,
        read=read,
        write=(room.path("home"), room.path("tmp"), *(room.path(name) for name in write)),
        limits=Limits(),
    )
