"""What a tick did, in a few lines: for a terminal, and as Markdown for a run's summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hz_team.dashboard.phrase import folded, link, said, sentence
from hz_team.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hz_team.model.screen import Failure, PhaseLine, Report

_BOLD, _DIM, _RED, _OFF = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[0m"
_PHASE = 9
_AMOUNT = 60
"""Column in which an amount ends."""
_TAIL = 12
"""Lines of a failure's output."""


def lines(report: Report, *, colour: bool = False) -> str:
    """Return the report for a terminal, failures first; one line if nothing was done."""
    head = "   ".join(plain(part) for part in (report.title, report.at) if part)
    if report.idle:
        return f"{plain(report.title)}   {plain(report.idle)}" if report.title else plain(report.idle)
    subjects = [plain(line.subject) for line in report.lines]
    width = max(14, *(len(subject) + 1 for subject in subjects)) if subjects else 14
    width = min(width, 32)
    made = [_failure(failure, colour=colour) for failure in report.failures]
    before = ""
    for line in report.lines:
        made.append(_line(line, width, "" if line.phase == before else line.phase, colour=colour))
        before = line.phase
    return "\n".join(([_painted(head, _BOLD, colour=colour)] if head else []) + made)


def markdown(report: Report) -> str:
    """Return the report as the summary of a run, failures first; one line if nothing was done."""
    if report.idle:
        return said(report.idle) + "\n"
    counts = f"{report.drafted} drafted, {report.published} published, {report.waiting} waiting"
    blocks = (
        f"### Tick: {counts}",
        *(part for failure in report.failures for part in _failed(failure)),
        "\n".join(("| | what happened | |", "|---|---|--:|", *_table(report.lines))) if report.lines else "",
        f"Decide: {link(report.link_text, report.link)}" if report.link and report.waiting else "",
    )
    return "\n\n".join(block for block in blocks if block) + "\n"


def _line(line: PhaseLine, width: int, phase: str, *, colour: bool) -> str:
    subject, text, amount = plain(line.subject), plain(line.text), plain(line.amount)
    what = f"{subject:<{width}}{text}".rstrip() if subject else text
    if amount:
        what = f"{what} {amount:>{max(1, _AMOUNT - len(what) - 1)}}"
    shown = _painted(what, _RED, colour=colour) if line.failed else what
    return f"  {_painted(f'{phase:<{_PHASE}}', _DIM, colour=colour)}{shown}".rstrip()


def _failure(failure: Failure, *, colour: bool) -> str:
    tail = [plain(line) for line in failure.tail.rstrip().splitlines()[-_TAIL:]]
    first = _painted(f"{plain(failure.subject)}: {plain(failure.text)}", _RED, colour=colour)
    return "\n".join((f"  {'failed':<{_PHASE}}{first}", *(f"  {'':<{_PHASE}}| {line}".rstrip() for line in tail)))


def _failed(failure: Failure) -> Iterable[str]:
    yield f"**{said(failure.subject)}** failed: {sentence(failure.text)}"
    if failure.tail.strip():
        yield folded("last lines", failure.tail)


def _table(phases: Iterable[PhaseLine]) -> Iterable[str]:
    before = ""
    for line in phases:
        text = said(f"{line.subject}: {line.text}" if line.subject and line.text else line.subject or line.text, 400)
        shown = f"**{text}**" if line.failed else text
        yield f"| {'' if line.phase == before else said(line.phase)} | {shown} | {said(line.amount)} |"
        before = line.phase


def _painted(text: str, paint: str, *, colour: bool) -> str:
    return f"{paint}{text}{_OFF}" if colour and text else text
