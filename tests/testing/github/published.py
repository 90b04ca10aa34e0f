"""GitHub's published description of its API and its example payloads, where they are installed."""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[3]
VARIABLE = "OCTOKIT_MODULES"
"""Names a folder `node_modules`; without it the one in the repository's root counts."""
OPENAPI = "@octokit/openapi/generated/api.github.com.json"
EXAMPLES = "@octokit/webhooks-examples/api.github.com/index.json"


def published(path: str) -> Any:
    """Return a document of an npm package, or skip, saying how to get it."""
    folder = Path(os.environ.get(VARIABLE) or ROOT / "node_modules")
    if not (folder / path).is_file():
        package = "/".join(path.split("/")[:2])
        pytest.skip(
            f"GITHUB'S OWN DESCRIPTION IS NOT ASKED: {package} is not in {folder}; run `npm install --no-save {package}` "
            f"in the repository's root, or name a node_modules folder in {VARIABLE}. What the table of our own asks was asked."
        )
    return _read(folder / path)


@cache
def _read(path: Path) -> Any:
    return as_json_schema(json.loads(path.read_bytes()))


def as_json_schema(node: Any) -> Any:
    """Return OpenAPI 3.0 as JSON Schema says it: `nullable` is a further type; GitHub's alternatives overlap."""
    if isinstance(node, list):
        return [as_json_schema(one) for one in node]
    if not isinstance(node, dict):
        return node
    if node.get("nullable") is True:
        return {"anyOf": [{"type": "null"}, as_json_schema({**node, "nullable": False})]}
    names = {"oneOf": "anyOf"} if isinstance(node.get("oneOf"), list) else {}
    return {names.get(key, key): as_json_schema(value) for key, value in node.items()}


def keys(schema: Any, document: Any) -> Iterator[str]:
    """Yield every property that a schema names at its top, through references and alternatives."""
    schema = resolved(schema, document)
    yield from schema.get("properties", {})
    for word in ("allOf", "anyOf", "oneOf"):
        for one in schema.get(word, ()):
            yield from keys(one, document)


def resolved(schema: Any, document: Any) -> Any:
    """Follow a schema's references."""
    while isinstance(schema, dict) and "$ref" in schema:
        found = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[re.sub("~1", "/", part)]
        schema = found
    return schema
