"""Claude Code."""

from collections.abc import Sequence

from tools.clients.client import NO_KEY, OWN_HOOK, Client
from tools.clients.protocols.messages import Messages
from tools.clients.protocols.protocol import call


def _words(prompt: str, mode: str, _url: str) -> Sequence[str]:
    tools = "Bash,Read,Glob,Agent,Task" + (",Write" if mode == "default" else "")
    return ("-p", prompt, "--permission-mode", mode, "--allowedTools", tools)


CLAUDE_CODE = Client(
    name="claude-code", package="@anthropic-ai/claude-code", program="claude", protocol=Messages(),
    words=_words,
    environment=lambda url: {
        "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": NO_KEY, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1",
    },
    settings=".claude/settings.json", project_settings=".claude/settings.json",
    shell=lambda line: call("Bash", command=line, description="a step"), background={"run_in_background": True},
    write=lambda file, text: call("Write", file_path=file, content=text),
    edit=("plugin", "marketplace", "add", "./market"),
    converts=True,
    own=f'{{{{\n    "cleanupPeriodDays": 30,\n\n    "hooks": {{{{"PreToolUse": {OWN_HOOK}}}}}\n}}}}',
)  # fmt: skip
