"""Copilot CLI, offline and with a model of the user's own."""

from tools.clients.client import NO_KEY, Client
from tools.clients.protocols.chat_completions import ChatCompletions
from tools.clients.protocols.protocol import call

COPILOT_CLI = Client(
    name="copilot-cli", package="@github/copilot", program="copilot", node=22,
    protocol=ChatCompletions(lambda result: result.startswith("Denied by")),
    words=lambda prompt, _mode, _url: ("-p", prompt, "--allow-all-tools", "--no-auto-update"),
    environment=lambda url: {
        "COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": f"{url}/v1", "COPILOT_PROVIDER_API_KEY": NO_KEY,
        "COPILOT_MODEL": "scripted", "COPILOT_AUTO_UPDATE": "false",
    },
    settings=".copilot/hooks/mine.json", project_settings=".github/hooks/mine.json",
    before_tool="preToolUse", prompted="userPromptSubmitted", ends="agentStop", gates_prompts=False,
    shell=lambda line: call("bash", command=line, description="a step"), background={"mode": "async"},
    write=lambda file, text: call("create", path=file, file_text=text),
    own='{{"version": 1, "hooks": {{"preToolUse": [{{"type": "command", "bash": "touch {mark}"}}]}}}}\n',
)  # fmt: skip
