"""The payloads that `hookline.testing.recorded` gives: those of real agents in tests/dialects/*/recorded/payloads."""

import json
from pathlib import Path
from typing import Any


def recorded_payloads(root: Path) -> dict[str, str]:
    """For every agent that was recorded the file in its dialect's folder, a line for each payload."""
    return {
        f"src/hookline/dialects/{folder.parent.parent.name}/recorded.json": _lines(folder)
        for folder in sorted(root.glob("tests/dialects/*/recorded/payloads"))
    }


def _lines(folder: Path) -> str:
    entries: list[dict[str, Any]] = []
    for file in sorted(folder.glob("*.json")):
        document = json.loads(file.read_text())
        # Some recordings are the payload alone, in others it is beside facts about the process.
        payload = document.get("payload", document)
        entries.append({"name": file.stem, "event": _event(payload), "payload": payload})
    return "[\n" + ",\n".join(json.dumps(each, separators=(",", ":")) for each in entries) + "\n]\n"


def _event(payload: dict[str, Any]) -> str:
    return payload.get("hook_event_name") or payload["event"]
