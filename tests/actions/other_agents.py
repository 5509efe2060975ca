"""Tables of agents for these tests: those of dialects, and programs that embed Hookline and declare their tools."""

from hookline.actions.declare import (
    below_root,
    edit,
    either,
    fetch,
    glob,
    grep,
    in_background,
    line_range,
    list_files,
    many,
    move,
    other,
    read,
    search,
    seconds,
    shell,
    words,
    write,
    zero_based,
)
from hookline.actions.table import ToolTable
from hookline.dialects.registry import every_dialect

_TABLES = {dialect.name: dialect.tools for dialect in every_dialect()}
COPILOT, KIMI, QWEN = (_TABLES[name] for name in ("copilot-cli", "kimi-code", "qwen-code"))

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

#: A program with its own tools, one of which takes the words of a command.
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
