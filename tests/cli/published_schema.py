"""The JSON of a command against the schema that is published for it."""

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

_SCHEMAS = Path(__file__).parents[2] / "schemas"


def valid_document(command: str, printed: str) -> Any:
    """The document, when it is what `schemas/cli-COMMAND.schema.json` says."""
    schema: dict[str, Any] = json.loads((_SCHEMAS / f"cli-{command}.schema.json").read_text())
    document: Any = json.loads(printed)
    Draft202012Validator(schema).validate(document)  # pyright: ignore[reportUnknownMemberType] it has no types
    return document
