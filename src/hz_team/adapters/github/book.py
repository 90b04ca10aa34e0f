"""Which issue or comment is which page: what a survey knows before it asks, and what the next one will know."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OVERLAP = 60
"""Seconds that a survey looks back behind the last one: lists may lag, and clocks count whole seconds."""
DIGITS = 16
"""Of a fingerprint that is remembered."""
RECENT = 100
"""Comments, and pages as we wrote them, that are remembered."""
DASHBOARD = "dashboard"
FURTHER = re.compile(r"dashboard-[1-9][0-9]{0,3}")
PROPOSAL = re.compile(r"p-[0-9a-f]{8,64}")
_FIRST = re.compile(r"<!-- hz:(?:(dashboard) \d+ ([^\s]+)|proposal (p-[0-9a-f]{8,64}) [0-9a-f]+) -->")


class Place(NamedTuple):
    """Where a page is, and what stood there."""

    number: int
    """Of the issue; of the comment for a further page of the dashboard."""
    stamp: str = ""
    """Fingerprint of its text when it was last seen; "" if nobody knows."""
    heard: str = ""
    """The newest change of it that was read: `time:fingerprint`."""
    comments: int = 0
    """How many comments it had."""


class Book:
    """The places of all open pages."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        """`known`: what `memory` said at the last record; anything unreadable is unknown."""
        self._known = dict(known)
        self.at = _whole(known.get("at"))
        """When the last recorded survey was made, by GitHub's time; 0: never."""
        self.places = dict(_places(known.get("pages")))
        self.remarks: list[int] = [one for one in _list(known.get("remarks")) if isinstance(one, int)]
        self.wrote: list[str] = [str(one) for one in _list(known.get("wrote"))]
        """Fingerprints of pages as we wrote them: who writes under a person's name is told from that person by them."""

    def memory(self, *, settled: bool) -> dict[str, Any]:
        """Return what the next survey needs; not `settled`: it hears everything again that this one heard."""
        before = Book(self._known)
        places = {name: place if settled else before.place(name, place) for name, place in self.places.items()}
        return {
            "at": self.at if settled else before.at,
            "pages": {name: list(place) for name, place in sorted(places.items())},
            "remarks": (self.remarks if settled else before.remarks)[-RECENT:],
            "wrote": self.wrote[-RECENT:],
        }

    def place(self, name: str, default: Place) -> Place:
        """Return where a page is, or where it would be, with nothing heard on it."""
        return self.places.get(name) or Place(default.number)

    def name_of(self, number: int) -> str:
        """Return the page that an issue is, "" if it is none that is known."""
        return next((name for name, place in self.places.items() if place.number == number and _is_issue(name)), "")

    def further_of(self, comment: int) -> str:
        """Return the further page of the dashboard that a comment is, "" if it is none."""
        return next(
            (name for name, place in self.places.items() if place.number == comment and not _is_issue(name)), ""
        )

    def number(self, name: str) -> int:
        """Return where a page is, 0 if it is not known."""
        place = self.places.get(name)
        return place.number if place else 0

    def note(self, name: str, number: int, stamp: str, comments: int = 0) -> None:
        """Remember where a page is and what stands there."""
        self.places[name] = Place(number, stamp, self.heard(name), comments)

    def heard(self, name: str) -> str:
        """Return the newest change of a page that was read."""
        place = self.places.get(name)
        return place.heard if place else ""

    def was(self, name: str) -> Place:
        """Return a page as the state knows it."""
        return Book(self._known).places.get(name) or Place(0)

    def hear(self, name: str, change: str) -> None:
        """Remember which change of a page was read last."""
        if place := self.places.get(name):
            self.places[name] = place._replace(heard=change)

    def forget(self, name: str) -> None:
        """Remember nothing of a page that is gone."""
        self.places.pop(name, None)


def claimed(body: str, repository: str) -> str:
    """Return the page that a body says it is in its first line, "" for none and for another repository's dashboard."""
    found = _FIRST.fullmatch(body.partition("\n")[0].rstrip("\r"))
    if not found:
        return ""
    if found[1]:
        return DASHBOARD if found[2] in (repository, "local") else ""
    return found[3]


def _is_issue(name: str) -> bool:
    return not FURTHER.fullmatch(name)


def _places(said: Any) -> Iterator[tuple[str, Place]]:
    for name, place in said.items() if isinstance(said, dict) else ():
        if isinstance(place, list) and len(place) == len(Place._fields) and _whole(place[0]):
            yield str(name), Place(_whole(place[0]), str(place[1]), str(place[2]), _whole(place[3]))


def _list(said: Any) -> list[Any]:
    return said if isinstance(said, list) else []


def _whole(said: Any) -> int:
    return said if isinstance(said, int) and not isinstance(said, bool) and said > 0 else 0
