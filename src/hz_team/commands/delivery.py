"""The event file of a run on Actions: read once, bounded, and handed to `hz_team.event`."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team.commands import assembly, document, identity
from hz_team.errors import HzError

if TYPE_CHECKING:
    from argparse import Namespace

    from hz_team.model.job import Index
    from hz_team.model.observation import Heard
    from hz_team.ports import World

LARGEST = 25 * 1024 * 1024
"""Bytes: GitHub delivers no larger payload."""


class Delivery(NamedTuple):
    """One event, as Actions hands it to a run."""

    name: str
    payload: dict[str, Any]
    run: str
    """The run's id, the same for every attempt; "" if Actions does not say."""


def received() -> Delivery | None:
    """Return the event that started this run; None if no run of Actions did, or if its file cannot be read.

    What is wrong with the file is said, and the tick goes on as if the clock had woken it: an event only wakes.
    """
    name = os.environ.get("GITHUB_EVENT_NAME", "") if identity.on_actions() else ""
    if not name:
        return None
    try:
        return Delivery(name, _payload(os.environ.get("GITHUB_EVENT_PATH", "")), os.environ.get("GITHUB_RUN_ID", ""))
    except UnreadableError as error:
        text = f"hz-team: GITHUB_EVENT_PATH: {error}; this tick goes on as if the clock had woken it"
        print(document.lines(text), file=sys.stderr)
        return None


class UnreadableError(Exception):
    """The event cannot be told; the text says why."""


def _payload(path: str) -> dict[str, Any]:
    """Return the event file's document. Raises UnreadableError."""
    if not path:
        raise UnreadableError("it is not set")
    try:
        with open(path, "rb") as stream:
            content = stream.read(LARGEST + 1)
    except OSError as error:
        raise UnreadableError(f"{path} cannot be read: {error.strerror}") from None
    if len(content) > LARGEST:
        raise UnreadableError(f"{path} has more than {LARGEST:,} bytes")
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise UnreadableError(f"{path} is no JSON") from None
    if not isinstance(found, dict):
        raise UnreadableError(f"{path} holds no object")
    return found


def barred(delivery: Delivery, root: str, options: Namespace, now: int) -> str:
    """Return why nothing at all is opened or asked: the event is a fork's, which is nobody's home; "" otherwise."""
    from hz_team import event

    if not event.is_fork(delivery.payload):
        return ""
    try:
        home = _home(options, assembly.index_of(root, now))
    except HzError:
        home = ""  # a fork whose files are broken says nothing, and is left alone like any other
    return event.stranger(delivery.payload, repository="", home=home)


def _home(options: Namespace, index: Index) -> str:
    """Return the repository that --remote or `state.repository` names, "" if it is none on GitHub or none is named."""
    from hz_team.adapters import remote

    text = options.remote or index.settings.state
    return remote.name_of(remote.url_of(text, os.environ), os.environ) if text else ""


def heard(delivery: Delivery, world: World, options: Namespace, now: int) -> Heard:
    """Return what the event says, as a tick takes it; its `event.ignored` says why there is no need for one."""
    from hz_team import event
    from hz_team.model.observation import Heard

    said = event.heard(
        delivery.name,
        delivery.payload,
        config=world.config,
        repository="" if world.forge.repository == "local" else world.forge.repository,
        now=now,
        home=_home(options, world.config),
        run=delivery.run,
    )
    return Heard(event=said, pokes=said.pokes, refused=said.refused)


def ignore(why: str, options: Namespace) -> int:
    """Say why nothing is done, and that this is right: exit 0."""
    if options.json:
        document.show({"ignored": why})
    else:
        print(document.lines(f"Ignored: {why}."))
    return 0
