"""The contract: what decides a job's draft, as one fingerprint (glossary)."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

from hz_team.fingerprint import digest, sha256
from hz_team.model.job import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from hz_team.model.job import Job, Step, Watch

FORM = 1
TEMPLATES, TOOLS, JOBS = ".hz/templates", ".hz/tools", ".hz/jobs"
_NAMES = re.compile(rb"""\{%-?\+?\s*(?:include|extends|import|from)\s+["']([^"']+)["']""")


def contract(job: Job, watches: Mapping[str, Watch], files: Mapping[str, bytes | None]) -> str:
    """Return 64 hex digits over steps, publish, inputs, watch definitions, and the files that the steps name.

    Lines do not count, nor do `on approve owner enabled retries timeout concurrency cost`; of the files' bytes, line
    ends do not, so that a checkout with CRLF has the same contract.
    """
    return digest(
        [
            FORM,
            [{**plain(step), "line": 0} for step in job.steps],
            {kind: dict(fixed) for kind, fixed in job.publish.items()},
            plain(dict(job.inputs)),
            {name: [watches[id_].kind, watches[id_].key] for name, id_ in job.watches.items() if id_ in watches},
            {path: content_of(files.get(path)) for path in sorted(set(named(job.steps, files)))},
        ],
    )


def content_of(content: bytes | None) -> str | None:
    """Return the fingerprint of a file's text; None if there is none."""
    return None if content is None else sha256(content.replace(b"\r\n", b"\n"))


def named(steps: Iterable[Step], files: Mapping[str, bytes | None]) -> Iterator[str]:
    """Yield the files that steps name: templates and what these include, tools, Python files and their locks."""
    for step in steps:
        if step.kind == "template" and is_inline(step.spec["template"]):
            yield from _included(step.spec["template"].encode(), files, set())
        elif step.kind == "template":
            yield from _templates(str(step.spec["template"]), files, set())
        elif step.kind == "tool":
            yield f"{TOOLS}/{step.spec['tool']}.yaml"
        elif step.kind == "python":
            path = python_file(step.spec)
            yield from (path, f"{path}.lock")


def python_file(spec: Mapping[str, Any]) -> str:
    """Return the path below the root of the file that a Python step or watch names."""
    file = str(spec["file"]) if "file" in spec else str(spec["python"]).rpartition(":")[0]
    return file if "/" in file else f"{JOBS}/{file}"


def is_inline(template: str) -> bool:
    """Whether a step's `template` is the template itself instead of a file's name: it has a line break."""
    return "\n" in template


def template_file(name: str) -> str:
    """Return the path below the root of a template."""
    return posixpath.normpath(f"{TEMPLATES}/{name}")


def _templates(name: str, files: Mapping[str, bytes | None], seen: set[str]) -> Iterator[str]:
    path = template_file(name)
    if path in seen:
        return
    seen.add(path)
    yield path
    yield from _included(files.get(path) or b"", files, seen)


def _included(text: bytes, files: Mapping[str, bytes | None], seen: set[str]) -> Iterator[str]:
    for found in _NAMES.findall(text):
        yield from _templates(found.decode("utf-8", "replace"), files, seen)
