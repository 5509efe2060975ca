"""Test that one agent runs what another agent's hook rewrites: every pair of agents, every kind that both have."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from hookline.actions.action import PathContext
from hookline.actions.kinds import KINDS, ToolKind
from hookline.actions.rewrite import IrreversibleError
from hookline.actions.standard_tools import CANONICAL, STANDARD
from hookline.actions.table import ToolTable
from hookline.actions.translate import ReadCall, TranslatedAction
from hookline.dialects.codewhale.tools import TABLE as CODEWHALE
from hookline.dialects.codex.tools import TABLE as CODEX
from hookline.dialects.docker_agent.tools import TABLE as DOCKER
from hookline.dialects.gemini_cli.tools import TABLE as GEMINI
from hookline.dialects.reasonix.tools import TABLE as REASONIX
from tests.actions.other_agents import COPILOT, KIMI, PROGRAM, QWEN, REASONIX_0
from tests.every import every

PLACE = PathContext("/p", "/p", "/home/me")
AGENTS = {
    "codewhale": CODEWHALE, "docker": DOCKER, "reasonix": REASONIX, "standard": STANDARD, "native": CANONICAL,
    "codex": CODEX, "copilot": COPILOT, "gemini": GEMINI, "kimi": KIMI, "program": PROGRAM, "qwen": QWEN,
    "reasonix-0": REASONIX_0,
}  # fmt: skip
_WORDS = ("plain", "two words", 'a "quote"', "it's", "a;b", "lines\nof text", "ümlaut", "$HOME", "[x]", "-")


def _value(name: str, kind: ToolKind, random: Random) -> Any:
    number = random.randrange(1, 1000)
    if name in kind.paths:
        return f"/p/{random.choice(('a', 'b c', '.env', 'd/e', 'ü'))}{number}"
    if name == "command":
        return f"echo {random.choice(('a', 'b c', '1'))} {number}"
    by_name: dict[str, Any] = {
        # Whole seconds: every agent has a way to say them.
        "timeout": number * 1000,
        "offset": number,
        "limit": number,
        "url": f"https://example.com/{number}",
        "todos": [{"content": f"{random.choice(_WORDS)} {number}"}],
        "run_in_background": random.random() < 0.5,
        "replace_all": random.random() < 0.5,
        "language": random.choice(("python", "javascript")),
    }
    return by_name.get(name, f"{random.choice(_WORDS)} {number}")


def _arguments(kind: ToolKind, random: Random) -> dict[str, Any]:
    always = {kind.needs, *kind.paths, kind.arguments[0]}
    return {
        name: _value(name, kind, random) for name in kind.arguments if name in always or random.random() < 0.6
    }


def _calls(caller: ToolTable, kind: ToolKind, random: Random) -> Iterator[ReadCall]:
    """Calls of that kind by each of an agent's tools, as the agent would make them."""
    made = ReadCall(CANONICAL, kind.tool, _arguments(kind, random), PLACE)
    for way in made.ways(caller)[0]:
        for view in way:
            if not view.irreversible and caller.tool(view.tool_name) is not None:
                call = ReadCall(caller, view.tool_name, view.arguments, PLACE)
                if not any(action.irreversible for action in call.actions):
                    yield call


def _views(call: ReadCall, hook: ToolTable) -> list[TranslatedAction]:
    ways = [way[0] for way in call.ways(hook)[0] if len(way) == 1]
    return [
        view
        for view in ways
        if not view.irreversible and not (view.tool and (view.tool.patch or view.tool.urls_in))
    ]


def _sayable(view: TranslatedAction) -> list[str]:
    """Return the canonical arguments that the hook got as arguments."""
    lost = {why.partition(":")[0] for why in view.lost}
    known = view.action.arguments if view.tool is None else view.tool.writes
    return [name for name in view.action.arguments if name in known and name not in lost]


def _in_terms_of(view: TranslatedAction, arguments: dict[str, Any]) -> dict[str, Any]:
    """Canonical arguments as the hook's own tool says them."""
    assert view.action.kind is not None
    if view.tool is None:
        return arguments
    again = ReadCall(CANONICAL, view.action.kind.tool, arguments, PLACE)
    table = ToolTable("", {view.tool_name: view.tool})
    return next(found for way in again.ways(table)[0] for found in way).arguments


def _each_rewrite(kind: ToolKind, random: Random) -> Iterator[tuple[str, ReadCall, TranslatedAction]]:
    for caller_name, caller in AGENTS.items():
        for call in _calls(caller, kind, random):
            assert len(call.actions) == 1
            assert not call.actions[0].doubt
            for hook_name, hook in AGENTS.items():
                for view in _views(call, hook):
                    yield f"{hook_name}'s hook on a call of {caller_name}", call, view


