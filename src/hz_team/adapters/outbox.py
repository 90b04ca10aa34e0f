"""`.hz/local/outbox/`: what was published on this machine, one numbered Markdown file an outcome.

An outcome is its file `issue-1.md`: a head of JSON values between two lines of `---`, the marker, the body. It exists
from the moment that file has its name. Companions (a patch, the files of a `file` outcome) are complete before that,
and writing them again changes nothing.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from typing import TYPE_CHECKING, Any

from hz_team.adapters import folder
from hz_team.errors import PublishRefused, RemoteError
from hz_team.ports import Found

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hz_team.adapters.folder import Folder

PLACE = (".hz", "local", "outbox")
NAMES = {"pull_request": "pull"}
"""Kinds whose outcomes are called otherwise."""
_KIND = re.compile(r"[a-z][a-z0-9_]{0,40}")
_REF = re.compile(r"([a-z][a-z0-9_]{0,40})-([1-9][0-9]{0,9})")
_BEHIND = b"\n---\n"
_KEY, _CLOSED = b"<!-- hz:key ", b"<!-- hz:closed "
_APART = ("body", "files", "patch")
"""Parts of a content that do not stand in the head."""


class Outbox:
    """The outcomes below one root."""

    def __init__(self, root: str) -> None:
        self.root = root

    def find(self, kind: str, marker: str) -> Found:
        """List a kind's outcomes that carry the marker; unknown if one of them cannot be read."""
        prefix = _prefix(kind)
        try:
            with self._opened() as place:
                refs = tuple(ref for ref in _refs(place, prefix) if _carries(_content(place, ref), marker.encode()))
        except FileNotFoundError:
            return Found("absent")
        except RemoteError:
            return Found("unknown")
        return Found("found", refs) if refs else Found("absent")

    def create(self, kind: str, content: Mapping[str, Any], marker: str) -> str:
        """Write one outcome under the next number; return its ref."""
        prefix = _prefix(kind)
        with folder.made(self.root, *PLACE) as place, place.turn():
            ref = f"{prefix}-{1 + max((_number(ref) for ref in _refs(place, prefix)), default=0)}"
            head = {
                name: value for name, value in content.items() if name not in _APART and value not in ("", None, ())
            }
            if content.get("patch"):
                head["patch"] = f"{ref}.patch"
                place.put(f"{ref}.patch", str(content["patch"]).encode("utf-8", "backslashreplace"))
            elif content.get("files"):
                head["files"] = {path: self._write(path, text) for path, text in content["files"].items()}
            place.add(f"{ref}.md", _document(head, marker, str(content.get("body", ""))))
        return ref

    def withdraw(self, kind: str, ref: str, note: str) -> None:
        """Take an outcome's marker away and say why; the rest of it stays to be read."""
        if not is_ref(ref) or not ref.startswith(f"{_prefix(kind)}-"):
            raise RemoteError(f"{ref} is no outcome of the kind {kind}")
        with folder.made(self.root, *PLACE) as place, place.turn():
            head, behind, rest = _content(place, ref).partition(_BEHIND)
            if rest.startswith(_KEY):
                said = f"\n> Closed: {' '.join(note.split())}\n".encode("utf-8", "backslashreplace")
                line, _, body = rest.partition(b"\n")
                place.put(f"{ref}.md", head + behind + line.replace(_KEY, _CLOSED) + b"\n" + said + body)

    def _opened(self) -> Folder:
        place = folder.opened(self.root, *PLACE)
        if place is None:
            raise FileNotFoundError(*PLACE)
        return place

    def _write(self, path: str, content: Any) -> str:
        """Write or remove one file below `files/`; return in a word what was done."""
        *parents, name = path.split("/")
        if {"", ".", "..", folder.NEW} & {*parents, name} or "\0" in path:
            raise PublishRefused(f"the path {path!a} cannot be written below outbox/files; name another")
        with folder.made(self.root, *PLACE, "files", *parents) as place, place.turn():
            if content is None:
                place.remove(name)
                return "removed"
            data = b64decode(content["base64"]) if isinstance(content, dict) else str(content).encode()
            stored = place.read(name)
            if stored is None or stored.content != data:
                place.put(name, data)
        return "written"


def is_ref(ref: str) -> bool:
    """Whether a text can be an outcome's ref, such as `issue-1`."""
    return _REF.fullmatch(ref) is not None


def _prefix(kind: str) -> str:
    if not _KIND.fullmatch(kind):
        raise PublishRefused(f"{kind!a} is no kind of outcome; kinds are small letters, digits and `_`")
    return NAMES.get(kind, kind)


def _refs(place: Folder, prefix: str) -> Iterator[str]:
    """Yield a kind's refs, lowest first."""
    refs = [name.removesuffix(".md") for name in place.names() if name.endswith(".md")]
    ours = [ref for ref in refs if is_ref(ref) and ref.rpartition("-")[0] == prefix]
    yield from sorted(ours, key=_number)


def _number(ref: str) -> int:
    return int(ref.rpartition("-")[2])


def _content(place: Folder, ref: str) -> bytes:
    stored = place.read(f"{ref}.md")
    return stored.content.replace(b"\r\n", b"\n") if stored else b""


def _document(head: Mapping[str, Any], marker: str, body: str) -> bytes:
    """JSON keeps a title on one line whatever is in it, and is YAML, so other tools can read the head, too."""
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in head.items()]
    text = "\n".join(["---", *lines, "---", marker, "", body]).rstrip("\n") + "\n"
    return text.encode("utf-8", "backslashreplace")


def _carries(content: bytes, marker: bytes) -> bool:
    """Whether the marker stands behind the head: a body may quote one. Without its head any line of its own counts."""
    if content.startswith(b"---\n"):
        return content.partition(_BEHIND)[2].partition(b"\n")[0] == marker
    return marker in content.split(b"\n")
