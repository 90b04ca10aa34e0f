"""GitHub as the forge: pages are issues, outcomes are what people know as such, and rights are looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.adapters.github.issues import LABEL
from hz_team.dashboard import closing
from hz_team.ports import Cover

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hz_team.adapters.github.issues import Issues
    from hz_team.adapters.github.outcomes import Outcomes
    from hz_team.adapters.github.people import People
    from hz_team.ports import Edit, Found, Page, Remark, Survey

PUBLISHED, CLOSED = "hz:published", "hz:closed"
"""Labels of pages that are closed."""


class GitHubForge:
    """`ports.Forge` on one repository."""

    def __init__(self, repository: str, issues: Issues, outcomes: Outcomes, people: People) -> None:
        """Nothing is asked yet."""
        self.repository, self.web = repository, issues.web
        self._issues, self._outcomes, self._people = issues, outcomes, people

    def survey(self, known: Mapping[str, Any], names: Collection[str] = ()) -> Survey:
        """Look at all pages once."""
        return self._issues.survey(known, names)

    def memory(self, *, settled: bool) -> Mapping[str, Any]:
        """Return what the next record keeps for later surveys."""
        return self._issues.memory(settled=settled)

    def page(self, name: str) -> Page | None:
        """Return a page as it stands now."""
        return self._issues.page(name)

    def edits(self, name: str) -> tuple[Edit, ...]:
        """Return the changes of a page that were not read before."""
        return self._issues.edits(name)

    def put_page(self, name: str, text: str, *, expected: str | None, cover: Cover | None = None) -> bool:
        """Store a page if what is stored equals `expected`. False: a person was faster."""
        return self._issues.put_page(name, text, expected=expected, cover=cover or Cover(name))

    def pages(self) -> tuple[str, ...]:
        """Return the names of all open pages."""
        return self._issues.pages()

    def drop_page(self, name: str, words: str = "") -> None:
        """Close a decision's page, with what became of it."""
        page = self._issues.page(name)
        text = closing.closed(page.text, words) if page else ""
        self._issues.drop_page(name, text, (LABEL, PUBLISHED if words.startswith("Published") else CLOSED))

    def acknowledge(self, remark: Remark, *, done: bool) -> None:
        """React to a comment."""
        self._issues.acknowledge(remark, done=done)

    def link(self, name: str) -> str:
        """Return the address of a page or an outcome; "" if nothing is known to be called so."""
        return self._issues.link(name) or self._outcomes.link(name)

    def role(self, login: str) -> tuple[str, str]:
        """Return the person's permission and how it is known; a look-up that fails denies."""
        return self._people.role(login)

    def find(self, kind: str, marker: str, *, target: str = "", since: int = 0) -> Found:
        """List the outcomes of a kind at a target that carry the marker."""
        return self._outcomes.find(kind, marker, target=target, since=since)

    def create(self, kind: str, content: Mapping[str, Any], marker: str) -> str:
        """Make one outcome that carries the marker; return its ref."""
        return self._outcomes.create(kind, content, marker)

    def withdraw(self, kind: str, ref: str, note: str) -> None:
        """Close an outcome that turned out to be a double."""
        self._outcomes.withdraw(kind, ref, note)
