"""Pages as issues: the dashboard, a decision each, and the dashboard's further pages as comments below it.

A survey costs one request for the dashboard, one more if decisions are open, one more if somebody may have commented.
What it does not list has not changed since the survey that the state knows of. A page is found by its number; where
that is unknown by its label, its first line and an author that strangers cannot be.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from hz_team import fingerprint
from hz_team.adapters.github import book
from hz_team.adapters.github.book import DASHBOARD, FURTHER, OVERLAP, Book, claimed
from hz_team.errors import RemoteError
from hz_team.ports import Cover, Edit, Page, Remark, Survey

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from hz_team.ports import Api, Reply

LABEL = "hz"
"""On every page of ours; it finds them where the state does not know their numbers."""
TRUSTED = ("OWNER", "MEMBER", "COLLABORATOR")
"""Authors whose page is one of ours although the state does not know it, beside bots."""
MOST = 20
"""Pages of a hundred that one survey reads; what is behind them is read by the next one."""
LARGEST = 65_536
"""Characters of an issue's body (the API answers 422 above)."""
GONE = (404, 410)
OK, MOVED = 200, 301
HUNDRED = 100


class Pen(Protocol):
    """The writes that pages need; each is one request."""

    def open_issue(self, title: str, body: str, labels: tuple[str, ...], assignees: tuple[str, ...]) -> int:
        """Open an issue; return its number."""
        ...

    def edit_issue(self, number: int, **changes: Any) -> None:
        """Change body, state or labels."""
        ...

    def comment(self, number: int, body: str) -> int:
        """Comment on an issue; return the comment's id."""
        ...

    def edit_comment(self, comment: int, body: str) -> None:
        """Change a comment of ours."""
        ...

    def drop_comment(self, comment: int) -> None:
        """Remove a comment of ours."""
        ...

    def react(self, comment: int, content: str) -> None:
        """Add a reaction to a comment."""
        ...


class Stored(NamedTuple):
    """An issue or comment as it was read."""

    number: int
    text: str
    node: str
    at: int
    bot: bool
    closed: bool = False
    comments: int = 0


