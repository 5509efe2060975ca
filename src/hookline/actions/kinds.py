"""Define the kinds of tools: what a call does, whatever its agent calls the tool.

Canonical names and arguments are those of Claude Code where it has the tool. Sizes are in milliseconds, lines
count from 1, paths are absolute.
"""

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

Access = Literal["", "read", "write"]
#: The effect of a call, in the words of permissions. `agent` starts a subagent, whose own calls are decided
#: one by one.
Category = Literal["read", "write", "run", "web", "mcp", "agent", "other"]
#: How the argument of a rule about a tool is read: `Bash(git *)`, `Edit(src/**)`, `Grep(src)`, `WebFetch(domain:x)`.
RuleArgument = Literal["shell", "powershell", "file", "search", "web", "other"]


class ToolKind(Struct, frozen=True, dict=True):
    """One kind of tool, in canonical terms."""

    name: str
    #: The tool's canonical name, and further names under which hooks of the standard agents know it.
    tool: str
    arguments: tuple[str, ...]
    also: tuple[str, ...] = ()
    #: Names of tools that do less of it, or that many agents have: rules about them are read alike.
    names: tuple[str, ...] = ()
    #: The tool whose rules are about these calls, too.
    rules_of: str = ""
    #: The text argument without which the call cannot be understood.
    needs: str = ""
    #: Arguments that are paths, and the effect on the files there.
    paths: tuple[str, ...] = ()
    access: Access = ""
    #: The effect of its calls, where the access to files does not show it.
    does: Category = "other"
    #: The argument that is a line of a shell, or code.
    line: str = ""

    @cached_property
    def category(self) -> Category:
        return self.access or self.does

    @cached_property
    def rule_argument(self) -> RuleArgument:
        if self.paths:
            return "file" if self.needs else "search"
        return "shell" if self.needs == "command" else "web" if self.needs == "url" else "other"

    @cached_property
    def other_keys(self) -> frozenset[str]:
        """Further keys under which a program may have the needed argument."""
        return frozenset(USUAL_KEYS.get(self.needs, ())) - {self.needs}


_SEARCHED = ("pattern", "path")
#: Names of tools whose lines are of PowerShell.
POWERSHELL = ("PowerShell", "powershell", "pwsh")
#: Keys that the main arguments of tools usually have in programs, by their canonical names.
USUAL_KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "command": (
            "command", "cmd", "command_line", "shell_command", "bash_command", "line", "script", "input",
        ),
        "file_path": (
            "file_path", "path", "filename", "file_name", "file", "filepath", "target_file", "source_path",
        ),
        "url": ("url", "uri"),
        "cwd": ("cwd", "workdir", "working_directory", "work_dir", "working_dir", "directory", "dir_path"),
    }
)  # fmt: skip

