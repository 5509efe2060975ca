"""What Codex's tools mean, as its hooks are told of them: any shell tool is Bash, and a patch is in `command`."""

from hookline.tools.declare import agent, narrow, other, patch, read, shell, todos
from hookline.tools.table import ToolTable

#: Further names by which a matcher may mean a tool; payloads never have them.
OTHER_NAMES = {"apply_patch": ("Write", "Edit"), "spawn_agent": ("Agent",)}

TABLE = ToolTable(
    "codex",
    {
        "Bash": shell("command", may_patch=True),
        # As the model calls it, which rollouts have.
        "exec_command": shell("cmd", cwd="workdir", may_patch=True),
        "write_stdin": other("shell_input", task_id="session_id", input="chars"),
        "apply_patch": patch("command"),
        "view_image": narrow(read("path")),
        "spawn_agent": agent("message"),
        "update_plan": other("plan", todos=todos("plan", content="step")),
    },
    aliases={alias: name for name, aliases in OTHER_NAMES.items() for alias in aliases},
)
