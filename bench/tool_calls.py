"""Measure reading a tool call of one agent and translating it for a hook of another."""

from time import perf_counter
from typing import Any

from bench.findings import Finding
from bench.ratios import many, ratio, run
from hookline.actions.action import PathContext
from hookline.actions.standard_tools import CANONICAL, STANDARD
from hookline.actions.translate import ReadCall
from hookline.dialects.docker_agent.tools import TABLE as DOCKER
from hookline.dialects.reasonix.tools import TABLE as REASONIX

#: Times the cost of a pluggy call; on a machine where that takes 1.5 µs, 5 µs are 3.3.
GOAL = 3.5
_PLACE = PathContext("/home/me/project", "/home/me/project", "/home/me")
_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Bash", {"command": "git status", "description": "What is new", "timeout": 3000}),
    ("Read", {"file_path": "/home/me/project/a.py", "offset": 3, "limit": 10}),
    ("Edit", {"file_path": "src/a.py", "old_string": "a", "new_string": "b"}),
)
_HOOKS = (DOCKER, REASONIX, CANONICAL)


def _tell_all() -> None:
    """Read three calls, and translate each for the hooks of three agents as if for the first time."""
    for name, arguments in _CALLS:
        for target in _HOOKS:
            for ways in ReadCall(STANDARD, name, arguments, _PLACE).ways(target):
                assert ways[0][0].arguments


def findings() -> list[Finding]:
    from bench.figures import pluggy_call

    number = len(_CALLS) * len(_HOOKS)

    async def measured() -> float:
        # About as long as each other, and short: on a busy machine most rounds are not interrupted.
        plain = 30 * number
        return await ratio(many(_tell_all, 10), many(pluggy_call(), plain), 200) * plain / (10 * number)

    times = run(measured)
    fastest = min(_seconds() for _ in range(200)) / number
    words = f"{times:.2f}x, {fastest * 1e6:.1f} µs"
    name = "a call read and told to another agent's hook, against a pluggy call"
    return [Finding(name, words, f"<= {GOAL}x", times <= GOAL)]


def _seconds() -> float:
    started = perf_counter()
    for _ in range(10):
        _tell_all()
    return (perf_counter() - started) / 10
