"""The kinds of tools: what a call does, whatever its agent calls the tool.

Canonical names and arguments are those of Claude Code where it has the tool. Sizes are in milliseconds, lines count
from 1, paths are absolute.
"""

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

Access = Literal["", "read", "write"]
#: What a call does, in the words of permissions. `agent` starts a subagent, whose own calls are decided one by one.
Category = Literal["read", "write", "run", "web", "mcp", "agent", "other"]


class Kind(Struct, frozen=True, dict=True):
    """One kind of tool, in canonical terms."""

    name: str
    #: The tool's canonical name, and further names under which hooks of the standard agents know it.
    tool: str
    arguments: tuple[str, ...]
    also: tuple[str, ...] = ()
    #: Without this argument, which is text, nothing can be said about the call.
    needs: str = ""
    #: Arguments that are paths, and what happens to the files there.
    paths: tuple[str, ...] = ()
    access: Access = ""
    #: What calls of it do, where the access to files does not say so.
    does: Category = "other"
    #: The argument that is a line of a shell, or code.
    line: str = ""

    @cached_property
    def category(self) -> Category:
        return self.access or self.does

    @cached_property
    def other_keys(self) -> frozenset[str]:
        """Further keys under which a program may have what the call needs."""
        return frozenset(USUAL_KEYS.get(self.needs, ())) - {self.needs}


_SEARCHED = ("pattern", "path")
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

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            Kind(
                "shell", "Bash", ("command", "description", "timeout", "run_in_background"), needs="command",
                does="run", line="command",
            ),
            Kind("shell_input", "BashInput", ("task_id", "input"), does="run", line="input"),
            Kind("shell_output", "TaskOutput", ("task_id",), ("BashOutput",)),
            Kind("shell_stop", "TaskStop", ("task_id",), ("KillShell", "KillBash", "KillTask")),
            Kind(
                "read", "Read", ("file_path", "offset", "limit", "pages"), needs="file_path",
                paths=("file_path",), access="read",
            ),
            Kind(
                "write", "Write", ("file_path", "content"), needs="file_path", paths=("file_path",),
                access="write",
            ),
            Kind(
                "edit", "Edit", ("file_path", "old_string", "new_string", "replace_all"), ("MultiEdit",),
                needs="file_path", paths=("file_path",), access="write",
            ),
            Kind(
                "notebook", "NotebookEdit",
                ("notebook_path", "cell_id", "new_source", "cell_type", "edit_mode"),
                needs="notebook_path", paths=("notebook_path",), access="write",
            ),
            Kind("delete", "Delete", ("file_path",), needs="file_path", paths=("file_path",), access="write"),
            Kind(
                "move", "Move", ("source", "destination"), needs="destination",
                paths=("source", "destination"), access="write",
            ),
            Kind("list", "LS", ("path",), paths=("path",), access="read"),
            Kind("glob", "Glob", _SEARCHED, paths=("path",), access="read"),
            Kind("grep", "Grep", (*_SEARCHED, "glob", "output_mode"), paths=("path",), access="read"),
            Kind("fetch", "WebFetch", ("url", "prompt"), needs="url", does="web"),
            Kind("search", "WebSearch", ("query",), does="web"),
            Kind("agent", "Agent", ("prompt", "description", "subagent_type"), ("Task",), does="agent"),
            Kind("ask", "AskUserQuestion", ("questions",)),
            Kind("plan", "TodoWrite", ("todos",)),
            Kind("memory", "Memory", ("text",)),
            Kind("code", "Code", ("language", "code"), needs="code", does="run", line="code"),
        )
    }
)  # fmt: skip

#: The kind of every canonical name.
KIND_OF: Mapping[str, Kind] = MappingProxyType(
    {name: kind for kind in KINDS.values() for name in (kind.tool, *kind.also)}
)

#: Every canonical argument that is a path.
PATH_ARGUMENTS: tuple[str, ...] = tuple(dict.fromkeys(name for kind in KINDS.values() for name in kind.paths))

#: Tools that agents have and that are of no kind: nothing of them is translated.
FURTHER = frozenset({
    "CronCreate", "CronDelete", "CronList", "EnterPlanMode", "EnterWorktree", "ExitPlanMode", "ExitWorktree",
    "LSP", "ListMcpResourcesTool", "Monitor", "NotebookRead", "PowerShell", "ReadMcpResourceTool", "SendMessage",
    "Skill", "SlashCommand", "StructuredOutput", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TeamCreate",
    "TeamDelete", "ToolSearch",
})  # fmt: skip
