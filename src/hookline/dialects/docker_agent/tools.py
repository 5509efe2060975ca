"""Describe Docker Agent's tools.

Script tools and those of MCP servers have the names their configuration gives them, so their meaning is
unknown.
"""

from hookline.actions.declare import (
    agent,
    delete,
    edit,
    fetch,
    glob,
    grep,
    in_background,
    list_files,
    many,
    multi_edit,
    narrow,
    other,
    read,
    seconds,
    shell,
    todos,
    write,
)
from hookline.actions.table import ToolTable

TABLE = ToolTable(
    "docker-agent",
    {
        # A blank `cmd` counts as none.
        "shell": shell("cmd", "command", cwd="cwd", timeout=seconds("timeout")),
        "run_background_job": in_background(shell("cmd", "command", cwd="cwd")),
        "view_background_job": other("shell_output", task_id="job_id"),
        "stop_background_job": other("shell_stop", task_id="job_id"),
        "read_file": read("path", offset="line", limit="limit"),
        "read_multiple_files": read(many("paths")),
        "write_file": write("path", content="content"),
        "create_directory": narrow(write(many("paths"))),
        "edit_file": multi_edit("path", in_sequence=True, old_string="oldText", new_string="newText"),
        # Names of their arguments are a guess.
        "lsp_rename": narrow(edit("file", "path", "file_path")),
        "lsp_format": narrow(edit("file", "path", "file_path")),
        "remove_directory": delete(many("paths")),
        "list_directory": list_files("path"),
        "directory_tree": list_files("path"),
        "search_files": glob("pattern", path="path"),
        "search_files_content": grep("query", path="path"),
        "fetch": fetch(many("urls")),
        "transfer_task": agent("task", subagent_type="agent"),
        "run_background_agent": narrow(agent("task", subagent_type="agent")),
        "handoff": narrow(other("agent", subagent_type="agent")),
        "user_prompt": other("ask"),
        "create_todos": other("plan", todos=todos("descriptions", content="")),
        "add_memory": other("memory", text="memory"),
    },
    mcp="plain",
    any_case=True,
)
