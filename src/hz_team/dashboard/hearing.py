"""What people did to a page, as answers, pokes and switches. Pure: pages in, Heard out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hz_team import poke
from hz_team.dashboard import command, row
from hz_team.dashboard import proposal as proposal_page
from hz_team.errors import UsageError
from hz_team.model.observation import Heard
from hz_team.model.proposal import Answer

if TYPE_CHECKING:
    from hz_team.dashboard.command import Command
    from hz_team.dashboard.row import Tick
    from hz_team.model.job import Index
    from hz_team.model.state import View

ANSWERS = ("approve", "reject", "redraft", "always", "arrived", "again")


class Speaker(NamedTuple):
    """Who said something, as far as anybody can tell."""

    by: str
    role: str
    at: int
    ref: str = ""
    """Where it can be read again; "" for the page itself."""


def dashboard(name: str, stored: str, drawn: str, who: Speaker, *, view: View, config: Index) -> Heard:
    """Return what was said on the dashboard or on one of its further pages; `name` is the page's."""
    heard = Heard()
    for tick in row.read(stored, drawn):
        one = _one(tick, name, who, view, config)
        heard = merge(heard, one._replace(rows=((name, tick.verb, tick.subject, tick.digest),)))
    return heard


def page(name: str, stored: str, drawn: str, who: Speaker) -> Heard:
    """Return what was said on a proposal's page."""
    said = proposal_page.read(stored, drawn)
    if said.damaged and not said.ticks:
        lost = f"{name}: the lines around the draft are gone; the page is drawn again"
        return Heard(rows=((name, "page", name, ""),), refused=(lost,))
    answers = [_answer(tick, who, "page", name, said.note) for tick in said.ticks if tick.verb in ANSWERS]
    if said.edit is not None and not said.damaged:
        shown, ref = _shown(drawn, name), who.ref or name
        edit = Answer(name, "edit", who.by, who.role, "page", who.at, shown, body=said.edit, ref=ref)
        answers.insert(0, edit)
    rows = tuple((name, tick.verb, tick.subject, tick.digest) for tick in said.ticks)
    return Heard(answers=tuple(answers), rows=rows)


def closed(name: str, who: Speaker, view: View) -> Heard:
    """Return what it means that a person closed a page: a no to its draft, or a pause."""
    if name not in view.proposals:
        return Heard(pause=(True, who.by), closed=True) if not view.paused and _may(who) else Heard()
    digest, ref = view.proposals[name].digest, who.ref or name
    return Heard(answers=(Answer(name, "reject", who.by, who.role, "page", who.at, digest, ref, "closed its page"),))


def remark(page: str, text: str, who: Speaker, doubt: str, *, config: Index) -> Heard:
    """Return what a comment below a page asks for; `doubt`: why it cannot count."""
    asked = command.read(text, page)
    if asked is None:
        return Heard()
    wrong = asked.wrong or doubt
    if not wrong and asked.verb not in command.ABOUT_A_PROPOSAL and not _may(who):
        wrong = f"{who.by} may {who.role} but not write here"
    if wrong:
        return Heard(refused=(f"{who.by}: {wrong}",))
    if asked.verb in ("pause", "resume"):
        return Heard(pause=(asked.verb == "pause", who.by))
    if asked.verb == "run":
        return _asked(asked, who, config)
    if asked.verb == "retry":
        return Heard(retries=((asked.subject, who.by),))
    answer = Answer(asked.subject, asked.verb, who.by, who.role, "comment", who.at, ref=who.ref, note=asked.text)
    return Heard(answers=(answer,))


def _asked(asked: Command, who: Speaker, config: Index) -> Heard:
    """Return the poke of `/hz run`, or why there is none."""
    try:
        job = poke.find(config, asked.subject)
        given = poke.inputs(job, command.inputs(asked.text))
    except UsageError as error:
        return Heard(refused=(f"{who.by}: {error}",))
    return Heard(pokes=(poke.make(job, by=who.by, via="comment", at=who.at, inputs=given),))


def _may(who: Speaker) -> bool:
    """Whether this person may steer helpers: who could change the files may."""
    return who.role in ("local", "write", "maintain", "admin")


def merge(first: Heard, second: Heard) -> Heard:
    """Return both; the later word on the pause box stands."""
    return first._replace(
        answers=(*first.answers, *second.answers),
        pokes=(*first.pokes, *second.pokes),
        retries=(*first.retries, *second.retries),
        pause=second.pause or first.pause,
        rows=(*first.rows, *second.rows),
        refused=(*first.refused, *second.refused),
        resumed=(*first.resumed, *second.resumed),
        pages={**first.pages, **second.pages},
        payloads={**first.payloads, **second.payloads},
        stamps={**first.stamps, **second.stamps},
        remarks=(*first.remarks, *second.remarks),
        closed=first.closed or second.closed,
    )


def _one(tick: Tick, name: str, who: Speaker, view: View, config: Index) -> Heard:
    seen = Heard()
    if tick.verb == "pause":
        return seen._replace(pause=(tick.ticked, who.by))
    if tick.verb in ANSWERS:
        return seen._replace(answers=(_answer(tick, who, "box", name, ""),))
    if not tick.ticked:
        return seen
    if tick.verb == "approve-all" and tick.stale:
        return seen._replace(
            refused=("Publish all: other decisions stand there now than when it was drawn; none was taken",)
        )
    if tick.verb == "retry":
        return seen._replace(retries=((tick.subject, who.by),)) if _current(tick, view) else seen
    if tick.verb == "run":
        return _run(seen, tick, who, config)
    return seen


def _answer(tick: Tick, who: Speaker, via: str, page: str, note: str) -> Answer:
    verb = tick.verb if tick.ticked else "withdraw"
    return Answer(tick.subject, verb, who.by, who.role, via, who.at, tick.digest, ref=who.ref or page, note=note)


def _current(tick: Tick, view: View) -> bool:
    """Whether a retry box is for this very parking, and not for one that is over."""
    position = view.positions.get(tick.subject)
    return tick.subject in view.proposals or bool(position and str(position.parked.get("n")) == tick.digest)


def _run(seen: Heard, tick: Tick, who: Speaker, config: Index) -> Heard:
    job = next((job for job in config.jobs if job.id == tick.subject), None)
    if job is None:
        return seen._replace(refused=(f"{tick.subject}: there is no such helper any more",))
    needed = [name for name, spec in job.inputs.items() if spec.required and spec.default is None]
    if needed:
        say = f"{job.id} needs the input {needed[0]}: hz-team run {job.id} --input {needed[0]}=…"
        return seen._replace(refused=(say,))
    return seen._replace(pokes=(poke.make(job, by=who.by, via="box", at=who.at, inputs={}),))


def _shown(drawn: str, name: str) -> str:
    """Return the digest that a page was drawn for."""
    words = drawn.split("-->", 1)[0].split()
    return words[3] if words[2:3] == [name] and len(words) > 3 else ""  # noqa: PLR2004  (<!-- hz:proposal id digest)
