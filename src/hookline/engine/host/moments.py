"""The moments of a conversation, as a host calls them: `Session.start`, `prompt`, `model`, `answer`, `end`, `close`.

Each of them fires the events of its moment in the agent's order and returns one record that says what to do next, so
that a host need not know what an outcome means. Text that hooks want in one request only is kept here until `model`
asks for it. `Session.tool` is in `hookline.engine.host.tool`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hookline.engine.tool_call import stop_of
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.messages import AnyMessage, HostMessage, shown_messages, tool_uses
from hookline.model.outcome import ContextItem, Message, Outcome
from hookline.model.usage import Usage, totals_of, usage_of

if TYPE_CHECKING:
    from hookline.engine.session import Session

#: The turn ends when hooks without a limit of their own block the same request this often.
_MOST_BLOCKS = 10
CLOSED = "the session is closed"
#: What the model is sent when a gate sends it back and gives no reason.
SENT_BACK = "A check rejected the previous answer. Look at it again, fix what is wrong, and answer again."


class Start(Struct, frozen=True, kw_only=True):
    """What SessionStart hooks want.

    ::

        begun = await session.start("resume")
        system_prompt += "".join(item.text for item in begun.context)
    """

    context: tuple[ContextItem, ...] = ()
    #: For the user.
    notices: tuple[Message, ...] = ()
    #: A first message to send in the user's name.
    first_message: str | None = None
    watch_paths: tuple[str, ...] = ()


class PromptResult(Struct, frozen=True, kw_only=True):
    """What becomes of a prompt: `text` goes to the model, unless it is `blocked`.

    ::

        prompt = await session.prompt(text)
        if prompt.blocked is not None:
            print(prompt.blocked)
    """

    text: str
    #: Hooks replaced the text.
    rewritten: bool = False
    #: Why it must not be sent.
    blocked: str | None = None
    context: tuple[ContextItem, ...] = ()
    #: A message that SessionStart hooks want sent before this one, in the user's name.
    first_message: str | None = None
    #: For the user.
    notices: tuple[Message, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """All that is sent, in order: the first message, the text, what hooks add."""
        first = (self.first_message,) if self.first_message else ()
        return (*first, self.text, *(item.text for item in self.context))

    @property
    def changed(self) -> bool:
        """Something else is sent than what the user said."""
        return self.rewritten or len(self.texts) > 1


class ModelRequestResult(Struct, frozen=True, kw_only=True):
    """What becomes of a request: send `messages`, with `transient` for this once, unless it is `blocked`.

    ::

        request = await session.model(messages)
        if request.blocked is None:
            reply = await ask_model(request.messages, extra=request.transient)
    """

    messages: tuple[Mapping[str, Any], ...]
    #: Hooks replaced the messages.
    rewritten: bool = False
    #: Why it must not be sent: hooks ended the turn, or held the request back each time they were asked.
    blocked: str | None = None
    #: Text that stays in the conversation from now on.
    context: tuple[ContextItem, ...] = ()
    #: Text for this request only.
    transient: tuple[str, ...] = ()
    #: For the user.
    notices: tuple[Message, ...] = ()


class AnswerResult(Struct, frozen=True, kw_only=True):
    """What becomes of the model's answer: `text` is stored and shown.

    ::

        answer = await session.answer(reply.text, reply.tool_calls)
        print(answer.text)
    """

    text: str
    rewritten: bool = False
    #: Why the run ends.
    stop: str | None = None
    #: For the user.
    notices: tuple[Message, ...] = ()


class EndResult(Struct, frozen=True, kw_only=True):
    """Whether the turn is over. If not, send `send_back` to the model and let it go on.

    ::

        end = await session.end(answer.text)
        if end.send_back is not None:
            messages.append({"role": "user", "content": end.send_back})
    """

    send_back: str | None = None
    #: Why the turn ended, if hooks ended it.
    stop: str | None = None
    context: tuple[ContextItem, ...] = ()
    #: For the user.
    notices: tuple[Message, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """All that is sent to the model if it goes on, in order; nothing if the turn is over."""
        return () if self.send_back is None else (*(item.text for item in self.context), self.send_back)


class HostState:
    """What a session remembers between the calls of its host."""

    __slots__ = (
        "asked", "begun", "dialog", "held", "iteration", "started", "stopped", "transient", "turn", "used",
    )  # fmt: skip

    def __init__(self) -> None:
        self.started = False
        #: What SessionStart hooks gave, until a prompt takes it along.
        self.begun = Start()
        self.turn = 0
        self.iteration = 0
        #: `model` is called by this host, so text for one request can wait for it.
        self.asked = False
        #: A Stop hook has sent the model back in this turn.
        self.held = False
        #: Why a hook stopped the turn.
        self.stopped: str | None = None
        #: What the turn has used so far, as far as its host says it.
        self.used = Usage()
        self.transient: list[ContextItem] = []
        #: Held while a question is open. Sub-agents use that of their root: there is one user.
        self.dialog: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None

    def lock(self) -> asyncio.Lock:
        loop = asyncio.get_running_loop()
        if self.dialog is None or self.dialog[0] is not loop:  # an engine may serve one loop after another
            self.dialog = (loop, asyncio.Lock())
        return self.dialog[1]

    def stop(self, why: str | None) -> str | None:
        self.stopped = self.stopped or why
        return why

    def keep(self, items: Sequence[ContextItem]) -> tuple[ContextItem, ...]:
        """Text that stays in the conversation; the other waits for the next request."""
        self.transient += [item for item in items if _is_transient(item)]
        return tuple(item for item in items if not _is_transient(item))


def _is_transient(item: ContextItem) -> bool:
    return item.placement == "transient" or item.lives in {"call", "turn"}


async def start(session: "Session", source: str, model: str | None) -> Start:
    state = session.host
    state.started = True
    if session.parent is not None:
        return Start()
    said = await session.dispatch(
        e.SESSION_START,
        p.SessionStarted(source=source, model=model, agent_type=session.scene.agent_type),
    )
    return Start(
        context=state.keep(said.context_items),
        notices=said.messages,
        first_message=said.initial_user_message,
        watch_paths=said.watch_paths,
    )


async def prompt(session: "Session", text: str) -> PromptResult:
    state = session.host
    if session.closed:
        return PromptResult(text=text, blocked=CLOSED)
    if not state.started:
        state.begun = await start(session, "startup", session.scene.model)
    state.turn += 1
    state.iteration, state.held, state.stopped = 0, False, None
    session.update(turn=state.turn)
    if session.parent is not None:
        session.update(prompt=text)
        said = await session.dispatch(e.SUBAGENT_START, _subagent(session, text))
        return PromptResult(text=text, context=state.keep(said.context_items), notices=said.messages)
    payload = p.Prompt(prompt=text)
    said = await session.dispatch(e.USER_PROMPT_SUBMIT, payload)
    effective = said.effective(payload)
    text, context, notices = str(effective.prompt), said.context_items, said.messages
    blocked = _blocked(said, "a hook blocked the prompt")
    if blocked is None:
        session.update(prompt=text)
        begins = p.TurnBegun(turn=state.turn, prompt=text, totals=session.scene.totals)
        turn = await session.dispatch(e.TURN_START, begins)
        blocked = _blocked(turn, "a TurnStart hook ended the turn")
        context, notices = (*context, *turn.context_items), (*notices, *turn.messages)
    if blocked is not None:
        state.stop(blocked)
        return PromptResult(text=text, blocked=blocked, notices=notices)
    # What SessionStart hooks gave waits for the first prompt that is sent.
    begun, state.begun = state.begun, Start()
    return PromptResult(
        text=text,
        rewritten=effective is not payload,
        context=(*begun.context, *state.keep(context)),
        first_message=begun.first_message,
        notices=(*begun.notices, *notices),
    )


def _subagent(session: "Session", text: str) -> p.SubagentBegun:
    scene = session.scene
    return p.SubagentBegun(agent_id=scene.agent_id or "", agent_type=scene.agent_type or "", prompt=text)


def _blocked(said: Outcome, default: str) -> str | None:
    if said.blocked:
        return said.reason or default
    return stop_of(said)


async def model(
    session: "Session", messages: Sequence[Mapping[str, Any]], model_name: str | None
) -> ModelRequestResult:
    """While hooks hold the request back they are asked again, up to their limit, as the agent does."""
    state = session.host
    state.asked = True
    held = CLOSED if session.closed else state.stopped
    if held is not None:
        return ModelRequestResult(messages=tuple(messages), blocked=held)
    state.iteration += 1
    late, notices = _late(session)
    kept = list(state.keep(late))
    waiting, state.transient = state.transient, [item for item in state.transient if item.lives == "turn"]
    payload = p.ModelRequest(
        model=model_name or session.scene.model,
        messages=shown_messages(messages),
        transient=tuple(item.text for item in waiting),
        iteration=state.iteration,
        turn=state.turn,
    )
    blocked = "hooks held the request back again and again"
    for _ in range(_MOST_BLOCKS):
        said = await session.dispatch(e.PRE_MODEL_CALL, payload)
        notices += said.messages
        if said.stop or (said.blocked and _ends_turn(said)):
            reason = said.reason if said.blocked else None
            blocked = reason or stop_of(said) or "a PreModelCall hook ended the turn"
            break
        if said.blocked:
            blocked = said.reason or blocked
            continue
        new = [item for item in said.context_items if _is_transient(item)]
        state.transient += [item for item in new if item.lives == "turn"]
        effective = said.effective(payload)
        rewritten = effective is not payload
        return ModelRequestResult(
            messages=tuple(map(_host_form, effective.messages)) if rewritten else tuple(messages),
            rewritten=rewritten,
            context=(*kept, *(item for item in said.context_items if not _is_transient(item))),
            transient=tuple(item.text for item in (*waiting, *new)),
            notices=tuple(notices),
        )
    return ModelRequestResult(messages=tuple(messages), blocked=state.stop(blocked), notices=tuple(notices))


def _host_form(message: AnyMessage) -> Mapping[str, Any]:
    """As its host gave it, or in the usual form if it is a hook's."""
    return (
        dict(message) if isinstance(message, HostMessage) else {"role": message.role, "content": message.text}
    )


