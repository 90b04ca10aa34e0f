"""draft: orders → outcomes. Each step in a process of its own: no write token, limits, a time-out.

One order never touches another: whatever goes wrong in it, a bug of ours included, is its own outcome.
"""

from __future__ import annotations

import time
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team import briefing, checkout, handover, poke, redaction, registry, workroom
from hz_team.errors import HzError, UsageError
from hz_team.harvest import Crop, Wanted, harvest, with_change
from hz_team.model.draft import Cost, Outcome, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from hz_team.checkout import Checkout
    from hz_team.model.facet import Facets
    from hz_team.model.job import Index, Job, Step
    from hz_team.model.order import Order
    from hz_team.ports import Finished, Processes

BUG_TAIL = 4_000
TRY_AGAIN = 75


class Workshop(NamedTuple):
    """What drafting needs of the world. Nothing in it can write anywhere but in scratch folders."""

    root: str
    config: Index
    processes: Processes
    environ: Mapping[str, str]
    """Where declared variables are taken from."""
    now: int
    facets: Callable[[Order], Mapping[str, Facets]]
    """What the watches of an order saw, by watch id."""
    withheld: tuple[str, ...] = ()
    """Values that no step may be given, whatever it declares: the tick's own write tokens."""
    scratch: Callable[[str], AbstractContextManager[str]] | None = None
    """Makes a job's folder and removes it; by default below the system's folder for temporary files."""


class _StopError(HzError):
    """Ends one order: the sentence, the last lines of output, and whether trying again may help."""

    def __init__(self, error: str, *, tail: str = "", retry: bool = True) -> None:
        super().__init__(error)
        self.tail, self.retry = tail, retry


def draft(orders: Sequence[Order], workshop: Workshop) -> tuple[Outcome, ...]:
    """Run orders side by side, those of one job no more at once than it allows; outcomes in the order of the orders."""
    if len(orders) == 1:
        return (_isolated(orders[0], workshop),)
    from concurrent.futures import ThreadPoolExecutor

    workshop = workshop._replace(facets=_one_at_a_time(workshop.facets))
    lanes = _lanes(orders, workshop)
    done: dict[int, Outcome] = {}
    with ThreadPoolExecutor(max_workers=max(1, workshop.config.settings.parallel)) as pool:
        for outcomes in pool.map(lambda lane: [(at, _isolated(orders[at], workshop)) for at in lane], lanes):
            done.update(outcomes)
    return tuple(done[at] for at in range(len(orders)))


def _one_at_a_time(look: Callable[[Order], Mapping[str, Facets]]) -> Callable[[Order], Mapping[str, Facets]]:
    """Return the same question, asked by one thread after the other: state is read through one pipe to Git."""
    from threading import Lock

    lock = Lock()

    def facets(order: Order) -> Mapping[str, Facets]:
        with lock:
            return look(order)

    return facets


def _lanes(orders: Sequence[Order], workshop: Workshop) -> list[list[int]]:
    """Deal the orders of each job to as many lanes as may run at once; a lane runs from first to last."""
    width = {job.id: max(1, job.concurrency) for job in workshop.config.jobs}
    lanes: dict[tuple[str, int], list[int]] = {}
    dealt: dict[str, int] = {}
    for at, order in enumerate(orders):
        number = dealt.get(order.job, 0)
        dealt[order.job] = number + 1
        lanes.setdefault((order.job, number % width.get(order.job, 1)), []).append(at)
    return list(lanes.values())


def _isolated(order: Order, workshop: Workshop) -> Outcome:
    started = time.monotonic()
    try:
        outcome = _run(order, workshop)
    except HzError as error:
        outcome = Outcome(order.job, "failed", error=str(error))
    except Exception as error:  # noqa: BLE001  (one job's isolation: a bug in one order must not end the tick)
        tail = traceback.format_exc()[-BUG_TAIL:]
        outcome = Outcome(order.job, "failed", error=f"a bug in hz-team, please report it: {error!r}", tail=tail)
    return outcome._replace(cost=outcome.cost._replace(ms=int((time.monotonic() - started) * 1000)))


