"""Measure loading 1,000 hooks, against the plainest parser of the same text, in CPU time."""

import gc
import json
import time
import tomllib
from collections.abc import Callable
from typing import Any

import yaml

from bench.findings import Finding
from hookline.dialects.dialect import ConfigPath, Layer, Tools
from hookline.dialects.registry import standard_dialects
from hookline.documents.document import Format, read_document
from hookline.handlers.registry import standard_handlers
from hookline.matching.patterns import Patterns
from hookline.shell import ShellReader

COUNT = 1000
GOALS = {"json": 60.0, "toml": 10.0, "yaml": 3.0}


def _matcher(number: int) -> str:
    """Names, lists and, for one hook in three, its own regular expression."""
    return (f"Tool{number}", f"Bash|Tool{number}", f"Tool{number}.+")[number % 3]


def _grouped(event: str) -> str:
    entries = [
        {
            "matcher": _matcher(n),
            "hooks": [{"type": "command", "command": f"./guard-{n}.sh --flag", "timeout": 30}],
        }
        for n in range(COUNT)
    ]
    return json.dumps({"hooks": {event: entries}}, indent=2)


def _native() -> str:
    return "\n".join(
        f'[[hooks.PreToolUse]]\nmatcher = "{_matcher(n)}"\n[[hooks.PreToolUse.hooks]]\n'
        f'command = "./guard-{n}.sh --flag"\ntimeout = 30\n'
        for n in range(COUNT)
    )


def _codewhale() -> str:
    return "\n".join(
        f'[[hooks.hooks]]\nevent = "tool_call_before"\ncommand = "./guard-{n}.sh"\ntimeout_secs = 30\n'
        f'[hooks.hooks.condition]\ntype = "tool_name"\nname = "tool{n}*"\n'
        for n in range(COUNT)
    )


def _reasonix() -> str:
    entries = [
        {"match": _matcher(n), "command": f"./guard-{n}.sh --flag", "timeout": 3000} for n in range(COUNT)
    ]
    return json.dumps({"hooks": {"PreToolUse": entries}}, indent=2)


def _gemini() -> str:
    groups = [
        {
            "matcher": _matcher(n),
            "hooks": [{"type": "command", "command": f"./guard-{n}.sh --flag", "timeout": 3000}],
        }
        for n in range(COUNT)
    ]
    return json.dumps({"hooks": {"BeforeTool": groups}}, indent=2)


def _docker() -> str:
    groups = "".join(
        f"        - matcher: '{_matcher(n)}'\n          hooks:\n            - type: command\n"
        f"              command: ./guard-{n}.sh --flag\n              timeout: 30\n"
        for n in range(COUNT)
    )
    return f"agents:\n  root:\n    model: m\n    instruction: i\n    hooks:\n      pre_tool_use:\n{groups}"


CONFIGS: dict[str, tuple[Format, Callable[[], str]]] = {
    "claude-code": ("json", lambda: _grouped("PreToolUse")),
    "gen-code": ("json", lambda: _grouped("PreToolUse")),
    "codewhale": ("toml", _codewhale),
    "reasonix": ("json", _reasonix),
    "docker-agent": ("yaml", _docker),
    "gemini-cli": ("json", _gemini),
    "native": ("toml", _native),
}
PLAIN: dict[Format, Callable[[str], Any]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": lambda text: yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)),
}


def findings() -> list[Finding]:
    return [_finding(name, format_, text()) for name, (format_, text) in CONFIGS.items()]


def _finding(name: str, format_: Format, text: str) -> Finding:
    load = _dialect_load(name, format_)
    if load(text) != COUNT:
        return Finding(f"loading {COUNT} {name} hooks", "not all were loaded", "all of them", False)
    ratio = _ratio(lambda: load(text), lambda: PLAIN[format_](text))
    goal = GOALS[format_]
    return Finding(
        f"loading {COUNT} {name} hooks, against a bare {format_} parser",
        f"{ratio:.1f}x",
        f"<= {goal:g}x",
        ratio <= goal,
    )


def _dialect_load(name: str, format_: Format) -> Callable[[str], int]:
    dialect, handlers = standard_dialects()[name].build(), standard_handlers()

    def load(text: str) -> int:
        layer = Layer(ConfigPath("hooks", "user"), read_document(text, format_, "hooks"))
        return len(dialect.read([layer], Tools(handlers, Patterns(), ShellReader())).hooks)

    return load


def _ratio(ours: Callable[[], object], theirs: Callable[[], object]) -> float:
    """The least CPU time of each, in turns: what the machine does meanwhile is not ours to measure."""
    own: list[float] = []
    base: list[float] = []
    for _ in range(15):
        gc.collect()
        own.append(_cpu(ours))
        gc.collect()
        base += [_cpu(theirs) for _ in range(3)]
    return min(own) / min(base)


def _cpu(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started
