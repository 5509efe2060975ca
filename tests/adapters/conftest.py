"""The tests of an adapter are collected where its framework is installed."""

from importlib.util import find_spec

_FRAMEWORKS = {
    "agent_framework": "agent_framework",
    "antigravity": "google.antigravity",
    "claude_agent_sdk": "claude_agent_sdk",
    "google_adk": "google.adk",
    "langchain": "langchain",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
    "strands": "strands",
}


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it is not there either
        return False


collect_ignore = [directory for directory, module in _FRAMEWORKS.items() if not _is_there(module)]
