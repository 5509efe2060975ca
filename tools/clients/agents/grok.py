"""Grok Build."""

from tools.clients.client import NO_KEY, OWN_HOOK, Client
from tools.clients.protocols.chat_completions import ChatCompletions
from tools.clients.protocols.protocol import call

_CONFIG = f"""[model.scripted]
model = "scripted"
base_url = "{{url}}/v1"
api_key = "{NO_KEY}"
api_backend = "chat_completions"

[features]
telemetry = false
feedback = false
remote_fetch = false
"""

GROK = Client(
    name="grok", package="@xai-official/grok", program="grok",
    protocol=ChatCompletions(lambda result: not result.startswith("exit: ")),
    words=lambda prompt, _mode, _url: ("-p", prompt, "-m", "scripted", "--permission-mode", "bypassPermissions"),
    environment=lambda _url: {"GROK_DISABLE_AUTOUPDATER": "1"},
    settings=".grok/hooks/a-mine.json", project_settings=".grok/hooks/a-mine.json",
    beforehand={".grok/config.toml": _CONFIG}, prompt_context=False, whole_reasons=False,
    shows_refusals=False,
    shell=lambda line: call("run_terminal_command", command=line, description="a step"),
    write=lambda file, text: call("write_file", file_path=file, content=text),
    own=f'{{{{"hooks": {{{{"PreToolUse": {OWN_HOOK}}}}}}}}}\n',
)  # fmt: skip
