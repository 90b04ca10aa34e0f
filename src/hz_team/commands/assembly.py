"""Builds the world of a tick: the one place where adapters are chosen."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team import config
from hz_team.adapters import cache
from hz_team.commands import identity
from hz_team.errors import UsageError
from hz_team.ports import World

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from hz_team.commands.gateway import Gateway
    from hz_team.model.job import Index
    from hz_team.ports import Attempts, Command, Finished, Forge, Leases, Processes, Request, Response, State

TOKENS = ("GITHUB_TOKEN", "GH_TOKEN", "HZ_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN")
"""Variables whose values may write."""
LOCK = (".hz", "local", "tick.lock")
"""One tick at a time works on a root."""


class LazyHttp:
    """The network, loaded when the first request is made."""

    def send(self, request: Request) -> Response:
        """Make one exchange within its deadline. Raises HttpError."""
        if not hasattr(self, "_real"):
            from hz_team.adapters.http import HttpClient

            self._real = HttpClient()
        return self._real.send(request)


class LazyProcesses:
    """Job processes, loaded when the first one is run."""

    def __init__(self, root: str) -> None:
        """No process may read `root` unless its command says so, wherever it lies."""
        self._root = root

    def run(self, command: Command) -> Finished:
        """Run one command to its end, its time-out or our death."""
        return processes(self._root).run(command)


def processes(root: str) -> Processes:
    """Return the adapter that runs job processes."""
    from hz_team.adapters.process import SupervisedProcesses

    return SupervisedProcesses(private=(root,))


def local_url(root: str) -> str:
    """Return the URL of the embedded default's state: a bare repository below `.hz/local/`."""
    from urllib.parse import quote

    return "file://" + quote(os.path.join(os.path.abspath(root), ".hz", "local", "state.git"))


def state_url(root: str, options: Namespace, index: Index) -> str:
    """Return where the state lives: --remote URL, `state.repository` with --remote alone, else below .hz/local/.

    On Actions it is the repository of the workflow unless something else is said.
    """
    here = os.environ.get("GITHUB_REPOSITORY", "") if identity.on_actions() else ""
    if options.remote is None and not here:
        return local_url(root)
    from hz_team.adapters import remote

    text = options.remote or index.settings.state or here
    if not text:
        message = "--remote needs a URL here, because .hz/hz.yaml has no `state.repository`"
        raise UsageError(message)
    url = remote.url_of(text, os.environ)
    if options.now and not remote.is_here(url) and not getattr(options, "dry_run", False):
        message = "--now with a state on another host would write a false history; add --dry-run"
        raise UsageError(message)
    return url


def index_of(root: str, now: int) -> Index:
    """Return the compiled configuration, from the cache where nothing changed."""
    return config.index(root, cache_dir=cache.folder_of(root, "config"), declare=declare(root), now=now)


def declare(root: str) -> Any:
    """Return the function that reads the declarations of a Python file, in a child."""

    def read(path: str, modules: tuple[str, ...]) -> Any:
        from hz_team import plugin

        return plugin.declare(processes(root), path, root, modules=modules)

    return read


def actor_of(options: Namespace) -> str:
    """Return whose answers commands and files are: --as LOGIN, else the system user."""
    if options.login:
        return str(options.login)
    from hz_team.adapters.local import local_user

    return f"local:{local_user()}"


def open_world(root: str, options: Namespace, now: int, *, looking: bool = False, **more: Any) -> World:
    """Return the world of one tick on this root; `looking`: nothing is made below `.hz/local/`."""
    from hz_team.adapters.local import LocalForge
    from hz_team.adapters.state import GitState

    index = index_of(root, now)
    url = state_url(root, options, index)
    place = cache.folder_of(root, url)
    if url == local_url(root) and not os.path.isdir(os.path.join(root, ".hz", "local")):
        cache.forget_notes(place)  # whoever removed the whole folder begins anew
    runner, name, http = identity.runner_of(), index.settings.repository or "local", LazyHttp()
    gateway: Gateway | None = None
    if url == local_url(root):
        state, leases = _own(root, url, place, name)
    else:
        from hz_team.commands.gateway import opened

        name = index.settings.repository or identity.repository_of(root, url)
        gateway = opened(url, name, http, os.environ)
        own = _Own(identity.holder_of(runner), gateway.runs if gateway else None, replays=bool(options.now))
        state, leases = _shared(root, url, place, name, own)
    near = LocalForge(root)
    near.repository = name
    forge: Forge = gateway.forge if gateway else near
    if url == local_url(root) and not looking:
        near.prepare()
        GitState.create_local(os.path.join(root, ".hz", "local", "state.git"))
    return World(
        root=root,
        config=index,
        state=state,
        leases=leases,
        forge=forge,
        http=http,
        processes=LazyProcesses(root),
        runner=runner,
        notes=cache.load_notes(place),
        actor=actor_of(options),
        environ=dict(os.environ),
        withheld=tuple(value for name, value in os.environ.items() if name in TOKENS and value),
        stopped=_stopped(root, now),
        api=gateway.api if gateway else None,
        **more,
    )


class _Own(NamedTuple):
    """What is ours about leases."""

    holder: str
    attempts: Attempts | None
    """Tells whether a run that holds a lease has ended."""
    replays: bool
    """Another moment is replayed: then nobody asks for the server's time."""


def _own(root: str, url: str, place: str, name: str) -> tuple[State, Leases]:
    """Return state and leases of the embedded default: one machine, one lock."""
    from hz_team.adapters.leases import FileLeases
    from hz_team.adapters.state import GitState

    state = GitState(url, os.path.join(place, "state.git"), repository=name, say=_say)
    return state, FileLeases(os.path.join(root, *LOCK))


def _shared(root: str, url: str, place: str, name: str, own: _Own) -> tuple[State, Leases]:
    """Return a state that other machines write too, and the leases that tell who may; one tick a time on this root."""
    from hz_team.adapters.lease_ref import RefLeases
    from hz_team.adapters.leases import FileLeases
    from hz_team.adapters.state import GitState

    mirror = os.path.join(place, "state.git")
    hosted = identity.hosted()
    leases = RefLeases(
        url,
        mirror,
        holder=own.holder,
        run=hosted.run,
        attempt=hosted.attempt,
        root=FileLeases(os.path.join(root, *LOCK)),
        attempts=own.attempts,
        clock=(lambda: None) if own.replays else (lambda: state.time()),  # noqa: PLW0108  (it is made below)
    )
    state = GitState(url, mirror, repository=name, leases=leases, say=_say)
    return state, leases


def _say(text: str) -> None:
    from hz_team.commands import document

    print(f"hz-team: {document.lines(text)}", file=sys.stderr)


def _stopped(root: str, now: int) -> Callable[[str], str]:
    def stopped(job: str) -> str:
        index = index_of(root, now)
        known = next((one for one in index.jobs if one.id == job), None)
        if index.settings.paused:
            return "paused in .hz/control.yaml"
        if job in index.settings.disabled:
            return f"{job} is disabled in .hz/control.yaml"
        if known is None or not known.enabled:
            return f"{job} is disabled in {known.file}" if known else f"{job} has no valid file now"
        return ""

    return stopped


def contained() -> str:
    """Return the containment that job processes reach on this machine: `landlock-N` or `none`."""
    from hz_team.adapters.process import contained as level

    return level()
