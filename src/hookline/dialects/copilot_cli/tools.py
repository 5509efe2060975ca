"""Describe Copilot CLI's tools."""

from hookline.actions import declare as d
from hookline.actions.table import ToolTable

_VIEW = d.read("path", **d.line_range("view_range"))

TABLE = ToolTable(
    "copilot-cli",
    {
        "bash": d.shell("command", description="description"),
        "write_bash": d.other("shell_input", task_id="shellId", input="input"),
        "read_bash": d.other("shell_output", task_id="shellId"),
        "stop_bash": d.other("shell_stop", task_id="shellId"),
        "view": _VIEW,
        "create": d.extra(d.write("path", content="file_text"), must_be_new=True),  # noqa: S610 not Django
        "edit": d.edit("path", old_string="old_str", new_string="new_str"),
        # `command` is a verb.
        "str_replace_editor": d.by_action(
            "command",
            {
                "view": _VIEW,
                "create": d.write("path", content="file_text"),
                "str_replace": d.edit("path", old_string="old_str", new_string="new_str"),
                "insert": d.narrow(d.edit("path", new_string="new_str")),
            },
            otherwise=d.edit("path"),
        ),
        # They declare `paths` and run with `path` too.
        "grep": d.grep("pattern", path=d.many("paths", "path", always=False), glob="glob"),
        "glob": d.glob("pattern", path=d.many("paths", "path", always=False)),
        "web_fetch": d.fetch("url"),
        "web_search": d.search("query"),
        "task": d.agent("prompt", description="description", subagent_type="agent_type"),
        "store_memory": d.other("memory", text="fact"),
    },
    mcp="server-tool",
    # The names at events that have Claude Code's names; the arguments stay.
    aliases={
        "Bash": "bash", "Read": "view", "Write": "create", "Edit": "edit", "Grep": "grep", "Glob": "glob",
        "WebFetch": "web_fetch", "WebSearch": "web_search", "Agent": "task",
    },
)  # fmt: skip
