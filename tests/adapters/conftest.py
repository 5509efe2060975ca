"""The tests of an adapter are collected where its framework is installed."""

from importlib.util import find_spec

_FRAMEWORKS = {"langchain": "langchain", "openai_agents": "agents", "pydantic_ai": "pydantic_ai"}

collect_ignore = [folder for folder, module in _FRAMEWORKS.items() if find_spec(module) is None]
