"""Find which of many rules a call can match at all: by its tool, and by the programs that its line runs.

A rule answers yes, no or maybe (`ToolCondition.holds`). The index finds the rules whose answer is certainly
no, so that a line is not compared with every rule. A test makes sure that both agree.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, cast

from hookline.actions.kinds import KIND_OF, POWERSHELL, rule_argument
from hookline.matching.conditions import AllOf, AnyOf
from hookline.matching.patterns import Glob
from hookline.matching.shell_rules import ShellArgument
from hookline.matching.tool_rules import ToolCondition, ToolRule, is_about_lines
from hookline.model.hook import Condition
from hookline.shell import HOLE, ShellReader

_REMEMBERED = 256


class _Table(NamedTuple):
    """The positions of the rules that a call of one tool can match."""

    always: tuple[int, ...]
    #: Rules that also need a command of one of these programs.
    by_program: Mapping[str, tuple[int, ...]]


class RuleIndex:
    """The conditions of hooks, in their order. A position without a rule is always included."""

    def __init__(self, conditions: Sequence[Condition | None]) -> None:
        # Rules that another agent reads in its own way are not included.
        self._rules: list[ToolRule | None] = [
            cast("ToolCondition", one).rule if type(one) is ToolCondition else None for one in conditions
        ]
        arguments = [rule.argument for rule in self._rules if rule is not None]
        readers = [each.reader for each in arguments if isinstance(each, ShellArgument)]
        #: Lines are read once, by the reader that all rules of a configuration share.
        self._reader = next((each for each in readers if isinstance(each, ShellReader)), None)
        self._tables: dict[tuple[str, str], _Table] = {}

    def possible(self, tool: str, called: str, arguments: Any) -> tuple[int, ...]:
        """Return the positions of rules that a call of this canonical tool may match; `called` is its agent's
        name for it."""
        table = self._tables.get((tool, called))
        if table is None:
            if len(self._tables) >= _REMEMBERED:
                self._tables.clear()
            table = self._tables[tool, called] = self._table(tool, called)
        if not table.by_program:
            return table.always
        programs = self._programs(arguments)
        by = table.by_program
        found = by.values() if programs is None else [by[each] for each in programs if each in by]
        more = tuple(chain.from_iterable(found))
        return tuple(sorted({*table.always, *more})) if more else table.always

    def _table(self, tool: str, called: str) -> _Table:
        always: list[int] = []
        by_program: dict[str, tuple[int, ...]] = {}
        is_shell = rule_argument(tool) == "shell" and called not in POWERSHELL
        for at, rule in enumerate(self._rules):
            if rule is not None and not _may_name(rule, tool, called):
                continue
            programs = self._programs_of(rule, tool) if rule is not None and is_shell else None
            if programs is None:
                always.append(at)
            for program in programs or ():
                by_program[program] = (*by_program.get(program, ()), at)
        return _Table(tuple(always), by_program)

    def _programs_of(self, rule: ToolRule, tool: str) -> frozenset[str] | None:
        """Return the first words that a matching command must have; None for any."""
        found: list[str | None] = []
        for argument in (rule.argument, rule.read_as(tool).argument):
            if not isinstance(argument, ShellArgument) or argument.reader is not self._reader:
                return None
            found += map(_first_word, argument.wide)
        return None if None in found else frozenset(cast("list[str]", found))

    def _programs(self, arguments: Any) -> Iterable[str] | None:
        """Return the first words of the commands of a line, in every form; None where they are not all known."""
        given = cast("dict[str, Any]", arguments) if isinstance(arguments, dict) else {}
        line = given.get("command")
        if not isinstance(line, str) or self._reader is None or not line.strip():
            return None
        reading = self._reader.read(line)
        if reading.doubts or reading.foreign or reading.typed:
            return None
        words = {form.partition(" ")[0] for command in reading.commands for form in command.forms}
        return None if any(HOLE in word for word in words) else words


def may_mean(condition: Condition, tool: str, called: str, *, beside: bool = False) -> bool:
    """Return False if a condition certainly does not hold for a call of this canonical tool.

    `called` is its agent's name for it; `beside`: the call does this beside what its tool says.
    """
    if isinstance(condition, ToolCondition):
        rule = condition.rule
        return _may_name(rule, tool, "" if beside and is_about_lines(rule) else called)
    if isinstance(condition, AllOf):
        return all(may_mean(each, tool, called, beside=beside) for each in condition.conditions)
    if isinstance(condition, AnyOf):
        return any(may_mean(each, tool, called, beside=beside) for each in condition.conditions)
    return True


def _first_word(pattern: Glob) -> str | None:
    """Return the first word of every text that a pattern matches; None where its star may be in it."""
    word, blank, _rest = pattern.pieces[0].partition(" ")
    return word if blank or pattern.exact else None


def _may_name(rule: ToolRule, tool: str, called: str) -> bool:
    """Return True if a rule can mean a tool: by its name, by another name of its kind, or by its agent's name."""
    kind = KIND_OF.get(tool)
    return (
        rule.names_tool(tool)
        or (bool(called) and rule.names_tool(called))
        or (kind is not None and rule.tool in kind.also)
        or (tool == "Grep" and rule.tool == "Read")
    )
