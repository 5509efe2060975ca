"""Describe Kimi Code's tools."""

from hookline.actions import declare as d
from hookline.actions.table import ToolTable

TABLE = ToolTable(
    "kimi-code",
    {
        "Bash": d.shell(
            "command", cwd="cwd", timeout=d.seconds("timeout"), run_in_background="run_in_background"
        ),
        "TaskOutput": d.other("shell_output", task_id="task_id"),
        "TaskStop": d.other("shell_stop", task_id="task_id"),
        "Read": d.read("path", offset=d.from_either_end("line_offset"), limit="n_lines"),
        "Write": d.extra(d.write("path", content="content"), append=("mode", "append")),  # noqa: S610 not Django
        "Edit": d.edit("path", old_string="old_string", new_string="new_string", replace_all="replace_all"),
        "Glob": d.glob("pattern", path="path"),
        "Grep": d.grep("pattern", path="path", glob="glob", output_mode="output_mode"),
        "FetchURL": d.fetch("url"),
        "WebSearch": d.search("query"),
        "Agent": d.agent("prompt", description="description", subagent_type="subagent_type"),
        "TodoList": d.other("plan", todos=d.todos("todos", content="title")),
    },
)
