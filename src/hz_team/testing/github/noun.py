"""What a GitHub keeps: accounts, issues, pull requests, comments, releases, runs, discussions. Times are in seconds."""

from __future__ import annotations

from dataclasses import dataclass, field

REACTIONS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")
ROLES = ("none", "read", "triage", "write", "maintain", "admin")


@dataclass(eq=False)
class Account:
    """A person, a bot or an organisation."""

    id: int
    login: str
    kind: str = "User"
    """User, Bot or Organization."""


@dataclass(eq=False)
class Label:
    """A label of a repository."""

    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass(eq=False)
class Edit:
    """One revision of a text; the first is how it was written."""

    id: int
    text: str
    editor: Account | None
    at: int
    deleted_at: int = 0
    """When a person removed this revision's text from the history; 0: it is there."""


@dataclass(eq=False)
class Reaction:
    """One account's reaction to a text."""

    id: int
    content: str
    user: Account
    created_at: int


@dataclass(eq=False)
class Text:
    """What issues, comments and discussions share: a body with its history, and reactions."""

    id: int
    author: Account | None
    """None: the account was deleted."""
    body: str | None
    created_at: int
    updated_at: int
    edits: list[Edit] = field(default_factory=list)
    """Every revision, oldest first; the first is how it was written."""
    reactions: list[Reaction] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The body as a string."""
        return self.body or ""


@dataclass(eq=False)
class Comment(Text):
    """A comment below an issue, a pull request or a discussion."""

    number: int = 0
    """Of what it stands below."""


@dataclass(eq=False)
class Issue(Text):
    """An issue; also what a pull request is for comments, labels and assignees."""

    number: int = 0
    title: str = ""
    state: str = "open"
    state_reason: str | None = None
    labels: list[str] = field(default_factory=list)
    assignees: list[str] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    closed_at: int = 0
    closed_by: Account | None = None
    locked: bool = False
    pinned: bool = False
    deleted: bool = False
    moved_to: str = ""
    """`owner/name#number` after a transfer."""

    @property
    def is_there(self) -> bool:
        """Whether lists may show it."""
        return not self.deleted and not self.moved_to


@dataclass(eq=False)
class Pull(Issue):
    """A pull request between two branches of one repository."""

    head: str = ""
    """Branch."""
    base: str = ""
    head_sha: str = ""
    base_sha: str = ""
    draft: bool = False
    merged_at: int = 0
    merged_by: Account | None = None
    merge_commit_sha: str | None = None

    @property
    def merged(self) -> bool:
        """Whether it was merged."""
        return self.merged_at > 0


@dataclass(eq=False)
class Release(Text):
    """A release and its tag."""

    tag: str = ""
    name: str | None = None
    target: str = ""
    draft: bool = False
    prerelease: bool = False
    published_at: int = 0


@dataclass(eq=False)
class Workflow:
    """A workflow file that Actions knows."""

    id: int
    path: str
    name: str
    created_at: int
    state: str = "active"
    """active, disabled_manually or disabled_inactivity."""


@dataclass(eq=False)
class Run:
    """A workflow run; `attempts` holds what earlier attempts said."""

    id: int
    workflow: Workflow
    event: str
    actor: Account
    head_branch: str
    head_sha: str
    title: str
    created_at: int
    updated_at: int
    number: int = 1
    attempt: int = 1
    status: str = "completed"
    conclusion: str | None = "success"
    attempts: dict[int, tuple[str, str | None, int]] = field(default_factory=dict)
    """Earlier attempt → status, conclusion, when it was updated last."""


@dataclass(eq=False)
class Discussion(Text):
    """A discussion; only GraphQL shows it."""

    number: int = 0
    title: str = ""
    category: str = "General"
    comments: list[Comment] = field(default_factory=list)
    closed: bool = False
    deleted: bool = False
    locked: bool = False

    @property
    def is_there(self) -> bool:
        """Whether lists may show it."""
        return not self.deleted
