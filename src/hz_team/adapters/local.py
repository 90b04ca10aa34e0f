"""The forge of one machine: pages and outcomes are files below `.hz/local/`, and its user is who speaks.

A page that a person's editor saves in the instant between our last look and our rename is lost to that rename: the two
are a few system calls apart. Everything earlier is seen, and the person's text stays.
"""

from __future__ import annotations

import os
import re
from itertools import count
from typing import TYPE_CHECKING, Any

from hz_team import fingerprint
from hz_team.adapters import folder, outbox
from hz_team.adapters.outbox import Outbox
from hz_team.errors import RemoteError
from hz_team.ports import Found, Page, Survey

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hz_team.adapters.folder import Folder, Stored
    from hz_team.ports import Cover, Edit, Remark

PLACE = (".hz", "local")
IGNORE = b"*\n"
"""`.gitignore` of the folder: nothing in it is ever committed."""
_PROPOSAL = re.compile(r"p-[0-9a-f]{8,64}")
_DASHBOARD = re.compile(r"dashboard(-[1-9][0-9]{0,3})?")
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}(\[bot\])?")


class LocalForge:
    """The embedded default's `Forge`."""

    repository = "local"
    web = ""

    def __init__(self, root: str) -> None:
        """`root` is the folder that holds `.hz/`; nothing is written before there is something to say."""
        self.root = root
        self._outbox = Outbox(root)

    def prepare(self) -> None:
        """Make `.hz/local/`, for this user alone and ignored by Git."""
        with folder.made(self.root, *PLACE) as place:
            if place.read(".gitignore") is None:
                with folder.told(place.path):
                    os.fchmod(place.number, 0o700)
                with place.turn():
                    place.put(".gitignore", IGNORE)

    def survey(self, known: Mapping[str, Any], names: Collection[str] = ()) -> Survey:  # noqa: ARG002  (files are near)
        """Read every page."""
        pages = {name: page for name in self.pages() if (page := self.page(name))}
        return Survey({name: fingerprint.page(page.text) for name, page in pages.items()}, pages)

    def memory(self, *, settled: bool) -> Mapping[str, Any]:  # noqa: ARG002  (files keep what stands in them)
        """Nothing needs to be known of files."""
        return {}

    def edits(self, name: str) -> tuple[Edit, ...]:  # noqa: ARG002  (a file has no history)
        """Nobody can tell who changed a file."""
        return ()

    def acknowledge(self, remark: Remark, *, done: bool) -> None:
        """Nobody comments on files."""

    def page(self, name: str) -> Page | None:
        """Return the page `dashboard` or a proposal's, its lines ended by a line feed, or None if there is none."""
        parents, file = _place_of(name)
        place = folder.opened(self.root, *parents)
        if place is None:
            return None
        with place:
            stored = place.read(file)
            if stored is None:
                return None
            return Page(_text(stored), at=stored.modified, damaged="" if _is_utf8(stored) else _damage(file))

    def put_page(self, name: str, text: str, *, expected: str | None, cover: Cover | None = None) -> bool:  # noqa: ARG002
        """Store a page if what is stored equals `expected` (None: there is none). False: a person was faster."""
        parents, file = _place_of(name)
        self.prepare()
        with folder.made(self.root, *parents) as place, place.turn():
            stored = place.read(file)
            now = _text(stored) if stored else None
            if now == text:
                return True
            if now != (None if expected is None else _lines(expected)):
                return False
            if stored and not _is_utf8(stored):
                _keep(place, file, stored)
            place.put(file, text.encode(), stored.mode if stored else 0o600)
        return True

    def pages(self) -> tuple[str, ...]:
        """Return the names of all stored pages."""
        found = []
        for parents, pattern in ((PLACE, _DASHBOARD), ((*PLACE, "inbox"), _PROPOSAL)):
            place = folder.opened(self.root, *parents)
            if place is None:
                continue
            with place:
                names = [file.removesuffix(".md") for file in place.names() if file.endswith(".md")]
            found += [name.lower() for name in names if pattern.fullmatch(name.lower())]
        return tuple(sorted(found))

    def drop_page(self, name: str, words: str = "") -> None:  # noqa: ARG002  (its file goes)
        """Remove a closed proposal's page."""
        parents, file = _place_of(name)
        place = folder.opened(self.root, *parents)
        if place is None:
            return
        with place, place.turn():
            place.remove(file)

    def link(self, name: str) -> str:
        """Return the path of a page or an outcome as seen from the dashboard; "" if nothing here is called so."""
        if _PROPOSAL.fullmatch(name) or _DASHBOARD.fullmatch(name):
            parents, file = _place_of(name)
            return "/".join((*parents[len(PLACE) :], file))
        return f"outbox/{name}.md" if outbox.is_ref(name) else ""

    def role(self, login: str) -> tuple[str, str]:
        """Return "local": whoever can write these files may say who speaks. Nobody is "none"."""
        name = login.removeprefix("local:")
        known = bool(name.strip()) if name != login else bool(_LOGIN.fullmatch(login))
        return ("local", "this machine") if known else ("none", "nobody is called so")

    def find(self, kind: str, marker: str, *, target: str = "", since: int = 0) -> Found:  # noqa: ARG002  (all are near)
        """List (never search) the outcomes of a kind that carry the marker."""
        return self._outbox.find(kind, marker)

    def create(self, kind: str, content: Mapping[str, Any], marker: str) -> str:
        """Make one outcome that carries the marker; return its ref, such as `issue-1`."""
        self.prepare()
        return self._outbox.create(kind, content, marker)

    def withdraw(self, kind: str, ref: str, note: str) -> None:
        """Close an outcome that turned out to be a double: `find` does not list it any more."""
        self._outbox.withdraw(kind, ref, note)


def local_user() -> str:
    """Return the name of the user who runs this process, from the user database and not from the environment."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _place_of(name: str) -> tuple[tuple[str, ...], str]:
    """Return folder and file name of a page. Raises RemoteError: names come from stored documents."""
    if _DASHBOARD.fullmatch(name):
        return PLACE, f"{name.upper()}.md"
    if _PROPOSAL.fullmatch(name):
        return (*PLACE, "inbox"), f"{name}.md"
    raise RemoteError(f"there is no page {name!a}; pages are `dashboard` and a proposal's id")


def _text(stored: Stored) -> str:
    return _lines(stored.content.decode("utf-8-sig", "replace"))


def _is_utf8(stored: Stored) -> bool:
    try:
        stored.content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _damage(file: str) -> str:
    kept = _aside(file, 1)
    return f"{file} is not UTF-8, so nothing on it was taken; it is drawn again, and what was there is kept as {kept}"


def _keep(place: Folder, file: str, stored: Stored) -> None:
    """Keep what a person's editor made of a page under a name that is free. Within `turn`."""
    taken = set(place.names())
    place.add(next(name for number in count(1) if (name := _aside(file, number)) not in taken), stored.content)


def _aside(file: str, number: int) -> str:
    return f"{file.removesuffix('.md')}.bad{'' if number == 1 else f'-{number}'}.md"


def _lines(text: str) -> str:
    """Return the text with line feeds only: editors of some systems save others."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
