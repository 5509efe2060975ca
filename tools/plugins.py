"""Write plugins/: Hookline's skill and MCP server as plugins that people add from this repository.

They have no hooks that guard: those need the path of the installed program, which `hookline install --as-plugin`
writes. The plugin of Claude Code says at the start of a session if nothing is installed. That of Codex has no hook at
all: Codex trusts a plugin by its content, so each update would silently stop it.
"""

from collections.abc import Mapping
from typing import Any

from hookline.dialects.own_plugin import NAME, OwnPlugin, about
from hookline.dialects.registry import standard_dialects
from tools.markdown import json_pretty

_MISSING = (
    "command -v hookline >/dev/null 2>&1 || echo 'Hookline is not installed, so no guard of it runs here: "
    "install it, then run: hookline install --as-plugin'"
)
_NOTICE = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": _MISSING, "timeout": 5}]}]}}
_DESCRIPTION = about("")["description"]
_CODEX = OwnPlugin(
    "",
    ".codex-plugin/plugin.json",
    lambda version, _: {**about(version), "skills": "./skills/", "mcpServers": "./.mcp.json"},
    servers=".mcp.json",
)


def plugins() -> dict[str, str]:
    """Return the files below plugins/, by path."""
    found = {
        **_files("claude-code", _own("claude-code")),
        "claude-code/hooks/hooks.json": _json(_NOTICE),
        **_files("gemini-cli", _own("gemini-cli")),
        **_files("codex", _CODEX),
        ".claude-plugin/marketplace.json": _json(
            {
                "name": NAME,
                "description": _DESCRIPTION,
                "owner": {"name": "Hookline"},
                "plugins": [{"name": NAME, "source": "./claude-code", "description": _DESCRIPTION}],
            }
        ),
        ".agents/plugins/marketplace.json": _json(
            {"name": NAME, "plugins": [{"name": NAME, "source": {"source": "local", "path": "./codex"}}]}
        ),
    }
    return {f"plugins/{name}": text for name, text in found.items()}


def _own(agent: str) -> OwnPlugin:
    found = standard_dialects()[agent].build().own_plugin
    assert found is not None
    return found


def _files(directory: str, plugin: OwnPlugin) -> Mapping[str, str]:
    return {f"{directory}/{name}": text for name, text in plugin.texts(()).items()}


def _json(value: Mapping[str, Any]) -> str:
    return f"{json_pretty(value)}\n"
