"""The wire of gen-code, both ways."""

from collections.abc import Mapping
from typing import Any

from hookline.dialects.family.wire import (
    ResultReader,
    encoded,
    event_name,
    key_values,
    payload_record,
    scene_document,
    scene_texts,
    split_async_mark,
)
from hookline.dialects.gencode.answers import NO_REASON, Reader, Writer
from hookline.dialects.gencode.events import ROWS
from hookline.dialects.json_text import read_go_json
from hookline.model.outcome import Outcome
from hookline.model.raw import Exited
from hookline.model.scene import Scene
from hookline.model.wire import NOTHING_SAID, Call, Decoded, Encoded, HookReply, Parsed

_COMMON = ("session_id", "transcript_path", "cwd", "permission_mode")
#: Where the payload does not say it, the scene may.
_OF_SCENE = ("model", "agent_id", "agent_type")
_PREFIXES = ("GEN_", "CLAUDE_")


class GenCodeWire(ResultReader):
    """Stateless: one object serves every hook."""

    no_reason = NO_REASON

    def encode(self, call: Call) -> Encoded:
        """The document has no newline at its end: it is the whole of stdin."""
        name, scene = call.hook.policy.event_name, call.scene
        values = key_values(
            ROWS[name].sends,
            call.payload,
            otherwise=lambda key: getattr(scene, key) if key in _OF_SCENE else None,
            is_empty=lambda value: not value,
        )
        document = encoded(scene_document(name, scene) | values)
        return Encoded(document, _environment(name, values.get("tool_name"), scene))

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        name = event_name(document, ROWS)
        row = ROWS[name]
        given = {key: value for key, value in document.items() if value is not None}
        payload = payload_record(row.event, name, given)
        sent = (key.name for key in row.sends if key.name in _OF_SCENE)
        known = scene_texts(given, (*_COMMON, *sent))
        return Parsed(row.event, payload, Scene(**{key: value for key, value in known.items() if value}))

    def answer(self, event_name: str, outcome: Outcome) -> HookReply:
        return Writer(event_name, outcome).told()

    def read_json(self, text: bytes) -> Any:
        return read_go_json(text)

    def read_answer(self, call: Call, document: Mapping[str, Any]) -> tuple[Outcome, tuple[str, ...]]:
        return Reader(event_name=call.hook.policy.event_name).read(document)

    def exited(self, call: Call, raw: Exited) -> Decoded:
        detached, rest = split_async_mark(raw.stdout)
        if not detached or raw.code not in (0, 2):
            return super().exited(call, raw)
        if call.hook.waiting != "rewake":
            # It went on in the background, where what it prints in the end is not read.
            return Decoded(ignored=("what it said after async",)) if rest.strip() else NOTHING_SAID
        if raw.code == 2 or raw.truncated:
            return super().exited(call, raw)
        return self.printed(call, raw, rest)

    def is_http_error(self, status: int | None) -> bool:
        return status is not None and status >= 400


def _environment(name: str, tool: Any, scene: Scene) -> dict[str, str]:
    values = {
        "PROJECT_DIR": scene.project_dir or scene.cwd,
        "SESSION_ID": scene.session_id,
        "EVENT_TYPE": name,
    }
    if isinstance(tool, str):
        # A zero byte would keep the process from starting, and with it the guard.
        values["TOOL_NAME"] = tool.replace("\0", "")
    return {f"{prefix}{key}": value for prefix in _PREFIXES for key, value in values.items()}
