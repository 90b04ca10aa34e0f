"""Payloads of every kind that a forge keeps, what people type into them, and one way to settle a part."""

from __future__ import annotations

from typing import Any

from hz_team import registry
from hz_team.model.draft import Draft
from hz_team.model.job import Settings
from hz_team.model.proposal import Part
from hz_team.ports import Forge, Http, HttpError, PublishTools, Request, Response

KEY = "5d" * 32
"""A proposal's key."""
REPOSITORY = "acme/housework"
PATCH = """diff --git a/CHANGELOG.md b/CHANGELOG.md
index 1b4f3aa..f2a1c02 100644
--- a/CHANGELOG.md
+++ b/CHANGELOG.md
@@ -1,4 +1,4 @@
 # Changes
-
--- a dash
+++ two plus
+- new
 the end
"""
"""Adds two lines and removes two, of which one of each looks like a patch's own."""
DRAFTS = {
    "issue": Draft("issue", "here", "Digest, week 49", "Seven items.\n", ("newsletter",)),
    "comment": Draft("comment", "#7", "Close #7?", "Quiet since June.\n"),
    "file": Draft("file", "docs/news.md", "News", "# News\n"),
    "pull_request": Draft(
        "pull_request",
        "hz/changelog",
        "Changelog",
        "From 3 pull requests.\n",
        ("docs",),
        {"CHANGELOG.md": "# Changes\n++ two plus\n- new\nthe end\n"},
        {"base": "main", "branch": "hz/changelog", "patch": PATCH},
    ),
}
HOSTILE = (
    "`touch owned`",
    "$(touch owned)",
    "'; touch owned; '\"",
    "two\nlines\n---\nkey: stolen",
    f"<!-- hz:key {'0' * 64} -->",
    "\U0001f9dd e\u0301 \u202egpj.exe\u2069 \u2028 \x1b[31m",
    "../../../etc/passwd",
    "-rf",
)
"""Titles and bodies as strangers write them."""


def part_of(kind: str, **changes: Any) -> Part:
    """Return the first part of a kind's sample, with other values in it."""
    payload = {**DRAFTS[kind].payload(), **changes}
    return registry.publisher(kind).parts(payload, REPOSITORY, KEY)[0]


class NoHttp:
    """The network of those who need none."""

    def send(self, request: Request) -> Response:
        """Refuse: a kind that publishes through the forge has nothing to ask here."""
        raise HttpError("offline", f"nobody should ask {request.url}")


def tools_of(forge: Forge, http: Http | None = None, **settings: Any) -> PublishTools:
    """Return what a publisher may use."""
    return PublishTools(forge, http or NoHttp(), Settings(**settings))


def settle(part: Part, tools: PublishTools) -> str:
    """Look first, write only if it is absent, and return the lowest that carries the key; "" if nobody can tell."""
    kind = registry.publisher(part.kind)
    found = kind.find(part, tools)
    if found.status == "absent":
        return kind.publish(part, tools)
    return found.refs[0] if found.status == "found" else ""
