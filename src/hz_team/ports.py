"""The seams: what the phases need of the outside, and nothing about how it is done.

One contract suite a seam (tests/ports/) runs against every implementation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from hz_team.model.facet import Item
    from hz_team.model.job import Index, Settings
    from hz_team.model.observation import Notes
    from hz_team.model.receipt import Runner
    from hz_team.model.state import View


class State(Protocol):
    """The state branch of one repository, whatever its URL."""

    url: str

    def fetch(self) -> View:
        """Return the branch as it is now. Raises RemoteError when the repository cannot be reached."""
        ...

    def read(self, view: View, paths: Sequence[str]) -> dict[str, bytes]:
        """Return the named files of that view in one batch; names that do not exist are left out."""
        ...

    def record(
        self,
        view: View,
        files: Mapping[str, bytes | None],
        message: str,
        *,
        leases: Sequence[Lease] = (),
        last: bool = False,
    ) -> View:
        """Write or remove (None) files in one commit on `view.tip` and push it, expecting that tip.

        The `leases` it relies on are renewed by the same push, all or nothing; `last`: given back. Returns the view
        after it. Raises TryAgain when the branch moved and what matters does not hold there, or a lease was lost (and
        nothing was written), RemoteError when refused.
        """
        ...

    def receipts(self, view: View) -> Iterator[tuple[str, bytes]]:
        """Yield id and raw bytes of every receipt, unsealed files and sealed lines alike."""
        ...


class Lease(NamedTuple):
    """Who may work on a job now."""

    job: str
    ref: str
    token: str
    """Fencing token: the lease commit's id; for the file lock a nonce."""
    generation: int
    expires_at: int


class Leases(Protocol):
    """Exclusive, bounded rights to work on a job."""

    def acquire(
        self,
        jobs: Mapping[str, int],
        *,
        now: int,
        ttl: int,
        ledger: tuple[int, str] = (0, ""),
    ) -> dict[str, Lease]:
        """Take what can be taken of `jobs` (job → generation in its position); a missing job is held by another.

        `ledger`: count and head of the state that was planned from. A granted lease's generation is greater than the
        one given. Raises TryAgain if another tick owns the root, or a free lease knows a longer ledger.
        """
        ...

    def holds(self, lease: Lease, *, now: int) -> bool:
        """Whether this process still holds that very lease."""
        ...

    def release(self, leases: Iterable[Lease]) -> None:
        """Give back; never touches a successor's lease."""
        ...


class Request(NamedTuple):
    """One HTTP exchange to make."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = {}
    body: bytes = b""
    deadline: float = 20.0
    """Seconds for everything: connect, redirects, body."""
    limit: int = 8_000_000
    """Bytes of decoded body at most."""
    redirects: int = 5
    """How many to follow; 0: none."""
    private: tuple[str, ...] = ()
    """`host` or `host:port` that may be a private or loopback address. A redirect from public to private never is."""


class Response(NamedTuple):
    """What came back; a status of 400 and above is a response, not an error."""

    status: int
    headers: Mapping[str, str]
    """Lower-case names; values untouched."""
    body: bytes
    url: str
    """The final address."""
    hops: tuple[tuple[int, str], ...] = ()
    """Redirects followed: status and the address it named."""


class HttpError(Exception):
    """No answer, or one that must not be read."""

    def __init__(self, kind: str, text: str) -> None:
        """Kind: offline (no route, no name), refused, timeout, too-large, forbidden (address or redirect), broken."""
        super().__init__(text)
        self.kind = kind


class Http(Protocol):
    """The network."""

    def send(self, request: Request) -> Response:
        """Make one exchange within its deadline. Raises HttpError."""
        ...


class Limits(NamedTuple):
    """Bounds of a job process."""

    memory: int = 4 << 30
    file_size: int = 1 << 30
    open_files: int = 1024
    processes: int = 0
    """Of the command's whole tree, counted four times a second; 0: not limited (RLIMIT_NPROC counts the user's)."""
    output: int = 64 * 1024
    """Bytes of each stream kept: half of it head, half tail."""


class Command(NamedTuple):
    """One process of a job."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    """The whole environment: nothing else is passed on."""
    timeout: float
    stdin: bytes = b""
    read: tuple[str, ...] = ()
    """Paths it may read besides the system's own."""
    write: tuple[str, ...] = ()
    """Paths it may write."""
    secrets: tuple[str, ...] = ()
    """Values to mask in output, in their usual encodings too."""
    limits: Limits = Limits()


