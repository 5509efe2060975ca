"""Find matchers and conditions that never match: they exclude each other, or name tools that no agent has."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from hookline.actions.kinds import FURTHER, KIND_OF
from hookline.checks.context import CheckContext, entries
from hookline.config.load import Loaded
from hookline.dialects.dialect import Dialect
from hookline.dialects.report import CERTAIN, about
from hookline.matching.conditions import AllOf, Always, AnyOf, ToolName
from hookline.matching.matchers import NameList, OneName, OtherNames
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic, Repair, Severity, Where
from hookline.model.hook import Condition, Hook, Matcher

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable

#: `Bash`, `Bash(git *)`: the tool of a rule.
_RULE: Final = re.compile(r"([A-Za-z]\w*)(?:\(.*\))?", re.DOTALL)


def dead_matchers(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Find hooks for tools that never run: conditions that exclude each other, and names that the agent does
    not use.
    """
    reported = {(one.where.file, one.where.line) for one in loaded.diagnostics if one.code == "dead-matcher"}
    for hook in entries(loaded):
        if hook.event.subject == "tool_name" and hook.broken is None:
            yield from _excluded(hook, context.dialect(hook))
            found = list(_foreign_names(hook, context)) or _misspelt(hook, context)
            # The reader, which knows its agent's names, has reported it more precisely.
            yield from (one for one in found if (one.where.file, one.where.line) not in reported)


def _excluded(hook: Hook, dialect: Dialect) -> Iterator[Diagnostic]:
    """Find an `if` for a tool that the matcher excludes, or for two tools at once."""
    wanted = list(dict.fromkeys(rule_tools(hook.condition)))
    field = dialect.entry_fields.get("if", "if")
    if len(wanted) > 1:
        message = f"its conditions are never true together: no tool is both {' and '.join(wanted[:2])}"
        yield about(hook, "error", "never-runs", message, field, fix="keep one, or list them under any")
    elif wanted and hook.matcher is not None and not hook.matcher.matches(wanted[0]):
        message = f'it never runs: if is for {wanted[0]}, and the matcher "{hook.matcher.text}" excludes it'
        yield about(hook, "error", "never-runs", message, field, fix=f'matcher "{wanted[0]}"')


def rule_tools(condition: Condition | None) -> Iterator[str]:
    """Yield the tools that a condition requires."""
    if condition is None:
        return
    if isinstance(condition, AllOf):
        for each in condition.conditions:
            yield from rule_tools(each)
    elif isinstance(condition, AnyOf):
        # Only tools that all of them require.
        required = {tuple(rule_tools(each)) for each in condition.conditions}
        if len(required) == 1:
            yield from required.pop()
    elif isinstance(condition, ToolName):
        if "*" not in condition.name:
            yield condition.name
    elif not isinstance(condition, Always):
        found = _RULE.fullmatch(condition.text.strip())
        if found and not found[1].startswith("mcp__"):
            yield found[1]


def _foreign_names(hook: Hook, context: CheckContext) -> Iterator[Diagnostic]:
    """Find names of tools that other agents have, and this one has under another name or in another case."""
    dialect = context.dialect(hook)
    names = plain_names(hook.matcher) or tuple(rule_tools(hook.condition))
    if not names or not dialect.has_agent or any(_is_known(name, hook) for name in names):
        return
    table = dialect.tools
    # A matcher may know further names of a tool.
    if hook.matcher is not None and any(map(hook.matcher.matches, table.names)):
        return
    by_case = {tool.lower(): tool for tool in table.names}
    meant = [by_case.get(name.lower(), "") for name in names]
    if all(meant):
        yield _dead(hook, dialect, "case counts", "|".join(meant))
        return
    kinds = [_kind(name, dialect, context) for name in names]
    if all(kinds):
        own = [table.tools_of(kind) for kind in kinds]
        known = "|".join(dict.fromkeys(forms[0][0] for forms in own if forms))
        yield _dead(hook, dialect, f"{dialect.title} has no tool of that name", known)


def _kind(name: str, dialect: Dialect, context: CheckContext) -> str:
    """Return the kind of a tool that another agent has; empty if it is unknown, or this agent may have such a tool."""
    if name in KIND_OF:
        return KIND_OF[name].name
    # Other tables need not be complete, and where names of servers' tools are plain, any name may be one.
    others = (
        [each for each in context.loader.names if each != dialect.name] if dialect.own_tools is None else ()
    )
    tools = (context.loader.dialect(each).tools.tool(name) for each in others)
    forms = (form for tool in tools if tool is not None for form in (tool, *tool.each_of))
    return next((form.kind for form in forms if form.kind), "")


