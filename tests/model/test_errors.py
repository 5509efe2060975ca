"""Test that errors say what to do."""

from hookline.model.errors import (
    EngineClosedError,
    HooklineError,
    ToolError,
    UnknownDialectError,
    UnknownEventError,
)


def test_an_unknown_name_comes_with_the_nearest_one() -> None:
    assert str(UnknownEventError("PreTolUse", "PreToolUse")).endswith("did you mean 'PreToolUse'?")
    assert str(UnknownEventError("X")) == "no event is called 'X'"
    assert str(UnknownDialectError("gen", ["a", "b"])) == "no dialect is called 'gen'; there are: a, b"
    assert str(UnknownDialectError("gencod", ["a"], "gen-code")).endswith("did you mean 'gen-code'?")


def test_a_tool_says_how_it_failed() -> None:
    failed = ToolError("no such file", exit_code=3, interrupted=True)
    assert (str(failed), failed.exit_code, failed.interrupted) == ("no such file", 3, True)
    assert isinstance(failed, HooklineError)
    assert str(EngineClosedError()) == "the engine is closed"