class Finished(NamedTuple):
    """How a process ended."""

    code: int | None
    """Exit code; None if a signal or the timeout ended it."""
    signal: int = 0
    timed_out: bool = False
    stdout: str = ""
    """Head and tail with "… N bytes left out …" between; bytes that are not UTF-8 as \\xNN; secrets masked."""
    stderr: str = ""
    dropped: int = 0
    ms: int = 0
    level: str = "none"
    """`landlock-N` or `none`."""


class Processes(Protocol):
    """Runs job processes: contained, bounded, killed as a whole tree."""

    def run(self, command: Command) -> Finished:
        """Run one command to its end, its time-out or our death. Raises nothing for what the command does."""
        ...


class Found(NamedTuple):
    """What `find` says."""

    status: str
    """found, absent or unknown. Unknown is never absent."""
    refs: tuple[str, ...] = ()
    """All that carry the key, lowest first; the first stays."""


class Page(NamedTuple):
    """A dashboard or proposal page as it is stored."""

    text: str
    by: str = ""
    """Who changed it last, "" if nobody can tell (a file)."""
    at: int = 0
    damaged: str = ""
    """Why nothing on it can be taken (it is not UTF-8), "" if it can; `text` is then what of it could be read."""


class Forge(Protocol):
    """Where people look and where most drafts are published: GitHub, or files below `.hz/local/`."""

    repository: str

    def page(self, name: str) -> Page | None:
        """Return the page `dashboard` or a proposal's (its id), or None if there is none."""
        ...

    def put_page(self, name: str, text: str, *, expected: str | None) -> bool:
        """Store a page if what is stored equals `expected` (None: there is none). False: a person was faster."""
        ...

    def pages(self) -> tuple[str, ...]:
        """Return the names of all stored pages."""
        ...

    def drop_page(self, name: str) -> None:
        """Remove a closed proposal's page (a forge with history closes it instead)."""
        ...

    def link(self, name: str) -> str:
        """Address of a page or an outcome's ref, as a person opens it from the dashboard."""
        ...

    def role(self, login: str) -> tuple[str, str]:
        """Return the person's permission (admin, maintain, write, triage, read, none) and how it is known."""
        ...

    def find(self, kind: str, marker: str) -> Found:
        """List (never search) the outcomes of a kind that carry the marker."""
        ...

    def create(self, kind: str, content: Mapping[str, Any], marker: str) -> str:
        """Make one outcome that carries the marker; return its ref. Never looks first: `find` does."""
        ...

    def withdraw(self, kind: str, ref: str, note: str) -> None:
        """Close an outcome that turned out to be a double; `find` does not list it any more. Twice does no harm."""
        ...


class PublishTools(NamedTuple):
    """What a publisher may use."""

    forge: Forge
    http: Http
    settings: Settings
    deadline: float = 20.0
    """Seconds for one request."""


class WatchTools(NamedTuple):
    """What a watch may use."""

    http: Http
    processes: Processes
    root: str
    now: int
    items: Callable[[], tuple[Item, ...]]
    """Loads the old snapshot; call it only when something changed."""
    jitter: Callable[[], float]
    """A number from 0 to 1."""
    stats: dict[str, Any]
    """A files watch's memory of stat results; lossy."""


class World(NamedTuple):
    """Everything outside, handed to the phases once: ports, the compiled configuration, and who runs."""

    root: str
    config: Index
    state: State
    leases: Leases
    forge: Forge
    http: Http
    processes: Processes
    runner: Runner
    notes: Notes
    actor: str
    """Who answers given by file or command belong to: `local:NAME` or a login (`--as`)."""
    environ: Mapping[str, str]
    """Where declared variables come from; a job process gets nothing else of it."""
    withheld: tuple[str, ...]
    """Values that no job may be given, whatever it declares: tokens that may write."""
    stopped: Callable[[str], str]
    """Reads the files' kill switches again: why this job may not publish now, "" if it may."""
    scope: str = "team"
    only: str = ""
    """`--job ID`: no other job is run."""
    drafting: bool = True
    """False: answers are taken and approved drafts go out, but no job is run (`inbox approve`)."""
    publishing: bool = True
    """`--no-publish`: approvals are recorded, nothing leaves."""
