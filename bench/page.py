"""How long a thousand proposals take to draw and to read back with every box ticked: `python bench/page.py`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from hz_team.dashboard import page, proposal, row
from hz_team.dashboard.row import Tick
from hz_team.model.draft import Draft
from hz_team.model.screen import Dashboard, ProposalPage, Waiting

T = TypeVar("T")
COUNT = 1_000
BODY = "### Digest\n\n" + "- **A thing** happened, and *somebody* wrote it down. [x.example](https://x.example)\n" * 20


def main() -> None:
    """Print seconds of wall time for each half."""
    waiting = tuple(
        Waiting(
            f"p-{n:08x}", f"{n:064x}", f"Digest *{n}* by @mona", n, "opens an issue here", f"inbox/p-{n:08x}.md", 420
        )
        for n in range(COUNT)
    )
    screen = Dashboard("acme/housework", waiting=waiting)
    screens = [ProposalPage(one.id, one.digest, Draft("issue", "here", one.title, BODY)) for one in waiting]
    drawn = timed("draw the dashboard", lambda: list(page.pages(screen)))
    ticked = [row.with_boxes(text, [Tick(*one[:3], ticked=True) for one in row.rows(text)]) for text in drawn]
    timed("read the dashboard", lambda: [row.read(new, old) for new, old in zip(ticked, drawn, strict=True)])
    drawn = timed("draw the proposals", lambda: [proposal.draw(one) for one in screens])
    ticked = [text.replace("[ ]", "[x]", 1) for text in drawn]
    ticks = timed("read the proposals", lambda: [proposal.read(*both) for both in zip(ticked, drawn, strict=True)])
    assert all(len(answers.ticks) == 1 and answers.edit is None for answers in ticks)


def timed(what: str, work: Callable[[], list[T]]) -> list[T]:
    """Do the work, print how long it took, return what it made."""
    start = time.perf_counter()
    made = work()
    print(f"{what:<20} {time.perf_counter() - start:6.3f} s")
    return made


if __name__ == "__main__":
    main()