def _dead(hook: Hook, dialect: Dialect, why: str, instead: str) -> Diagnostic:
    fix = f'"{instead}"' if instead else None
    if not plain_names(hook.matcher):
        field = dialect.entry_fields.get("if", "if")
        return about(hook, "error", "dead-condition", f"its condition never holds: {why}", field, fix=fix)
    text = hook.matcher.text if hook.matcher is not None else ""
    return _about_matcher(
        hook, dialect, "error", "dead-matcher", f'the matcher "{text}" never matches: {why}', fix, instead
    )


def _about_matcher(
    hook: Hook, dialect: Dialect, severity: Severity, code: str, message: str, fix: str | None, instead: str
) -> Diagnostic:
    """Make a finding about a matcher; `instead` is the one that was meant, or empty."""
    path = dialect.field_path(hook.where.path, "matcher")
    repair = Repair("set", path, instead) if instead else None
    where = Where(hook.where.file, path, hook.where.locate)
    return Diagnostic(severity, code, message, where, hook.name, fix, repair)


def plain_names(matcher: Matcher | None) -> tuple[str, ...]:
    """Return the names that a matcher lists; none if it is a pattern."""
    # One that also knows former names of tools has the plain one inside.
    plain = matcher.inner if isinstance(matcher, OtherNames) else matcher
    if isinstance(plain, OneName):
        return (plain.name,)
    return tuple(sorted(plain.names)) if isinstance(plain, NameList) else ()


# Names that no tool has


def _misspelt(hook: Hook, context: CheckContext) -> Iterator[Diagnostic]:
    """Find names in a matcher or a rule that no tool has and that resemble one the hook may mean."""
    dialect = context.dialect(hook)
    names = plain_names(hook.matcher)
    if names and not any(_is_known(name, hook) for name in names):
        meant = [_meant(name, hook, context) for name in names]
        if all(meant):
            said = "a tool" if len(names) == 1 else "tools"
            message = f"{_does_not_have(dialect)} {said} called {' or '.join(map(repr, names))}"
            instead = "|".join(dict.fromkeys(each for each in meant if each))
            fix = f"did you mean {instead}?"
            certain = all(
                nearest(name, [close or ""], CERTAIN) for name, close in zip(names, meant, strict=True)
            )
            yield _about_matcher(
                hook, dialect, "warning", "unknown-tool", message, fix, instead if certain else ""
            )
    field = dialect.entry_fields.get("if", "if")
    for name in dict.fromkeys(_named_tools(hook.condition)):
        if not _is_known(name, hook) and name not in names:
            close = _meant(name, hook, context)
            if close is not None:
                message = f"{_does_not_have(dialect)} a tool called {name!r}, so {field} never holds for it"
                yield about(hook, "warning", "unknown-tool", message, field, fix=f"did you mean {close}?")


def _does_not_have(dialect: Dialect) -> str:
    return f"{dialect.title} does not have" if dialect.has_agent else "no agent that Hookline knows has"


def _table(hook: Hook) -> "ToolTable | None":
    """Return the tools in the hook's format; None where the host decides what it sends."""
    return getattr(hook.wire, "tools", None)


def _is_known(name: str, hook: Hook) -> bool:
    """Return True if the hook's agent has a tool of that name; for hooks with canonical terms, any of these."""
    if name in FURTHER or "mcp__" in name or "*" in name:
        return True
    if getattr(hook.wire, "standard_tools", True) and name in KIND_OF:
        return True
    table = _table(hook)
    return table is None or table.tool(name) is not None or table.mcp_names(name) != (name,)


def _meant(name: str, hook: Hook, context: CheckContext) -> str | None:
    """Return the tool with the most similar name; None if the name is another agent's, or similar to none."""
    table = _table(hook)
    known = [*table.names] if table is not None else [*KIND_OF]
    if hook.matcher is not None and any(map(hook.matcher.matches, known)):
        return None  # it knows further names of a tool, or lists another tool that exists
    if not context.dialect(hook).has_agent:
        others = [each for other in _tables(context) for each in other.names]
        if name in others:
            return None
        # Canonical names first: they hold everywhere.
        return nearest(name, known, _ALIKE) or nearest(name, others, _ALIKE)
    return nearest(name, (*known, *FURTHER), _ALIKE)


#: How alike a name must be to be taken for another. Tools of servers and plugins have names that are not known here.
_ALIKE: Final = 0.75


def _tables(context: CheckContext) -> "Iterator[ToolTable]":
    """Yield the tools of every agent, and those that programs usually have."""
    from hookline.actions.standard_tools import host_table  # noqa: PLC0415 only for a name that is not known

    yield from (context.loader.dialect(name).tools for name in context.loader.names)
    yield host_table()


def _named_tools(condition: Condition | None) -> Iterator[str]:
    """Yield every tool that a condition names, also alternatives."""
    if isinstance(condition, AllOf | AnyOf):
        for each in condition.conditions:
            yield from _named_tools(each)
    else:
        yield from rule_tools(condition)
