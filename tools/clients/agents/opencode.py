"""OpenCode, in which Hookline is a plugin."""

import json

from tools.clients.client import NO_KEY, Client
from tools.clients.protocols.chat_completions import ChatCompletions
from tools.clients.protocols.protocol import call

_PROVIDER = {
    "npm": "@ai-sdk/openai-compatible",
    "options": {"baseURL": "<model>/v1", "apiKey": NO_KEY},
    "models": {"scripted": {"name": "scripted"}},
}
_CONFIG = (
    json.dumps(
        {
            "model": "scripted/scripted",
            "small_model": "scripted/scripted",
            "provider": {"scripted": _PROVIDER},
            "permission": {"bash": "allow", "edit": "allow", "external_directory": "allow"},
            "autoupdate": False,
            "share": "disabled",
        }
    )
    .replace("{", "{{")
    .replace("}", "}}")
    .replace("<model>", "{url}")
)
#: The user's own plugin. It is seen when it loads: of several plugins the first that throws ends a call.
_OWN = """import {{ writeFileSync }} from "node:fs"
export const Mine = async () => (writeFileSync("{mark}", ""), {{}})
"""

OPENCODE = Client(
    name="opencode", package="opencode-ai", program="opencode",
    protocol=ChatCompletions(lambda result: not result.startswith("(no output)")),
    words=lambda prompt, _mode, _url: ("run", prompt),
    environment=lambda _url: {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
    settings=".config/opencode/plugin/a-mine.js", project_settings=".opencode/plugin/a-mine.js",
    beforehand={".config/opencode/opencode.json": _CONFIG},
    packages={".config/opencode": "@opencode-ai/plugin"},
    before_tool="tool.execute.before", prompted="chat.message", starts="session.created", ends="",
    prompt_context=False, printed=False,
    shell=lambda line: call("bash", command=line, description="a step"),
    write=lambda file, text: call("write", filePath=file, content=text),
    own=_OWN,
)  # fmt: skip
