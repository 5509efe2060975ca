"""Records of the host API: what `prompt`, `model`, `answer`, `tool` and `end` of a session return, what `approve` gets,
and the options of hooks and sessions.

::

    from hookline import Engine
    from hookline.host import Approval, Question

    async def ask_me(question: Question) -> Approval:
        yes = input(f"{question.tool_name}: {question.reason} [y/N] ") == "y"
        return Approval(allow=yes, message="" if yes else "the user said no")

    engine = Engine(approve=ask_me)
"""

from hookline.engine.host.moments import AnswerResult, EndResult, ModelRequestResult, PromptResult, Start
from hookline.engine.host.tool import Approval, Approve, HostCall, Question, RunTool
from hookline.engine.make_hook import HookOptions
from hookline.engine.tool_call import CallPorts, CallResult, Hooks, Refusal, Reply, run_tool_call
from hookline.model.scene import SceneChanges, SceneOptions

__all__ = [
    "AnswerResult",
    "Approval",
    "Approve",
    "CallPorts",
    "CallResult",
    "EndResult",
    "HookOptions",
    "Hooks",
    "HostCall",
    "ModelRequestResult",
    "PromptResult",
    "Question",
    "Refusal",
    "Reply",
    "RunTool",
    "SceneChanges",
    "SceneOptions",
    "Start",
    "run_tool_call",
]
