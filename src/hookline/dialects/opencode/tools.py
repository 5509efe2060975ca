"""Describe OpenCode's tools."""

from hookline.actions import declare as d
from hookline.actions.table import ToolTable

TABLE = ToolTable(
    "opencode",
    {
        "bash": d.shell("command", cwd="workdir", description="description", timeout="timeout"),
        "read": d.read("filePath", offset="offset", limit="limit"),
        "write": d.write("filePath", content="content"),
        "edit": d.edit("filePath", old_string="oldString", new_string="newString", replace_all="replaceAll"),
        "glob": d.glob("pattern", path="path"),
        "grep": d.grep("pattern", path="path", glob="include"),
        "list": d.list_files("path"),
        "webfetch": d.fetch("url"),
        "websearch": d.search("query"),
        "task": d.agent("prompt", description="description", subagent_type="subagent_type"),
        "todowrite": d.other("plan", todos="todos"),
        "todoread": d.other("plan"),
    },
)
