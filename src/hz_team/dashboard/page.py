"""The dashboard: what waits for a person first, then everything else, on as few pages as it fits.

A page is drawn from state alone: the same state is the same bytes, and no page knows what time it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hz_team.anchor import losses, told
from hz_team.dashboard import row
from hz_team.dashboard.paging import DECISIONS, HEADINGS, Part, further, shortened, take
from hz_team.dashboard.phrase import counted, folded, joined, link, name, said, sentence
from hz_team.dashboard.row import Row
from hz_team.model.state import Anchor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hz_team.model.screen import Dashboard, Parked, Unsure, Waiting

_WORDS_A_MINUTE = 220
_PROOF = re.compile(
    r"^- (?:(?P<count>[0-9,]+) receipts?|No receipt)(?: after (?P<era>[0-9,]+) accepted loss(?:es)?)?"
    r"(?:, head `(?P<head>[0-9a-f]{12})`|\n\n</details>)",
    re.MULTILINE,
)
"""The line that `_proof` draws last. Foreign text can look like it, but for the backticks and the end of the block."""


def draw(screen: Dashboard) -> str:
    """Return the first page."""
    return pages(screen)[0]


def pages(screen: Dashboard) -> tuple[str, ...]:
    """Return the dashboard and the pages that take what does not fit on it; no row is ever cut."""
    waiting = sorted(screen.waiting, key=lambda one: (-one.at, one.id))
    parts = {
        "waiting": take("waiting", (_waiting(one) for one in waiting), most=DECISIONS),
        "parked": take("parked", (*map(_unsure, screen.unsure), *map(_parked, screen.parked))),
        "run": take("run", _runs(screen)),
    }
    rest = {section: part.rest for section, part in parts.items() if part.rest}
    more = tuple(further(rest))
    total = len(more) + 1
    first = "\n\n".join(block for block in _blocks(screen, parts, total) if block) + "\n"
    return first, *(f"{_page_head(screen, number, total)}\n\n{text}\n" for number, text in enumerate(more, 2))


def anchor(text: str) -> Anchor:
    """Return how long a ledger a drawn dashboard vouches for, with the first 12 digits of its head."""
    found = _PROOF.search(text.replace("\r", ""))
    if not found:
        return Anchor()
    era, count = (int((found[name] or "0").replace(",", "")) for name in ("era", "count"))
    return Anchor(era, count, found["head"] or "")


def _blocks(screen: Dashboard, parts: dict[str, Part], total: int) -> Iterable[str]:
    yield _first_lines(screen)
    yield from _decisions(screen, parts["waiting"], total)
    yield from _section("parked", parts["parked"])
    yield from _findings(screen)
    yield from _helpers(screen)
    yield HEADINGS["run"]
    if parts["run"].kept:
        yield "\n".join((*parts["run"].kept, _pause(screen)))
    else:
        yield _pause(screen)
    if parts["run"].rest:
        yield f"{counted(len(parts['run'].rest), 'more box stands', 'more boxes stand')} on the further pages."
    yield _proof(screen)


def _page_head(screen: Dashboard, number: int, total: int) -> str:
    marker = f"<!-- hz:dashboard-page {number} {_repository(screen)} -->"
    return f"{marker}\nPage {number} of {total} of the dashboard"


def _first_lines(screen: Dashboard) -> str:
    count = len(screen.waiting)
    waiting = f"**{counted(count, 'decision', 'decisions')} waiting**" if count else "**Nothing is waiting**"
    trouble = (
        f"{len(screen.unsure)} to look into" if screen.unsure else "",
        f"{len(screen.parked)} parked" if screen.parked else "",
        counted(len(_errors(screen)), "file", "files") + " to mend" if _errors(screen) else "",
    )
    troubles = ", ".join(part for part in trouble if part)
    helpers = counted(len(screen.helpers), "helper", "helpers") if screen.helpers else ""
    well = "all well" if screen.helpers and not troubles else troubles
    badge = link("last scheduled run", screen.badge) if screen.badge else ""
    line = joined(
        f"**{said(screen.paused)}**" if screen.paused else "",
        waiting,
        ", ".join(part for part in (helpers, well) if part),
        f"!{badge}" if badge.startswith("[") else "",
        link("How to read this", screen.guide) if screen.guide else "",
    )
    title = f"# {said(screen.title)}\n\n" if screen.title else ""
    return f"<!-- hz:dashboard 1 {_repository(screen)} -->\n{title}{line}"


def _decisions(screen: Dashboard, part: Part, total: int) -> Iterable[str]:
    if not part.kept:
        yield from _quiet(screen)
        return
    yield from _section("waiting", part)
    if part.rest:
        older = counted(len(part.rest), "older decision waits", "older decisions wait")
        yield f"{older} on {_page_links(screen, total)}."
    yield "To say no, to change a word, or to ask for another draft, open the decision."
    boxes = [one for text in part.kept for one in row.rows(text) if not one.ticked]
    if len(boxes) > 1:
        which = "both boxes" if len(boxes) == 2 else f"all {len(boxes)} boxes"  # noqa: PLR2004  (two are "both")
        yield row.draw(row.approve_all(boxes), f"Publish {which} above, exactly as they stand now")


def _quiet(screen: Dashboard) -> Iterable[str]:
    """What stands where decisions would: a calm page says so, and what comes next."""
    if not screen.helpers:
        yield "There is no helper yet. Put a job into `.hz/jobs/`, and it shows up here."
        return
    if screen.paused:
        yield "Your helpers rest until the pause ends."
        return
    following = f" Next: {said(screen.next)}." if screen.next else ""
    yield f"Your helpers look after themselves. What they write for you will stand here, with a box to tick.{following}"


def _section(section: str, part: Part) -> Iterable[str]:
    if part.kept:
        yield HEADINGS[section]
        yield "\n".join(part.kept)


def _page_links(screen: Dashboard, total: int) -> str:
    links = [*screen.pages[: total - 1], *[""] * (total - 1 - len(screen.pages))]
    return ", ".join(link(f"page {number}", target) for number, target in enumerate(links, 2))


def _waiting(one: Waiting) -> str:
    title = f"{said(one.id)}: {said(one.title)}"
    minutes = f" ({max(1, round(one.words / _WORDS_A_MINUTE))} min)" if one.words else ""
    facts = joined(
        said(one.effect),
        link(f"{one.link_text}{minutes}", one.link) if one.link else "",
        said(one.who),
        said(one.yes),
        f"until {said(one.until)}" if one.until else "",
    )
    lines = (facts, *(sentence(note) for note in one.notes[:5]))
    if one.box:
        return row.draw(Row("approve", one.id, one.digest[:12], one.ticked), f"**Publish** {title}", *lines)
    return row.plain(title, *lines)


def _unsure(one: Unsure) -> str:
    digest = one.digest[:12]
    facts = joined(said(one.effect), sentence(one.error), link("read it", one.link) if one.link else "")
    return "\n".join(
        (
            row.draw(Row("arrived", one.id, digest), f"**It arrived**: {said(one.id)} {said(one.title)}", facts),
            row.draw(
                Row("again", one.id, digest),
                f"**Send it again**: {said(one.id)} {said(one.title)}",
                "nobody can tell from here whether it arrived: look there first, then tick one of the two",
            ),
        ),
    )


def _parked(one: Parked) -> str:
    facts = joined(
        f"failed {counted(one.failures, 'time', 'times')}, last {said(one.at)}: {sentence(one.error)}",
        link("last lines", one.link) if one.link else "",
        said(one.told),
    )
    tail = "" if one.link else folded("last lines", one.tail)
    return row.draw(Row("retry", one.job, str(one.number)), f"**Try again**: {said(one.name)}", facts, fold=tail)


def _runs(screen: Dashboard) -> Iterable[str]:
    return (row.draw(Row("run", one.job), f"Run now: {said(one.name)}") for one in screen.helpers if one.runnable)


def _pause(screen: Dashboard) -> str:
    if screen.paused_by_file:
        return row.plain(f"{said(screen.paused)}. It ends when that file says so.")
    if screen.paused:
        return row.draw(Row("pause", ticked=True), f"{said(screen.paused)}. Untick to go on.")
    return row.draw(Row("pause"), "**Pause everything.** Nothing is drafted or published until it is unticked.")


def _errors(screen: Dashboard) -> list[str]:
    found = (one for one in screen.findings if one.level == "error")
    return [row.plain(f"{name(f'{one.file}:{one.line}')}: {sentence(one.text)}") for one in found]


def _findings(screen: Dashboard) -> Iterable[str]:
    errors = _errors(screen)
    if errors:
        yield "## Files to mend"
        yield shortened(errors, "findings", "`hz-team validate` lists them")
        yield "What these files describe waits; everything else goes on."


def _helpers(screen: Dashboard) -> Iterable[str]:
    if not screen.helpers:
        return
    table = [f"| {said(one.name)} | {said(one.last)} | {said(one.next)} |" for one in screen.helpers]
    yield "## Helpers"
    yield f"| Helper | Last | Next |\n|---|---|---|\n{shortened(table, 'helpers', '`hz-team jobs` lists them')}"
    by_hand = link("start a run by hand", screen.workflow) if screen.workflow else "type `hz-team tick`"
    yield f"A “next” that lies in the past means that the schedule sleeps: {by_hand}."


def _proof(screen: Dashboard) -> str:
    entries = [row.plain(link(one.text, one.link)) for one in screen.entries[:10]]
    costs = [row.plain(said(one)) for one in screen.costs[:10]]
    verify = link("verify them yourself", screen.verify) if "://" in screen.verify else ""
    command = f"verify them with {name(screen.verify)}" if screen.verify and not verify else ""
    head = f"{told(Anchor(screen.era, screen.count))}, head `{screen.head[:12]}`"
    none = f"No receipt{losses(screen.era) or ' yet'}"
    proof = row.plain(joined(head, verify, command)) if screen.head else row.plain(none)
    lines = "\n".join((*entries, *costs, proof))
    return f"<details><summary>Last decisions, cost and proof</summary>\n\n{lines}\n\n</details>"


def _repository(screen: Dashboard) -> str:
    return re.sub(r"[^A-Za-z0-9._/-]", "", screen.repository) or "local"
