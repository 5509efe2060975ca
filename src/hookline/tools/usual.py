"""Names that tools of Python programs and MCP servers usually have, for programs that do not declare theirs.

A name alone proves nothing, so a call counts as one of its kind only if it has the main argument.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from hookline.tools.declare import (
    Tool,
    by_action,
    code,
    delete,
    edit,
    fetch,
    grep,
    list_files,
    many,
    move,
    read,
    search,
    shell,
    words,
    write,
)

_PATH = ("file_path", "path", "filename", "file_name", "file", "filepath", "target_file", "source_path")
_SHELL = shell(
    words("command", "cmd", "command_line", "shell_command", "bash_command", "line", "script", "input"),
    cwd="cwd",
)
_READ = read(*_PATH)
_WRITE = write(*_PATH)
_EDIT = edit(*_PATH)
_LIST = list_files("path", "directory", "dir_path", "dir")

#: An editor whose argument `command` is a verb.
_EDITOR = by_action(
    "command",
    {
        "view": _READ,
        "create": write("path", content="file_text"),
        "str_replace": edit("path", old_string="old_str", new_string="new_str"),
        "insert": edit("path", new_string="new_str"),
    },
    otherwise=_EDIT,
)

_NAMES: tuple[tuple[Tool, tuple[str, ...]], ...] = (
    (
        _SHELL,
        (
            "bash", "shell", "sh", "zsh", "cmd", "powershell", "pwsh", "terminal", "execute", "Execute", "exec",
            "run_shell", "run_bash", "run_cmd", "run_command", "run_shell_command", "run_shell_cmd", "run_terminal",
            "run_terminal_cmd", "run_terminal_command", "run_in_terminal", "run_script", "exec_command", "exec_shell",
            "exec_bash", "execute_bash", "execute_cmd", "execute_command", "execute_shell", "execute_shell_command",
            "execute_script", "local_shell", "shell_command", "shell_exec", "shell_execute", "shell_run", "shell_tool",
            "bash_tool", "bash_command", "terminal_command", "command", "system", "subprocess", "runCommand",
            "executeCommand", "runShellCommand", "ShellTool", "BashTool", "start_process",
        ),
    ),
    (shell(many("commands", always=False)), ("run_commands", "execute_commands", "shell_commands")),
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
        _EDIT,
        (
            "edit", "edit_file", "EditFile", "editFile", "file_edit", "update_file", "modify_file", "patch_file",
            "replace", "replace_in_file", "str_replace", "search_replace", "insert_lines", "edit_block",
        ),
    ),
    (_EDITOR, ("str_replace_editor", "str_replace_based_edit_tool", "editor", "file_editor", "text_editor")),
    (delete(*_PATH), ("delete", "delete_file", "file_delete", "remove_file", "rm", "unlink")),
    (
        move("source", "source_path", "src", "from", "old_path", destination="destination"),
        ("move_file", "rename_file", "move", "rename", "mv"),
    ),
    (_LIST, ("ls", "list_directory", "list_dir", "list_files", "list_allowed_directories", "directory_tree")),
    (grep("pattern", "query", "regex", path="path"), ("grep", "grep_search", "search_files", "search_in_files", "rg")),
    (
        fetch("url", "uri", "address", "link", "website"),
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


def _guessed(rows: Iterable[tuple[Tool, tuple[str, ...]]]) -> Iterator[tuple[str, Tool]]:
    for tool, names in rows:
        found = replace(tool, guessed=True)
        if tool.choice is not None:
            inner = {name: replace(each, guessed=True) for name, each in tool.choice.tools.items()}
            otherwise = replace(tool.choice.otherwise, guessed=True) if tool.choice.otherwise else None
            found = replace(tool, choice=replace(tool.choice, tools=inner, otherwise=otherwise))
        for name in names:
            yield name, found


USUAL: Mapping[str, Tool] = MappingProxyType(dict(_guessed(_NAMES)))

#: MCP servers whose tools do what their names say.
_SERVERS = frozenset(
    (
        "filesystem", "fs", "files", "fetch", "shell", "bash", "terminal", "commands", "command", "desktop-commander",
        "desktop_commander", "text-editor",
    )
)  # fmt: skip


def mcp_tool(name: str) -> Tool | None:
    """What a tool of a well-known MCP server does, by its canonical name; None for any other."""
    server, _, tool = name.removeprefix("mcp__").partition("__")
    return USUAL.get(tool) if tool and name.startswith("mcp__") and server in _SERVERS else None
