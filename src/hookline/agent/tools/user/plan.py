"""Leave plan mode (ExitPlanMode): the user approves the plan like any call that needs permission."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from msgspec import Meta, Struct

from hookline.agent.tools.base import MAIN, RecordTool, ToolOutput, Workplace

_DESCRIPTION = """\
Shows your plan to the user and asks for approval. Only for plan mode, once the plan is complete. If the user \
declines, revise the plan."""


class PlanArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    plan: Annotated[str, Meta(min_length=1, description="The plan, in Markdown.")]


def plan_tool(approved: Callable[[], Awaitable[str]]) -> RecordTool[PlanArguments]:
    """Return the tool. `approved` ends plan mode, and returns the mode that follows."""

    async def leave(arguments: PlanArguments, workplace: Workplace) -> ToolOutput:
        del workplace
        mode = await approved()
        return ToolOutput(
            text=f"The user approved your plan. The permission mode is now {mode}: begin with the work.",
            response={"plan": arguments.plan, "mode": mode},
        )

    return RecordTool(
        "ExitPlanMode",
        _DESCRIPTION,
        "other",
        PlanArguments,
        leave,
        frozenset({MAIN}),
        modes=frozenset({"plan"}),
        asks="Is this plan right?",
    )
