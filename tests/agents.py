"""List every dialect once, with the facts about it that many tests need. A new dialect is a row here.

Tests read this list, so that none of them has a table of agents.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from hookline.dialects.registry import OWN_FORMAT, standard_dialects

_GROUP = '{"matcher": "x", "hooks": [{"type": "command", "command": "mine"}]}'
_JSON = (
    '{\n    "zeta": 1,\n\n    "hooks": {\n        "%s": [\n            %s\n        ]\n    },\n'
    '    "alpha": [1, 2]\n}'
)
_VERSIONED = '{\n    "version": 1,\n\n    "hooks": {\n        "%s": [\n            %s\n        ]\n    }\n}'
_DOCKER = """\
# mine
agents:
  root:
    model: x  # why
    hooks:
      pre_tool_use:
        - matcher: x
          hooks:
            - {type: command, command: mine}
  # next
  other: {model: y}
"""


def _groups(event: str, line: str) -> str:
    return json.dumps({"hooks": {event: [{"hooks": [{"type": "command", "command": line}]}]}})


def _flat(event: str, line: str) -> str:
    return json.dumps({"version": 1, "hooks": {event: [{"command": line}]}})


def _docker(event: str, line: str) -> str:
    hooks = {event: [{"type": "command", "command": line}]}
    return json.dumps({"agents": {"root": {"model": "none", "hooks": hooks}}})


def _claude_call(event: str, tool: str, arguments: Mapping[str, Any], cwd: str) -> dict[str, Any]:
    return {"cwd": cwd, "hook_event_name": event, "tool_name": tool, "tool_input": arguments}


def _camel_call(event: str, tool: str, arguments: Mapping[str, Any], cwd: str) -> dict[str, Any]:
    del event
    return {"sessionId": "s-1", "cwd": cwd, "toolName": tool, "toolArgs": arguments}


class Agent(Struct, frozen=True):
    """One dialect, as tests see it."""

    #: The file with its hooks in a project; the user's file that `hookline install` writes, from ~.
    file: str
    user_file: str
    #: Its names for the events before a tool runs and when a prompt is sent.
    gate: str = "PreToolUse"
    prompt: str = "UserPromptSubmit"
    #: Its example, below examples/; empty where there is none.
    example: str = ""
    #: A file of the user with one hook in it: with blanks, order and, where they are allowed, comments.
    theirs: str = ""
    #: Makes the text of a file with one hook, and a name for such a file.
    written: Callable[[str, str], str] = _groups
    #: Its payload before a tool runs.
    call: Callable[[str, str, Mapping[str, Any], str], dict[str, Any]] = _claude_call
    #: Its name for the tool that runs a line in a shell, and one that its agent has for files, with the path's key.
    shell: str = "Bash"
    #: False where hooks belong to the user alone.
    has_projects: bool = True
    #: True if the entry of every guard is closed by the shell.
    closed_in_shell: bool = False
    #: A project's file, and the text by which it switches all hooks of the agent off; empty where none can.
    switch: tuple[str, str] = ("", "")
    #: Events of guards that an installation leaves out, because another one sees the same calls.
    seen_elsewhere: tuple[str, ...] = ()


AGENTS: Mapping[str, Agent] = {
    "claude-code": Agent(
        ".claude/settings.json", "~/.claude/settings.json", example="claude-code/.claude/settings.json",
        theirs=_JSON % ("PreToolUse", _GROUP), switch=(".claude/settings.json", '{"disableAllHooks": true}'),
    ),
    "gen-code": Agent(
        ".gen/settings.json", "~/.gen/settings.json", example="gencode/.gen/settings.json",
        theirs=_JSON % ("PreToolUse", _GROUP), closed_in_shell=True,
    ),
    "codewhale": Agent(
        ".codewhale/hooks.toml", "~/.codewhale/config.toml", "tool_call_before", "message_submit",
        "codewhale/config.toml",
        '# mine\n[[hooks]]  # first\nevent = "tool_call_before"\ncommand = """\nmine"""\n# the end',
        lambda event, line: f'[[hooks.hooks]]\nevent = "{event}"\ncommand = {json.dumps(line)}\n',
        closed_in_shell=True,
    ),
    "reasonix": Agent(
        ".reasonix/settings.json", "~/.reasonix/settings.json", example="reasonix/.reasonix/settings.json",
        theirs=_JSON % ("PreToolUse", '{"match": "x", "command": "mine"}'), written=_flat,
        call=lambda event, tool, arguments, cwd: {
            "event": event, "cwd": cwd, "toolName": tool, "toolArgs": arguments
        },
        seen_elsewhere=("PermissionRequest",), closed_in_shell=True,
    ),
    "docker-agent": Agent(
        "agent.yaml", "~/.config/cagent/config.yaml", "pre_tool_use", "user_prompt_submit", "docker-agent/agent.yaml",
        _DOCKER, _docker, seen_elsewhere=("tool_input_transform", "tool_guard"), closed_in_shell=True,
    ),
    "codex": Agent(
        ".codex/hooks.json", "~/.codex/hooks.json", example="codex/.codex/hooks.json",
        theirs=f'{{"hooks": {{"PreToolUse": [{_GROUP}], "Stop": []}}}}', closed_in_shell=True,
        switch=(".codex/config.toml", "[features]\nhooks = false\n"),
    ),
    "gemini-cli": Agent(
        ".gemini/settings.json", "~/.gemini/extensions/hookline/hooks/hooks.json", "BeforeTool", "BeforeAgent",
        "gemini-cli/.gemini/settings.json", "// mine\n" + _JSON % ("BeforeTool", _GROUP + " // why"),
        closed_in_shell=True, switch=(".gemini/settings.json", '{"hooksConfig": {"enabled": false}}'),
    ),
    "cursor": Agent(
        ".cursor/hooks.json", "~/.cursor/hooks.json", "preToolUse", "beforeSubmitPrompt", "cursor/.cursor/hooks.json",
        _VERSIONED % ("preToolUse", '{"matcher": "x", "command": "mine"}'), _flat,
        lambda event, tool, arguments, cwd: {
            **_claude_call(event, tool, arguments, cwd), "workspace_roots": [cwd], "conversation_id": "s-1",
            "cursor_version": "1.0.0",
        },
        "Shell", seen_elsewhere=("beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "beforeTabFileRead"),
        closed_in_shell=True,
    ),
    "copilot-cli": Agent(
        ".github/hooks/hookline.json", "~/.copilot/hooks/hookline.json", "preToolUse", "userPromptSubmitted",
        "copilot-cli/.github/hooks/hooks.json",
        _VERSIONED % ("preToolUse", '{"type": "command", "bash": "mine", "matcher": "x"}'), _flat, _camel_call, "bash",
        seen_elsewhere=("PreToolUse", "PermissionRequest"), closed_in_shell=True,
    ),
    "grok": Agent(
        ".grok/hooks/hookline.json", "~/.grok/hooks/hookline.json", example="grok/.grok/hooks/hooks.json",
        theirs=_JSON % ("PreToolUse", _GROUP), shell="run_terminal_command", closed_in_shell=True,
    ),
    "qwen-code": Agent(
        ".qwen/settings.json", "~/.qwen/settings.json", example="qwen-code/.qwen/settings.json",
        theirs=_JSON % ("PreToolUse", _GROUP), shell="run_shell_command", closed_in_shell=True,
        switch=(".qwen/settings.json", '{"disableAllHooks": true}'),
    ),
    "kimi-code": Agent(
        ".kimi-code/config.toml", "~/.kimi-code/config.toml", example="kimi-code/.kimi-code/config.toml",
        theirs='# mine\nmodel = "x"\n\n[[hooks]]  # first\nevent = "PreToolUse"\nmatcher = "x"\ncommand = "mine"\n',
        written=lambda event, line: f'[[hooks]]\nevent = "{event}"\ncommand = {json.dumps(line)}\n',
        closed_in_shell=True, has_projects=False,
    ),
    OWN_FORMAT: Agent(".hookline/hooks.toml", "~/.config/hookline/hooks.toml"),
}  # fmt: skip
#: Agents that the user has, without Hookline's own format.
OTHERS = [name for name in AGENTS if name != OWN_FORMAT]

#: Dialects of agents whose hooks are in files.
WITH_FILES = [name for name, listed in standard_dialects().items() if listed.has_files]

#: The event before a tool runs, of every dialect.
GATES = {name: AGENTS[name].gate for name in AGENTS} | dict.fromkeys(
    ("opencode", "kilo"), "tool.execute.before"
)

assert list(AGENTS) == WITH_FILES, "every dialect with files has a row, in the order of the registry"
assert set(GATES) == set(standard_dialects())
