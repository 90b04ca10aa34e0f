"""Questions asked of Git, and what is asked of it to do; `git_runner` does the asking.

Only `fetch`, `fetch_objects` and `push` know that objects may be missing (partial clone): no other question can start a
transfer behind our back.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from hz_team.adapters.git_runner import GitError, Repository, ask, end, masked, run, start
from hz_team.adapters.nearby import loose_ref

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

PARTIAL = (("remote.origin.promisor", "true"), ("remote.origin.partialclonefilter", "blob:none"))
"""Given to the three verbs that may meet missing objects, and to no other (git-scm.com/docs/partial-clone)."""


class Blob(NamedTuple):
    """One file of a tree."""

    id: str
    path: str


class Update(NamedTuple):
    """One ref to move on the remote."""

    ref: str
    old: str
    """What the remote must have now; "" if it must have none."""
    new: str
    """A commit's id; "" removes the ref."""


class Message(NamedTuple):
    """Who commits what, and when."""

    text: str
    author: str
    """`name <address>`"""
    at: int


class Ref(NamedTuple):
    """Where a ref stands, and what that commit's message says."""

    name: str
    commit: str
    message: str


class Pushed(NamedTuple):
    """What a push brought. A ref that is in no line has an unknown fate."""

    lines: Mapping[str, tuple[str, str]]
    """Ref → flag and text of `git push --porcelain`."""
    stderr: str = ""


def make(path: str, environ: Mapping[str, str], settings: Iterable[tuple[str, str]] = ()) -> None:
    """Make a bare repository with these settings in its file, without the machine's templates. Raises GitError."""
    repository = Repository(path, environ)
    os.makedirs(path, mode=0o700, exist_ok=True)
    ask(repository, "init", "-q", "--bare", "--template=")
    with open(os.path.join(path, "config"), "a", encoding="utf-8") as stream:
        for name, value in settings:
            section, _, key = name.partition(".")
            stream.write(f'[{section}]\n\t{key} = "{value}"\n')


def commit_of(repository: Repository, ref: str) -> str:
    """Return the commit a ref points to, "" if there is no such ref. Raises GitError when the repository is none."""
    if value := loose_ref(repository.path, ref):
        return value
    return ask(repository, "for-each-ref", "--format=%(objectname)", ref).decode().strip()


def fetch(repository: Repository, *refspecs: str, depth: int = 0, prune: bool = False, whole: bool = False) -> None:
    """Bring these refs here, with trees, and without blobs (unless `whole`) where the server can do that.

    Raises GitError.
    """
    depths = (*((f"--depth={depth}",) if depth else ()), *(("--prune",) if prune else ()))
    options = ("-q", *depths, *(() if whole else ("--filter=blob:none",)), "--no-tags", "--no-write-fetch-head")
    settings = (*(() if whole else PARTIAL), *repository.access)
    ask(repository, "fetch", *options, "origin", *refspecs, settings=settings)


def fetch_objects(repository: Repository, ids: Iterable[str]) -> None:
    """Bring these objects here in one request. Raises GitError."""
    noop = ("fetch.negotiationAlgorithm", "noop")  # what we have does not tell which of these are missing
    words = ("fetch", "-q", "--filter=blob:none", "--no-tags", "--no-write-fetch-head", "origin", "--stdin")
    stdin = "".join(f"{name}\n" for name in ids).encode()
    ask(repository, *words, stdin=stdin, settings=(*PARTIAL, noop, *repository.access))


def blobs(repository: Repository, tip: str, *paths: str) -> list[Blob]:
    """Return the files at or below these paths at a commit, in the order of their paths. Raises GitError."""
    out = ask(repository, "ls-tree", "-r", "-z", "--full-tree", tip, "--", *paths)
    rows = (row.split("\t", 1) for row in out.decode("utf-8", "surrogateescape").split("\0") if row)
    return [Blob(about.split(" ")[2], path) for about, path in rows if " blob " in about]


def added(repository: Repository, commit: str, path: str) -> list[Blob]:
    """Return the files below a path that a commit has and its parent has not. Raises GitError."""
    options = ("-r", "--root", "--no-commit-id", "--no-renames", "--diff-filter=A", "-z")
    words = ask(repository, "diff-tree", *options, commit, "--", path).decode("utf-8", "surrogateescape").split("\0")
    return [Blob(about.split(" ")[3], name) for about, name in zip(words[:-1:2], words[1::2], strict=True)]


def indexed(repository: Repository, index: str) -> list[str]:
    """Return the ids of the objects that the index of a pack lists. Raises GitError, OSError."""
    with open(index, "rb") as stream:
        listing = ask(repository, "show-index", stdin=stream.read()).decode()
    return [line.split(" ")[1] for line in listing.splitlines()]


def folders(repository: Repository, tip: str, path: str) -> list[str]:
    """Return the folder at a path of a commit and those below it at any depth, in order. Raises GitError."""
    out = ask(repository, "ls-tree", "-r", "-d", "-z", "--name-only", "--full-tree", tip, "--", path)
    return out.decode("utf-8", "surrogateescape").split("\0")[:-1]


def contents(repository: Repository, names: Sequence[str]) -> dict[str, bytes]:
    """Return the content of each object by its name (an id, or `commit:path`); those that are not here are left out."""
    out = ask(repository, "cat-file", "--batch", "--buffer", stdin="".join(f"{name}\n" for name in names).encode())
    found, at = {}, 0
    for name in names:
        end = out.index(b"\n", at)
        header, at = out[at:end], end + 1
        if header.endswith(b" missing"):
            continue
        _, kind, size = header.split(b" ")
        if kind == b"blob":
            found[name] = out[at : at + int(size)]
        at += int(size) + 1
    return found


