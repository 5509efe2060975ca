"""Describe Cursor's tools."""

from hookline.actions import declare as d
from hookline.actions.table import ToolTable

TABLE = ToolTable(
    "cursor",
    {
        "Shell": d.shell("command", cwd="cwd", timeout="timeout", description="description"),
        "WriteShellStdin": d.other("shell_input", task_id="shell_id", input=d.either("input", "chars")),
        "Read": d.read(d.either("file_path", "path"), offset="offset", limit="limit"),
        # Every edit has this name too.
        "Write": d.each_of(
            d.write(d.either("file_path", "path"), content=d.either("content", "contents")),
            d.edit(d.either("file_path", "path"), old_string="old_string", new_string="new_string"),
        ),
        "Delete": d.delete(d.either("file_path", "path")),
        "List": d.list_files(d.either("file_path", "path")),
        "Grep": d.grep("pattern", path=d.either("file_path", "path"), glob="glob"),
        "ReadLints": d.narrow(d.read(d.either("file_path", "path"))),
        "Fetch": d.fetch("url"),
        "WebFetch": d.narrow(d.fetch("url")),
        "WebSearch": d.search(d.either("query", "search_term")),
        "Task": d.agent(d.either("task", "prompt"), subagent_type="subagent_type", description="description"),
        "TabRead": d.narrow(d.read("file_path")),
        "TabWrite": d.narrow(d.write("file_path")),
    },
    mcp="MCP:tool",
)
#: Keys of a new input that each tool takes; of any other tool, all.
TAKES = {
    "Shell": ("command", "cwd", "timeout"),
    **dict.fromkeys(("Read", "Write", "Delete", "List", "ReadLints"), ("file_path",)),
    "Grep": ("pattern", "file_path"),
    "Fetch": ("url",),
}
