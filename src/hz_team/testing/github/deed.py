"""What an account does to issues, pull requests and comments, by hand or over the API: each causes its event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team.testing.github import shape, shape_pull
from hz_team.testing.github.noun import Comment, Issue, Label, Pull, Reaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hz_team.testing.github.noun import Account, Text
    from hz_team.testing.github.shape import Site
    from hz_team.testing.github.store import Repository, Store


class Actor(NamedTuple):
    """An account at work in a repository."""

    store: Store
    site: Site
    repo: Repository
    account: Account
    quiet: bool = False
    """Its deeds cause no events (the Actions token)."""

    def tell(self, name: str, action: str = "", **keys: Any) -> None:
        """Write a webhook payload, as Actions puts it into the event file."""
        if self.quiet:
            return
        owner = self.store.account(self.repo.owner)
        payload = {
            **({"action": action} if action else {}),
            **keys,
            "repository": shape.whole_repository(self.site, self.store, self.repo),
            **({"organization": organization(self.site, owner)} if owner.kind == "Organization" else {}),
            "sender": shape.account(self.site, self.account),
        }
        self.store.events.append((name, payload))

    def tell_thread(self, thread: Issue, action: str, **keys: Any) -> None:
        """Write the event of an issue or a pull request."""
        if isinstance(thread, Pull):
            shown = shape_pull.pull(self.site, self.store, self.repo, thread, alone=True)
            self.tell("pull_request", action, number=thread.number, pull_request=shown, **keys)
        else:
            self.tell("issues", action, issue=self._issue(thread), **keys)

    def opens(self, title: str, body: str | None, labels: Iterable[str] = (), assignees: Iterable[str] = ()) -> Issue:
        """Open an issue."""
        issue = Issue(**self.store.begin(self.account, body), number=self.repo.next_number(), title=title)
        issue.labels = list(dict.fromkeys(self.label(name).name for name in labels))
        issue.assignees = self._known(assignees)
        self.repo.threads[issue.number] = issue
        self.tell_thread(issue, "opened")
        for name in issue.labels:
            self.tell_thread(issue, "labeled", label=self._label(name))
        for login in issue.assignees:
            self.tell_thread(issue, "assigned", assignee=self._account(login))
        return issue

    def edits(self, thread: Issue, *, title: str | None = None, body: str | None = None) -> None:
        """Change a title or a body; what is the same changes nothing."""
        changes: dict[str, Any] = {}
        if title is not None and title != thread.title:
            changes["title"] = {"from": thread.title}
            thread.title, thread.updated_at = title, self.store.time()
        before = thread.text
        if body is not None and self.store.write(thread, body, self.account):
            changes["body"] = {"from": before}
        if changes:
            self.tell_thread(thread, "edited", changes=changes)

    def closes(self, thread: Issue, reason: str = "completed") -> None:
        """Close an issue or pull request that is open."""
        if thread.state == "closed":
            return
        thread.state, thread.closed_by = "closed", self.account
        thread.state_reason = None if isinstance(thread, Pull) else reason
        thread.closed_at = thread.updated_at = self.store.time()
        self.tell_thread(thread, "closed")

    def reopens(self, thread: Issue) -> None:
        """Open again what was closed."""
        if thread.state == "open":
            return
        thread.state, thread.closed_at, thread.closed_by = "open", 0, None
        thread.state_reason = None if isinstance(thread, Pull) else "reopened"
        thread.updated_at = self.store.time()
        self.tell_thread(thread, "reopened")

    def label(self, name: str, color: str = "ededed", description: str | None = None) -> Label:
        """Return a label of the repository, made if it is new."""
        key = name.lower()
        if key not in self.repo.labels:
            self.repo.labels[key] = Label(self.store.serial(), name, color, description)
        return self.repo.labels[key]

    def sets_labels(self, thread: Issue, names: Iterable[str]) -> None:
        """Give a thread exactly these labels."""
        wanted = list(dict.fromkeys(self.label(name).name for name in names))
        before, thread.labels = thread.labels, wanted
        self._touch(thread, changed=before != wanted)
        for name in wanted:
            if name not in before:
                self.tell_thread(thread, "labeled", label=self._label(name))
        for name in before:
            if name not in wanted:
                self.tell_thread(thread, "unlabeled", label=self._label(name))

    def sets_assignees(self, thread: Issue, logins: Iterable[str]) -> None:
        """Assign a thread to exactly these people, ten at most."""
        before, thread.assignees = thread.assignees, self._known(logins)
        self._touch(thread, changed=before != thread.assignees)
        for login in thread.assignees:
            if login not in before:
                self.tell_thread(thread, "assigned", assignee=self._account(login))
        for login in before:
            if login not in thread.assignees:
                self.tell_thread(thread, "unassigned", assignee=self._account(login))

    def sets_lock(self, thread: Issue, *, locked: bool) -> None:
        """Lock or unlock a conversation."""
        if thread.locked != locked:
            thread.locked = locked
            self.tell_thread(thread, "locked" if locked else "unlocked")

    def pins(self, issue: Issue, *, pinned: bool = True) -> None:
        """Pin an issue, or unpin it."""
        if issue.pinned != pinned:
            issue.pinned = pinned
            self.tell_thread(issue, "pinned" if pinned else "unpinned")

    def comments(self, thread: Issue, body: str) -> Comment:
        """Comment on a thread."""
        one = Comment(**self.store.begin(self.account, body), number=thread.number)
        thread.comments.append(one)
        self._touch(thread, changed=True)
        self._tell_comment(thread, one, "created")
        return one

    def edits_comment(self, thread: Issue, one: Comment, body: str) -> None:
        """Change a comment."""
        before = one.text
        if self.store.write(one, body, self.account):
            self._tell_comment(thread, one, "edited", changes={"body": {"from": before}})

    def deletes_comment(self, thread: Issue, one: Comment) -> None:
        """Remove a comment for good."""
        thread.comments.remove(one)
        self._touch(thread, changed=True)
        self._tell_comment(thread, one, "deleted")

    def reacts(self, text: Text, content: str) -> tuple[Reaction, bool]:
        """React to a text, and whether that is new. No event tells of it."""
        for one in text.reactions:
            if one.content == content and one.user is self.account:
                return one, False
        one = Reaction(self.store.serial(), content, self.account, self.store.time())
        text.reactions.append(one)
        return one, True

    def deletes(self, issue: Issue) -> None:
        """Delete an issue: asking for it is answered 410 from now on."""
        self.tell_thread(issue, "deleted")
        issue.deleted = True

    def transfers(self, issue: Issue, to: Repository) -> Issue:
        """Move an issue to another repository: asking for it is answered 301. Return it as it is there."""
        moved = Issue(**{**vars(issue), "number": to.next_number(), "id": self.store.serial(), "labels": []})
        moved.comments = [Comment(**{**vars(one), "number": moved.number}) for one in issue.comments]
        to.threads[moved.number] = moved
        changes = {
            "new_issue": shape.issue(self.site, self.store, to, moved),
            "new_repository": shape.whole_repository(self.site, self.store, to),
        }
        self.tell_thread(issue, "transferred", changes=changes)
        issue.moved_to = f"{to.name}#{moved.number}"
        return moved

    def _tell_comment(self, thread: Issue, one: Comment, action: str, **keys: Any) -> None:
        comment = shape.comment(self.site, self.repo, thread, one)
        self.tell("issue_comment", action, issue=self._issue(thread), comment=comment, **keys)

    def _issue(self, thread: Issue) -> Mapping[str, Any]:
        """Payloads say of every issue whether it is a draft; REST says so of pull requests only."""
        return {"draft": False, **shape.issue(self.site, self.store, self.repo, thread)}

    def _label(self, name: str) -> Mapping[str, Any]:
        return shape.label(self.site, self.repo, self.repo.labels[name.lower()])

    def _account(self, login: str) -> Mapping[str, Any]:
        return shape.account(self.site, self.store.account(login))

    def _known(self, logins: Iterable[str]) -> list[str]:
        """Return logins as their accounts write them, ten at most."""
        return list(dict.fromkeys(self.store.account(login).login for login in logins))[:10]

    def _touch(self, thread: Issue, *, changed: bool) -> None:
        if changed:
            thread.updated_at = self.store.time()


def organization(site: Site, owner: Account) -> dict[str, Any]:
    """Show an organisation, as payloads and teams do."""
    url = f"{site.api}/orgs/{owner.login}"
    tails = ("repos", "events", "hooks", "issues")
    return {
        "login": owner.login,
        "id": owner.id,
        "node_id": shape.node("O", owner.id),
        "url": url,
        **{f"{tail}_url": f"{url}/{tail}" for tail in tails},
        "members_url": f"{url}/members{{/member}}",
        "public_members_url": f"{url}/public_members{{/member}}",
        "avatar_url": f"{site.web}/avatars/u/{owner.id}?v=4",
        "description": None,
    }
