"""The seams: what the phases need of the outside, and nothing about how it is done.

One contract suite a seam (tests/ports/) runs against every implementation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from hz_team.model.state import Anchor

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from hz_team.model.facet import Item
    from hz_team.model.job import Index, Settings
    from hz_team.model.observation import Notes
    from hz_team.model.receipt import Runner
    from hz_team.model.state import View


class Guard(NamedTuple):
    """What a server refuses to everybody who may push to the state branch."""

    rewriting: bool
    removal: bool


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
        nothing was written), RemoteError when refused. A lease's `expires_at` is the end that the push gives it.
        """
        ...

    def names(self, view: View, folder: str) -> tuple[str, ...]:
        """Return the paths of the files below a folder of that view, in order."""
        ...

    def follows(self, view: View, tip: str) -> bool | None:
        """Whether that view's commit comes after (or is) an older one; None if nobody here can tell."""
        ...

    def time(self) -> int | None:
        """Return the server's time in seconds since 1970, None if it does not say."""
        ...

    def receipts(self, view: View) -> Iterator[tuple[str, bytes]]:
        """Yield id and raw bytes of every receipt, unsealed files and sealed lines alike."""
        ...

    def ledger(self, view: View) -> Iterator[tuple[str, bytes]]:
        """Yield path and raw bytes of every file that holds receipts, segments too."""
        ...

    def guarded(self) -> Guard | None:
        """Return how the server guards the branch against those who may push; None if that cannot be asked here."""
        ...


class Lease(NamedTuple):
    """Who may work on a job now."""

    job: str
    ref: str
    token: str
    """Fencing token: the lease commit's id; for the file lock a nonce."""
    generation: int
    expires_at: int
    """0: never, it ends with its holder (the file lock)."""
    made: bool = False
    """Its ref was made by this claim: nothing on it could tell whether the state was read in time."""

    @property
    def key(self) -> tuple[str, int, str]:
        """The very lease, however often it was renewed."""
        return (self.job, self.generation, self.token)


class Known(NamedTuple):
    """What the state that was planned from says of one job: a lease is newer than that, and must not know of more."""

    generation: int = 0
    seq: int = 0
    """The job's receipts."""


class Riding(NamedTuple):
    """Files to record with a claim's push: what somebody asked for is durable before it is acted on."""

    view: View
    files: Mapping[str, bytes | None]
    message: str


class Claim(NamedTuple):
    """What a tick asks of the leases."""

    jobs: Mapping[str, Known]
    now: int
    ttl: int
    """Seconds."""
    ledger: Anchor = Anchor()
    """Of the state that was planned from."""
    mode: str = "full"
    """full: this process works to the end; split: other processes of the same run go on."""
    gone: Mapping[str, Known] = {}
    """Jobs that no file names any more: their leases are removed where the state has the generation."""
    riding: Riding | None = None


class Granted(NamedTuple):
    """What a claim brought."""

    leases: Mapping[str, Lease] = {}
    """By job; one that is missing is held by another."""
    view: View | None = None
    """The state with what rode along; None: that is not recorded yet."""


class Standing(NamedTuple):
    """One lease as anybody sees it, for people who look after them."""

    job: str
    ref: str
    holder: str
    mode: str
    """full, split or free; "" if the ref holds nothing that this program can read."""
    generation: int = 0
    at: int = 0
    """When it was last renewed, by the holder's clock."""
    expires_at: int = 0
    anchor: Anchor = Anchor()
    commit: str = ""
    """Where its ref stands."""
    seq: int = 0
    """Receipts of the job that its holder knew of."""


class Leases(Protocol):
    """Exclusive, bounded rights to work on a job."""

    def acquire(self, claim: Claim) -> Granted:
        """Take what can be taken, in one push. A granted lease's generation is greater than the known one.

        Raises TryAgain if another tick owns the root; Behind if a free lease knows a longer ledger.
        """
        ...

    def adopt(self, leases: Iterable[Lease], *, now: int, ttl: int, ledger: Anchor) -> dict[str, Lease]:
        """Go on with leases that another process of this run took: renewed, all or none, from exactly where they stand.

        Returns them as they stand now. Raises TryAgain if one moved, RemoteError where leases cannot be handed on.
        """
        ...

    def hand_over(self, leases: Iterable[Lease]) -> dict[str, Lease]:
        """Keep these held when this process ends: return them as they stand, and stop renewing."""
        ...

    def extended(self, leases: Iterable[Lease], *, now: int) -> dict[str, Lease]:
        """Return them with the end that a record made now gives them. Asks nobody."""
        ...

    def holds(self, lease: Lease, *, now: int) -> bool:
        """Whether this process still holds that very lease."""
        ...

    def fence(self, lease: Lease) -> AbstractContextManager[Callable[[], None]]:
        """Guard effects: a timer ends this process when the lease, as recorded, is over but for the request deadline.

        What is given is asked right before each request; it raises LeaseOver when the wall clock says the same.
        """
        ...

    def release(self, leases: Iterable[Lease]) -> None:
        """Give back; never touches a successor's lease."""
        ...

    def standing(self) -> tuple[Standing, ...]:
        """Return every lease there is, by job. Raises RemoteError."""
        ...

    def mend(self, standing: Standing, known: Known, *, now: int, ledger: Anchor) -> None:
        """Put a free lease of a newer generation where this one stands. Raises TryAgain if it moved, RemoteError."""
        ...


