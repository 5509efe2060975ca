"""Describe Gemini CLI's tools."""

from hookline.actions import declare as d
from hookline.actions.table import ToolTable

TABLE = ToolTable(
    "gemini-cli",
    {
        "run_shell_command": d.widened(
            d.shell("command", cwd="dir_path", description="description", run_in_background="is_background"),
            "additional_permissions",
        ),
        "read_file": d.read("file_path", offset="start_line", limit=d.last_line("end_line")),
        "read_many_files": d.read(d.many("include")),
        "write_file": d.write("file_path", content="content"),
        "replace": d.edit(
            "file_path", old_string="old_string", new_string="new_string", replace_all="allow_multiple"
        ),
        "list_directory": d.list_files("dir_path"),
        "glob": d.glob("pattern", path="dir_path"),
        "grep_search": d.grep("pattern", path="dir_path", glob="include_pattern"),
        "web_fetch": d.fetch_from_text("prompt"),
        "google_web_search": d.search("query"),
        "invoke_agent": d.agent("prompt", subagent_type="agent_name"),
        "write_todos": d.other("plan", todos=d.todos("todos", content="description")),
        "ask_user": d.other("ask", questions="questions"),
        "save_memory": d.other("memory", text="fact"),
    },
    mcp="mcp_server_tool",
    aliases={"search_file_content": "grep_search"},
)
