"""Which rules are about a call: any one for a guard, enough of them together for a permission."""

from collections.abc import Iterator, Sequence
from typing import Any

from hookline.matching.filerules import FileArgument
from hookline.matching.shellrules import ShellArgument
from hookline.matching.toolrules import ToolRule, concerns_from, covers
from hookline.permissions.facts import CallFacts
from hookline.permissions.places import PATH_FIELDS
from hookline.permissions.rules import Rule


def first_concerned(rules: Sequence[Rule], facts: CallFacts, places: Sequence[str] = ()) -> Rule | None:
    """The wide reading, for rules that deny or ask: the first that may be about the call.

    `places` are the directories rules may have been written from: who moves gets around none of them.
    """
    inputs = tuple(_inputs(facts))
    places = (*places, facts.worktree)
    for rule in rules:
        for reading in rule.readings:
            if any(concerns_from(reading, facts.tool_name, one, facts.cwd, places) for one in inputs):
                return rule
    return None


def covering(rules: Sequence[Rule], facts: CallFacts, places: Sequence[str] = ()) -> tuple[Rule, ...]:
    """The strict reading, for rules that allow: those that cover all of the call, beyond doubt.

    Several rules may cover a shell line together, each a part of its commands. With `places` rules count from
    those, and not from wherever the agent has moved to.
    """
    inputs = tuple(_inputs(facts))
    places = (*(places or (facts.cwd,)), *((facts.worktree,) if facts.worktree else ()))
    for rule in rules:
        for reading in rule.readings:
            if all(_covers(reading, one, facts, places) for one in inputs):
                return (rule,)
    return _together(rules, facts)


def _covers(reading: ToolRule, given: Any, facts: CallFacts, places: Sequence[str]) -> bool:
    if isinstance(reading.argument, FileArgument):
        given = reading.argument.spelled_out(given, facts.cwd)
    return any(covers(reading, facts.tool_name, given, place) for place in places)


def _together(rules: Sequence[Rule], facts: CallFacts) -> tuple[Rule, ...]:
    about = [
        (rule, reading.argument)
        for rule in rules
        for reading in rule.readings
        if isinstance(reading.argument, ShellArgument) and reading.names_tool(facts.tool_name)
    ]
    if len(about) < 2:
        return ()
    used: dict[int, Rule] = {}
    for command in about[0][1].literal_commands(facts.tool_input):
        rule = next((rule for rule, argument in about if argument.covers_command(command)), None)
        if rule is None:
            return ()
        used[id(rule)] = rule
    return tuple(used.values())


def _inputs(facts: CallFacts) -> Iterator[Any]:
    """The arguments as given and, where links were followed, with the real path in their place."""
    yield facts.tool_input
    if facts.real_path is not None:
        named = next((name for name in PATH_FIELDS if facts.tool_input.get(name)), "path")
        yield {**facts.tool_input, named: facts.real_path}
