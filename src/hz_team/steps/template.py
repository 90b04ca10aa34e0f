"""`template`: Markdown from a file in `.hz/templates`, or from the job's own file, and what the watches saw.

Rendered in a child of its own.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from hz_team import workroom
from hz_team.errors import HzError

if TYPE_CHECKING:
    from hz_team.model.job import Step
    from hz_team.ports import Command
    from hz_team.workroom import Workroom

FOLDER = ".hz/templates"
INLINE = "line"
"""What a template that is no file is called in an error: "line:3: …"."""


def command(step: Step, room: Workroom) -> Command:
    """Return the child that renders the template into $HZ_DRAFT."""
    folder = os.path.join(room.root, FOLDER)
    request = {"template": str(step.spec["template"]), "folder": folder, "variables": room.told()}
    told = room.put(f"step-{room.number}.json", json.dumps(request))
    argv = workroom.child("hz_team.steps.template", told, room.path("out", "draft.md"))
    return room.command(step, argv, read=(folder,))


def main() -> int:
    """Render what the request file (first word) asks for to the second: a draft, or JSON for `texts`."""
    with open(sys.argv[1], encoding="utf-8") as stream:
        request: dict[str, Any] = json.load(stream)
    try:
        answer = _texts(request) if "texts" in request else _draft(request)
    except HzError as problem:
        sys.stderr.write(f"{problem}\n")
        return workroom.INVALID
    with open(sys.argv[2], "w", encoding="utf-8", newline="") as stream:
        stream.write(answer)
    return 0


def _draft(request: dict[str, Any]) -> str:
    from hz_team import render, yaml
    from hz_team.model.written import natural

    def front_matter(source: str) -> tuple[dict[str, Any], str]:
        fields, body = yaml.front_matter(source)
        return natural(fields), body

    template: str = request["template"]
    inline = "\n" in template
    made = render.render(
        INLINE if inline else template,
        request["folder"],
        request["variables"],
        front_matter=front_matter,
        source=template if inline else None,
    )
    return workroom.document(made.fields, made.body)


def _texts(request: dict[str, Any]) -> str:
    """Return titles, branches and paths of `publish`, rendered as plain text, by their names."""
    from hz_team import render

    texts = request["texts"].items()
    variables = request["variables"]
    rendered = {name: render.text(said, variables, name=name, title=name.endswith(".title")) for name, said in texts}
    return json.dumps(rendered)


if __name__ == "__main__":
    sys.exit(main())
