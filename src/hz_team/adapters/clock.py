"""The time by a Git server's clock, asked once a process: leases are better judged by one clock than by many."""

from __future__ import annotations

import time
from typing import NamedTuple

DEADLINE = 10.0
"""Seconds to wait for the answer."""


class Reading(NamedTuple):
    """What the server's clock said, and ours in that moment."""

    said: int
    monotonic: float
    wall: float

    def now(self) -> int:
        """Return the server's time by now: the monotonic clock stands still in machine sleep, so the greater counts."""
        passed = max(time.monotonic() - self.monotonic, time.time() - self.wall)
        return self.said + int(passed)


def ask(url: str) -> Reading | None:
    """Return the server's time in seconds since 1970; None if it is no HTTP server, or does not say."""
    from email.utils import parsedate_to_datetime

    from hz_team.adapters.address import Target
    from hz_team.adapters.http import HttpClient
    from hz_team.ports import HttpError, Request

    try:
        private = (Target(url).host,)  # who keeps a state there knows that host
        headers = {"Git-Protocol": "version=2"}  # a short answer, whatever the number of refs
        place = f"{url.rstrip('/')}/info/refs?service=git-upload-pack"
        with HttpClient() as client:
            answer = client.send(Request(place, headers=headers, deadline=DEADLINE, redirects=0, private=private))
        said = parsedate_to_datetime(answer.headers["date"])
        return Reading(int(said.timestamp()), time.monotonic(), time.time())
    except (HttpError, KeyError, ValueError):
        return None
