"""Define how the native dialect behaves at each event: one policy per row, derived where it can be."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from hookline.model.events import EventSpec
from hookline.model.policy import FAIL_CLOSED, FAIL_OPEN, BlockLimit, Lifetime, Placement, Policy

#: Events at which text that is not JSON goes to the model.
PLAIN_TEXT_IS_CONTEXT = frozenset({"SessionStart", "UserPromptSubmit", "PreModelCall"})

#: The required shape of a rewritten payload field.
REWRITTEN_SHAPES: Mapping[str, str] = {
    "tool_input": "an object",
    "prompt": "text",
    "messages": "a list of objects",
    "response": "text",
}

#: Meanings of a block that prevent something. Elsewhere (a turn that continues, a result with a remark next
#: to it) a block does not stop a run.
PREVENTING = frozenset({"deny_call", "reject_prompt", "end_turn", "cancel"})


class _Habit(Struct, frozen=True):
    """Facts that cannot be derived from a row."""

    block_means: str = "cancel"
    placement: Placement = "conversation"
    lifetime: Lifetime = "session"
    limit: BlockLimit | None = None
    budget: float | None = None


_USUAL = _Habit()
_HABITS: Mapping[str, _Habit] = MappingProxyType(
    {
        # A session that is being closed must not hang for the ten minutes one hook may take.
        "SessionEnd": _Habit(budget=60.0),
        "UserPromptSubmit": _Habit("reject_prompt"),
        "UserPromptExpansion": _Habit("reject_prompt"),
        "TurnStart": _Habit("end_turn", lifetime="turn"),
        "PreModelCall": _Habit("retry_call", "transient", "call", BlockLimit(2, "end_turn")),
        "PreToolUse": _Habit("deny_call", "tool_result"),
        "PermissionRequest": _Habit("deny_call", "tool_result"),
        "PermissionDenied": _Habit("deny_call", "tool_result"),
        "PostToolUse": _Habit("beside_output", "tool_result"),
        "PostToolUseFailure": _Habit("beside_output", "tool_result"),
        "PostToolBatch": _Habit("end_turn"),
        "TurnEnd": _Habit("continue_turn", limit=BlockLimit(2, "pass")),
        # Work between two blocks is progress, so a tool call resets the count.
        "Stop": _Habit("continue_turn", limit=BlockLimit(8, "pass", "call")),
        "SubagentStop": _Habit("continue_turn", limit=BlockLimit(8, "pass", "call")),
        "TeammateIdle": _Habit("continue_turn", limit=BlockLimit(8, "pass", "call")),
    }
)


def _policy(event: EventSpec[Any]) -> Policy:
    habit = _HABITS.get(event.name, _USUAL)
    return Policy(
        event_name=event.name,
        may=event.may,
        run="rewriters_first",
        sees="current",
        failures=FAIL_CLOSED if event.guard else FAIL_OPEN,
        limit=habit.limit,
        budget=habit.budget,
        block_means="deny_call" if event.guard and habit is _USUAL else habit.block_means,
        placement=habit.placement,
        lifetime=habit.lifetime,
        project_env="minimal",
        recheck_own=True,
        breaker=True,
    )


class NativePolicies:
    """The native policy of every row, always the same object for the same row: lanes are formed by it."""

    def __init__(self) -> None:
        self._known: dict[EventSpec[Any], Policy] = {}

    def of(self, event: EventSpec[Any]) -> Policy:
        """Return the policy, made when first needed: most events have no hook, and a host may add rows late."""
        policy = self._known.get(event)
        return policy if policy is not None else self._known.setdefault(event, _policy(event))