def absent(repository: Repository, ids: Sequence[str]) -> list[str]:
    """Return those of the objects that are not in this repository. Raises GitError."""
    stdin = "".join(f"{name}\n" for name in ids).encode()
    out = ask(repository, "cat-file", "--batch-check=%(objecttype)", "--buffer", stdin=stdin)
    return [line[: -len(" missing")] for line in out.decode().splitlines() if line.endswith(" missing")]


def stream(repository: Repository, wanted: Iterable[Blob]) -> Generator[tuple[str, bytes], None, None]:
    """Yield path and content of each blob, one at a time, by one process. Raises GitError where one is missing."""
    import subprocess
    from tempfile import TemporaryFile

    with TemporaryFile() as listing:  # a pipe would have to be filled while the other end is read
        for blob in wanted:
            listing.write(f"{blob.id} {blob.path}\n".encode())
        listing.seek(0)
        words = ("cat-file", "--batch=%(objectsize) %(rest)", "--buffer")
        process = start(repository, words, (), stdin=listing, stderr=subprocess.DEVNULL)
        _widen(process)
        try:
            yield from _answers(process)
        finally:
            end(process)


def _widen(process: subprocess.Popen[bytes]) -> None:
    """Let Git read on while its answer is being worked on: a pipe of a megabyte, where the system allows that."""
    import fcntl
    from contextlib import suppress

    if process.stdout and hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):
            fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 1 << 20)


def _answers(process: subprocess.Popen[bytes]) -> Iterator[tuple[str, bytes]]:
    source = process.stdout
    if source is None:
        return
    while header := source.readline():
        size, _, path = header[:-1].partition(b" ")
        if path == b"missing":
            raise GitError(("cat-file",), 1, f"object {size.decode()} is missing")
        content = source.read(int(size) + 1)[:-1]
        if len(content) != int(size):
            break
        yield path.decode(), content
    if process.wait():
        raise GitError(("cat-file",), process.returncode, "an object is damaged")


def commit(repository: Repository, parent: str, files: Mapping[str, bytes | None], about: Message) -> str:
    """Write files (None: remove) on top of a commit ("": none) and return the new commit's id. Raises GitError."""
    text = about.text.encode()
    head = f"commit refs/hz/new\nmark :1\ncommitter {about.author} {about.at} +0000\ndata {len(text)}\n".encode()
    parts = [head, text, b"\n"]
    if parent:
        parts.append(f"from {parent}\n".encode())
    for path, content in sorted(files.items()):
        _check_path(path)
        if content is None:
            parts.append(f"D {path}\n".encode())
        else:
            parts += [f"M 100644 inline {path}\ndata {len(content)}\n".encode(), content, b"\n"]
    parts.append(b"\nget-mark :1\ndone\n")
    words = ("fast-import", "--quiet", "--force", "--done", "--date-format=raw")
    return ask(repository, *words, stdin=b"".join(parts)).decode().strip()


def commit_empty(repository: Repository, parents: Sequence[str], abouts: Sequence[Message]) -> list[str]:
    """Make one commit without files on each parent ("": none) and return their ids, in order. Raises GitError."""
    parts = []
    for mark, (parent, about) in enumerate(zip(parents, abouts, strict=True), 1):
        text = about.text.encode()
        origin = f"from {parent}\n" if parent else ""
        head = f"reset refs/hz/chain\n\ncommit refs/hz/chain\nmark :{mark}\ncommitter {about.author} {about.at} +0000\n"
        parts += [f"{head}data {len(text)}\n".encode(), text, f"\n{origin}\n".encode()]
    parts += [f"get-mark :{mark}\n".encode() for mark in range(1, len(parents) + 1)]
    words = ("fast-import", "--quiet", "--force", "--done", "--date-format=raw")
    loose = ("fastimport.unpackLimit", "1000")  # a pack for every lease would crowd the cache
    return ask(repository, *words, stdin=b"".join([*parts, b"done\n"]), settings=(loose,)).decode().split()


def refs(repository: Repository, prefix: str) -> list[Ref]:
    """Return the refs below a prefix, by one process. Raises GitError."""
    out = ask(repository, "for-each-ref", "--format=%(refname)%00%(objectname)%00%(contents)%00", prefix)
    words = out.decode("utf-8", "backslashreplace").split("\0")[:-1]
    return [Ref(name.lstrip("\n"), *rest) for name, *rest in zip(words[::3], words[1::3], words[2::3], strict=True)]


def push(repository: Repository, updates: Sequence[Update], *, atomic: bool = False) -> Pushed:
    """Move refs on the remote, each from the value it must have. Raises nothing: every ref's fate is in the answer."""
    leases = (f"--force-with-lease={update.ref}:{update.old}" for update in updates)
    specs = (f"{update.new}:{update.ref}" for update in updates)
    options = ("--porcelain", "--no-verify", *(("--atomic",) if atomic else ()))
    settings = (*PARTIAL, *repository.access)
    _, out, err = run(repository, "push", *options, *leases, "origin", *specs, settings=settings)
    lines = {}
    for line in masked(repository, out.decode("utf-8", "backslashreplace")).splitlines():
        flag, _, rest = line.partition("\t")
        names, _, text = rest.partition("\t")
        if len(flag) == 1 and text:
            lines[names.rpartition(":")[2]] = (flag, text)
    return Pushed(lines, err)


def locks(path: str) -> list[str]:
    """Return the lock files in a Git directory."""
    return [
        os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names if name.endswith(".lock")
    ]


def _check_path(path: str) -> None:
    allowed = path.isascii() and path.isprintable() and not set(path) & set("\"\\ '")
    if not allowed or any(part in {"", ".", "..", ".git"} for part in path.split("/")):
        raise ValueError(f"{path!r} is no path for the state branch")
