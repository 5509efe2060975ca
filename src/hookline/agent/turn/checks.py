"""Check a call before any hook sees it, in order. The first refusal counts."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from hookline.actions.kinds import PATH_ARGUMENTS
from hookline.agent.tools.base import MAIN, AgentTool, Category
from hookline.config.protection.protected_paths import real_path
from hookline.engine.host.tool_call import Refusal
from hookline.matching.nearest import nearest
from hookline.model.messages import ToolUse
from hookline.permissions.decide import CallFacts, denied_by_rule
from hookline.permissions.modes import Mode
from hookline.permissions.rules import RuleSet, covering
from hookline.permissions.state import Permissions

_LONGEST_SHOWN = 200


class CallBudget:
    """Number of calls that the turn may still make. A refused call gives its unit back."""

    def __init__(self, calls: int) -> None:
        self.left = calls
        #: A call was refused because nothing was left.
        self.exceeded = False


class CallRules(Struct, frozen=True, eq=False):
    """Rules that a call is checked against when it is made."""

    tools: Mapping[str, AgentTool]
    permissions: Permissions
    cwd: str
    budget: CallBudget
    caller: str = MAIN
    #: The top of the git worktree the agent works in, if any.
    worktree: str = ""
    #: `allowed-tools` of the active command, skill or agent definition.
    allowed: RuleSet | None = None
    #: The tool whose commands run under the exec guard; empty without.
    guarded: str = ""


Check = Callable[[ToolUse, CallRules], Refusal | None]


def _budget(use: ToolUse, rules: CallRules) -> Refusal | None:
    del use
    if rules.budget.left > 0:
        return None
    rules.budget.exceeded = True
    return Refusal("budget", "The turn has made all the tool calls it may make.")


def _mode(use: ToolUse, rules: CallRules) -> Refusal | None:
    tool = rules.tools.get(use.name)
    mode = rules.permissions.mode_row
    if tool is None or is_in_mode(tool, mode):
        return None
    return Refusal("mode", f"In {mode.name} mode {use.name} does not run: {mode.says}")


def is_in_mode(tool: AgentTool, mode: Mode) -> bool:
    """Return True if the tool can be called in a permission mode."""
    modes: frozenset[str] | None = getattr(tool, "modes", None)
    return tool.category not in mode.refuses and (modes is None or mode.name in modes)


def _arguments(use: ToolUse, rules: CallRules) -> Refusal | None:
    del rules
    if isinstance(use.input, Mapping):
        return None
    shown = str(use.input)[:_LONGEST_SHOWN]
    return Refusal("arguments", f"The arguments of {use.name} are not a JSON object: {shown}")


def _deny_list(use: ToolUse, rules: CallRules) -> Refusal | None:
    decision = denied_by_rule(facts_of(use, rules), rules.permissions)
    if decision is None:
        return None
    return Refusal("deny_rule", decision.reason, by_rule=True)


def _allow_list(use: ToolUse, rules: CallRules) -> Refusal | None:
    if rules.allowed is None:
        return None
    if covering(rules.allowed.allow, facts_of(use, rules), rules.permissions.roots):
        return None
    allowed = ", ".join(rule.shown for rule in rules.allowed.allow) or "none"
    return Refusal("allow_list", f"{use.name} is not among the tools this command may use: {allowed}.")


def _caller(use: ToolUse, rules: CallRules) -> Refusal | None:
    tool = rules.tools.get(use.name)
    if tool is None or tool.callers is None or rules.caller in tool.callers:
        return None
    return Refusal("caller", f"{use.name} cannot be called by {rules.caller}.")


def _exists(use: ToolUse, rules: CallRules) -> Refusal | None:
    if use.name in rules.tools:
        return None
    close = nearest(use.name, rules.tools)
    hint = f"did you mean {close}?" if close else f"there are {', '.join(rules.tools) or 'none'}."
    return Refusal("unknown_tool", f"Unknown tool {use.name[:_LONGEST_SHOWN]!r}; {hint}")


def _fits(use: ToolUse, rules: CallRules) -> Refusal | None:
    problem = rules.tools[use.name].problem(arguments_of(use))
    return Refusal("schema", f"The arguments do not fit {use.name}: {problem}") if problem else None


#: In this order.
CHECKS: tuple[Check, ...] = (_budget, _mode, _arguments, _deny_list, _allow_list, _caller, _exists, _fits)
#: For a call that a hook changed: it holds its unit of the budget already.
RECHECKS = CHECKS[1:]


def first_refusal(use: ToolUse, rules: CallRules, checks: Sequence[Check] = CHECKS) -> Refusal | None:
    for check in checks:
        refusal = check(use, rules)
        if refusal is not None:
            return refusal
    return None


def arguments_of(use: ToolUse) -> Mapping[str, Any]:
    return use.input if isinstance(use.input, Mapping) else {}


def category_of(use: ToolUse, rules: CallRules) -> Category:
    tool = rules.tools.get(use.name)
    return tool.category if tool is not None else "other"


def mcp_server_of(use: ToolUse, rules: CallRules) -> Mapping[str, Any] | None:
    """Return name and source of the MCP server a call goes to, as hooks get them."""
    return getattr(rules.tools.get(use.name), "mcp_server", None)


def facts_of(use: ToolUse, rules: CallRules) -> CallFacts:
    arguments = arguments_of(use)
    return CallFacts(
        use.name,
        arguments,
        category_of(use, rules),
        rules.cwd,
        _real_path(use.name, arguments, rules.cwd),
        rules.worktree,
        guarded=bool(rules.guarded) and use.name == rules.guarded,
    )


def _real_path(tool: str, arguments: Mapping[str, Any], cwd: str) -> str | None:
    """Return the real path of the file a call names: a link must not get around a rule."""
    named = [arguments.get(field) for field in PATH_ARGUMENTS]
    parts = [next((each for each in named if isinstance(each, str) and each), "")]
    if tool == "Glob" and isinstance(pattern := arguments.get("pattern"), str):
        from hookline.agent.tools.walk import split_base  # noqa: PLC0415 the tool has loaded it

        # The directories that a pattern begins with are entered whatever they are; links further on are not followed.
        parts.append(split_base(pattern)[0])
    if not any(parts) or "\0" in "".join(parts):
        return None
    return real_path(os.path.join(cwd, *map(os.path.expanduser, parts)))
