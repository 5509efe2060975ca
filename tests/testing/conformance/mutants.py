"""Break the reference loop in one rule each: the suite must find every one of these mistakes."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from hookline import Session
from hookline.events import POST_TOOL_USE, PRE_TOOL_USE, STOP, ToolCall, ToolResult, TurnAnswer
from hookline.host import AnswerResult, CallResult, EndResult, ModelRequestResult, PromptResult
from hookline.testing.conformance import CaseTool, Helper, Said, ScriptedCall, ScriptedResponse
from tests.testing.conformance.by_hand import HookedLoop


class DeniedRuns(HookedLoop):
    """Runs every tool, whatever hooks say."""

    async def _call(self, call: ScriptedCall, tool: CaseTool) -> CallResult:
        done = await super()._call(call, tool)
        if not done.ran:
            await tool.call(call.input)
        return done


class DenialEndsTheRun(HookedLoop):
    """Ends the turn after a call that was denied."""

    def _store(self, response: ScriptedResponse, results: Sequence[CallResult | str]) -> str | None:
        stop = super()._store(response, results)
        refused = [done.refused for done in results if not isinstance(done, str) and done.refused]
        return stop or (refused[0] if refused else None)


class ReasonLost(HookedLoop):
    """Does not say why a call was denied."""

    def _store(self, response: ScriptedResponse, results: Sequence[CallResult | str]) -> str | None:
        silent = [done if isinstance(done, str) or done.ran else "error" for done in results]
        return super()._store(response, silent)


class RewriteIgnored(HookedLoop):
    """Runs tools with the arguments of the model, although a hook rewrote them."""

    async def _call(self, call: ScriptedCall, tool: CaseTool) -> CallResult:
        async def run(_given: Any) -> Any:
            return await tool.call(call.input)

        return await self._session.tool(call.name, call.input, run=run, id=call.id, check=tool.problem)


class UncheckedRewrite(HookedLoop):
    """Does not check what a hook made of the arguments."""

    async def _call(self, call: ScriptedCall, tool: CaseTool) -> CallResult:
        return await self._session.tool(call.name, call.input, run=tool.call, id=call.id)


class CallWithoutId(HookedLoop):
    """Does not say which call it is."""

    async def _call(self, call: ScriptedCall, tool: CaseTool) -> CallResult:
        return await self._session.tool(call.name, call.input, run=tool.call, check=tool.problem)


class UnknownToolFires(HookedLoop):
    """Fires PreToolUse for tools that do not exist."""

    async def _run(self, call: ScriptedCall) -> CallResult | str:
        await self._session.dispatch(PRE_TOOL_USE, ToolCall(tool_name=call.name, tool_input=call.input))
        return await super()._run(call)


class ContextLost(HookedLoop):
    """Forgets what hooks say about a call that succeeds."""

    def _store(self, response: ScriptedResponse, results: Sequence[CallResult | str]) -> str | None:
        plain = [done if isinstance(done, str) or done.is_error else done.plain_text for done in results]
        return super()._store(response, plain)


class ContextBesideLost(HookedLoop):
    """Forgets text of hooks that does not belong into a result."""

    def _place(self, texts: Sequence[str]) -> None: ...


class FailureIsResult(HookedLoop):
    """Fires PostToolUse for a tool that failed."""

    async def _call(self, call: ScriptedCall, tool: CaseTool) -> CallResult:
        done = await super()._call(call, tool)
        if done.exception is not None:
            result = ToolResult(tool_name=call.name, tool_input=call.input, tool_response=done.text)
            await self._session.dispatch(POST_TOOL_USE, result)
        return done


class FailureHidden(HookedLoop):
    """Gives hooks the text of an error as a result."""

    async def _call(self, call: ScriptedCall, tool: CaseTool) -> CallResult:
        async def run(given: Mapping[str, Any]) -> Any:
            try:
                return await tool.call(given)
            except RuntimeError as error:
                return str(error)

        return await self._session.tool(call.name, call.input, run=run, id=call.id, check=tool.problem)


class EmptyIsNothing(HookedLoop):
    """Takes a result that a hook emptied for none, and keeps the old one."""

    def _store(self, response: ScriptedResponse, results: Sequence[CallResult | str]) -> str | None:
        kept = [done if isinstance(done, str) or done.text else "saw there" for done in results]
        return super()._store(response, kept)


class OldResult(HookedLoop):
    """Gives the model the result of the tool, although a hook replaced it."""

    async def _call(self, call: ScriptedCall, tool: CaseTool) -> CallResult:
        values: list[Any] = []

        async def run(given: Mapping[str, Any]) -> Any:
            values.append(await tool.call(given))
            return values[0]

        done = await self._session.tool(call.name, call.input, run=run, id=call.id, check=tool.problem)
        if done.rewritten:
            self.add("tool", str(values[0]), call=call.id)
        return done


class OutOfOrder(HookedLoop):
    """Stores results as they come."""

    def _store(self, response: ScriptedResponse, results: Sequence[CallResult | str]) -> str | None:
        turned = ScriptedResponse(response.text, tuple(reversed(response.calls)))
        return super()._store(turned, list(reversed(results)))


class StopUnheard(HookedLoop):
    """Does not end a run that a hook stops."""

    def _store(self, response: ScriptedResponse, results: Sequence[CallResult | str]) -> str | None:
        super()._store(response, results)
        self.ask_model()
        return "out of budget"


class Revived(HookedLoop):
    """Runs Stop hooks for a run that was stopped, and continues if they want it."""

    async def _over(self, why: str) -> str:
        said = await self._session.dispatch(STOP, TurnAnswer(last_assistant_message=why))
        if said.blocked:
            self.ask_model()
        return await super()._over(why)


class BlockedPromptSent(HookedLoop):
    """Sends a prompt that a hook blocked."""

    def _is_blocked(self, begun: PromptResult) -> bool:
        if begun.blocked is not None:
            self.add("user", begun.text)
            self.ask_model()
        return super()._is_blocked(begun)


class BlockedPromptKept(HookedLoop):
    """Keeps a prompt that a hook blocked in the history."""

    def _is_blocked(self, begun: PromptResult) -> bool:
        if begun.blocked is not None:
            self.add("user", begun.text)
        return super()._is_blocked(begun)


class OldPrompt(HookedLoop):
    """Sends the prompt as the user wrote it."""

    async def _turn(self, prompt: str) -> str:
        self.add("user", prompt)
        return await super()._turn(prompt)


class PromptContextLost(HookedLoop):
    """Forgets what hooks add to a prompt."""

    def _begin(self, begun: PromptResult) -> None:
        self.add("user", *((begun.first_message,) if begun.first_message else ()), begun.text)


class FirstMessageLost(HookedLoop):
    """Forgets the first message of SessionStart hooks."""

    def _begin(self, begun: PromptResult) -> None:
        self.add("user", begun.text, *(item.text for item in begun.context))


class RequestBlockIgnored(HookedLoop):
    """Asks the model although a hook holds the request back."""

    async def _held(self, request: ModelRequestResult) -> str:
        self.ask_model()
        return await super()._held(request)


class OldMessages(HookedLoop):
    """Sends the messages as they were before hooks rewrote them."""

    def _sent(self, request: ModelRequestResult) -> Sequence[Said]:
        super()._sent(request)
        return self.messages


class RequestContextLost(HookedLoop):
    """Forgets text that hooks add to a request and that stays."""

    def _sent(self, request: ModelRequestResult) -> Sequence[Said]:
        before = list(self.messages)
        sent = super()._sent(request)
        self.messages = before
        return sent if request.rewritten else before


class TransientLost(HookedLoop):
    """Forgets text that is for one request."""

    def _once(self, request: ModelRequestResult) -> Sequence[str]:
        return ()


class TransientKept(HookedLoop):
    """Keeps text that is for one request."""

    def _once(self, request: ModelRequestResult) -> Sequence[str]:
        self.add("user", *request.transient)
        return ()


class OldAnswerShown(HookedLoop):
    """Shows the answer as the model gave it."""

    async def _turn(self, prompt: str) -> str:
        shown = await super()._turn(prompt)
        return self._said or shown

    _said = ""

    def _keep_answer(self, answer: AnswerResult, _response: ScriptedResponse) -> None:
        super()._keep_answer(answer, _response)
        self._said = _response.text


class OldAnswerKept(HookedLoop):
    """Keeps the answer as the model gave it in the history."""

    def _keep_answer(self, answer: AnswerResult, _response: ScriptedResponse) -> None:
        self.add("assistant", _response.text)


class AnswerStopIgnored(HookedLoop):
    """Runs the calls of an answer with which a hook stopped the run."""

    async def _answer(self, response: ScriptedResponse) -> AnswerResult:
        answer = await super()._answer(response)
        if answer.stop is not None:
            for call in response.calls:
                await self.tools[call.name].call(call.input)
        return answer


class StreamsBeforeJudging(HookedLoop):
    """Shows text as it comes, although a hook may still change it."""

    async def _answer(self, response: ScriptedResponse) -> AnswerResult:
        if self._show is not None:
            for piece in response.pieces:
                self._show(piece)
        return await self._session.answer(response.text)


class NeverShows(HookedLoop):
    """Does not show a stream at all."""

    async def _answer(self, response: ScriptedResponse) -> AnswerResult:
        self._show = None
        return await super()._answer(response)


class SendBackIgnored(HookedLoop):
    """Does not let the model continue."""

    def _goes_on(self, end: EndResult) -> bool:
        return False


class EndContextLost(HookedLoop):
    """Forgets text that comes with the reason of a Stop hook."""

    def _send_back(self, end: EndResult) -> None:
        self.add("user", end.send_back or "")


class NeverEnds(HookedLoop):
    """Does not say that a turn is over."""

    async def _end(self, answer: AnswerResult) -> EndResult:
        return EndResult()


class NeverEndsWhenBlocked(HookedLoop):
    """Does not say that a turn is over, if a hook ended it."""

    async def _over(self, why: str) -> str:
        return why


class NeverFails(HookedLoop):
    """Does not say that the model gave no answer."""

    async def _failed(self, error: Exception) -> None: ...


class FailsAsEnd(HookedLoop):
    """Ends the turn of a model that gave no answer as if it had given one."""

    async def _failed(self, error: Exception) -> None:
        await self._session.end("")


class SubagentWithoutParent(HookedLoop):
    """Gives a subagent a conversation of its own."""

    def _below(self, helper: Helper) -> Session:
        return self._session.engine.session("another conversation")


class SubagentWithoutHooks(HookedLoop):
    """Runs the tools of a subagent without hooks."""

    async def _delegate(self, given: Mapping[str, Any]) -> str:
        assert self.helper is not None
        for call in self.helper.script.answer([Said("user", given["task"])]).calls:
            await next(tool for tool in self.helper.tools if tool.name == call.name).call(call.input)
        return self.helper.script.answer([]).text


class AsksNobody(HookedLoop):
    """Answers questions itself, with yes."""

    def __init__(self, who: Any, session: Session) -> None:
        super().__init__(who, session)
        session.engine.approve = _yes


def _yes(_question: object) -> bool:
    return True


class NotCancelled(HookedLoop):
    """Runs a tool although the run was cancelled while hooks judged its call."""

    async def _call(self, call: ScriptedCall, tool: CaseTool) -> CallResult:
        try:
            return await super()._call(call, tool)
        except asyncio.CancelledError:
            await tool.call(call.input)
            raise


class NewSessionEachTurn(HookedLoop):
    """Begins a new session with every prompt."""

    async def _turn(self, prompt: str) -> str:
        self._session = self._session.engine.session(self._session.id, cwd=self._session.info.cwd)
        return await super()._turn(prompt)


#: Each mistake, a case that finds it, and how much of that case is left.
MUTANTS: tuple[tuple[type[HookedLoop], str, str], ...] = (
    (DeniedRuns, "deny: not run", "none"),
    (DeniedRuns, "ask: nobody there", "none"),
    (DeniedRuns, "trouble: crash", "none"),
    (DenialEndsTheRun, "deny: not run", "part"),
    (ReasonLost, "deny: not run", "part"),
    (RewriteIgnored, "rewrite: values", "none"),
    (UncheckedRewrite, "rewrite: wrong type", "none"),
    (UncheckedRewrite, "rewrite: missing key", "part"),
    (UncheckedRewrite, "invalid: arguments", "part"),
    (CallWithoutId, "deny: by name", "part"),
    (UnknownToolFires, "invalid: unknown tool", "part"),
    (ContextLost, "context: before", "none"),
    (ContextLost, "context: after", "none"),
    (ContextBesideLost, "context: beside a result", "none"),
    (FailureIsResult, "failure: one event", "none"),
    (FailureHidden, "failure: one event", "none"),
    (EmptyIsNothing, "result: emptied", "none"),
    (OldResult, "result: structured", "none"),
    (OldResult, "trouble: redaction", "none"),
    (OutOfOrder, "parallel: order", "none"),
    (StopUnheard, "stop: before", "none"),
    (Revived, "stop: not revived", "none"),
    (BlockedPromptSent, "prompt: blocked", "none"),
    (BlockedPromptKept, "prompt: forgotten", "none"),
    (OldPrompt, "prompt: rewritten", "none"),
    (PromptContextLost, "context: prompt", "none"),
    (PromptContextLost, "context: session start", "none"),
    (FirstMessageLost, "prompt: first message", "none"),
    (RequestBlockIgnored, "request: blocked", "none"),
    (OldMessages, "request: rewritten", "none"),
    (RequestContextLost, "context: request", "none"),
    (TransientLost, "transient: each time", "none"),
    (TransientKept, "transient: not kept", "none"),
    (OldAnswerShown, "answer: rewritten", "none"),
    (OldAnswerKept, "answer: rewritten", "part"),
    (AnswerStopIgnored, "answer: stopped", "none"),
    (StreamsBeforeJudging, "stream: judged", "none"),
    (NeverShows, "stream: shown", "none"),
    (SendBackIgnored, "end: sent back", "none"),
    (EndContextLost, "context: end", "none"),
    (NeverEnds, "end: every turn", "none"),
    (NeverEnds, "end: settled", "part"),
    (NeverEndsWhenBlocked, "end: settled when blocked", "part"),
    (NeverFails, "failure: model", "none"),
    (FailsAsEnd, "failure: model", "none"),
    (SubagentWithoutParent, "subagent: distinguished", "none"),
    (SubagentWithoutHooks, "subagent: denied", "none"),
    (AsksNobody, "ask: nobody there", "none"),
    (NotCancelled, "cancel: no process left", "none"),
    (NewSessionEachTurn, "context: session start", "part"),
)
