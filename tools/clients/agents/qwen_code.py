"""Qwen Code."""

from tools.clients.client import NO_KEY, OWN_HOOK, Client
from tools.clients.protocols.chat_completions import ChatCompletions
from tools.clients.protocols.protocol import call

QWEN_CODE = Client(
    name="qwen-code", package="@qwen-code/qwen-code", program="qwen", node=22,
    protocol=ChatCompletions(lambda result: not result.startswith("Command: ")),
    words=lambda prompt, _mode, _url: ("--auth-type", "openai", "--approval-mode", "yolo", "-p", prompt),
    environment=lambda url: {
        "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": NO_KEY, "OPENAI_MODEL": "scripted",
        "QWEN_TELEMETRY_ENABLED": "false", "NO_BROWSER": "1",
    },
    settings=".qwen/settings.json", project_settings=".qwen/settings.json",
    beforehand={
        ".qwen/settings.json": '{{"privacy": {{"usageStatisticsEnabled": false}}, "general": '
        '{{"disableAutoUpdate": true, "disableUpdateNag": true, "enableAutoUpdate": false}}}}\n'
    },
    rewrites=False,
    shows_refusals=False,
    shell=lambda line: call("run_shell_command", command=line, is_background=False), background={"is_background": True},
    write=lambda file, text: call("write_file", file_path=file, content=text),
    edit=("mcp", "add", "-s", "user", "one", "true"),
    own='{{\n  // mine\n  "general": {{"enableAutoUpdate": false}},\n'
    f'   "hooks": {{{{"PreToolUse": {OWN_HOOK}}}}}\n}}}}\n',
)  # fmt: skip
