"""A payload as the document and the variables that a hook of Claude Code gets."""

import os
import posixpath
from collections.abc import Mapping
from typing import Any, Final, cast

from hookline.dialects.claude_code.payload import (
    KNOWN,
    LOADED_IN_TURN,
    OWN,
    PATH_ARGUMENTS,
    WITH_EFFORT,
    WITH_ENV_FILE,
    WITH_MODE,
)
from hookline.dialects.claude_code.vocabulary import WORDS
from hookline.dialects.payload_json import written
from hookline.matching.fields import read
from hookline.model.errors import HooklineError
from hookline.model.scene import Scene
from hookline.model.wire import Call, Encoded

_NOT_SAID: Final = (None, "", ())
#: What tells a program that it runs under Claude Code, and the habits of the client's own commands.
_SIGNS: Final = {
    "CLAUDECODE": "1",
    "CLAUDE_CODE_CHILD_SESSION": "1",
    "COREPACK_ENABLE_AUTO_PIN": "0",
    "NoDefaultCurrentDirectoryInExePath": "1",
}


class PayloadError(HooklineError):
    """A payload that cannot be told to external code."""


def tell(call: Call) -> Encoded:
    """One line of JSON, as the client writes it."""
    spelled = call.hook.policy.spelled
    try:
        text = written(payload_document(spelled, call.payload, call.scene))
    except (TypeError, ValueError) as error:
        raise PayloadError(f"the payload cannot be written as JSON: {error}") from None
    return Encoded(text + b"\n", environment(spelled, call.payload, call.scene))


def payload_document(spelled: str, payload: Any, scene: Scene) -> dict[str, Any]:
    """Where and who first, then what this event is about."""
    document = _surroundings(spelled, payload, scene)
    extra = scene.extra or {}
    for key in OWN[spelled]:
        value = read(payload, key.name)
        if value in _NOT_SAID:
            value = extra.get(key.name, value)
        if value not in _NOT_SAID:
            document[key.name] = value
        elif key.default is not KNOWN:
            document[key.name] = key.default
    if spelled in WORDS:
        document["error"] = WORDS[spelled].get(document["error"], document["error"])
    return _with_whole_path(document, scene.cwd)


def _surroundings(spelled: str, payload: Any, scene: Scene) -> dict[str, Any]:
    document: dict[str, Any] = {
        "session_id": scene.session_id,
        "transcript_path": scene.transcript_path,
        "cwd": scene.cwd,
    }
    if scene.prompt_id is not None:
        document["prompt_id"] = scene.prompt_id
    if spelled in WITH_MODE:
        document["permission_mode"] = scene.permission_mode
    for name in ("agent_id", "agent_type"):
        value = read(payload, name) or getattr(scene, name)
        if value:
            document[name] = value
    effort = _effort(spelled, payload, scene)
    if effort:
        document["effort"] = {"level": effort}
    document["hook_event_name"] = spelled
    return document


def environment(spelled: str, payload: Any, scene: Scene) -> dict[str, str]:
    """What a hook finds beside the variables of the parent, which it inherits."""
    told = {
        **_SIGNS,
        "CLAUDE_PROJECT_DIR": scene.project_dir or scene.cwd,
        "CLAUDE_CODE_SESSION_ID": scene.session_id,
        "CLAUDE_CODE_ENTRYPOINT": "cli" if scene.attended else "sdk-cli",
    }
    effort = _effort(spelled, payload, scene)
    if effort:
        told["CLAUDE_EFFORT"] = effort
    if spelled in WITH_ENV_FILE:
        env_file = (scene.extra or {}).get("env_file")
        # A hook that writes there must not fail because this host reads no such file.
        told["CLAUDE_ENV_FILE"] = env_file if isinstance(env_file, str) and env_file else os.devnull
    return told


def _effort(spelled: str, payload: Any, scene: Scene) -> str | None:
    in_turn = spelled in WITH_EFFORT or (
        spelled == "InstructionsLoaded" and read(payload, "load_reason") in LOADED_IN_TURN
    )
    effort = (scene.extra or {}).get("effort")
    return effort if in_turn and isinstance(effort, str) and effort else None


def _with_whole_path(document: dict[str, Any], cwd: str) -> dict[str, Any]:
    """File tools are told with an absolute path, whatever the model wrote."""
    argument = PATH_ARGUMENTS.get(document.get("tool_name", ""))
    given = document.get("tool_input")
    if argument is None or not isinstance(given, Mapping):
        return document
    arguments = cast("Mapping[str, Any]", given)
    path = arguments.get(argument)
    if isinstance(path, str) and path and not path.startswith(("/", "~")) and cwd.startswith("/"):
        whole = posixpath.normpath(posixpath.join(cwd, path))
        document["tool_input"] = {**arguments, argument: whole}
    return document
