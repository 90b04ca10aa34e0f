"""What a draft process says, gone through again by the process that may write: nothing is taken on its word.

Everything is put to the same ceiling and made inert by the same functions as when a tick drafts by itself. They change
nothing that has been through them before, so an honest draft keeps its digest.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from hz_team import briefing, checkout
from hz_team.ceiling import Asked
from hz_team.harvest import Wanted, harvest
from hz_team.markdown import clean
from hz_team.model.draft import Cost, Outcome, Refusal
from hz_team.parcel.foreign import ForeignError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hz_team.checkout import Checkout
    from hz_team.model.draft import Draft
    from hz_team.model.facet import Facets
    from hz_team.model.job import Job, Settings
    from hz_team.model.order import Order
    from hz_team.ports import Processes
    from hz_team.workroom import Workroom

LINE, TAIL, SAYINGS = 1_000, 8_000, 200
"""Characters of a sentence and of a tail; warnings and refusals of one outcome."""
MOST = 10**15
"""Of milliseconds, tokens and micro-dollars: more are no cost."""
PART = {"target", "title", "body", "labels"}
_LEVEL = re.compile(r"none|landlock-[0-9]{1,2}")


class Shop(NamedTuple):
    """What a check needs besides the order."""

    root: str
    settings: Settings
    processes: Processes
    now: int
    """When it was planned: titles name slots and dates."""
    facets: Callable[[Order], Mapping[str, Facets]]


def proven(order: Order, job: Job, said: Outcome, shop: Shop) -> Outcome:
    """Return an outcome of which every word has been checked. Raises HzError naming what cannot be taken."""
    if said.status not in ("rendered", "failed", "refused"):
        raise ForeignError(f"{said.status[:40]!r} is no status of an outcome")
    if any(not 0 <= amount <= MOST for amount in said.cost):
        raise ForeignError(f"{Cost(*said.cost)} is no cost")
    seen = shop.facets(order) if job.watches else {}
    rendered = said.status == "rendered"
    return Outcome(
        order.job,
        said.status,
        drafts=_drafts(order, job, said, shop, seen) if rendered else (),
        refusals=tuple(Refusal(*(_line(text) for text in one)) for one in said.refusals[:SAYINGS]),
        cost=said.cost,
        error="" if rendered else _line(said.error) or "it does not say why",
        tail=clean(said.tail)[-TAIL:],
        level=said.level if _LEVEL.fullmatch(said.level) else "",
        env=tuple(sorted({name for step in job.steps for name in step.env} & set(said.env))),
        warnings=tuple(_line(text) for text in said.warnings[:SAYINGS]),
        sources={name: len(facets.added) for name, facets in seen.items()} if rendered else {},
        retry=said.retry,
    )


def _line(text: str) -> str:
    return clean(text[: 2 * LINE])[:LINE]


def _drafts(order: Order, job: Job, said: Outcome, shop: Shop, seen: Mapping[str, Facets]) -> tuple[Draft, ...]:
    if not said.drafts:
        return ()
    room = briefing.room(order, job, shop.settings, seen, now=shop.now)._replace(outputs=said.outputs)
    publish = {kind: dict(spec or {}) for kind, spec in job.publish.items()}
    if "pull_request" not in publish or all(draft.kind != "pull_request" for draft in said.drafts):
        return _harvested(said, publish, job, room, shop)
    if all(step.place != "repo" for step in job.steps):
        raise ForeignError(f"it proposes a pull request, and no step of {job.id} works `in: repo`")
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="hz-proof-", ignore_cleanup_errors=True) as folder:
        room = room._replace(folder=folder, root=shop.root)
        room.prepare()
        made = checkout.prepare(shop.processes, room, str(publish["pull_request"].get("base") or ""))
        publish["pull_request"].setdefault("base", made.base)
        drafts = _harvested(said, publish, job, room, shop)
        return tuple(_drawn(one, room, made, shop) if one.kind == "pull_request" else one for one in drafts)


def _harvested(
    said: Outcome, publish: dict[str, dict[str, Any]], job: Job, room: Workroom, shop: Shop
) -> tuple[Draft, ...]:
    """Judge every draft as if a script had just written it. Raises HzError for one that goes over its ceiling."""
    wanted = [Wanted(asked) for draft in said.drafts for asked in _asked(draft)]
    publish = briefing.rendered(shop.processes, room, publish)
    crop = harvest(wanted, publish, briefing.home(job, room, shop.settings))
    for refusal in crop.refusals:
        raise ForeignError(f"it asks for {_line(refusal.asked)}; `publish:` allows {refusal.ceiling}")
    return crop.drafts


def _asked(draft: Draft) -> Iterator[Asked]:
    """Yield what a draft asks for, one a part of `each`. Raises ForeignError for parts or files of another shape."""
    patch = draft.fields.get("patch", "")
    if not isinstance(patch, str):
        raise ForeignError("its patch is no text")
    for path, content in draft.files.items():
        _bytes(path, content)
    whole = Asked(draft.body, draft.kind, draft.title, draft.target, draft.labels, draft.files, patch)
    if not draft.parts:
        yield whole
    for number, part in enumerate(draft.parts):
        texts = {name: text for name, text in part.items() if name != "labels"}
        labels = part.get("labels")
        right = set(part) == PART and all(isinstance(text, str) for text in texts.values())
        if not right or not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
            raise ForeignError(f"a part of a draft has {', '.join(sorted(PART))}, all of them texts")
        yield whole._replace(**texts, labels=tuple(labels), files={} if number else whole.files)


def _drawn(draft: Draft, room: Workroom, made: Checkout, shop: Shop) -> Draft:
    """Return a draft whose patch, which people read, is drawn anew from the files, which are sent. Raises HzError."""
    for removal in (True, False):
        for path, content in draft.files.items():
            if (content is None) is removal:
                _put(room.path("repo"), path, content)
    change = checkout.difference(shop.processes, room, made)
    same = all(path in draft.files and draft.files[path] == content for path, content in change.files.items())
    if not change.files or not same:
        raise ForeignError("its files do not make the change that it shows")
    return draft._replace(files=change.files, fields={**draft.fields, "patch": change.patch})


def _put(top: str, path: str, content: Any) -> None:
    """Write or remove one file of the checkout, never through a link. The path has been through the ceiling."""
    *parents, _ = path.split("/")
    for depth in range(len(parents)):
        if os.path.islink(os.path.join(top, *parents[: depth + 1])):
            raise ForeignError(f"{path} lies behind a link of the repository")
    place = os.path.join(top, path)
    try:
        if os.path.lexists(place):
            os.unlink(place)
        if content is not None:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "xb") as stream:
                stream.write(_bytes(path, content))
    except (OSError, ValueError) as error:
        raise ForeignError(f"{path} cannot be changed so: {getattr(error, 'strerror', None) or error}") from None


def _bytes(path: str, content: Any) -> bytes:
    """Return the bytes of a file of a draft. Raises ForeignError for anything else than a text, bytes or nothing."""
    if content is None:
        return b""
    if isinstance(content, str):
        return content.encode("utf-8", "surrogatepass")
    if isinstance(content, dict) and set(content) == {"base64"} and isinstance(content["base64"], str):
        try:
            return base64.b64decode(content["base64"], validate=True)
        except binascii.Error:
            pass
    raise ForeignError(f"{path[:200]}: a file is a text, or bytes as base64")
