"""List what the user has to trust of a project besides hooks: settings, MCP servers, files that others include."""

from collections.abc import Mapping

from hookline.agent.mcp.config import find_servers
from hookline.agent.prompts.command_files import command_items
from hookline.agent.session.instruction_files import instruction_items
from hookline.agent.settings import read_settings
from hookline.permissions.rules import RuleReader
from hookline.trust.items import TrustItem
from hookline.trust.trust import Trust


def project_items(cwd: str, env: Mapping[str, str], trust: Trust) -> list[TrustItem]:
    """Return every item of a directory that is not a hook, trusted or not. Nothing is started."""
    settings = read_settings(cwd, env, RuleReader(home=env.get("HOME", "")), trust)
    servers = find_servers(cwd, env, settings.documents, trust)
    return [
        *settings.items,
        *servers.items,
        *instruction_items(cwd, env, trust),
        *command_items(cwd, env, trust),
    ]
