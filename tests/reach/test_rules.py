"""Test guards that are rules in every agent, with canonical names and with the caller's own."""

import asyncio
from pathlib import Path

import pytest

from hookline.config.engine import Engine
from hookline.dialects.registry import standard_dialects
from hookline.engine.memory import memory_of, possible_hooks, translated_call
from hookline.events import PRE_TOOL_USE, ToolCall
from tests.reach.calls import CALLERS, RM, SSH, Caller, MadeCall

_RULES = """
[[hooks.PreToolUse]]
[[hooks.PreToolUse.hooks]]
type = "builtin"
command = "deny"
args = ["folders are not deleted here"]
if = {rm}

[[hooks.PreToolUse]]
[[hooks.PreToolUse.hooks]]
type = "builtin"
command = "deny"
args = ["keys are not read"]
if = {ssh}
"""

#: Calls of tools that no agent has: the names of their arguments tell what they may do.
_UNDECLARED: list[tuple[str, dict[str, object]]] = [
    ("unheard_of", {"command": "rm -rf x", "path": "~/.ssh/id"}),
    ("unheard_of", {"command": "rm -rf $X; $Y"}),
    ("unheard_of", {"query": "nothing"}),
    ("mcp__fs__delete_file", {"path": "~/.ssh/id"}),
    ("mcp__sh__run", {"argv": ["rm", "-rf", "x"]}),
    ("send_keys_to_terminal", {"keys": "rm -rf x\n"}),
    ("git_rm", {"force": True, "file": "src/a.py"}),
]


def _wrong(caller: Caller, calls: list[MadeCall], rules: str, home: Path) -> list[str]:
    """The calls that are not judged as they should be, in the project below `home`."""
    project = home / "project"
    file = project / "hooks.toml"
    project.mkdir(exist_ok=True)
    file.write_text(rules)
    engine = Engine(tools=caller.tools)
    assert not engine.load(str(project), [str(file)], trust=True).diagnostics
    session = engine.session("s", cwd=str(project), project_dir=str(project))
    if caller.dialect:
        session.tools = standard_dialects()[caller.dialect].build().own_tools

    async def judged(call: MadeCall) -> str:
        payload = ToolCall(tool_name=call.tool, tool_input=call.at(str(home), str(project)))
        outcome = await session.dispatch(PRE_TOOL_USE, payload)
        said = outcome.reason if outcome.blocked else None
        return "" if said == (call.guard.says if call.denied else None) else f"{call}: {outcome}"

    async def main() -> list[str]:
        return [text for call in calls if (text := await judged(call))]

    return asyncio.run(main())


@pytest.mark.parametrize("caller", CALLERS.values(), ids=CALLERS)
def test_rules_with_canonical_names(caller: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    calls = [call for call in caller.calls if call.guard in (RM, SSH)]
    rules = _RULES.format(rm='"Bash(rm -rf *)"', ssh='"Read(~/.ssh/**)"')
    assert _wrong(caller, calls, rules, tmp_path) == []


@pytest.mark.parametrize("caller", CALLERS.values(), ids=CALLERS)
def test_rules_with_the_callers_names(
    caller: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    calls = [call for call in caller.calls if call.guard in (RM, SSH)]
    rm, ssh = (sorted({call.tool for call in calls if call.guard is guard}) for guard in (RM, SSH))
    rules = _RULES.format(rm=[f"{tool}(rm -rf *)" for tool in rm], ssh=[f"{tool}(~/.ssh/**)" for tool in ssh])
    assert _wrong(caller, calls, rules, tmp_path) == []


@pytest.mark.parametrize("caller", CALLERS.values(), ids=CALLERS)
def test_of_many_rules_only_those_are_left_out_that_would_be_told_nothing(
    caller: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index says which hooks a call may concern; a tool that is known to no agent is among the calls."""
    monkeypatch.setenv("HOME", str(tmp_path))
    tools = sorted({call.tool for call in caller.calls} | {"Bash", "Read", "Edit", "Write", "unheard_of"})
    rules = [*tools, *(f"{tool}(*)" for tool in tools), "Bash(rm *)", "Read(~/.ssh/**)", "mcp__*", "*"]
    entry = (
        '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\nname = "{}"\ntype = "builtin"\ncommand = "deny"\n'
    )
    file = tmp_path / "hooks.toml"
    file.write_text("".join(entry.format(n) + f"if = {rule!r}\n" for n, rule in enumerate(rules)))
    engine = Engine(tools=caller.tools)
    engine.load(str(tmp_path), [str(file)], trust=True)
    session = engine.session("s", cwd=str(tmp_path), project_dir=str(tmp_path))
    if caller.dialect:
        session.tools = standard_dialects()[caller.dialect].build().own_tools
    (lane,) = memory_of(engine).store.lanes["PreToolUse"]
    calls = [(call.tool, call.at(str(tmp_path), str(tmp_path))) for call in caller.calls]
    left_out = received = 0
    for tool, arguments in [*calls, *_UNDECLARED]:
        payload = ToolCall(tool_name=tool, tool_input=arguments)
        possible = set(possible_hooks(session, lane, PRE_TOOL_USE, payload))
        concerned = {
            each for each in lane.hooks if translated_call(session, each, PRE_TOOL_USE, payload).actions
        }
        assert concerned <= possible, (tool, arguments)
        left_out, received = left_out + len(lane.hooks) - len(possible), received + len(concerned)
    assert left_out
    assert received
