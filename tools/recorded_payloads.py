"""The payloads that `hookline.testing.recorded` gives: those of real agents in tests/dialects/*/recorded/payloads."""

import json
from pathlib import Path
from typing import Any


def recorded_payloads(root: Path) -> dict[str, str]:
    """Return, for every recorded agent, the file in its dialect's directory, a line for each payload."""
    return {
        f"src/hookline/dialects/{directory.parent.parent.name}/recorded.json": _lines(directory)
        for directory in sorted(root.glob("tests/dialects/*/recorded/payloads"))
    }


def _lines(directory: Path) -> str:
    entries: list[dict[str, Any]] = []
    for file in sorted(directory.glob("*.json")):
        document = json.loads(file.read_text())
        # Some recordings are the payload alone, in others it is beside facts about the process.
        payload = document.get("payload", document)
        # Payloads of some agents do not name their event: the file does.
        entries.append({"name": file.stem, "event": _event(payload) or file.stem, "payload": payload})
    return "[\n" + ",\n".join(json.dumps(each, separators=(",", ":")) for each in entries) + "\n]\n"


def _event(payload: dict[str, Any]) -> str:
    return payload.get("hook_event_name") or payload.get("event") or payload.get("hookName") or ""
