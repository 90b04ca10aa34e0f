"""One bare Git repository, read and written by plumbing: what REST makes is what `git fetch` sees, and back."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

DEADLINE = 60
"""Seconds for one command."""
NOTHING = "0" * 40
_SETTINGS = {
    "http.receivepack": "true",
    "uploadpack.allowFilter": "true",
    "uploadpack.allowAnySHA1InWant": "true",
    "gc.auto": "0",
}
_ID = re.compile(r"[0-9a-f]{40}")
_COMMIT = "%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B%x01"


class Signed(NamedTuple):
    """Who and when, as a commit says it."""

    name: str
    email: str
    at: int


class Commit(NamedTuple):
    """One commit."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Signed
    committer: Signed
    message: str


class Entry(NamedTuple):
    """One entry of a tree."""

    mode: str
    type: str
    sha: str
    size: int | None
    path: str


class GitRefused(Exception):
    """Git did not do it; the message is its own."""


class Bare:
    """A bare repository at a path, made when it is first used."""

    def __init__(self, path: str) -> None:
        """`path` ends in `.git`."""
        self.path = path
        self.frozen = False
        """True: refs stay as they are whatever is asked (a write that is answered and not stored)."""
        self._said: dict[tuple[str, ...], bytes] = {}
        if not os.path.exists(os.path.join(path, "HEAD")):
            subprocess.run(("git", "init", "-q", "--bare", "-b", "main", path), check=True, env=environment())
            for name, value in _SETTINGS.items():
                self.git("config", name, value)

    def git(self, *words: str, stdin: bytes = b"", env: Mapping[str, str] = {}) -> bytes:
        """Run one Git command in it. Raises GitRefused."""
        argv = ("git", "-C", self.path, *words)
        done = subprocess.run(
            argv, input=stdin, env={**environment(), **env}, capture_output=True, timeout=DEADLINE, check=False
        )
        if done.returncode:
            raise GitRefused(done.stderr.decode(errors="replace").strip())
        return done.stdout

    def refs(self, prefix: str = "refs/") -> dict[str, str]:
        """Return the refs below a prefix and where they stand, without those that are nobody's business."""
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)").decode().splitlines()
        pairs = (line.split(" ", 1) for line in lines)
        return {name: sha for name, sha in pairs if name.startswith(prefix)}

    def branch(self, name: str) -> str:
        """Return where a branch stands, "" if there is none."""
        return self.resolve(f"refs/heads/{name}") if name else ""

    def resolve(self, name: str) -> str:
        """Return the object that a name means, "" if it means none. A loose ref always counts and costs no process."""
        if name.startswith("refs/") and ".." not in name:
            try:
                with open(os.path.join(self.path, name), encoding="ascii") as stream:
                    return stream.read().strip()
            except (OSError, UnicodeDecodeError):
                pass  # packed, or a name with a suffix such as ^{tree}
        try:
            return self.git("rev-parse", "--verify", "--quiet", "--end-of-options", name).decode().strip()
        except GitRefused:
            return ""

    def kind(self, sha: str) -> str:
        """Return commit, tree, blob or tag, "" if there is no such object."""
        try:
            return self._lasting("cat-file", "-t", sha).decode().strip()
        except GitRefused:
            return ""

    def read(self, sha: str) -> bytes:
        """Return a blob's bytes. Raises GitRefused."""
        return self._lasting("cat-file", "blob", sha)

    def blob(self, content: bytes) -> str:
        """Store a blob; return its id."""
        return self.git("hash-object", "-w", "--stdin", stdin=content).decode().strip()

    def entries(self, tree: str, *, recursive: bool = False, path: str = "") -> list[Entry]:
        """Return what a tree holds. Raises GitRefused."""
        words = ("ls-tree", "-l", "-z", *(["-r", "-t"] if recursive else []), tree, *([path] if path else []))
        return [_entry(line) for line in self._lasting(*words).decode(errors="replace").split("\0") if line]

    def tree(self, entries: Sequence[Mapping[str, Any]], base: str = "") -> str:
        """Store a tree: `base` with entries {path, mode, sha or None} put in or removed; return its id."""
        index = os.path.join(self.path, f"index.{os.getpid()}.{id(entries)}")
        env = {"GIT_INDEX_FILE": index}
        try:
            self.git("read-tree", base or "--empty", env=env)
            lines = [f"{one['mode'] if one['sha'] else 0} {one['sha'] or NOTHING}\t{one['path']}" for one in entries]
            self.git("update-index", "--index-info", stdin="\n".join([*lines, ""]).encode(), env=env)
            return self.git("write-tree", env=env).decode().strip()
        finally:
            if os.path.exists(index):
                os.unlink(index)

    def commit(self, tree: str, parents: Sequence[str], message: str, author: Signed, committer: Signed) -> str:
        """Store a commit; return its id. Raises GitRefused."""
        words = ["commit-tree", tree, *(word for parent in parents for word in ("-p", parent))]
        return self.git(*words, stdin=message.encode(), env=_signatures(author, committer)).decode().strip()

    def update(self, ref: str, new: str, old: str | None = None) -> None:
        """Move, make or (new = "") remove a ref, if it stands at `old` ("": absent). Raises GitRefused."""
        if self.frozen:
            return
        words = ("update-ref", ref, new) if new else ("update-ref", "-d", ref)
        self.git(*words, *([old or NOTHING] if old is not None else []))

    def follows(self, new: str, old: str) -> bool:
        """Whether a commit comes after (or is) another."""
        try:
            self.git("merge-base", "--is-ancestor", old, new)
        except GitRefused:
            return False
        return True

    def log(self, start: str, *options: str, path: str = "") -> list[Commit]:
        """Return the commits that `git log` lists, newest first. Raises GitRefused."""
        said = self.git("log", f"--format={_COMMIT}", *options, start, "--", *([path] if path else []))
        return list(_commits(said.decode(errors="replace")))

    def one(self, sha: str) -> Commit:
        """Return one commit. Raises GitRefused."""
        said = self._lasting("log", f"--format={_COMMIT}", "--max-count=1", sha)
        return next(_commits(said.decode(errors="replace")))

    def put(self, branch: str, files: Mapping[str, str | bytes | None], message: str, author: Signed) -> str:
        """Commit files (None: removed) onto a branch, which is made if there is none; return the commit."""
        old = self.branch(branch)
        entries = [
            {"path": path, "mode": "100644", "sha": None if content is None else self.blob(_bytes(content))}
            for path, content in files.items()
        ]
        tree = self.tree(entries, f"{old}^{{tree}}" if old else "")
        new = self.commit(tree, [old] if old else [], message, author, author)
        self.update(f"refs/heads/{branch}", new, old)
        return new

    def files(self, branch: str) -> dict[str, bytes]:
        """Return every file of a branch."""
        start = self.branch(branch)
        entries = self.entries(start, recursive=True) if start else []
        return {entry.path: self.read(entry.sha) for entry in entries if entry.type == "blob"}

    def _lasting(self, *words: str) -> bytes:
        """Return what Git says of objects: the same for ever if the last word is a whole id. Raises GitRefused."""
        said = self._said.get(words)
        if said is None:
            said = self.git(*words)
            if _ID.fullmatch(words[-1]):
                self._said[words] = said
        return said


def environment() -> dict[str, str]:
    """Return the environment for Git: this machine's settings do not count."""
    return {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}


def _signatures(author: Signed, committer: Signed) -> dict[str, str]:
    return {
        f"GIT_{role}_{part}": value
        for role, who in (("AUTHOR", author), ("COMMITTER", committer))
        for part, value in (("NAME", who.name), ("EMAIL", who.email), ("DATE", f"{who.at} +0000"))
    }


def _entry(line: str) -> Entry:
    head, _, path = line.partition("\t")
    mode, kind, sha, size = head.split()
    return Entry(mode, kind, sha, None if size == "-" else int(size), path)


def _commits(said: str) -> Iterator[Commit]:
    for text in said.split("\x01"):
        if not text.strip():
            continue
        sha, tree, parents, an, ae, at, cn, ce, ct, message = text.lstrip("\n").split("\0")
        author, committer = Signed(an, ae, int(at)), Signed(cn, ce, int(ct))
        yield Commit(sha, tree, tuple(parents.split()), author, committer, message.removesuffix("\n"))


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content
