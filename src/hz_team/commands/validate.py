"""`hz-team validate`: every problem of every file at once; exit 2 for any error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from hz_team import config
from hz_team.commands import assembly, document, option

if TYPE_CHECKING:
    from argparse import Namespace

    from hz_team.model.job import Finding, Index

WORDS = {"error": "error", "warning": "note", "pending": "accepted, not run yet"}


def parse(words: list[str]) -> Namespace:
    """Read the command's words."""
    return option.parser("validate", __doc__ or "").parse_args(words)


def run(options: Namespace) -> int:
    """Print the findings as `file:line: what, and what to do`; return 2 if one of them is an error."""
    root = option.root_of(options)
    index = config.load(root, declare=assembly.declare(root), now=option.now_of(options))
    findings = sorted(index.findings, key=lambda finding: (finding.file, finding.line))
    errors = [finding for finding in findings if finding.level == "error"]
    if options.json:
        document.show({"jobs": len(index.jobs), "findings": tuple(findings), "contained": assembly.contained()})
    else:
        _print(index, findings, errors)
    return 2 if errors else 0


def _print(index: Index, findings: list[Finding], errors: list[Finding]) -> None:
    for finding in findings:
        stream = sys.stderr if finding.level == "error" else sys.stdout
        print(document.lines(f"{finding.file}:{finding.line}: {WORDS[finding.level]}: {finding.text}"), file=stream)
    level = assembly.contained()
    if level == "none":
        print("note: files and environment of job processes are not contained here (no Landlock); see docs/security.md")
    jobs = f"{len(index.jobs)} helper{'s' * (len(index.jobs) != 1)}"
    if errors:
        print(f"{len(errors)} error{'s' * (len(errors) != 1)}; {jobs} can run all the same", file=sys.stderr)
    else:
        watches = f"{len(index.watches)} watch{'es' * (len(index.watches) != 1)}"
        print(f"{jobs}, {watches}, all files read")
