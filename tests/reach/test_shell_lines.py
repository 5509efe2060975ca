"""Test that guards of files in every dialect are asked about shell lines, where they follow actions."""

import asyncio

import pytest
from msgspec.structs import replace

from hookline.engine.memory import memory_of
from tests.reach.asking import Asked, Workspace
from tests.reach.calls import CALLERS, FILES
from tests.reach.shell_lines import made_calls
from tests.reach.test_reach import workspace

__all__ = ["workspace"]

#: The tool with which each of these agents runs a line, and its argument.
_SHELLS = {"native": ("Bash", "command"), "docker-agent": ("shell", "cmd")}


@pytest.mark.parametrize("caller", _SHELLS)
@pytest.mark.parametrize("dialect", FILES)
def test_guards_of_files_are_asked_about_shell_lines(dialect: str, caller: str, workspace: Workspace) -> None:
    asked = Asked(workspace, dialect, CALLERS[caller])
    hooks = memory_of(asked.engine).store.hooks
    assert {hook.actions for hook in hooks} == ({"all"} if dialect == "native" else {"named"})
    memory_of(asked.engine).store.swap([replace(hook, actions="all") for hook in hooks])
    asyncio.run(asked.check(call for _, call in made_calls(*_SHELLS[caller])))
    assert asked.problems == []