KINDS: Mapping[str, ToolKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            ToolKind(
                "shell", "Bash", ("command", "description", "timeout", "run_in_background"),
                names=("bash", "shell", "exec_shell", "run_shell_command", "Monitor", *POWERSHELL),
                needs="command", does="run", line="command",
            ),
            ToolKind("shell_input", "BashInput", ("task_id", "input"), does="run", line="input"),
            ToolKind("shell_output", "TaskOutput", ("task_id",), ("BashOutput",)),
            ToolKind("shell_stop", "TaskStop", ("task_id",), ("KillShell", "KillBash", "KillTask")),
            ToolKind(
                "read", "Read", ("file_path", "offset", "limit", "pages"), names=("NotebookRead",),
                rules_of="Read", needs="file_path", paths=("file_path",), access="read",
            ),
            ToolKind(
                "write", "Write", ("file_path", "content"), rules_of="Edit", needs="file_path",
                paths=("file_path",), access="write",
            ),
            ToolKind(
                "edit", "Edit", ("file_path", "old_string", "new_string", "replace_all"), ("MultiEdit",),
                rules_of="Edit", needs="file_path", paths=("file_path",), access="write",
            ),
            ToolKind(
                "notebook", "NotebookEdit",
                ("notebook_path", "cell_id", "new_source", "cell_type", "edit_mode"),
                rules_of="Edit", needs="notebook_path", paths=("notebook_path",), access="write",
            ),
            ToolKind("delete", "Delete", ("file_path",), needs="file_path", paths=("file_path",), access="write"),
            ToolKind(
                "move", "Move", ("source", "destination"), needs="destination",
                paths=("source", "destination"), access="write",
            ),
            ToolKind("list", "LS", ("path",), rules_of="Read", paths=("path",), access="read"),
            ToolKind("glob", "Glob", _SEARCHED, rules_of="Read", paths=("path",), access="read"),
            ToolKind(
                "grep", "Grep", (*_SEARCHED, "glob", "output_mode"), rules_of="Read", paths=("path",),
                access="read",
            ),
            ToolKind("fetch", "WebFetch", ("url", "prompt"), needs="url", does="web"),
            ToolKind("search", "WebSearch", ("query",), does="web"),
            ToolKind("agent", "Agent", ("prompt", "description", "subagent_type"), ("Task",), does="agent"),
            ToolKind("ask", "AskUserQuestion", ("questions",)),
            ToolKind("plan", "TodoWrite", ("todos",)),
            ToolKind("memory", "Memory", ("text",)),
            ToolKind("code", "Code", ("language", "code"), needs="code", does="run", line="code"),
        )
    }
)  # fmt: skip

#: The kind of every canonical name.
KIND_OF: Mapping[str, ToolKind] = MappingProxyType(
    {name: kind for kind in KINDS.values() for name in (kind.tool, *kind.also)}
)

#: The kind of every name that rules know.
RULE_KINDS: Mapping[str, ToolKind] = MappingProxyType(
    {**KIND_OF, **{name: kind for kind in KINDS.values() for name in kind.names}}
)

#: The categories as hooks and conditions call them, where permissions have another word.
HOOK_WORDS: Mapping[str, str] = MappingProxyType({"run": "shell", "write": "file_write", "read": "safe"})


def rule_argument(tool: str) -> RuleArgument:
    """Return how the argument of a rule about this tool is read."""
    kind = RULE_KINDS.get(tool)
    return "powershell" if tool in POWERSHELL else "other" if kind is None else kind.rule_argument


def rule_fields(tool: str) -> tuple[str, ...]:
    """Return the arguments that a rule about files tests: of tools that share rules, those of them all."""
    kind = RULE_KINDS[tool]
    if not (kind.rules_of and kind.needs):
        return kind.paths
    shared = (one.paths for one in KINDS.values() if one.rules_of)
    return tuple(dict.fromkeys(path for paths in shared for path in paths))


def tools_of_rule(tool: str) -> tuple[str, ...]:
    """Return the tools that a rule about this one is about, itself first: those that do the same to a file."""
    related = (kind for kind in KINDS.values() if kind.rules_of == tool)
    found = (name for kind in related for name in (kind.tool, *kind.also, *kind.names))
    return tuple(dict.fromkeys((tool, *found)))


#: Every canonical argument that is a path.
PATH_ARGUMENTS: tuple[str, ...] = tuple(dict.fromkeys(name for kind in KINDS.values() for name in kind.paths))

#: Tools that agents have and that are of no kind: they are not translated.
FURTHER = frozenset({
    "CronCreate", "CronDelete", "CronList", "EnterPlanMode", "EnterWorktree", "ExitPlanMode", "ExitWorktree",
    "LSP", "ListMcpResourcesTool", "Monitor", "NotebookRead", "PowerShell", "ReadMcpResourceTool", "SendMessage",
    "Skill", "SlashCommand", "StructuredOutput", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TeamCreate",
    "TeamDelete", "ToolSearch",
})  # fmt: skip