class Issues:
    """The pages of one repository."""

    def __init__(self, api: Api, pen: Pen, web: str) -> None:
        """Nothing is asked yet. `web`: the repository's address for people."""
        self._api, self._pen, self.web = api, pen, web
        self._base = f"/repos/{api.repository}/issues"
        self._book = Book({})
        self._stored: dict[str, Stored] = {}
        """Pages as they were read last, by name."""
        self._fresh: dict[str, Stored] = {}
        """Pages that were asked for right before they are written."""
        self._lost: dict[str, str] = {}
        """Pages as a person left them right before we wrote over that, by name."""
        self._away: dict[str, str] = {}
        """Pages that were moved to another repository, with the sentence about it: nothing is written there."""

    def survey(self, known: Mapping[str, Any], names: Collection[str]) -> Survey:
        """Look at the dashboard, and at the decisions `names` if there are any. Raises what Api raises."""
        self._book = Book(known)
        since = self._book.at
        notes = list(self._dashboard())
        looked = self._api.time() or 0
        if names or len(self._book.places) > 1 or not self._book.number(DASHBOARD):
            notes += self._decisions(since, names)
        remarks = tuple(self._remarks(since)) if self._are_new_comments() else ()
        self._book.at = looked
        pages = {name: Page(one.text, at=one.at) for name, one in self._stored.items()}
        closed = {name: closing for name in self._stored if (closing := self._closing(name))}
        stamps = {name: place.stamp for name, place in self._book.places.items()}
        return Survey(stamps, pages, remarks, closed, tuple(notes))

    def memory(self, *, settled: bool) -> dict[str, Any]:
        """Return what the next survey needs."""
        return self._book.memory(settled=settled)

    def pages(self) -> tuple[str, ...]:
        """Return the names of all open pages."""
        return tuple(sorted(self._book.places))

    def link(self, name: str) -> str:
        """Return the address of a page, "" while nobody knows it."""
        number = self._book.number(name)
        if not number:
            return ""
        if FURTHER.fullmatch(name):
            return f"{self.web}/issues/{self._book.number(DASHBOARD)}#issuecomment-{number}"
        return f"{self.web}/issues/{number}"

    def page(self, name: str) -> Page | None:
        """Return a page as it stands now; None if there is none. What we wrote over in between stands there again."""
        stored = self._read(name)
        if stored is None:
            return None
        self._fresh[name] = stored
        return Page(self._lost.get(name, stored.text), at=stored.at)

    def edits(self, name: str) -> tuple[Edit, ...]:
        """Return the changes that were not read before, oldest first; what the history does not tell is nobody's.

        The first may be what stood there before them, as ours: it is what they are compared with.
        """
        stored = self._stored.get(name) or self._read(name)
        if stored is None:
            return ()
        if fingerprint.page(stored.text) == self._book.was(name).stamp:
            return (Edit(stored.text, at=stored.at, ours=True),)  # nobody touched it since; the state moved on
        found = self._history(stored.node)
        if not found or fingerprint.page(found[-1].text) != fingerprint.page(stored.text):
            found.append(Edit(stored.text, at=stored.at))
        changes = [f"{edit.at}:{fingerprint.page(edit.text)[: book.DIGITS]}" for edit in found]
        before = self._book.heard(name)
        last = max((at for at, change in enumerate(changes) if change == before), default=-1)
        self._book.hear(name, changes[-1])
        base = [found[last]._replace(ours=True)] if last >= 0 else []
        return (*base, *found[last + 1 :])

    def put_page(self, name: str, text: str, *, expected: str | None, cover: Cover) -> bool:
        """Store a page. False: somebody was faster, or it is in another repository now. Raises RemoteError."""
        if len(text) > LARGEST:
            raise RemoteError(f"{name} has {len(text):,} characters; an issue takes {LARGEST:,}")
        stored = self._fresh.pop(name, None) or self._read(name)
        now = self._lost.pop(name, stored.text) if stored else None
        if name in self._away:
            return False
        if now is not None and fingerprint.page(now) == fingerprint.page(text):
            return True
        if (now is None) != (expected is None) or (
            now is not None and fingerprint.page(now) != fingerprint.page(expected or "")
        ):
            return False
        if stored is None:
            return self._make(name, text, cover)
        self._book.wrote.append(fingerprint.page(text)[: book.DIGITS])
        if FURTHER.fullmatch(name):
            self._pen.edit_comment(stored.number, text)
        else:
            self._pen.edit_issue(stored.number, body=text)
        return self._is_stored(name, text) and not self._wrote_over(name, stored)

    def drop_page(self, name: str, text: str, labels: tuple[str, ...]) -> None:
        """Close a decision's page with its last text, and forget it; a further page goes."""
        stored = self._fresh.pop(name, None) or self._read(name)
        if stored and FURTHER.fullmatch(name):
            self._pen.drop_comment(stored.number)
        elif stored and name not in self._away:
            self._pen.edit_issue(stored.number, body=text[:LARGEST], state="closed", labels=list(labels))
        self._book.forget(name)
        self._stored.pop(name, None)

    def acknowledge(self, remark: Remark, *, done: bool) -> None:
        """React to a comment."""
        self._pen.react(int(remark.id), "rocket" if done else "eyes")

    def _dashboard(self) -> Iterator[str]:
        """Look at the dashboard's issue; yield what is to be said about it."""
        if not self._book.number(DASHBOARD):
            return
        self._read(DASHBOARD)
        if DASHBOARD in self._away:
            yield self._away[DASHBOARD]

    def _decisions(self, since: int, names: Collection[str] = ()) -> Iterator[str]:
        """Read our issues that changed since a time (0: all of them), and find those whose number nobody knows.

        A page that is closed, as its decision (none of `names`), is forgotten.
        """
        found: dict[str, list[Stored]] = {}
        for issue in self._listed(since):
            if "pull_request" in issue:
                continue
            stored = _stored(issue)
            name = self._book.name_of(stored.number) or (_ours(issue) and claimed(stored.text, self._api.repository))
            if name and (not stored.closed or name in names or self._book.number(name)):
                found.setdefault(name, []).append(stored)
        for name, several in found.items():
            known = self._book.number(name)
            first = min(several, key=lambda one: (one.number != known, one.number))
            if first.closed and name != DASHBOARD and name not in names:
                self._book.forget(name)
                continue
            self._keep(name, first)
            doubles = sorted(one.number for one in several if one is not first and not one.closed)
            if doubles:
                yield f"{name} is there {len(doubles) + 1} times; #{first.number} counts, close {_numbers(doubles)}"

    def _listed(self, since: int) -> Iterator[Mapping[str, Any]]:
        params: dict[str, str | int] = {"state": "all", "per_page": HUNDRED, "sort": "updated", "direction": "asc"}
        if since:
            params["since"] = _iso(since - OVERLAP)
        else:
            params["labels"] = LABEL
        yield from self._paged(self._base, params)

    def _paged(self, path: str, params: Mapping[str, str | int]) -> Iterator[Mapping[str, Any]]:
        for page in range(1, MOST + 1):
            reply = self._api.get(path, {**params, "page": page}, permission="issues: read")
            items = _items(reply, path)
            yield from items
            if not reply.next:
                return

    def _are_new_comments(self) -> bool:
        """Whether a page has another number of comments than the state knows of."""
        return any(one.comments != self._book.was(name).comments for name, one in self._stored.items())

    def _remarks(self, since: int) -> Iterator[Remark]:
        params: dict[str, str | int] = {"sort": "created", "direction": "asc", "per_page": HUNDRED}
        if since:
            params["since"] = _iso(since - OVERLAP)
        for comment in self._paged(f"{self._base}/comments", params):
            number = int(str(comment.get("issue_url") or "0").rpartition("/")[2])
            name, mine = self._book.name_of(number), self._book.further_of(int(comment["id"]))
            if mine:
                self._keep(mine, _stored({**comment, "number": comment["id"]}))
            elif name and comment["id"] not in self._book.remarks and not _is_bot(comment):
                self._book.remarks.append(int(comment["id"]))
                yield _remark(name, comment)

    def _closing(self, name: str) -> Edit | None:
        """Return who closed a page that should be open. None: it is open, or a bot did."""
        stored = self._stored[name]
        if not stored.closed:
            return None
        reply = self._api.get(f"{self._base}/{stored.number}", permission="issues: read")
        by = (reply.data or {}).get("closed_by") or {}
        if by.get("type") == "Bot":
            return None
        return Edit(stored.text, str(by.get("login") or ""), stored.at, ref=f"{self.web}/issues/{stored.number}")

    def _read(self, name: str) -> Stored | None:
        """Ask for one page; a page that is gone is forgotten, one that was moved is left alone."""
        number = self._book.number(name)
        if not number:
            return None
        place = f"comments/{number}" if FURTHER.fullmatch(name) else str(number)
        reply = self._api.get(f"{self._base}/{place}", permission="issues: read")
        if reply.status in GONE:
            self._book.forget(name)
            self._stored.pop(name, None)
            return None
        if reply.status != OK or not isinstance(reply.data, dict):
            self._away[name] = (
                f"{name} was moved away from {self._api.repository}: nothing on it counts until it is back"
            )
            return None
        moved = str(reply.data.get("repository_url") or "").lower()
        if moved and not moved.endswith(f"/repos/{self._api.repository}".lower()):
            self._away[name] = (
                f"{name} is in {moved.partition('/repos/')[2]} now: nothing on it counts until it is back"
            )
            return None
        stored = _stored({**reply.data, "number": number})
        self._keep(name, stored)
        return stored

    def _keep(self, name: str, stored: Stored) -> None:
        self._stored[name] = stored
        self._book.note(name, stored.number, fingerprint.page(stored.text), stored.comments)

    def _make(self, name: str, text: str, cover: Cover) -> bool:
        """Make a page, unless it is there and only nobody knew."""
        list(self._decisions(0))
        if self._book.number(name):
            return False
        self._book.wrote.append(fingerprint.page(text)[: book.DIGITS])
        if FURTHER.fullmatch(name):
            number = self._pen.comment(self._book.number(DASHBOARD), text)
        else:
            number = self._pen.open_issue(cover.title, text, cover.labels, cover.assignees)
        self._book.note(name, number, "")
        return self._is_stored(name, text)

    def _is_stored(self, name: str, text: str) -> bool:
        """Whether what was written is what is there; False: somebody wrote as well. Raises RemoteError: it is gone."""
        stored = self._read(name)
        if stored is None:
            raise RemoteError(f"{name} was written to {self._api.repository}, and is not there")
        return fingerprint.page(stored.text) == fingerprint.page(text)

    def _wrote_over(self, name: str, before: Stored) -> bool:
        """Whether a person changed the page between our look and our write; then that is what stands there next."""
        history = self._history(before.node)
        ours = max((at for at, edit in enumerate(history) if edit.ours), default=0)
        last = history[ours - 1] if ours else None
        if last is None or last.ours or fingerprint.page(last.text) == fingerprint.page(before.text):
            return False
        self._lost[name] = last.text
        return True

    def _history(self, node: str) -> list[Edit]:
        """Return a text's history, oldest first, without revisions that were removed or whose text is unknown."""
        edits: list[Edit] = []
        after = None
        for _ in range(MOST):
            data = self._api.query("BodyEdits", {"id": node, "after": after})
            found = ((data.get("node") or {}).get("userContentEdits")) or {}
            nodes = [one for one in found.get("nodes") or () if one and one.get("diff") is not None]
            edits += [self._edit(one) for one in nodes if not one.get("deletedAt")]
            page = found.get("pageInfo") or {}
            if not page.get("hasNextPage"):
                break
            after = page.get("endCursor")
        edits.reverse()  # they come newest first, several a second
        return sorted(edits, key=lambda edit: edit.at)

    def _edit(self, one: Mapping[str, Any]) -> Edit:
        editor, text = one.get("editor") or {}, _lines(str(one["diff"]))
        ours = editor.get("__typename") == "Bot" or fingerprint.page(text)[: book.DIGITS] in self._book.wrote
        at = _seconds(str(one.get("editedAt") or ""))
        return Edit(text, str(editor.get("login") or ""), at, ours=ours, ref=f"edit of {one.get('editedAt')}")


