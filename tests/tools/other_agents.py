"""Agents that Hookline has no dialect for, declared as a program that embeds it would declare its tools."""

from hookline.tools.declare import (
    agent,
    below_root,
    by_action,
    calls,
    edit,
    either,
    extra,
    fetch,
    from_either_end,
    glob,
    grep,
    in_background,
    line_range,
    list_files,
    many,
    move,
    narrow,
    notebook,
    other,
    read,
    search,
    seconds,
    shell,
    todos,
    words,
    write,
    zero_based,
)
from hookline.tools.table import ToolTable

QWEN = ToolTable(
    "qwen",
    {
        "run_shell_command": shell(
            "command",
            cwd="directory",
            description="description",
            timeout="timeout",
            run_in_background="is_background",
        ),
        "monitor": in_background(shell("command")),
        "read_file": read("file_path", offset=zero_based("offset"), limit="limit"),
        "write_file": write("file_path", content="content"),
        "edit": edit(
            "file_path", old_string="old_string", new_string="new_string", replace_all="replace_all"
        ),
        "notebook_edit": notebook("notebook_path", cell_id="cell_id", new_source="new_source"),
        "list_directory": list_files("path"),
        "glob": glob("pattern", path="path"),
        "grep_search": grep("pattern", path="path", glob="glob"),
        "web_fetch": fetch("url", prompt="prompt"),
        "web_search": search("query"),
        "agent": agent("prompt", description="description", subagent_type="subagent_type"),
        "todo_write": other("plan", todos="todos"),
        "save_memory": other("memory", text="fact"),
        "tool_call": calls("", name="name", arguments="arguments"),
    },
    aliases={"Bash": "run_shell_command", "Shell": "run_shell_command", "replace": "edit", "Task": "agent"},
)

COPILOT = ToolTable(
    "copilot",
    {
        "bash": shell("command", description="description"),
        "write_bash": other("shell_input", task_id="shellId", input="input"),
        "read_bash": other("shell_output", task_id="shellId"),
        "stop_bash": other("shell_stop", task_id="shellId"),
        "view": read("path", **line_range("view_range")),
        "create": extra(write("path", content="file_text"), must_be_new=True),
        "edit": edit("path", old_string="old_str", new_string="new_str"),
        # `command` is a verb.
        "str_replace_editor": by_action(
            "command",
            {
                "view": read("path", **line_range("view_range")),
                "create": write("path", content="file_text"),
                "str_replace": edit("path", old_string="old_str", new_string="new_str"),
                "insert": narrow(edit("path", new_string="new_str")),
            },
            otherwise=edit("path"),
        ),
        # They declare `paths` and run with `path` too.
        "grep": grep("pattern", path=many("paths", "path", always=False), glob="glob"),
        "glob": glob("pattern", path=many("paths", "path", always=False)),
        "web_fetch": fetch("url"),
        "web_search": search("query"),
        "task": agent("prompt", description="description", subagent_type="agent_type"),
        "store_memory": other("memory", text="fact"),
    },
    mcp="server-tool",
    # What some events call them; the arguments stay.
    aliases={
        "Bash": "bash",
        "Read": "view",
        "Write": "create",
        "Edit": "edit",
        "Grep": "grep",
        "Glob": "glob",
        "WebFetch": "web_fetch",
        "WebSearch": "web_search",
        "Agent": "task",
    },
)

KIMI = ToolTable(
    "kimi",
    {
        "Bash": shell(
            "command", cwd="cwd", timeout=seconds("timeout"), run_in_background="run_in_background"
        ),
        "TaskOutput": other("shell_output", task_id="task_id"),
        "TaskStop": other("shell_stop", task_id="task_id"),
        "Read": read("path", offset=from_either_end("line_offset"), limit="n_lines"),
        "Write": extra(write("path", content="content"), append=("mode", "append")),
        "Edit": edit("path", old_string="old_string", new_string="new_string", replace_all="replace_all"),
        "Glob": glob("pattern", path="path"),
        "Grep": grep("pattern", path="path", glob="glob", output_mode="output_mode"),
        "FetchURL": fetch("url"),
        "WebSearch": search("query"),
        "Agent": agent("prompt", description="description", subagent_type="subagent_type"),
        "TodoList": other("plan", todos=todos("todos", content="title")),
    },
)

REASONIX_0 = ToolTable(
    "reasonix-0",
    {
        "run_command": shell("command", timeout=seconds("timeoutSec")),
        "run_background": in_background(shell("command")),
        "job_output": other("shell_output", task_id="jobId"),
        "stop_job": other("shell_stop", task_id="jobId"),
        "read_file": read(below_root("path"), **line_range("range", text=True)),
        "write_file": write(below_root("path"), content="content"),
        "edit_file": edit(below_root("path"), old_string="search", new_string="replace"),
        "move_file": move(below_root("source"), destination=below_root("destination")),
        "list_directory": list_files(below_root("path")),
        "search_files": glob("pattern", path=below_root("path")),
        "search_content": grep("pattern", path=below_root("path"), glob="glob"),
        "web_fetch": fetch("url"),
        "web_search": search("query"),
    },
)

#: A program with tools of its own, one of which takes the words of a command.
PROGRAM = ToolTable(
    "program",
    {
        "run_shell": shell("cmd", cwd=either("workdir", "directory"), timeout=seconds("seconds")),
        "local_shell": shell(words("command"), cwd="working_directory", timeout="timeout_ms"),
        "open_file": read("name", offset=zero_based("start")),
        "save": write("name", content="text"),
        "fetch_all": fetch(many("urls")),
    },
)
