"""`hz-draft`: takes text or JSON on standard input and leaves it as a draft, with its cost. On the PATH of every step.

Understood: Markdown (with or without front matter); an object {title, body, labels, target, kind, files, cost: {usd,
tokens}}; the JSON results that agent command lines print ({"result": …, "total_cost_usd": …, "usage": {…}}), alone or
as the last of many lines.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from hz_team import workroom

LARGEST = 1_000_000
FIELDS = ("kind", "title", "target", "labels", "files")
TOKENS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def main() -> int:
    """Read standard input and write the draft; 1 if an agent reported an error or there is too much."""
    options = _options(sys.argv[1:])
    data = sys.stdin.buffer.read(LARGEST + 1)
    if len(data) > LARGEST:
        sys.stderr.write(f"hz-draft: more than {LARGEST:,} bytes on standard input; no draft was written\n")
        return 1
    fields, body, cost = understand(data.decode("utf-8", "backslashreplace"))
    if cost:
        _append_cost(cost)
    if fields.pop("is_error", False):
        sys.stderr.write(f"hz-draft: the agent reports an error: {body[:500]}\n")
        return 1
    fields |= {name: value for name, value in vars(options).items() if value}
    if not body.strip() and not fields:
        sys.stderr.write("hz-draft: nothing on standard input; no draft was written\n")
        return 0
    _write(workroom.document(fields, body))
    return 0


def understand(text: str) -> tuple[dict[str, Any], str, dict[str, Any]]:
    """Return fields, body and cost of what was read; text that is no JSON object is the body as it stands."""
    found = _object(text)
    if found is None:
        return {}, text, {}
    if "result" in found or "is_error" in found:
        return {"is_error": bool(found.get("is_error"))}, str(found.get("result") or ""), _agent_cost(found)
    fields = {name: found[name] for name in FIELDS if name in found}
    return fields, str(found.get("body", "")), found["cost"] if isinstance(found.get("cost"), dict) else {}


def _object(text: str) -> dict[str, Any] | None:
    """Return the object that the text is, or the last result of many lines of JSON."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(text)
        return (
            found
            if isinstance(found, dict) and found.keys() & {"body", "title", "result", "is_error", "files"}
            else None
        )
    except ValueError:
        pass
    try:
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError:
        return None
    results = [line for line in lines if isinstance(line, dict) and "result" in line]
    return results[-1] if results else None


def _agent_cost(found: dict[str, Any]) -> dict[str, Any]:
    usage: dict[str, Any] = found["usage"] if isinstance(found.get("usage"), dict) else {}
    tokens: float = usage.get("total_tokens") or sum(_number(usage.get(name)) for name in TOKENS)
    return {"usd": _number(found.get("total_cost_usd", found.get("cost_usd"))), "tokens": _number(tokens)}


def _number(value: Any) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


def _append_cost(cost: dict[str, Any]) -> None:
    with open(os.environ["HZ_COST"], "a", encoding="utf-8") as stream:
        stream.write(json.dumps({name: cost.get(name, 0) for name in ("usd", "tokens")}) + "\n")


def _write(draft: str) -> None:
    """Write $HZ_DRAFT, or the next file of $HZ_DRAFTS if there is a draft already."""
    path = os.environ["HZ_DRAFT"]
    if os.path.exists(path) and os.path.getsize(path):
        folder = os.environ["HZ_DRAFTS"]
        path = os.path.join(folder, f"{len(os.listdir(folder)) + 1:03}.md")
    with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
        stream.write(draft)


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("hz-draft", description="Leave standard input as a draft.")
    for name in ("kind", "title", "target"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--label", dest="labels", action="append")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