def _items(reply: Reply, path: str) -> list[Mapping[str, Any]]:
    if reply.status != OK or not isinstance(reply.data, list):
        raise RemoteError(f"{path} answered {reply.status} and no list")
    return [item for item in reply.data if isinstance(item, dict)]


def _stored(issue: Mapping[str, Any]) -> Stored:
    return Stored(
        number=int(issue["number"]),
        text=_lines(str(issue.get("body") or "")),
        node=str(issue.get("node_id") or ""),
        at=_seconds(str(issue.get("updated_at") or "")),
        bot=_is_bot(issue),
        closed=issue.get("state") == "closed",
        comments=int(issue.get("comments") or 0),
    )


def _remark(page: str, comment: Mapping[str, Any]) -> Remark:
    edited = comment.get("updated_at") != comment.get("created_at")
    return Remark(
        page,
        str(comment["id"]),
        _lines(str(comment.get("body") or "")),
        by=str((comment.get("user") or {}).get("login") or ""),
        at=_seconds(str(comment.get("created_at") or "")),
        ref=str(comment.get("html_url") or ""),
        doubt="a comment that was edited does not count; write another" if edited else "",
    )


def _ours(issue: Mapping[str, Any]) -> bool:
    """Whether strangers cannot have written it."""
    return _is_bot(issue) or issue.get("author_association") in TRUSTED


def _is_bot(thing: Mapping[str, Any]) -> bool:
    return ((thing.get("user") or {}).get("type")) == "Bot"


def _numbers(numbers: list[int]) -> str:
    return " and ".join(f"#{number}" for number in numbers)


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _iso(at: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(max(0, at)))


def _seconds(text: str) -> int:
    """Return a time of GitHub's in seconds, 0 for none."""
    import calendar

    try:
        return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return 0