def _ends_turn(said: Outcome) -> bool:
    vote = said.deciding_vote
    return vote is not None and vote.means == "end_turn"


def _late(session: "Session") -> tuple[list[ContextItem], list[Message]]:
    """What background hooks have said since the last request. The model is awake, so a wake is only text for it."""
    context: list[ContextItem] = []
    notices: list[Message] = []
    for late in session.inbox.take_all():
        if late.kind == "message":
            notices.append(Message(late.text, late.hook))
        elif late.kind != "watch":
            # Its tool result was sent long ago, so the text becomes a message of its own.
            placement = late.placement if late.placement not in {"tool_result", ""} else "conversation"
            context.append(ContextItem(late.text, placement, late.lives, late.hook))
    return context, notices


async def answer(
    session: "Session", text: str, tool_calls: Sequence[Mapping[str, Any]], usage: Mapping[str, Any]
) -> AnswerResult:
    state = session.host
    used = usage_of(usage)
    if used is not None:
        state.used += used
        _spend(session, used)
    payload = p.ModelResponse(
        model=session.scene.model,
        response=text,
        tool_calls=tool_uses(tool_calls),
        usage=used,
        cost_usd=used.cost_usd if used is not None else None,
        iteration=max(state.iteration, 1),
        turn=max(state.turn, 1),
    )
    said = await session.dispatch(e.POST_MODEL_CALL, payload)
    effective = said.effective(payload)
    return AnswerResult(
        text=str(effective.response),
        rewritten=effective is not payload,
        stop=state.stop(stop_of(said)),
        notices=said.messages,
    )


