"""What became of the workflow runs that hold leases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team.errors import HzError
from hz_team.moment import Unreadable, parse_iso

if TYPE_CHECKING:
    from hz_team.ports import Api

OK = 200
"""Of a reply."""
WAITING = ("queued", "requested", "waiting", "pending")
"""Statuses of a run that no machine works on yet."""


class Runs:
    """`ports.Attempts` by the Actions API (actions: read)."""

    def __init__(self, api: Api) -> None:
        """Nothing is asked yet."""
        self._api = api

    def state(self, run: str, attempt: int) -> tuple[str, int]:
        """Return (queued, running, ended or unknown; when it ended, else 0). What cannot be asked is unknown."""
        if not (run.isascii() and run.isdecimal()) or attempt < 1:
            return "unknown", 0
        path = f"/repos/{self._api.repository}/actions/runs/{run}/attempts/{attempt}"
        try:
            reply = self._api.get(path, permission="actions: read")
        except HzError:
            return "unknown", 0
        if reply.status != OK or not isinstance(reply.data, dict):
            return "unknown", 0
        status = reply.data.get("status")
        if status == "completed":
            return "ended", _seconds(str(reply.data.get("updated_at") or ""))
        if status in WAITING:
            return "queued", 0
        return ("running", 0) if status == "in_progress" else ("unknown", 0)


def _seconds(text: str) -> int:
    try:
        return parse_iso(text)
    except Unreadable:
        return 0
