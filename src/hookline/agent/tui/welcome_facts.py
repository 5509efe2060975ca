"""Find what the start screen says about a session: the key, instructions, MCP servers, the last session."""

import os
from collections.abc import Mapping
from contextlib import suppress

from hookline.agent.build import BuiltAgent
from hookline.agent.call_text import near
from hookline.agent.models.choose import PROVIDERS
from hookline.agent.session.instruction_files import at_start
from hookline.agent.transcript.store import SessionsStore, opening, when_used
from hookline.agent.transcript.writer import TranscriptError
from hookline.model.safe_text import one_line


def welcome_facts(ready: BuiltAgent) -> Mapping[str, str]:
    """Return the facts by name; what there is not is left out. Reads files."""
    agent, cwd, env = ready.agent, ready.agent.workplace.cwd, ready.agent.workplace.env
    files = at_start(agent.hooks.info.project_dir or cwd, cwd, env)
    servers = [connection.spec.name for connection in ready.servers.connections]
    facts = {
        "key": _key(agent.model_name, env),
        "reads": ", ".join(near(each.file) for each in files if os.path.isfile(each.file)),
        "servers": ", ".join(servers),
    }
    if ready.source == "startup":
        facts["last"] = _last_session(SessionsStore(env, cwd), ready.session_id)
    return {name: value for name, value in facts.items() if value}


def _key(model: str, env: Mapping[str, str]) -> str:
    """Return the variable with the key that is used, never the key."""
    provider = PROVIDERS.get(model.partition(":")[0])
    if provider is None:
        return ""
    found = next((name for name in provider.key_variables if env.get(name)), None)
    return found or ("none needed" if not provider.needs_key else "none set")


def _last_session(store: SessionsStore, but: str) -> str:
    with suppress(TranscriptError, OSError):
        last = store.last(but)
        return f"{when_used(last)} {one_line(opening(last.path).prompt, 60)} (/resume last continues it)"
    return ""
