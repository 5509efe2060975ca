"""Hooks that need something a host has to bring: a model, a connection to an MCP server."""

from collections.abc import Iterator, Mapping
from typing import Final

from hookline.config.checkup.here import Here, about, agent_of, entries
from hookline.config.loaded import Loaded
from hookline.model.diagnostics import Diagnostic

_NEEDED: Final[Mapping[str, tuple[str, str]]] = {
    "prompt": ("a model", "`hookline fire --model NAME`, or a host that brings one"),
    "agent": ("a model and an agent that runs it", "`hookline agent`, or a host that brings both"),
    "mcp_tool": ("a connection to its MCP server", "a host that is connected to it"),
}


def needs(loaded: Loaded, here: Here) -> Iterator[Diagnostic]:
    """Agents bring their own; with Hookline it depends on who runs it."""
    del here
    for hook in entries(loaded):
        if hook.kind not in _NEEDED or hook.broken is not None:
            continue
        what, where = _NEEDED[hook.kind]
        if hook.dialect == "native":
            message = f"it needs {what}; without one it cannot run"
            yield about(hook, "warning", "needs-host", message, fix=where)
        else:
            message = f"it needs {what}: {agent_of(hook)} brings that, Hookline alone does not"
            yield about(hook, "info", "needs-host", message, fix=where)
