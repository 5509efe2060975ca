"""Codex."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hookline.dialects.codex.trust import state_key, trusted_hash
from tools.clients.client import NO_KEY, OWN_HOOK, Client
from tools.clients.protocols.protocol import Call, call
from tools.clients.protocols.responses import Responses


def _words(prompt: str, _mode: str, url: str) -> Sequence[str]:
    provider = {
        "name": "scripted", "base_url": f"{url}/v1", "wire_api": "responses", "env_key": "SCRIPTED_KEY",
        "request_max_retries": 0, "stream_max_retries": 0,
    }  # fmt: skip
    table = ", ".join(f"{key} = {json.dumps(value)}" for key, value in provider.items())
    settings = ("model_provider=scripted", 'model="gpt-5.5"', f"model_providers.scripted={{{table}}}")
    options = [word for setting in settings for word in ("-c", setting)]
    return ("exec", "--skip-git-repo-check", "-s", "danger-full-access", *options, prompt)


def _patch(file: str, text: str) -> Call:
    lines = "".join(f"+{line}\n" for line in text.splitlines())
    return Call(("apply_patch",), {}, f"*** Begin Patch\n*** Add File: {file}\n{lines}*** End Patch\n")


def _trust(file: str, entries: Mapping[str, Any]) -> Mapping[str, str]:
    """As its user would have said with /hooks."""
    states = [
        f"[hooks.state.{json.dumps(state_key(file, event, number, index))}]\n"
        f"trusted_hash = {json.dumps(trusted_hash(event, group.get('matcher'), entry))}\n"
        for event, groups in entries["hooks"].items()
        for number, group in enumerate(groups)
        for index, entry in enumerate(group["hooks"])
    ]
    return {".codex/config.toml": "".join(states)}


CODEX = Client(
    name="codex", package="@openai/codex", program="codex", protocol=Responses(),
    words=_words, environment=lambda _url: {"SCRIPTED_KEY": NO_KEY},
    settings=".codex/hooks.json", project_settings=".codex/hooks.json", trust=_trust,
    shows_refusals=False,
    shell=lambda line: call("exec_command", cmd=line), write=_patch, edit=("mcp", "add", "one", "--", "true"),
    own=f'{{{{"description": "mine", "hooks": {{{{ "PreToolUse": {OWN_HOOK} }}}}}}}}\n',
    others=(".codex/config.toml",), converts=True,
)  # fmt: skip
