"""Describe Reasonix's tools: those of the released line, and names that only the TypeScript line before it
had.

Paths are read as the released line does. The line before took a leading slash for the project's root.
"""

from hookline.actions.declare import (
    agent,
    calls,
    edit,
    either,
    fetch,
    glob,
    grep,
    in_background,
    list_files,
    list_of,
    move,
    multi_edit,
    narrow,
    notebook,
    other,
    read,
    search,
    seconds,
    shell,
    widened,
    write,
    zero_based,
)
from hookline.actions.table import ToolTable

_SHELL = widened(
    shell("command", timeout="timeout_ms", run_in_background="run_in_background"), "additional_write_dirs"
)
_TASK = agent("prompt", "task", description="description", subagent_type="subagent_type")
_RESEARCH = narrow(agent("task", "prompt"))

TABLE = ToolTable(
    "reasonix",
    {
        "bash": _SHELL,
        "pwsh": _SHELL,
        "job_output": other("shell_output", task_id=either("job_id", "jobId")),
        "job_kill": other("shell_stop", task_id="job_id"),
        "read_file": read("path", offset=zero_based("offset"), limit="limit"),
        "write_file": write("path", content="content"),
        "edit_file": edit(
            "path",
            old_string=either("old_string", "search"),
            new_string=either("new_string", "replace"),
            replace_all="replace_all",
        ),
        "multi_edit": multi_edit(
            "path",
            in_sequence=True,
            old_string="old_string",
            new_string="new_string",
            replace_all="replace_all",
        ),
        "delete_range": narrow(edit("path")),
        "delete_symbol": narrow(edit("path")),
        "move_file": move("source_path", "source", destination=either("destination_path", "destination")),
        "notebook_edit": notebook(
            "path",
            cell_id=either("cell_id", "cell_number"),
            new_source=either("new_source", "content", "source", "new_string"),
            cell_type="cell_type",
            edit_mode="edit_mode",
        ),
        "ls": list_files("path"),
        "glob": glob("pattern", path="path"),
        "grep": grep("pattern", path="path"),
        "web_fetch": fetch("url"),
        "web_search": search("query"),
        "task": _TASK,
        # The name of each task of the list is a guess.
        "parallel_tasks": list_of("tasks", _TASK),
        "explore": _RESEARCH,
        "research": _RESEARCH,
        "review": _RESEARCH,
        "ask": other("ask", questions="questions"),
        "todo_write": other("plan", todos="todos"),
        # Without arguments it asks about a capability; that the id is a tool's name is a guess.
        "use_capability": calls("", name="capability_id", arguments="arguments", optional=True),
        # The line before.
        "run_command": shell("command", timeout=seconds("timeoutSec")),
        "run_background": in_background(shell("command")),
        "stop_job": other("shell_stop", task_id="jobId"),
        "list_directory": list_files("path"),
        "directory_tree": list_files("path"),
        "search_files": glob("pattern", path="path"),
        "search_content": grep("pattern", path="path"),
    },
    any_case=True,
)
