"""Offer the calls that a host makes at the steps of a conversation. `Session` inherits them.

What each does is in the modules beside this one, which are loaded when they are first needed: hosts that only
dispatch do without.
"""

from collections.abc import AsyncIterable, Coroutine, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack, cast

from hookline.model.payloads import Compaction, ToolCall

if TYPE_CHECKING:
    from hookline.engine.host.compaction import CompactResult, Summarize
    from hookline.engine.host.pending import PendingCall
    from hookline.engine.host.results import (
        AnswerResult,
        EndResult,
        ModelRequestResult,
        Part,
        PromptResult,
        Start,
    )
    from hookline.engine.host.stream import AnswerStream, OrLater
    from hookline.engine.host.tool import Approval, CheckArguments, HostCall, RunTool
    from hookline.engine.host.tool_call import CallResult
    from hookline.engine.session import Session
    from hookline.model.session_info import SessionOptions


class HostCalls:
    """The calls of a host. At each step of a conversation it makes one, which fires the events of that step."""

    @property
    def _session(self) -> "Session":
        return cast("Session", self)

    def start(self, source: str = "startup", model: str | None = None) -> "Coroutine[Any, Any, Start]":
        """Begin the session: SessionStart. `prompt` does this if you did not."""
        from hookline.engine.host import conversation  # noqa: PLC0415 see the module

        return conversation.start(self._session, source, model)

    def prompt(self, text: "str | Sequence[Part]") -> "Coroutine[Any, Any, PromptResult]":
        """Submit the user's prompt: UserPromptSubmit, TurnStart; for a subagent SubagentStart.

        A prompt of several parts, such as a text and a picture, is a list of texts and objects; hooks judge its
        texts. If it is blocked, there is no turn to end. The last turn is settled, if you did not end it.

        ::

            prompt = await session.prompt("delete the logs")
            if prompt.blocked:
                print(prompt.blocked)
            else:
                send(*prompt.texts)
        """
        from hookline.engine.host import conversation  # noqa: PLC0415 see the module

        return conversation.prompt(self._session, text)

    def model(
        self, messages: Sequence[Mapping[str, Any]], model: str | None = None
    ) -> "Coroutine[Any, Any, ModelRequestResult]":
        """Announce a request to the model: PreModelCall. Late text of background hooks comes with it.

        ::

            request = await session.model([{"role": "user", "content": "hi"}])
            if request.blocked is None:
                answer = await ask_model([*request.messages, *request.transient])
        """
        from hookline.engine.host import conversation  # noqa: PLC0415 see the module

        return conversation.model(self._session, messages, model)

    def answer(
        self,
        text: str | None,
        tool_calls: Sequence[Mapping[str, Any]] = (),
        usage: Mapping[str, Any] = MappingProxyType({}),
    ) -> "Coroutine[Any, Any, AnswerResult]":
        """Report the model's answer: PostModelCall. Store and show `text` of the result.

        `usage` has the counts as your provider names them.
        """
        from hookline.engine.host import conversation  # noqa: PLC0415 see the module

        return conversation.answer(self._session, text, tool_calls, usage)

    def tool(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        run: "RunTool",
        id: str | None = None,  # noqa: A002 - the word that every API has for it
        check: "CheckArguments | None" = None,
        needs_approval: str | bool = False,
        category: str | None = None,
        mcp_server: Mapping[str, Any] | None = None,
    ) -> "Coroutine[Any, Any, CallResult]":
        """Run a whole tool call: PreToolUse, permission, the tool itself, PostToolUse or PostToolUseFailure.

        `run` gets the arguments as hooks left them; a plain function runs in a thread. `check` returns the
        error in arguments, also those that a hook rewrote. An ask goes to PermissionRequest hooks, then to
        `approve` of the session or the engine; without one it is a denial. If `approve` says `LATER`, the call
        waits: `pending` of the result is a record to store. ::

            done = await session.tool("run_shell", {"cmd": "ls"}, run=run_shell)
            tell_model(done.text)
            if done.stop:
                return
        """
        from hookline.engine.host import tool as host_tool  # noqa: PLC0415 see the module

        call = ToolCall(
            tool_name=name,
            tool_input=arguments,
            tool_use_id=id,
            tool_category=category,
            mcp_server=mcp_server,
        )
        return host_tool.tool(
            self._session, call, host_tool.ToolOptions(run=run, check=check, needs_approval=needs_approval)
        )

    def open_tool(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        id: str | None = None,  # noqa: A002 - as above
        check: "CheckArguments | None" = None,
        needs_approval: str | bool = False,
        category: str | None = None,
        mcp_server: Mapping[str, Any] | None = None,
    ) -> "Coroutine[Any, Any, HostCall]":
        """Run the first half of `tool`, for hosts that are called before a tool and after it: PreToolUse,
        permission.

        ::

            call = await session.open_tool("run_shell", {"cmd": "ls"})
            done = call.refused or await call.returned(await run_shell(call.arguments))
        """
        from hookline.engine.host import tool as host_tool  # noqa: PLC0415 see the module

        call = ToolCall(
            tool_name=name,
            tool_input=arguments,
            tool_use_id=id,
            tool_category=category,
            mcp_server=mcp_server,
        )
        return host_tool.open_tool(
            self._session,
            call,
            host_tool.ToolOptions(run=host_tool.run_by_host, check=check, needs_approval=needs_approval),
        )

    def ask(
        self,
        name: str,
        arguments: Mapping[str, Any],
        reason: str,
        *,
        id: str | None = None,  # noqa: A002 - as above
    ) -> "Coroutine[Any, Any, HostCall]":
        """Ask about a call for your own rules, after `PreToolUse`: PermissionRequest hooks, then `approve`.

        ::

            asked = await session.ask("run_shell", {"cmd": "ls"}, "it runs a command")
            if asked.refused is not None:
                tell_model(asked.refused.text)
        """
        from hookline.engine.host import tool as host_tool  # noqa: PLC0415 see the module

        return host_tool.ask(
            self._session, ToolCall(tool_name=name, tool_input=arguments, tool_use_id=id), reason
        )

    def end(self, answer: str | None) -> "Coroutine[Any, Any, EndResult]":
        """End the turn: TurnEnd, Stop, TurnSettled; for a subagent SubagentStop.

        ::

            end = await session.end(answer)
            if end.send_back:
                messages.append({"role": "user", "content": end.send_back})  # and let the model continue
        """
        from hookline.engine.host import conversation  # noqa: PLC0415 see the module

        return conversation.end(self._session, answer)

    def failed(self, error: BaseException | str, kind: str = "unknown") -> "Coroutine[Any, Any, None]":
        """Report that the model gave no answer: Error, StopFailure, TurnSettled. `kind` is one of `ERROR_TYPES`."""
        from hookline.engine.host import conversation  # noqa: PLC0415 see the module

        return conversation.failed(self._session, error, kind)

    def stream(
        self,
        pieces: AsyncIterable[str],
        tool_calls: "OrLater[Sequence[Mapping[str, Any]]]" = (),
        usage: "OrLater[Mapping[str, Any]]" = MappingProxyType({}),
    ) -> "AnswerStream":
        """Report the model's answer while it arrives, instead of `answer`: PostModelCall after the last piece.

        Show what the stream yields: text that a hook may still change is held back. Calls and usage may be
        functions, which are called after the last piece. ::

            shown = session.stream(model.pieces(messages), tool_calls=lambda: model.calls)
            async for text in shown:
                print(text, end="")
            answer = shown.answer
        """
        from hookline.engine.host.stream import AnswerStream  # noqa: PLC0415 see the module

        return AnswerStream(self._session, pieces, tool_calls, usage)

    def resume(
        self,
        pending: "PendingCall",
        approval: "bool | Approval",
        *,
        run: "RunTool",
        check: "CheckArguments | None" = None,
    ) -> "Coroutine[Any, Any, CallResult]":
        """Continue a call that waited for an approval: the rest of `tool`, in any process.

        Hooks judge the call again, so a guard that would deny it now does. An approval is for the arguments that
        were asked about, or for those that it has itself; if hooks make others of them, `approve` is asked again.
        Delete your record first: a call that is resumed twice runs twice. ::

            pending = PendingCall.from_json(database.take(call_id))
            done = await session.resume(pending, Approval(allow=True), run=pay)
        """
        from hookline.engine.host import tool as host_tool  # noqa: PLC0415 see the module

        return host_tool.resume(self._session, pending, approval, host_tool.ToolOptions(run=run, check=check))

    def reopen(
        self,
        pending: "PendingCall",
        approval: "bool | Approval",
        *,
        check: "CheckArguments | None" = None,
    ) -> "Coroutine[Any, Any, HostCall]":
        """Continue a call that waited for an approval, where you run the tool yourself: as `resume`, for `open_tool`.

        ::

            call = await session.reopen(PendingCall.from_json(stored), True)
            done = call.refused or await call.returned(await run_shell(call.arguments))
        """
        from hookline.engine.host import tool as host_tool  # noqa: PLC0415 see the module

        options = host_tool.ToolOptions(run=host_tool.run_by_host, check=check)
        return host_tool.reopen(self._session, pending, approval, options)

    def compact(
        self,
        summarize: "Summarize",
        *,
        trigger: str = "auto",
        instructions: str | None = None,
        input_tokens: int | None = None,
        context_limit: int | None = None,
    ) -> "Coroutine[Any, Any, CompactResult]":
        """Compact the conversation: PreCompact, your summary, PostCompact.

        `summarize` gets instructions for the summary, yours and those of hooks, and returns it, or a coroutine of
        it. It is not called if hooks block the compaction or have the summary. ::

            compacted = await session.compact(summarize, trigger="manual")
            if compacted.blocked is None:
                messages = [user(compacted.summary), *(user(item.text) for item in compacted.context)]
        """
        from hookline.engine.host import compaction  # noqa: PLC0415 see the module

        payload = Compaction(
            trigger=trigger,
            custom_instructions=instructions,
            input_tokens=input_tokens,
            context_limit=context_limit,
        )
        return compaction.compact(self._session, summarize, payload)

    def child(self, agent_type: str, /, **info: "Unpack[SessionOptions]") -> "Session":
        """Open the session of a subagent, with this one as its parent. Use it in
        `async with`: one that fails or is cancelled then gets its SubagentStop, too.

        ::

            async with session.child("explore") as child:
                task = await child.prompt("find the tests")
                ...
                end = await child.end(answer)
        """
        from uuid import uuid4  # noqa: PLC0415 see the module

        session = self._session
        made: SessionOptions = {"model": session.info.model, "agent_id": uuid4().hex[:12], **info}
        made["agent_type"] = agent_type
        return session.engine.session(session.id, session, **made)

    def cancelled(self) -> "Coroutine[Any, Any, None]":
        """Report that the user ended the turn: TurnSettled with the status `interrupted`; for a subagent SubagentStop.

        Nothing happens if the turn is over. `close`, `async with` and the next `prompt` do it for you.
        """
        from hookline.engine.host import conversation  # noqa: PLC0415 see the module

        return conversation.cancelled(self._session)

    def state(self) -> dict[str, Any]:
        """Return the state as JSON, for a server that keeps no sessions: turn and usage so far, hooks that run once,
        blocks in a row, text that waits for a request.

        ::

            session = engine.session(conversation.id, state=conversation.hook_state)
            ...
            conversation.hook_state = session.state()
        """
        from hookline.engine.host.state import saved_state  # noqa: PLC0415 see the module

        return saved_state(self._session)
