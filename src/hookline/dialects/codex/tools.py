"""What Codex's tools mean, as its hooks are told of them: any shell tool is Bash, and a patch is in `command`."""

from hookline.tools.declare import agent, narrow, other, patch, read, same, shell, todos
from hookline.tools.table import ToolTable

#: Further names by which a matcher may mean a tool; payloads never have them.
OTHER_NAMES = {"apply_patch": ("Write", "Edit"), "spawn_agent": ("Agent",)}
_NOT_ITS_OWN = {
    "Read": "read",
    "Glob": "glob",
    "Grep": "grep",
    "LS": "list",
    "WebFetch": "fetch",
    "WebSearch": "search",
}

TABLE = ToolTable(
    "codex",
    {
        "Bash": shell("command", may_patch=True),
        # As the model calls it: hooks are told of Bash.
        "exec_command": narrow(shell("cmd", cwd="workdir", may_patch=True)),
        "write_stdin": other("shell_input", task_id="session_id", input="chars"),
        "apply_patch": patch("command"),
        "view_image": narrow(read("path")),
        "spawn_agent": agent("message"),
        "update_plan": other("plan", todos=todos("plan", content="step")),
        # Codex does these by commands. Its hooks are told of other agents' calls by the names that hooks usually know.
        **{name: same(kind) for name, kind in _NOT_ITS_OWN.items()},
    },
    told_only=_NOT_ITS_OWN,
    aliases={alias: name for name, aliases in OTHER_NAMES.items() for alias in aliases},
)
