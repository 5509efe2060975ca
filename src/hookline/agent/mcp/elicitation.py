"""Answer questions of MCP servers: hooks may answer first, then the user, and hooks see the answer before it
is sent.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Literal, Protocol, cast

from msgspec import Struct

from hookline.agent.mcp.schema import arguments_problem
from hookline.agent.ports import UserPort
from hookline.engine.host.tool_call import HookDispatcher
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.outcome import Outcome

Action = Literal["accept", "decline", "cancel"]


class ServerQuestion(Struct, frozen=True, kw_only=True):
    server: str
    message: str
    mode: Literal["form", "url"] = "form"
    #: JSON Schema of the answer: an object whose fields are plain values.
    schema: Mapping[str, Any] = {}
    url: str | None = None
    elicitation_id: str | None = None


class ServerAnswer(Struct, frozen=True, kw_only=True):
    action: Action
    content: Mapping[str, Any] | None = None


class ElicitationHandler(Protocol):
    """Answers to the questions of servers."""

    async def ask(self, question: ServerQuestion) -> ServerAnswer: ...


class PendingQuestions:
    """Open questions of a server."""

    def __init__(self, answers: ElicitationHandler) -> None:
        self._answers = answers
        self._tasks: set[asyncio.Future[ServerAnswer]] = set()

    @property
    def open(self) -> bool:
        return bool(self._tasks)

    def answered(self) -> "asyncio.Future[Any]":
        return asyncio.gather(*self._tasks, return_exceptions=True)

    def withdraw(self) -> None:
        """Withdraw the questions of a call that was given up."""
        for task in self._tasks:
            task.cancel()

    async def ask(self, question: ServerQuestion) -> ServerAnswer:
        task = asyncio.ensure_future(self._answers.ask(question))
        self._tasks.add(task)
        try:
            await asyncio.wait({task})
        finally:
            self._tasks.discard(task)
            task.cancel()
        if task.cancelled() or task.exception() is not None:
            return ServerAnswer(action="cancel")
        return task.result()


_ACTIONS: Mapping[str, Action] = {"accept": "accept", "decline": "decline", "cancel": "cancel"}


class Elicitation:
    """Answers for one session. Without `person` a question that hooks do not answer is cancelled."""

    def __init__(self, hooks: HookDispatcher, user: UserPort, person: ElicitationHandler | None) -> None:
        self._hooks = hooks
        self._user = user
        self._person = person

    async def ask(self, question: ServerQuestion) -> ServerAnswer:
        asked = await self._hooks.dispatch(
            e.ELICITATION,
            p.ElicitationRequest(
                mcp_server_name=question.server,
                message=question.message,
                mode=question.mode,
                url=question.url,
                elicitation_id=question.elicitation_id,
                requested_schema=question.schema if question.mode == "form" else None,
            ),
        )
        answer = self._hooks_answer(asked, question)
        if answer is None:
            answer = await self._ask_person(question)
        return await self._after_hooks(question, answer)

    async def _ask_person(self, question: ServerQuestion) -> ServerAnswer:
        if self._person is None:
            return ServerAnswer(action="cancel")
        async with self._user.dialog:
            kind = "elicitation_url_dialog" if question.mode == "url" else "elicitation_dialog"
            message = f"The MCP server {question.server} asks: {question.message}"
            await self._hooks.dispatch(e.NOTIFICATION, p.Notice(message=message, notification_type=kind))
            await self._hooks.dispatch(
                e.USER_INPUT_WAITING, p.InputAwaited(reason="question", message=message)
            )
            return await self._person.ask(question)

    async def _after_hooks(self, question: ServerQuestion, answer: ServerAnswer) -> ServerAnswer:
        seen = await self._hooks.dispatch(
            e.ELICITATION_RESULT,
            p.QuestionAnswer(
                mcp_server_name=question.server,
                action=answer.action,
                mode=question.mode,
                content=answer.content,
                elicitation_id=question.elicitation_id,
            ),
        )
        final = self._hooks_answer(seen, question) or answer
        said = f'Elicitation response for server "{question.server}": {final.action}'
        await self._hooks.dispatch(
            e.NOTIFICATION, p.Notice(message=said, notification_type="elicitation_response")
        )
        return final

    def _hooks_answer(self, outcome: Outcome, question: ServerQuestion) -> ServerAnswer | None:
        """Return the hooks' answer; a block declines. None when they leave the answer to the user."""
        if outcome.blocked:
            return ServerAnswer(action="decline")
        given: Any = outcome.answer
        if not isinstance(given, Mapping):
            return None
        fields = cast("Mapping[str, Any]", given)
        action = _ACTIONS.get(str(fields.get("action", "accept")))
        content: Any = fields.get("content")
        problem = _misfit(action, content, question)
        if problem is not None or action is None:
            self._user.warn(f"a hook's answer to the MCP server {question.server} is not used: {problem}")
            return None
        return ServerAnswer(action=action, content=content if action == "accept" else None)


def _misfit(action: Action | None, content: Any, question: ServerQuestion) -> str | None:
    if action is None:
        return f"its action is none of {', '.join(_ACTIONS)}"
    if action != "accept" or question.mode == "url":
        return None
    if content is not None and not isinstance(content, Mapping):
        return "its content is not an object"
    return arguments_problem(question.schema, cast("Mapping[str, Any]", content or {}))
