"""Export the records of the host API: the results of a session's `prompt`, `model`, `answer`, `tool` and
`end`, the question for `approve`, and the options of hooks and sessions.

::

    from hookline import Engine
    from hookline.host import Approval, ApprovalRequest

    async def ask_me(question: ApprovalRequest) -> Approval:
        yes = input(f"{question.tool_name}: {question.reason} [y/N] ") == "y"
        return Approval(allow=yes, message="" if yes else "the user said no")

    engine = Engine(approve=ask_me)
"""

from hookline.engine.host.compaction import CompactResult
from hookline.engine.host.make_hook import HookOptions
from hookline.engine.host.pending import LATER, PendingCall
from hookline.engine.host.report_failure import HookError
from hookline.engine.host.results import AnswerResult, EndResult, ModelRequestResult, PromptResult, Start
from hookline.engine.host.stream import AnswerStream
from hookline.engine.host.tool import Approval, ApprovalRequest, Approve, HostCall, RunTool
from hookline.engine.host.tool_call import (
    CallPorts,
    CallResult,
    HookDispatcher,
    Refusal,
    ToolReply,
    run_tool_call,
)
from hookline.model.session_info import SessionChanges, SessionOptions

__all__ = [
    "LATER",
    "AnswerResult",
    "AnswerStream",
    "Approval",
    "ApprovalRequest",
    "Approve",
    "CallPorts",
    "CallResult",
    "CompactResult",
    "EndResult",
    "HookDispatcher",
    "HookError",
    "HookOptions",
    "HostCall",
    "ModelRequestResult",
    "PendingCall",
    "PromptResult",
    "Refusal",
    "RunTool",
    "SessionChanges",
    "SessionOptions",
    "Start",
    "ToolReply",
    "run_tool_call",
]
