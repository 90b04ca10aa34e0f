"""A proposal's page: the whole draft and its boxes, drawn and read back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hz_team.dashboard import content, row
from hz_team.dashboard.phrase import joined, link, name, said, sentence
from hz_team.dashboard.row import Row, Tick
from hz_team.markdown import normal, same, sealed, strip_markers

if TYPE_CHECKING:
    from hz_team.model.screen import ProposalPage

_MARKS = {
    "draft": re.compile(r"\s*<!-- hz:draft -->\s*"),
    "end": re.compile(r"\s*<!-- hz:end -->\s*"),
    "note": re.compile(r"\s*<!-- hz:note\b.*-->\s*"),
    "end-note": re.compile(r"\s*<!-- hz:end-note -->\s*"),
}
_FIRST = re.compile(r"<!-- hz:proposal (\S+) ([0-9a-f]+) -->")


class Answers(NamedTuple):
    """What people said on a proposal's page since it was drawn."""

    ticks: tuple[Tick, ...] = ()
    note: str = ""
    """What to change, or why not; written between the note marks of a file."""
    edit: str | None = None
    """The draft as somebody rewrote it, our markers gone; None: it stands as it was."""
    damaged: bool = False
    """The lines around the draft or the note are gone or doubled: only a no counts; the page wants to be redrawn."""
    outdated: bool = False
    """The page shows another digest than the drawn one: its ticks are stale, and its text is no edit."""


def draw(screen: ProposalPage) -> str:
    """Return the page."""
    marker = f"<!-- hz:proposal {screen.id} {screen.digest[:12]} -->"
    title = f"# {said(screen.draft.title)}\n\n" if screen.local and screen.draft.title else ""
    blocks = (
        f"{marker}\n{title}{_first_words(screen)}",
        *(sentence(note) for note in screen.notes),
        _boxes(screen),
        _note(screen),
        _typo(screen),
        "---",
        *content.blocks(screen),
        "---",
        _how(screen),
        _origin(screen),
        _always(screen),
    )
    return "\n\n".join(block for block in blocks if block) + "\n"


def read(stored: str, drawn: str) -> Answers:
    """Return the answers on a stored page, against the page as it was drawn."""
    if same(stored, drawn):
        return Answers(note=_written(_cut(drawn).note))
    page, before = _cut(stored), _cut(drawn)
    ticks = row.read(page.outside, before.outside)
    if page.counts != before.counts:
        return Answers(tuple(tick for tick in ticks if tick.verb == "reject"), damaged=True)
    outdated = _FIRST.findall(page.outside)[:1] != _FIRST.findall(before.outside)[:1]
    edited = not outdated and _lines(page.draft) != _lines(before.draft)
    return Answers(
        ticks,
        note=_written(page.note),
        edit=strip_markers(normal(page.draft)).strip("\n") if edited else None,
        outdated=outdated,
    )


class _Cut(NamedTuple):
    """A page taken apart."""

    outside: str
    draft: str
    note: str
    counts: tuple[int, ...]
    """How often each mark stands there: 0 or 1."""


def _cut(text: str) -> _Cut:
    lines = normal(text).split("\n")
    marks = {mark: [at for at, line in enumerate(lines) if pattern.fullmatch(line)] for mark, pattern in _MARKS.items()}
    counts = tuple(len(found) for found in marks.values())
    draft = _between(lines, marks["draft"], marks["end"])
    note = _between(lines, marks["note"], marks["end-note"])
    outside = [line for at, line in enumerate(lines) if at not in draft and at not in note]
    return _Cut("\n".join(outside), "\n".join(lines[at] for at in draft), "\n".join(lines[at] for at in note), counts)


def _between(lines: list[str], start: list[int], end: list[int]) -> range:
    """Return the lines between two marks; everything from the first mark on if they do not match."""
    if not start:
        return range(0)
    return range(start[0] + 1, end[-1] if end and end[-1] > start[0] else len(lines))


def _lines(text: str) -> list[str]:
    """Return what two copies of a draft are compared by: blanks at line ends are an editor's, not a person's."""
    return [line.rstrip() for line in normal(text).strip("\n").split("\n")]


def _written(note: str) -> str:
    quoted = (re.sub(r"^\s*>\s?", "", line) for line in strip_markers(note).split("\n"))
    return "\n".join(quoted).strip()