def _run(order: Order, workshop: Workshop) -> Outcome:
    job = next((job for job in workshop.config.jobs if job.id == order.job), None)
    if job is None:
        return Outcome(order.job, "failed", error=f"there is no job {order.job} any more", retry=False)
    if order.pokes and order.slot is None and (wrong := poke.misfit(job, order.inputs)):
        return Outcome(order.job, "refused", error=wrong, retry=False)  # the file was changed since somebody asked
    from tempfile import TemporaryDirectory

    prefix = f"hz-{job.id[:40]}-"
    made = (
        workshop.scratch(job.id) if workshop.scratch else TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True)
    )
    with made as folder:
        run = _Run(order, job, workshop, folder)
        try:
            return run.outcome()
        except _StopError as stop:
            return run.failed(str(stop), tail=stop.tail, retry=stop.retry)
        except HzError as error:
            return run.failed(str(error))


class _Run:
    """One order at work."""

    def __init__(self, order: Order, job: Job, workshop: Workshop, folder: str) -> None:
        self.order, self.job, self.workshop = order, job, workshop
        self.deadline = time.monotonic() + job.timeout
        self.env = tuple(sorted({name for step in job.steps for name in step.env if name in workshop.environ}))
        self.forms = redaction.pattern(redaction.secrets(workshop.environ, self.env))
        seen = workshop.facets(order) if job.watches else {}
        self.sources = {watch: len(seen[watch].added) for watch in job.watches.values() if watch in seen}
        self.room = briefing.room(order, job, workshop.config.settings, seen, now=workshop.now)._replace(
            folder=folder,
            root=workshop.root,
            environ=workshop.environ,
        )
        self.origin: dict[str, str] = {}
        """Draft file → kind of the step that wrote it last."""
        self.left: dict[str, bytes] = {}
        self.cost = Cost()
        self.warnings: list[str] = []
        self.level = ""
        self.checkout: Checkout | None = None

    def outcome(self) -> Outcome:
        """Run every step, then read what they left."""
        self._check()
        self.room.prepare()
        if any(step.place == "repo" for step in self.job.steps):
            base = str((self.job.publish.get("pull_request") or {}).get("base") or "")
            self.checkout = checkout.prepare(self.workshop.processes, self.room, base)
            self.room = self.room._replace(readable=self.checkout.objects)
        for number, step in enumerate(self.job.steps, 1):
            self._step(number, step)
        self._count()
        drafts, refusals = self._crop()
        if refusals and not drafts:
            error = f"asked for {refusals[0].asked}; `publish:` allows {refusals[0].ceiling}"
            return self._outcome("refused")._replace(refusals=refusals, error=error, retry=False)
        return self._outcome("rendered")._replace(drafts=drafts, refusals=refusals)

    def failed(self, error: str, *, tail: str = "", retry: bool = True) -> Outcome:
        """Return the outcome of a run that did not come to its end; what it cost is counted all the same."""
        try:
            self._count()
        except HzError as unreadable:
            self.warnings.append(str(unreadable))
        return self._outcome("failed")._replace(error=self._redacted(error), tail=self._redacted(tail), retry=retry)

    def _outcome(self, status: str) -> Outcome:
        return Outcome(
            self.job.id,
            status,
            cost=self.cost,
            level=self.level,
            env=self.env,
            warnings=tuple(dict.fromkeys(self.warnings)),
            sources=self.sources,
            outputs=self._named(),
        )

    def _named(self) -> dict[str, str]:
        """Return what the steps put out, if `publish` may name any of it."""
        texts = [str(spec.get(key)) for spec in self.job.publish.values() if spec for key in briefing.RENDERED]
        if not any("outputs" in text for text in texts):
            return {}
        return {name: self._redacted(value) for name, value in self.room.outputs.items()}

    def _redacted(self, text: str) -> str:
        return redaction.redact(text, self.forms)

    def _check(self) -> None:
        """Refuse before anything runs what must not or cannot run."""
        for number, step in enumerate(self.job.steps, 1):
            try:
                registry.step(step.kind)
            except UsageError as error:
                raise _StopError(f"{self._place(number, step)} is not run yet: {error}", retry=False) from error
            for name in step.env:
                value = self.workshop.environ.get(name)
                if value is None:
                    self.warnings.append(f"{self._place(number, step)}: {name} is named in `env` and is not set")
                elif any(token and token in value for token in self.workshop.withheld):
                    what = "holds a token that may write, and jobs only draft; take it out of `env`"
                    raise _StopError(f"{self._place(number, step)}: {name} {what}", retry=False)

    def _place(self, number: int, step: Step) -> str:
        kind = {"shell": "run"}.get(step.kind, step.kind)
        return f"{self.job.file}:{step.line or self.job.line}: step {number} ({kind})"

    def _step(self, number: int, step: Step) -> None:
        """Run one step, again after its back-off if it may; take its outputs and note whose the drafts are."""
        finished = self._try(number, step)
        for _ in range(step.retries):
            if finished.code == 0:
                break
            self._count()
            self.room.renew(self.left)
            time.sleep(min(step.backoff, max(0.0, self._remaining())))
            finished = self._try(number, step)
        if finished.code != 0:
            raise self._stop(number, step, finished)
        self._take(number, step, finished)

    def _try(self, number: int, step: Step) -> Finished:
        budget = min(self._remaining(), step.timeout or self.job.timeout)
        if budget <= 0:
            raise _StopError(f"{self._place(number, step)}: the job's {self.job.timeout} s are over before it began")
        self.room = self.room._replace(number=number, timeout=budget)
        finished = self.workshop.processes.run(registry.step(step.kind).command(step, self.room))
        self.level = finished.level
        return finished

    def _remaining(self) -> float:
        return self.deadline - time.monotonic()

    def _stop(self, number: int, step: Step, finished: Finished) -> _StopError:
        tail = workroom.last_lines(finished)
        retry = True
        if finished.timed_out:
            how = f"was ended after {self.room.timeout:.0f} s, with everything it had started"
        elif finished.code is None:
            how = f"was ended by signal {finished.signal}"
        elif finished.code == TRY_AGAIN:
            how = "asks to be tried again (75)"
        elif finished.code == workroom.INVALID and step.kind != "shell":
            how, retry = tail.rpartition("\n")[2], False
        else:
            said = tail.rpartition("\n")[2] if step.kind != "shell" else ""
            how = said or f"ended with {finished.code}"
        return _StopError(f"{self._place(number, step)} {how}", tail=tail, retry=retry)

    def _take(self, number: int, step: Step, finished: Finished) -> None:
        if finished.dropped:
            self.warnings.append(f"{self._place(number, step)}: {finished.dropped:,} bytes of its output were left out")
        left = dict(self.room.drafts())
        self.origin.update({name: step.kind for name, content in left.items() if self.left.get(name) != content})
        self.left = left
        written = (self.room.take(f"output-{number}") or b"").decode("utf-8", "backslashreplace")
        self.room = self.room._replace(outputs={**self.room.outputs, **handover.outputs(written)})

    def _count(self) -> None:
        """Add what $HZ_COST says so far, once: the file is emptied."""
        content = self.room.take("cost.json")
        if content:
            self.room.empty("cost.json")
            self.cost = handover.added(self.cost, handover.cost(content))

    def _crop(self) -> Crop:
        """Return what the drafts that were left may be proposed as, and what they may not."""
        wanted: list[Wanted] = []
        refused: list[Refusal] = []
        for name, content in self.left.items():
            read = handover.redacted(handover.manuscript(name, content), self._redacted)
            self.cost = handover.added(self.cost, read.cost)
            refused.extend(read.refused)
            wanted.extend(Wanted(asked, foreign=self.origin[name] != "template") for asked in read.asked)
        if "pull_request" in self.job.publish:
            wanted = self._with_change(wanted)
        if not wanted:
            return Crop((), tuple(refused))
        crop = harvest(wanted, self._publish(), briefing.home(self.job, self.room, self.workshop.config.settings))
        return crop._replace(refusals=(*refused, *crop.refusals))

    def _with_change(self, wanted: list[Wanted]) -> list[Wanted]:
        files: dict[str, object] = {}
        patch = ""
        if self.checkout:
            made = checkout.difference(self.workshop.processes, self.room, self.checkout)
            files = {path: self._redacted(text) if isinstance(text, str) else text for path, text in made.files.items()}
            patch = self._redacted(made.patch)
        wanted, words = with_change(wanted, self.job.publish, files, patch)
        self.warnings.extend([words] if words else [])
        return wanted

    def _publish(self) -> dict[str, dict[str, Any]]:
        publish = {kind: dict(spec or {}) for kind, spec in self.job.publish.items()}
        if self.checkout and "pull_request" in publish:
            publish["pull_request"].setdefault("base", self.checkout.base)
        try:
            return briefing.rendered(self.workshop.processes, self.room, publish)
        except briefing.TitleError as problem:
            raise _StopError(f"{self.job.file}: {problem}", retry=False) from problem
