"""Describe the tools of Grok Build."""

from hookline.actions import declare as d
from hookline.actions.table import ToolTable

#: Claude Code's names, by which a matcher may mean a tool too.
OTHER_NAMES = {
    "run_terminal_command": ("Bash",), "read_file": ("Read",), "search_replace": ("Edit", "Write", "MultiEdit"),
    "grep": ("Grep",), "list_dir": ("Glob",), "web_search": ("WebSearch",), "task": ("Task",),
}  # fmt: skip
TABLE = ToolTable(
    "grok",
    {
        "run_terminal_command": d.shell(
            "command", description="description", timeout="timeout", run_in_background="run_in_background"
        ),
        "read_file": d.read(d.either("target_file", "file_path", "path"), offset="offset", limit="limit"),
        "search_replace": d.edit(
            d.either("file_path", "target_file", "path"), old_string="old_string", new_string="new_string",
            replace_all="replace_all",
        ),
        "write_file": d.write(d.either("file_path", "target_file", "path"), content=d.either("content", "contents")),
        "list_dir": d.list_files(d.either("target_directory", "path")),
        "grep": d.grep("pattern", path="path", glob="glob"),
        "web_fetch": d.fetch("url"),
        "web_search": d.search("query"),
        "task": d.agent("prompt", description="description", subagent_type="subagent_type"),
        "todo_write": d.other("plan", todos="todos"),
    },
    aliases={alias: name for name, aliases in OTHER_NAMES.items() for alias in aliases},
)  # fmt: skip
