"""Describe Codex's tools as its hooks see them: any shell tool is Bash, and a patch is in `command`."""

from hookline.actions.declare import agent, narrow, other, patch, read, same, shell, todos
from hookline.actions.table import ToolTable

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
        # The model's name for it: hooks see Bash.
        "exec_command": narrow(shell("cmd", cwd="workdir", may_patch=True)),
        "write_stdin": other("shell_input", task_id="session_id", input="chars"),
        "apply_patch": patch("command"),
        "view_image": narrow(read("path")),
        "spawn_agent": agent("message"),
        "update_plan": other("plan", todos=todos("plan", content="step")),
        # Codex does these by commands. Its hooks see other agents' calls under the usual names.
        **{name: same(kind) for name, kind in _NOT_ITS_OWN.items()},
    },
    translated_only=_NOT_ITS_OWN,
    aliases={alias: name for name, aliases in OTHER_NAMES.items() for alias in aliases},
)