def _first_words(screen: ProposalPage) -> str:
    if screen.closed:
        return f"**{link(screen.closed, screen.closed_link)}**"
    if screen.unsure:
        effects = said(screen.effect)
        why = sentence(screen.unsure.rstrip("."))
        return f"**Nobody can tell whether this went out** ({effects}): {why}. Look there, then tell."
    replaced = link(screen.replaces, screen.replaces_link) if screen.replaces else ""
    replaces = f" It takes the place of {replaced}." if replaced else ""
    return f"**A helper wrote this for you.** If you say yes, {screen.promise}.{replaces}"


def _boxes(screen: ProposalPage) -> str:
    if screen.closed:
        return ""
    subject = (screen.id, screen.digest[:12])
    if screen.unsure:
        arrived = row.draw(Row("arrived", *subject), "It arrived: nothing is left to do")
        return f"{arrived}\n{row.draw(Row('again', *subject), 'It did not: send it again')}"
    yes = joined("Yes, publish it", said(screen.yes))
    how = "write how at the mark `hz:note` in this file" if screen.local else "say how in a comment first"
    return "\n".join(
        (
            row.draw(Row("approve", *subject, ticked=screen.ticked), yes),
            row.draw(Row("reject", *subject), "No"),
            row.draw(Row("redraft", *subject), f"Write it again ({how})"),
        ),
    )


def _note(screen: ProposalPage) -> str:
    """The place for a note: its first mark tells what it is for where the file is edited."""
    if not screen.local or screen.closed or screen.unsure:
        return ""
    quoted = "\n".join(f"> {line}" for line in sealed(screen.note).split("\n")) if screen.note else ""
    return f"<!-- hz:note (what to change, or why not: write it below this line) -->\n{quoted}\n<!-- hz:end-note -->"


def _typo(screen: ProposalPage) -> str:
    if not content.editable(screen):
        return ""
    patch = screen.draft.fields.get("patch")
    files = screen.draft.files or patch
    where = f"the words above {'the changes' if patch else 'the files'}" if files else "the text between the lines"
    return f"Found a typo? Edit {where}, save, then tick yes: your version is what goes out, under your name."


def _how(screen: ProposalPage) -> str:
    if screen.closed or screen.unsure:
        return ""
    ways = (
        f"In a terminal: `hz-team inbox approve {screen.id}`, `reject` or `redraft`."
        if screen.local
        else "By phone: comment `/hz approve`, `/hz reject why` or `/hz redraft what to change`."
    )
    who = said(screen.who)
    needed = f"One yes from {who} is needed" if screen.need == 1 else f"{screen.need} people have to say yes ({who})"
    lapse = f" Without an answer this lapses on {said(screen.until)} and nothing is published." if screen.until else ""
    return f"{ways} {needed}.{lapse}"


def _origin(screen: ProposalPage) -> str:
    file = (
        f" ({link('file', screen.file_link)})" if screen.file_link else f" ({name(screen.file)})" if screen.file else ""
    )
    run = link("run", screen.run) if screen.run else ""
    drafted = f"drafted {said(screen.drafted)}" if screen.drafted else ""
    first = ", ".join(part for part in (said(screen.reason), f"{drafted} in {run}" if run else drafted) if part)
    sources = ", ".join(f"{said(watch)} ({count:,} new)" for watch, count in sorted(screen.sources.items()))
    helper = f"Helper *{said(screen.job)}*{file}" if screen.job else ""
    lines = (
        ", ".join(part for part in (helper, first) if part) + ".",
        " ".join(
            part
            for part in (f"Sources: {sources}." if sources else "", f"Time {said(screen.cost)}." if screen.cost else "")
            if part
        ),
        f"Draft `{screen.digest[:12]}`" + (f", receipt `{screen.receipt[:12]}`." if screen.receipt else "."),
    )
    text = "\n".join(line for line in lines if line not in ("", "."))
    return f"<details><summary>Where it comes from</summary>\n\n{text}\n\n</details>"


def _always(screen: ProposalPage) -> str:
    if not screen.always or screen.closed or screen.unsure:
        return ""
    request = "it is allowed for 90 days" if screen.local else "opens a pull request to allow it for 90 days"
    return row.draw(
        Row("always", screen.id, screen.digest[:12]),
        f"Yes, and stop asking for this helper ({request})",
    )