@every("kind", list(KINDS))
def test_what_a_hook_asks_for_is_what_the_caller_runs(kind: str) -> None:
    random = Random(kind)
    seen = 0
    for which, call, view in _each_rewrite(KINDS[kind], random):
        action = view.action
        names = _sayable(view)
        if not names:
            continue
        name = random.choice(names)
        value = _value(name, KINDS[kind], random)
        wanted = {**action.arguments, name: value}
        new = _in_terms_of(view, wanted)
        assert action.tool is not None
        if name in action.tool.means and action.arguments[name] != value:
            with pytest.raises(IrreversibleError, match="no argument for"):
                call.rewritten(view, new, call.arguments)
            continue
        translated = call.rewritten(view, new, call.arguments)
        after = ReadCall(call.table, call.tool_name, translated.arguments, PLACE)
        assert [each.arguments for each in after.actions] == [wanted], which
        # Nothing else was touched, and nothing came with it.
        assert set(translated.arguments) == set(call.arguments), which
        unlike = {key for key in call.arguments if call.arguments[key] != translated.arguments[key]}
        assert len(unlike) <= (2 if name in ("offset", "limit") else 1), which
        seen += 1
    assert seen >= _FEWEST.get(kind, 9)


#: Rewrites of kinds that few of these agents have.
_FEWEST = {"ask": 4, "code": 4, "shell_input": 4, "delete": 1, "move": 4, "notebook": 4}


@every("kind", list(KINDS))
def test_a_hook_that_changes_nothing_changes_nothing(kind: str) -> None:
    for which, call, view in _each_rewrite(KINDS[kind], Random(kind)):
        assert call.rewritten(view, dict(view.arguments), call.arguments).arguments == call.arguments, which


@every("kind", list(KINDS))
def test_what_has_no_meaning_is_refused(kind: str) -> None:
    random = Random(kind)
    for which, call, view in _each_rewrite(KINDS[kind], random):
        for new in ({**view.arguments, "no_such_key": 1}, None, [view.arguments], "text"):
            with pytest.raises(IrreversibleError):
                call.rewritten(view, new, call.arguments)
        for key in view.tool.fixed if view.tool is not None else ():
            with pytest.raises(IrreversibleError, match="must stay"):
                call.rewritten(view, {**view.arguments, key: "another"}, call.arguments)
        needs = KINDS[kind].needs
        if needs:
            key = view.tool.arguments[needs].keys[0] if view.tool is not None else needs
            for value in (5, None, ["x", 5]):
                with pytest.raises(IrreversibleError):
                    call.rewritten(view, {**view.arguments, key: value}, call.arguments)
        assert which


@pytest.mark.parametrize("kind", ["shell", "read", "edit", "grep", "fetch", "agent"])
def test_an_argument_that_a_hook_leaves_out_is_left_out(kind: str) -> None:
    random = Random(kind)
    left_out = 0
    for which, call, view in _each_rewrite(KINDS[kind], random):
        action = view.action
        names = [name for name in _sayable(view) if name != KINDS[kind].needs]
        if not names:
            continue
        name = random.choice(names)
        wanted = {key: value for key, value in action.arguments.items() if key != name}
        new = _in_terms_of(view, wanted)
        if name in ("offset", "limit") and "range" in view.arguments and "range" not in new:
            # A range needs both ends: the hook asks for the whole file.
            wanted.pop("offset", None)
        try:
            translated = call.rewritten(view, new, call.arguments)
        except IrreversibleError:
            # Some tools use what is left out.
            continue
        after = ReadCall(call.table, call.tool_name, translated.arguments, PLACE)
        does = after.actions[0].arguments
        # The first line is where an agent begins that says nothing else.
        assert does == wanted or (name == "offset" and does == {**wanted, "offset": 1}), which
        left_out += 1
    assert left_out >= 3


def test_two_hooks_that_change_different_arguments() -> None:
    call = ReadCall(DOCKER, "shell", {"cmd": "make", "timeout": 5}, PLACE)
    first, second = (_views(call, table)[0] for table in (STANDARD, REASONIX))

    translated = call.rewritten(first, {**first.arguments, "command": "make test"}, call.arguments)
    translated = call.rewritten(second, {**second.arguments, "timeout_ms": 9000}, translated.arguments)

    assert translated.arguments == {"cmd": "make test", "timeout": 9}


def test_a_hook_that_rewrites_what_another_one_has_made_something_else() -> None:
    call = ReadCall(DOCKER, "fetch", {"urls": ["http://a.x", "http://b.y"]}, PLACE)
    view = call.ways(STANDARD)[1][0][0]

    with pytest.raises(IrreversibleError, match="another hook has changed"):
        call.rewritten(view, {"url": "http://c.z"}, {"urls": ["http://a.x"]})


def test_what_a_known_mcp_server_does_is_told_in_canonical_terms_beside_the_call() -> None:
    call = ReadCall(STANDARD, "mcp__filesystem__write_file", {"path": "a", "content": "x"}, PLACE)

    assert [(action.tool_name, action.implied) for action in call.actions] == [
        ("mcp__filesystem__write_file", False),
        ("Write", True),
    ]
    assert [way[0][0].tool_name for way in call.ways(DOCKER)] == ["mcp__filesystem__write_file"]
    view = call.ways(CANONICAL)[1][0][0]
    assert view.arguments == {"file_path": "/p/a", "content": "x"}
    new = {**view.arguments, "content": "y"}
    assert call.rewritten(view, new, call.arguments).arguments == {"path": "a", "content": "y"}
