"""List names that tools of Python programs and MCP servers usually have, for programs that do not declare
theirs.

A name alone proves nothing, so a call is treated as one of its kind only if it has the main argument.
"""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from hookline.actions.declare import (
    any_of,
    by_action,
    code,
    delete,
    each_of,
    edit,
    either,
    fetch,
    glob,
    grep,
    list_files,
    many,
    move,
    multi_edit,
    patch,
    read,
    search,
    shell,
    words,
    write,
)
from hookline.actions.kinds import USUAL_KEYS
from hookline.actions.tool import Tool

_PATH = any_of(*USUAL_KEYS["file_path"])
_DIRECTORY = replace(
    many("path", "directory", "dir_path", "dir", "folder", "root", always=False), unsure=True
)
_CWD = either(*USUAL_KEYS["cwd"])
_CONTENT = either("content", "text", "contents", "file_text", "data", "body")
_OLD = either("old_string", "old_str", "oldText", "old_text", "old", "search", "find")
_NEW = either("new_string", "new_str", "newText", "new_text", "new", "replace", "replacement")
_FROM = any_of("source", "source_path", "src", "from", "old_path")
_TO = any_of("destination", "destination_path", "dst", "dest", "to", "new_path", "target")

_LINE = replace(words(*USUAL_KEYS["command"]), unsure=True)
_SHELL = each_of(shell(_LINE, cwd=_CWD), shell(many("commands", always=False), cwd=_CWD))
_READ = read(_PATH, offset="offset", limit="limit")
_WRITE = write(_PATH, content=_CONTENT)
_EDIT = edit(_PATH, old_string=_OLD, new_string=_NEW)
_EDITS = each_of(_EDIT, multi_edit(_PATH, in_sequence=True, old_string=_OLD, new_string=_NEW))

#: An editor whose argument `command` is a verb.
_EDITOR = by_action(
    "command",
    {
        "view": _READ,
        "create": write("path", content="file_text"),
        "str_replace": edit("path", old_string="old_str", new_string="new_str"),
        "insert": edit("path", new_string=either("new_str", "insert_text")),
    },
    otherwise=_EDIT,
)
#: The actions of `apply_patch` of the OpenAI library.
_PATCH = by_action(
    "type",
    {
        "create_file": write("path", content="diff"),
        "update_file": each_of(edit("path", new_string="diff"), move("path", destination="move_to")),
        "delete_file": delete("path"),
    },
    otherwise=_EDIT,
)

_NAMES: tuple[tuple[Tool, tuple[str, ...]], ...] = (
    (
        _SHELL,
        (
            "bash", "shell", "sh", "zsh", "cmd", "powershell", "pwsh", "terminal", "execute", "Execute", "exec",
            "run_shell", "run_bash", "run_cmd", "run_command", "run_commands", "run_shell_command", "run_shell_cmd",
            "run_terminal", "run_terminal_cmd", "run_terminal_command", "run_in_terminal", "run_script",
            "exec_command", "exec_shell", "exec_bash", "execute_bash", "execute_cmd", "execute_command",
            "execute_commands", "execute_shell", "execute_shell_command", "execute_script", "local_shell",
            "shell_command", "shell_commands", "shell_exec", "shell_execute", "shell_run", "shell_tool", "bash_tool",
            "bash_command", "terminal_command", "command", "system", "subprocess", "runCommand", "executeCommand",
            "runShellCommand", "ShellTool", "BashTool", "start_process",
        ),
    ),
    (
        _READ,
        (
            "read", "read_file", "ReadFile", "readFile", "file_read", "read_text_file", "read_text", "open_file",
            "get_file", "get_file_contents", "get_file_content", "view_file", "view", "cat", "load_file",
            "read_media_file", "FileReadTool",
        ),
    ),
    (read(many("paths", "file_paths", "files")), ("read_multiple_files", "read_files")),
    (
        _WRITE,
        (
            "write", "write_file", "WriteFile", "writeFile", "file_write", "create_file", "save_file", "create",
            "write_text", "write_to_file", "append_file", "append_to_file", "put_file", "FileWriteTool",
        ),
    ),
    (
        _EDITS,
        (
            "edit", "edit_file", "EditFile", "editFile", "file_edit", "update_file", "modify_file", "patch_file",
            "replace", "replace_in_file", "str_replace", "search_replace", "insert_lines", "edit_block",
        ),
    ),
    (_EDITOR, ("str_replace_editor", "str_replace_based_edit_tool", "editor", "file_editor", "text_editor")),
    (each_of(_PATCH, *(patch(key) for key in ("command", "patch", "input"))), ("apply_patch",)),
    (delete(_PATH), ("delete", "delete_file", "file_delete", "remove_file", "rm", "unlink")),
    (move(_FROM, destination=_TO), ("move_file", "rename_file", "move", "rename", "mv")),
    (each_of(write(_TO), read(_FROM)), ("copy_file", "copy", "cp")),
    (list_files(_DIRECTORY), ("ls", "list_directory", "list_dir", "list_files", "directory_tree")),
    (glob("pattern", "query", path=_DIRECTORY), ("glob", "find_files", "file_search", "search_files")),
    (
        grep("pattern", "query", "regex", path=_DIRECTORY),
        ("grep", "grep_search", "search_in_files", "search_files_content", "rg"),
    ),
    (
        each_of(fetch(any_of("url", "uri", "address", "link", "website")), fetch(many("urls"))),
        (
            "fetch", "fetch_url", "fetch_webpage", "web_fetch", "url_fetch", "get_url", "http_get", "http_request",
            "requests_get", "requests_post", "visit_webpage", "visit_url", "browse", "open_url", "scrape", "read_url",
            "download", "download_file",
        ),
    ),
    (search("query", "q"), ("web_search", "search_web", "google_search", "google_web_search", "internet_search")),
    (
        code("code", "source", "script"),
        (
            "python", "python_repl", "python_repl_ast", "python_interpreter", "run_python", "execute_python",
            "execute_code", "run_code", "code_execution", "code_interpreter", "ipython", "exec_python",
        ),
    ),
)  # fmt: skip


def _guessed(tool: Tool) -> Tool:
    """Return the tool, known by its name alone."""
    choice = tool.choice
    if choice is not None:
        otherwise = _guessed(choice.otherwise) if choice.otherwise is not None else None
        inner = {name: _guessed(each) for name, each in choice.tools.items()}
        choice = replace(choice, tools=inner, otherwise=otherwise)
    return replace(tool, guessed=True, choice=choice, each_of=tuple(_guessed(each) for each in tool.each_of))


USUAL: Mapping[str, Tool] = MappingProxyType(
    {name: found for tool, names in _NAMES for found in (_guessed(tool),) for name in names}
)

#: MCP servers whose tools do what their names suggest.
_SERVERS = frozenset(
    (
        "filesystem", "fs", "files", "fetch", "shell", "bash", "terminal", "commands", "command", "desktop-commander",
        "desktop_commander", "text-editor",
    )
)  # fmt: skip


def mcp_tool(name: str) -> Tool | None:
    """Return the meaning of a well-known MCP server's tool, by its canonical name; None for any other."""
    server, _, tool = name.removeprefix("mcp__").partition("__")
    return USUAL.get(tool) if tool and name.startswith("mcp__") and server in _SERVERS else None
