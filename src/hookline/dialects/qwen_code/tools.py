"""Describe Qwen Code's tools."""

from hookline.actions import declare as d
from hookline.actions.table import ToolTable

TABLE = ToolTable(
    "qwen-code",
    {
        "run_shell_command": d.shell(
            "command",
            cwd="directory",
            description="description",
            timeout="timeout",
            run_in_background="is_background",
        ),
        "monitor": d.in_background(d.shell("command")),
        "read_file": d.read("file_path", offset=d.zero_based("offset"), limit="limit"),
        "write_file": d.write("file_path", content="content"),
        "edit": d.edit(
            "file_path", old_string="old_string", new_string="new_string", replace_all="replace_all"
        ),
        "notebook_edit": d.notebook("notebook_path", cell_id="cell_id", new_source="new_source"),
        "list_directory": d.list_files("path"),
        "glob": d.glob("pattern", path="path"),
        "grep_search": d.grep("pattern", path="path", glob="glob"),
        "web_fetch": d.fetch("url", prompt="prompt"),
        "web_search": d.search("query"),
        "agent": d.agent("prompt", description="description", subagent_type="subagent_type"),
        "todo_write": d.other("plan", todos="todos"),
        "save_memory": d.other("memory", text="fact"),
        "tool_call": d.calls("", name="name", arguments="arguments"),
    },
    aliases={"Bash": "run_shell_command", "Shell": "run_shell_command", "replace": "edit", "Task": "agent"},
)
#: Further names by which a matcher may mean a tool.
OTHER_NAMES = {
    "run_shell_command": ("Shell", "ShellTool", "Bash"), "read_file": ("Read",), "write_file": ("Write",),
    "edit": ("Edit", "replace"), "agent": ("Task",), "glob": ("Glob",), "grep_search": ("Grep",),
}  # fmt: skip
