"""The clients as data: where each comes from, how it is started, and what its tool calls look like."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from hookline.dialects.codex.trust import state_key, trusted_hash
from tools.clients.protocols.generate_content import GenerateContent
from tools.clients.protocols.messages import Messages
from tools.clients.protocols.protocol import Call, ModelProtocol, call
from tools.clients.protocols.responses import Responses

_KEY = "not-a-key"


class Client(Struct, frozen=True, kw_only=True):
    #: As Hookline calls its dialect.
    name: str
    package: str
    program: str
    protocol: ModelProtocol
    #: The words after its name: for a prompt, in a given mode, with the model at an address.
    words: Callable[[str, str, str], Sequence[str]]
    #: What it needs to know of the model, and what keeps it from calling any other server.
    environment: Callable[[str], Mapping[str, str]]
    #: The user's file with hooks, below the home directory; the project's, below the project.
    settings: str
    project_settings: str
    #: What the user has in the home directory before anything is installed, by path.
    beforehand: Mapping[str, str] = {}
    #: The name of the event before a tool call, and of the one for a prompt.
    before_tool: str = "PreToolUse"
    prompted: str = "UserPromptSubmit"
    #: In which unit timeouts are.
    second: int = 1
    #: What the user says below the home directory to have the entries of a file run: texts by path.
    trust: Callable[[str, Mapping[str, Any]], Mapping[str, str]] = lambda _file, _entries: {}
    shell: Callable[[str], Call]
    write: Callable[[str, str], Call]
    #: A command of the client that changes the user's files, in a project with a file MARKET.
    edit: Sequence[str]
    #: The user's file with the user's own hook before each tool call, as people write it.
    own: str
    #: Further files of the user that it keeps settings in, below the home directory.
    others: Sequence[str] = ()


def _claude_words(prompt: str, mode: str, _url: str) -> Sequence[str]:
    tools = "Bash,Read,Glob,Agent,Task" + (",Write" if mode == "default" else "")
    return ("-p", prompt, "--permission-mode", mode, "--allowedTools", tools)


def _codex_words(prompt: str, _mode: str, url: str) -> Sequence[str]:
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


def _codex_trust(file: str, entries: Mapping[str, Any]) -> Mapping[str, str]:
    """As its user would have said with /hooks."""
    states = [
        f"[hooks.state.{json.dumps(state_key(file, event, number, index))}]\n"
        f"trusted_hash = {json.dumps(trusted_hash(event, group.get('matcher'), entry))}\n"
        for event, groups in entries["hooks"].items()
        for number, group in enumerate(groups)
        for index, entry in enumerate(group["hooks"])
    ]
    return {".codex/config.toml": "".join(states)}


_OWN_HOOK = '[{{"hooks": [{{"type": "command", "command": "touch {mark}"}}]}}]'
CLAUDE_CODE = Client(
    name="claude-code", package="@anthropic-ai/claude-code", program="claude", protocol=Messages(),
    words=_claude_words,
    environment=lambda url: {
        "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": _KEY, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1",
    },
    settings=".claude/settings.json", project_settings=".claude/settings.json",
    shell=lambda line: call("Bash", command=line, description="a step"),
    write=lambda file, text: call("Write", file_path=file, content=text),
    edit=("plugin", "marketplace", "add", "./market"),
    own=f'{{{{\n    "cleanupPeriodDays": 30,\n\n    "hooks": {{{{"PreToolUse": {_OWN_HOOK}}}}}\n}}}}',
)  # fmt: skip
CODEX = Client(
    name="codex", package="@openai/codex", program="codex", protocol=Responses(),
    words=_codex_words, environment=lambda _url: {"SCRIPTED_KEY": _KEY},
    settings=".codex/hooks.json", project_settings=".codex/hooks.json", trust=_codex_trust,
    shell=lambda line: call("exec_command", cmd=line), write=_patch, edit=("mcp", "add", "one", "--", "true"),
    own=f'{{{{"description": "mine", "hooks": {{{{ "PreToolUse": {_OWN_HOOK} }}}}}}}}\n',
    others=(".codex/config.toml",),
)  # fmt: skip
GEMINI_CLI = Client(
    name="gemini-cli", package="@google/gemini-cli", program="gemini", protocol=GenerateContent(),
    words=lambda prompt, _mode, _url: ("-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", prompt),
    environment=lambda url: {
        "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": _KEY, "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_TELEMETRY_ENABLED": "false", "NO_BROWSER": "1",
    },
    settings=".gemini/settings.json", project_settings=".gemini/settings.json",
    beforehand={".gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}}}\n'},
    before_tool="BeforeTool", prompted="BeforeAgent", second=1000,
    shell=lambda line: call("run_shell_command", command=line),
    write=lambda file, text: call("write_file", file_path=file, content=text),
    edit=("mcp", "add", "-s", "user", "one", "true"),
    own='{{\n  // mine\n  "security": {{"auth": {{"selectedType": "gemini-api-key"}}}},\n'
    f'   "hooks": {{{{"BeforeTool": {_OWN_HOOK}}}}}\n}}}}\n',
)  # fmt: skip
CLIENTS = (CLAUDE_CODE, CODEX, GEMINI_CLI)