class Attempts(Protocol):
    """What became of the runs that hold leases, where a forge can tell."""

    def state(self, run: str, attempt: int) -> tuple[str, int]:
        """Return (queued, running, ended or unknown; when it ended, else 0) of one attempt of a run."""
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


class Reply(NamedTuple):
    """One answer of a forge's API that is a fact: found, unchanged, gone, moved, or not valid."""

    status: int
    data: Any = None
    """The JSON document; None where there is none (204, 304)."""
    headers: Mapping[str, str] = {}
    """Lower-case names; values untouched."""
    next: str = ""
    """Path and query of the next page, "" on the last one."""


class Api(Protocol):
    """A forge's API, for reading. Every request is counted, and none is made while the forge asks us to wait.

    Deferred: a limit is reached, or the tick's budget is. Forbidden: the token lacks a permission. TryAgain: offline,
    a time-out or 5xx. RemoteError: the token is dead, or what came is no answer of that API.
    """

    repository: str
    """owner/name."""

    def get(
        self,
        path: str,
        params: Mapping[str, str | int] = {},
        *,
        etag: str = "",
        modified: str = "",
        permission: str = "",
    ) -> Reply:
        """Return one GET of a path such as `/repos/acme/housework/issues`.

        304, 404, 410, 422 and a redirect come back as replies. `etag`, `modified`: validators of an earlier reply.
        `permission`: what the token needs for it, named where it lacks that, such as "issues: read".
        """
        ...

    def query(self, operation: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the data of one GraphQL operation that the adapter knows by name; fields that failed are None."""
        ...

    def time(self) -> int | None:
        """Return the forge's time by its newest answer, in seconds since 1970; None before there was one."""
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


class Edit(NamedTuple):
    """One change of a page: what stood there after it, and who made it."""

    text: str
    by: str = ""
    """"" if nobody can tell."""
    at: int = 0
    ours: bool = False
    """The program itself drew it."""
    ref: str = ""
    """Where it can be read again."""


class Remark(NamedTuple):
    """A comment below one of our pages, as it was written."""

    page: str
    id: str
    text: str
    by: str = ""
    at: int = 0
    ref: str = ""
    """Its address."""
    doubt: str = ""
    """Why it cannot count ("it was edited"), "" if it may."""


class Survey(NamedTuple):
    """What one look at all pages brought."""

    stamps: Mapping[str, str] = {}
    """Page → the fingerprint of its stored text, of every page there is."""
    pages: Mapping[str, Page] = {}
    """Those whose text came along."""
    remarks: tuple[Remark, ...] = ()
    """New comments, oldest first."""
    closed: Mapping[str, Edit] = {}
    """Pages that a person closed, with who and when."""
    notes: tuple[str, ...] = ()
    """Sentences about pages that cannot be used as they are."""


class Cover(NamedTuple):
    """How a page presents itself where pages have more than a text."""

    title: str = ""
    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    """Whom it is for; told once, when the page is made."""


class Forge(Protocol):
    """Where people look and where most drafts are published: GitHub, or files below `.hz/local/`."""

    repository: str
    web: str
    """The repository's address for people; "": pages are files."""

    def survey(self, known: Mapping[str, Any], names: Collection[str] = ()) -> Survey:
        """Look at all pages once. `known`: what `memory` said when the state was recorded last; `names`: decisions."""
        ...

    def memory(self, *, settled: bool) -> Mapping[str, Any]:
        """Return what the next record keeps for later surveys, as JSON values; {}: nothing is needed.

        Not `settled`: something that was heard could not be decided, so the next survey has to hear it again.
        """
        ...

    def page(self, name: str) -> Page | None:
        """Return the page `dashboard` or a proposal's (its id) as it stands now, or None if there is none."""
        ...

    def edits(self, name: str) -> tuple[Edit, ...]:
        """Return the changes of a page that the last record may not know of, oldest first; (): nobody can tell."""
        ...

    def put_page(self, name: str, text: str, *, expected: str | None, cover: Cover | None = None) -> bool:
        """Store a page if what is stored equals `expected` (None: there is none). False: a person was faster."""
        ...

    def pages(self) -> tuple[str, ...]:
        """Return the names of all open pages."""
        ...

    def drop_page(self, name: str, words: str = "") -> None:
        """Remove a closed proposal's page; a forge with history closes it instead, and says what became of it."""
        ...

    def acknowledge(self, remark: Remark, *, done: bool) -> None:
        """Show below a comment that it was seen, or that what it asked for is done. Twice does no harm."""
        ...

    def link(self, name: str) -> str:
        """Address of a page or an outcome's ref, as a person opens it from the dashboard."""
        ...

    def role(self, login: str) -> tuple[str, str]:
        """Return the person's permission (admin, maintain, write, triage, read, none) and how it is known."""
        ...

    def find(self, kind: str, marker: str, *, target: str = "", since: int = 0) -> Found:
        """List (never search) the outcomes of a kind at a target that carry the marker; none is older than `since`."""
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
    check: Callable[[], None] = lambda: None
    """Called right before every write. Raises LeaseOver when there is no time left for it."""
    since: int = 0
    """When the proposal was made: no outcome of it is older."""
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
    api: Api | None = None
    """GitHub's API; None where the forge is another."""


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
    api: Api | None = None
    """GitHub's API, where the state lives there."""
