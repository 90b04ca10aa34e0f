"""Screens to draw in tests: a busy team's and a proposal's."""

from __future__ import annotations

from typing import Any

from hz_team import registry
from hz_team.model.draft import Draft
from hz_team.model.job import Finding
from hz_team.model.screen import Dashboard, Entry, Helper, Parked, ProposalPage, Unsure, Waiting

DIGEST = "5d41402abc4b" + "0" * 52
BODY = (
    "### Digest, week 49\n\n- **uv 0.9.14**: faster. [github.com](https://github.com/astral-sh/uv/releases)\n\nMore …"
)


def waiting(number: int = 0, **fields: Any) -> Waiting:
    """One decision; the numbers tell them apart."""
    return Waiting(
        **{
            "id": f"p-{number:08x}",
            "digest": f"{number:012x}" + "a" * 52,
            "title": f"Digest, week {number}",
            "at": number,
            "effect": "opens an issue here",
            "link": f"inbox/p-{number:08x}.md",
            "words": 420,
            "who": "anyone with write",
            "until": "14 Dec",
            **fields,
        },
    )


def helper(number: int = 0, **fields: Any) -> Helper:
    """One helper."""
    return Helper(
        **{
            "job": f"job-{number}",
            "name": f"Job {number}",
            "last": "30 Nov 09:06 waiting",
            "next": "Mon 7 Dec 09:00 CET",
            **fields,
        },
    )


def dashboard(**fields: Any) -> Dashboard:
    """A busy team's dashboard."""
    return Dashboard(
        **{
            "repository": "acme/housework",
            "waiting": (waiting(1), waiting(2), waiting(3, box=False, link_text="review and merge")),
            "parked": (Parked("links", "Link check", 3, 3, "30 Nov 02:07 CET", "`curl` ended with 28", tail="a\n<b>"),),
            "unsure": (Unsure("p-0000aaaa", DIGEST, "To the forum", "sends to hooks.example.org", "it broke"),),
            "helpers": (helper(1), helper(2), helper(3, runnable=False)),
            "findings": (Finding(".hz/jobs/x.yaml", 4, "unknown key `shedule`; did you mean `schedule`?"),),
            "entries": (Entry("Published #402, approved by octocat", "outbox/issue-1.md"),),
            "costs": ("0.84 USD of model use",),
            "count": 1284,
            "head": "9c1185a5c5e9" + "0" * 52,
            "verify": "hz-team receipts verify",
            **fields,
        },
    )


def proposal(**fields: Any) -> ProposalPage:
    """An open proposal of an issue, told in its publisher's words."""
    draft = fields.pop("draft", Draft("issue", "here", "Digest, week 49", BODY, ("newsletter",)))
    kind = registry.publisher(draft.kind)
    return ProposalPage(
        **{
            "id": "p-3f9c21ab",
            "digest": DIGEST,
            "draft": draft,
            "effect": kind.words(draft.payload()),
            "promise": kind.becomes(draft.payload(), "acme/housework"),
            "always": kind.undoable,
            "repository": "acme/housework",
            "job": "Weekly digest",
            "file": ".hz/jobs/weekly-digest.yaml",
            "reason": "slot Mon 30 Nov 09:00 CET",
            "drafted": "30 Nov 09:06 CET",
            "sources": {"learning": 6, "releases": 3},
            "cost": "4.1 s, no model use",
            "receipt": "e99a18c428cb" + "0" * 52,
            "until": "14 December",
            **fields,
        },
    )
