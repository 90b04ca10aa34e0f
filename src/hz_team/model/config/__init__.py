"""The shapes of all files of `.hz/`, as people may write them; `hz_team.config` compiles them to `model.job`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hz_team.model.config.job import Declaration, JobFile
from hz_team.model.config.setting import ControlFile, PoliciesFile, SettingsFile
from hz_team.model.config.watch import WatchesFile

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = [
    "ControlFile",
    "Declaration",
    "JobFile",
    "PoliciesFile",
    "SettingsFile",
    "WatchesFile",
    "documents",
    "schemas",
]

FILES: dict[str, type[BaseModel]] = {
    "job": JobFile,
    "watches": WatchesFile,
    "hz": SettingsFile,
    "control": ControlFile,
    "auto-approve": PoliciesFile,
}


def documents() -> dict[str, str]:
    """Return file name → text of every schema, as `schemas/` holds it (`python -m hz_team.model.config schemas`)."""
    import json

    made = schemas().items()
    return {f"{name}.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for name, schema in made}


def schemas() -> dict[str, dict[str, Any]]:
    """Return name → JSON Schema, for editors; `schemas/NAME.schema.json` holds each."""
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {name: {"$schema": draft, **shape.model_json_schema(by_alias=True)} for name, shape in FILES.items()}