def _spend(session: "Session", used: Usage) -> None:
    """Add to the totals of a conversation, and of those whose sub-agent it is."""
    owner: Session | None = session
    while owner is not None:
        before = owner.scene.totals
        owner.update(totals=totals_of(used if before is None else before + used))
        owner = owner.parent


async def end(session: "Session", text: str) -> EndResult:
    """The gates of a turn. A turn that a hook stopped passes none: no gate may revive it."""
    state = session.host
    context: tuple[ContextItem, ...] = ()
    notices: tuple[Message, ...] = ()
    for event in () if state.stopped is not None else _gates(session):
        said = await session.dispatch(event, _gate_payload(session, event, text))
        context, notices = (*context, *state.keep(said.context_items)), (*notices, *said.messages)
        if state.stop(stop_of(said)) is not None:
            break
        if said.blocked:
            state.held = state.held or event is not e.TURN_END
            return EndResult(send_back=said.reason or SENT_BACK, context=context, notices=notices)
    stop = state.stopped
    lost = await _settle(session, "completed" if stop is None else "blocked", text)
    return EndResult(stop=stop, context=context, notices=(*notices, *lost))


def _gates(session: "Session") -> Sequence[e.EventSpec[Any]]:
    return (e.TURN_END, e.STOP) if session.parent is None else (e.SUBAGENT_STOP,)


def _gate_payload(session: "Session", event: e.EventSpec[Any], text: str) -> Any:
    state, scene = session.host, session.scene
    if event is e.SUBAGENT_STOP:
        return p.SubagentEnded(
            agent_id=scene.agent_id or "",
            agent_type=scene.agent_type or "",
            last_assistant_message=text,
            stop_hook_active=state.held,
        )
    return p.TurnAnswer(last_assistant_message=text, turn=max(state.turn, 1), stop_hook_active=state.held)


async def _settle(
    session: "Session", status: str, text: str = "", error: str | None = None
) -> tuple[Message, ...]:
    state = session.host
    lost = () if state.asked else tuple(_undelivered(item) for item in state.transient)
    state.transient.clear()
    state.held, state.stopped = False, None
    if session.parent is None:
        await session.dispatch(
            e.TURN_SETTLED,
            p.TurnSummary(
                status=status,
                turn=max(state.turn, 1),
                last_assistant_message=text,
                error=error,
                usage=state.used if state.used != Usage() else None,
                totals=session.scene.totals,
            ),
        )
    state.used = Usage()
    return lost


def _undelivered(item: ContextItem) -> Message:
    return Message(
        f"text of the hook {item.hook or 'without a name'} is for one request only and was not sent: "
        "call session.model() before each request",
        item.hook,
    )


async def failed(session: "Session", error: BaseException | str, kind: str) -> None:
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    if session.parent is None:
        await session.dispatch(e.ERROR, p.RunError(message=text, error_type=kind))
        await session.dispatch(e.STOP_FAILURE, p.TurnFailure(error=kind, error_details=text))
    await _settle(session, "failed", error=text)


def _ended(session: "Session") -> dict[str, Any]:
    totals = session.scene.totals
    cost = totals.cost_usd if totals is not None else None
    return {"turns": session.host.turn, "totals": totals, "cost_usd": cost}


async def close(session: "Session", reason: str) -> None:
    if session.parent is None and session.host.started:
        await session.dispatch(e.SESSION_END, p.SessionEnded(reason=reason, **_ended(session)))
