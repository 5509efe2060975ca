"""Kimi Code."""

from tools.clients.client import NO_KEY, Client
from tools.clients.protocols.chat_completions import ChatCompletions
from tools.clients.protocols.protocol import call

_CONFIG = f"""default_model = "scripted"
telemetry = false

[providers.scripted]
type = "openai"
base_url = "{{url}}/v1"
api_key = "{NO_KEY}"

[models.scripted]
provider = "scripted"
model = "scripted"
max_context_size = 100000
"""

KIMI_CODE = Client(
    name="kimi-code", package="@moonshot-ai/kimi-code", program="kimi", node=24,
    protocol=ChatCompletions(lambda result: "ERROR: Tool execution failed" in result),
    words=lambda prompt, _mode, _url: ("-p", prompt), environment=lambda _url: {"KIMI_CODE_NO_AUTO_UPDATE": "1"},
    settings=".kimi-code/config.toml", project_settings="", beforehand={".kimi-code/config.toml": _CONFIG},
    rewrites=False, result_context=False,
    shell=lambda line: call("Bash", command=line), background={"run_in_background": True, "description": "a step"},
    write=lambda file, text: call("Write", path=file, content=text),
    own=f'{_CONFIG}\n# mine\n[[hooks]]\nevent   = "PreToolUse"\ncommand = "touch {{mark}}"\n',
)  # fmt: skip
