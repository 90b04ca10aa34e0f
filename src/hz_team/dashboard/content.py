"""Everything of a proposal that would be sent: the text, the parts, the files, the further fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.dashboard.phrase import joined, link, name, said
from hz_team.markdown import fence, sealed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hz_team.model.screen import ProposalPage

_ROOM = 40_000
"""Characters of files shown on a forge, which takes 65,536 a page."""


def editable(screen: ProposalPage) -> bool:
    """Whether the text between the lines can be rewritten on the page."""
    return bool(
        screen.draft.body and not screen.draft.parts and not screen.closed and not screen.unsure and not _raw(screen)
    )


def _raw(screen: ProposalPage) -> bool:
    """Whether the body is a file's text that is no Markdown."""
    draft = screen.draft
    return draft.kind == "file" and not draft.files and not draft.target.lower().endswith((".md", ".markdown"))


def blocks(screen: ProposalPage) -> Iterable[str]:
    """Everything that would be sent: the text, the parts, the files, the further fields."""
    draft = screen.draft
    if editable(screen):
        yield f"<!-- hz:draft -->\n{sealed(draft.body)}\n<!-- hz:end -->"
    elif _raw(screen):
        yield fence(draft.body)
    elif draft.body and not draft.parts:
        yield sealed(draft.body)
    for number, part in enumerate(draft.parts, 1):
        yield _part(part, number, len(draft.parts))
    room = 0 if screen.local else _ROOM
    patch = draft.fields.get("patch")
    if patch:  # the text of every file of such a draft is in it, and is read best there
        yield _block("What changes", str(patch), "diff", room, screen)[0]
    for path, content in sorted(draft.files.items()):
        if patch and not isinstance(content, dict):
            continue
        shown, room = _file(path, content, room, screen)
        yield shown
    yield _fields(draft.fields)


def _part(part: Mapping[str, Any], number: int, total: int) -> str:
    labels = " ".join(name(str(label)) for label in part.get("labels") or ())
    target, title = str(part.get("target") or ""), str(part.get("title") or "")
    heading = joined(f"**{number} of {total}**", said(target), said(title), labels)
    body = sealed(str(part.get("body") or ""))
    return f"{heading}\n\n{body}" if body.strip() else heading


def _file(path: str, content: Any, room: int, screen: ProposalPage) -> tuple[str, int]:
    if content is None:
        return f"{name(path)} is removed", room
    if isinstance(content, dict):
        size = len(str(content.get("base64", ""))) * 3 // 4
        return f"{name(path)}: about {size:,} bytes that are no text", room
    return _block(name(path), str(content), "text", room, screen)


def _block(heading: str, text: str, info: str, room: int, screen: ProposalPage) -> tuple[str, int]:
    """A file or patch as code; on a forge cut by whole lines, and it says so."""
    kept = text if screen.local else text[: max(0, room)]
    rest = ""
    if len(kept) < len(text):
        kept = kept[: kept.rfind("\n") + 1]
        where = link("read the rest", screen.run) if screen.run else "read the rest in the state branch"
        rest = f"\n\n{text.count(chr(10)) - kept.count(chr(10)) + 1:,} more lines are not shown here: {where}"
    return f"{heading}\n\n{fence(kept, info)}{rest}", room - len(kept)


def _fields(fields: Mapping[str, Any]) -> str:
    shown = sorted((key, field) for key, field in fields.items() if key != "patch" and field not in ("", None, [], {}))
    return joined(*(f"{said(key)}: {name(str(field))}" for key, field in shown))
