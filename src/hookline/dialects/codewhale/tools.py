"""Describe CodeWhale's tools: the small ones it offers now, the families with an `action`, and their older
names."""

from msgspec.structs import replace

from hookline.actions.declare import (
    agent,
    by_action,
    calls,
    code,
    each_of,
    edit,
    either,
    fetch,
    glob,
    globs,
    grep,
    list_files,
    list_of,
    multi_edit,
    narrow,
    nothing,
    other,
    patch,
    read,
    search,
    seconds,
    shell,
    widened,
    write,
)
from hookline.actions.table import ToolTable

#: Its file tools take the first of these; that `path` wins is a guess.
_PATH = ("path", "file_path", "filePath")

_RUN = shell("command", cwd="cwd", timeout="timeout_ms", run_in_background="background")
#: The standard input of a command may be commands too.
_RUN_WITH_INPUT = each_of(_RUN, narrow(other("shell_input", input="stdin")))
_WAIT = other("shell_output", task_id="task_id")
_INTERACT = other("shell_input", task_id="task_id", input=either("stdin", "input"))
_CANCEL = other("shell_stop", task_id="task_id")

_READ = read(
    *_PATH,
    offset=either("start_line", "offset", "line_offset"),
    limit=either("max_lines", "limit"),
    pages="pages",
)
_WRITE = write(*_PATH, content="content")
_EDIT = edit(
    *_PATH,
    old_string=either("search", "old_string", "old_str", "oldText"),
    new_string=either("replace", "new_string", "new_str", "newText"),
)
_WHOLE_FILES = write("path", content="content")
_PATCH = each_of(
    patch("patch", file=either(*_PATH), unified=True),
    list_of("replace", _WHOLE_FILES),
    list_of("changes", _WHOLE_FILES),
)
_LIST = list_files(*_PATH)
_BY_NAME = glob("query", "pattern", path=either(*_PATH))
_BY_CONTENT = grep("pattern", "query", path=either(*_PATH), glob=globs("include"))
#: The author of each line, and the lines.
_BLAME = narrow(read(*_PATH))

_FETCH = fetch("url")
_SEARCH = search("query", "q")
_PYTHON = code("code", language="python")
_OPEN = each_of(nothing(), narrow(fetch("url")), narrow(read("file_path")))
#: A command that decides if a task is done.
_GATE = narrow(shell("command", cwd="cwd", timeout="timeout_ms"))

TABLE = ToolTable(
    "codewhale",
    {
        "bash": widened(shell("command", timeout=seconds("timeout")), "sandbox_permissions"),
        "Bash": by_action(
            "action",
            {"run": _RUN_WITH_INPUT, "wait": _WAIT, "interact": _INTERACT, "cancel": _CANCEL},
            otherwise=_RUN_WITH_INPUT,
            does="run",
        ),
        "exec_shell": _RUN_WITH_INPUT,
        "exec_shell_wait": _WAIT,
        "exec_shell_interact": _INTERACT,
        "exec_shell_cancel": _CANCEL,
        "read": read("path", offset="offset", limit="limit"),
        "read_file": _READ,
        "write": write("path", content="content"),
        "write_file": _WRITE,
        # Every edit is made in the original text.
        "edit": multi_edit("path", old_string="oldText", new_string="newText"),
        "edit_file": _EDIT,
        # Without a known action it may be writing.
        "File": by_action(
            "action",
            {
                "read": _READ,
                "list": _LIST,
                "search_name": _BY_NAME,
                "search_content": _BY_CONTENT,
                "write": _WRITE,
                "edit": _EDIT,
                "patch": _PATCH,
            },
            otherwise=_WRITE,
        ),
        "apply_patch": _PATCH,
        "list_dir": _LIST,
        "file_search": _BY_NAME,
        "grep_files": _BY_CONTENT,
        "Git": by_action(
            "action",
            {"blame": _BLAME, **dict.fromkeys(("status", "diff", "log", "show"), nothing("read"))},
        ),
        "git_blame": _BLAME,
        "fetch_url": _FETCH,
        "web_search": _SEARCH,
        "Web": by_action("action", {"fetch": _FETCH, "search": _SEARCH}, otherwise=_SEARCH),
        "rlm": by_action("action", {"open": _OPEN, "eval": _PYTHON}),
        "rlm_open": _OPEN,
        "rlm_eval": _PYTHON,
        "code_execution": _PYTHON,
        "js_execution": code("code", language="javascript"),
        "tasks": by_action("action", {"gate_run": _GATE}),
        "task_gate_run": _GATE,
        "agent": agent("prompt", subagent_type="type"),
        "request_user_input": other("ask", questions="questions"),
        "todo_write": replace(other("plan", todos="todos"), does="read"),
        "remember": other("memory", text="note"),
        "multi_tool_use.parallel": calls(
            "tool_uses", name="recipient_name", arguments="parameters", prefix="functions."
        ),
    },
    mcp="mcp_server_tool",
    aliases={"file": "File", "git": "Git", "web": "Web"},
)

_CATEGORIZED = "bash Bash exec_shell read todo_write write edit apply_patch File file Git git"
#: The tools that have a category in conditions; all others are `other` there.
CATEGORIZED = ToolTable(
    "codewhale",
    {name: tool for name in _CATEGORIZED.split() if (tool := TABLE.tool(name)) is not None}
    | {"Run": _RUN, "run": _RUN},
)
