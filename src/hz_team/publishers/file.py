"""`file`: writes files, as they are, to paths below the repository's root."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.publishers import checked_path, counted, marker, paths, spelled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hz_team.model.proposal import Part
    from hz_team.ports import Found, PublishTools

KIND = "file"
UNDOABLE = True


def find(part: Part, tools: PublishTools) -> Found:
    """List the records (commits, on a forge with history) that carry the part's key."""
    return tools.forge.find(KIND, marker(part.key), target=part.target, since=tools.since)


def publish(part: Part, tools: PublishTools) -> str:
    """Write every file of the part; return the record's ref. Raises PublishRefused for a path that leads elsewhere.

    Without `files` the body is the content of the file that the target names.
    """
    files = {checked_path(path): text for path, text in (part.files or {part.target: part.body}).items()}
    content = {**part.fields, "title": part.title, "files": files}
    return tools.forge.create(KIND, content, marker(part.key))


def words(payload: Mapping[str, Any]) -> str:
    """Return "writes docs/news.md", "writes 3 files"."""
    return f"writes {counted(paths(payload), 'file')}"


def becomes(payload: Mapping[str, Any], repository: str = "") -> str:
    """Return "exactly the text between the lines becomes the file `docs/news.md` in acme/housework"."""
    names = paths(payload)
    place = f" in {repository}" if "/" in repository else ""
    if payload["files"] or len(names) > 1:
        return f"exactly what is shown between the lines is written to {spelled(names)}{place}"
    return f"exactly the text between the lines becomes the file {spelled(names)}{place}"
