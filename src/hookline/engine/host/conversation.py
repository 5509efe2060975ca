"""Fire the events of a conversation for a host: `Session.start`, `prompt`, `model`, `answer`, `end`, `failed`,
`cancelled`, `close`.

Each method fires its events in the agent's order and returns one record that says what to do next, so a host
need not interpret outcomes. Text that hooks want in one request only is kept here until `model` takes it.
`Session.tool` is in `hookline.engine.host.tool`.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from hookline.engine.host.results import (
    AnswerResult,
    EndResult,
    ModelRequestResult,
    Part,
    PromptResult,
    Start,
    text_of_part,
)
from hookline.engine.host.state import is_transient
from hookline.engine.host.tool_call import stop_of
from hookline.engine.memory import host_of
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.messages import (
    AnyMessage,
    HostMessage,
    Usage,
    shown_messages,
    tool_uses,
    totals_of,
    usage_of,
)
from hookline.model.outcome import ContextItem, Message, Outcome

if TYPE_CHECKING:
    from hookline.engine.session import Session

#: The turn ends when hooks without their own limit block the same request this often.
_MOST_BLOCKS = 10
CLOSED = "the session is closed"
#: Sent to the model when a Stop hook sends it back without a reason.
SENT_BACK = "A check rejected the previous answer. Look at it again, fix what is wrong, and answer again."


async def start(session: "Session", source: str, model: str | None) -> Start:
    state = host_of(session)
    state.started = True
    if session.parent is not None:
        return Start()
    said = await session.dispatch(
        e.SESSION_START,
        p.SessionStarted(source=source, model=model, agent_type=session.info.agent_type),
    )
    return Start(
        context=state.keep(said.context_items),
        notices=said.messages,
        first_message=said.initial_user_message,
        watch_paths=said.watch_paths,
    )


async def prompt(session: "Session", given: str | Sequence[Part]) -> PromptResult:
    state, (text, parts) = host_of(session), _read_prompt(given)
    if session.closed:
        return PromptResult(text=text, given=parts, blocked=CLOSED)
    if not state.started:
        state.begun = await start(session, "startup", session.info.model)
    if state.is_open:  # the host gave the last turn up
        await cancelled(session)
    state.begin_turn()
    session.update(turn=state.turn)
    if session.parent is not None:
        session.update(prompt=text)
        said = await session.dispatch(e.SUBAGENT_START, _subagent(session, text))
        return PromptResult(
            text=text, given=parts, context=state.keep(said.context_items), notices=said.messages
        )
    payload = p.Prompt(prompt=text)
    said = await session.dispatch(e.USER_PROMPT_SUBMIT, payload)
    effective = said.effective(payload)
    text, context, notices = str(effective.prompt), said.context_items, said.messages
    blocked = _blocked(said, "a hook blocked the prompt")
    state.over = blocked is not None  # its turn does not begin
    if blocked is None:
        session.update(prompt=text)
        begins = p.TurnBegun(turn=state.turn, prompt=text, totals=session.info.totals)
        turn = await session.dispatch(e.TURN_START, begins)
        blocked = _blocked(turn, "a TurnStart hook ended the turn")
        context, notices = (*context, *turn.context_items), (*notices, *turn.messages)
    if blocked is not None:
        if not state.over:
            await _settle(session, "blocked")
        state.stop(blocked)
        return PromptResult(text=text, given=parts, blocked=blocked, notices=notices)
    # What SessionStart hooks gave waits for the first prompt that is sent.
    begun, state.begun = state.begun, Start()
    return PromptResult(
        text=text,
        given=parts,
        rewritten=effective is not payload,
        context=(*begun.context, *state.keep(context)),
        first_message=begun.first_message,
        notices=(*begun.notices, *notices),
    )


def _read_prompt(given: str | Sequence[Part]) -> tuple[str, tuple[Part, ...]]:
    """Return the text that hooks judge, and the parts, if there are several."""
    if isinstance(given, str):
        return given, ()
    parts = cast("Sequence[Any]", given if isinstance(given, list | tuple) else ())
    if not parts or not all(isinstance(part, str | Mapping) for part in parts):
        raise TypeError(f"a prompt is a text, or a list of texts and objects, not {given!r:.100}")
    texts = [text for part in parts if (text := text_of_part(part)) is not None]
    return "\n".join(texts), tuple(parts)


def _read_answer(given: Any, where: str) -> str:
    """Return an answer as text. Models that only call tools give None; anything else is a mistake."""
    if given is not None and not isinstance(given, str):
        raise TypeError(f"session.{where}() takes the text of an answer, not {given!r:.100}")
    return given or ""


def _subagent(session: "Session", text: str) -> p.SubagentBegun:
    info = session.info
    return p.SubagentBegun(agent_id=info.agent_id or "", agent_type=info.agent_type or "", prompt=text)


def _blocked(said: Outcome, default: str) -> str | None:
    if said.blocked:
        return said.reason or default
    return stop_of(said)


async def model(
    session: "Session", messages: Sequence[Mapping[str, Any]], model_name: str | None
) -> ModelRequestResult:
    """Run PreModelCall. While hooks hold the request back they run again, up to their limit, as the agent does."""
    given: Any = messages
    if not isinstance(given, Sequence) or isinstance(given, str) or not all(map(_is_message, messages)):
        raise TypeError(f"session.model() takes a list of messages, each an object, not {messages!r:.100}")
    state = host_of(session)
    state.asked = True
    held = CLOSED if session.closed else state.stopped
    if held is not None:
        return ModelRequestResult(messages=tuple(messages), blocked=held)
    state.iteration += 1
    state.over = False
    late, notices = _late(session)
    kept = list(state.keep(late))
    waiting, state.transient = state.transient, [item for item in state.transient if item.lifetime == "turn"]
    payload = p.ModelRequest(
        model=model_name or session.info.model,
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
        new = [item for item in said.context_items if is_transient(item)]
        state.transient += [item for item in new if item.lifetime == "turn"]
        effective = said.effective(payload)
        rewritten = effective is not payload
        return ModelRequestResult(
            messages=tuple(map(_host_form, effective.messages)) if rewritten else tuple(messages),
            rewritten=rewritten,
            context=(*kept, *(item for item in said.context_items if not is_transient(item))),
            transient=tuple(item.text for item in (*waiting, *new)),
            notices=tuple(notices),
        )
    return ModelRequestResult(messages=tuple(messages), blocked=state.stop(blocked), notices=tuple(notices))


def _is_message(given: Any) -> bool:
    return type(given) is dict or isinstance(given, Mapping | AnyMessage)


def _host_form(message: AnyMessage) -> Mapping[str, Any]:
    """Return a message as its host gave it, or in the usual form if a hook made it."""
    return (
        dict(message) if isinstance(message, HostMessage) else {"role": message.role, "content": message.text}
    )


def _ends_turn(said: Outcome) -> bool:
    vote = said.deciding_vote
    return vote is not None and vote.means == "end_turn"


def _late(session: "Session") -> tuple[list[ContextItem], list[Message]]:
    """Return what background hooks said since the last request. The model is awake, so a wake is only text for it."""
    context: list[ContextItem] = []
    notices: list[Message] = []
    for late in session.inbox.take_all():
        if late.kind == "message":
            notices.append(Message(late.text, late.hook))
        elif late.kind != "watch":
            # Its tool result was sent long ago, so the text becomes a separate message.
            placement = late.placement if late.placement not in {"tool_result", ""} else "conversation"
            context.append(ContextItem(late.text, placement, late.lifetime, late.hook))
    return context, notices


async def answer(
    session: "Session",
    given: str | None,
    tool_calls: Sequence[Mapping[str, Any]],
    usage: Mapping[str, Any],
) -> AnswerResult:
    state, text = host_of(session), _read_answer(given, "answer")
    used = usage_of(usage)
    if used is not None:
        state.used += used
        _spend(session, used)
    payload = p.ModelResponse(
        model=session.info.model,
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
    """Add to the totals of a conversation and of its parents."""
    owner: Session | None = session
    while owner is not None:
        before = owner.info.totals
        owner.update(totals=totals_of(used if before is None else before + used))
        owner = owner.parent


async def end(session: "Session", given: str | None) -> EndResult:
    """Run the Stop hooks of a turn. A turn that a hook stopped runs none: no hook may revive it."""
    state, text = host_of(session), _read_answer(given, "end")
    if state.over:  # its prompt was blocked, or it failed
        return EndResult(stop=state.stopped)
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


def _gate_payload(session: "Session", event: e.EventSpec[Any], text: str, status: str = "completed") -> Any:
    state, info = host_of(session), session.info
    if event is e.SUBAGENT_STOP:
        return p.SubagentEnded(
            agent_id=info.agent_id or "",
            agent_type=info.agent_type or "",
            last_assistant_message=text,
            stop_hook_active=state.held,
            status=status,
        )
    return p.TurnAnswer(last_assistant_message=text, turn=max(state.turn, 1), stop_hook_active=state.held)


async def _settle(
    session: "Session", status: str, text: str = "", error: str | None = None
) -> tuple[Message, ...]:
    state = host_of(session)
    lost = () if state.asked else tuple(_undelivered(item) for item in state.transient)
    state.transient.clear()
    state.held, state.stopped, tools, state.tool_count = False, None, state.tool_count, 0
    state.over = state.turn > 0
    if session.parent is None:
        await session.dispatch(
            e.TURN_SETTLED,
            p.TurnSummary(
                status=status,
                turn=max(state.turn, 1),
                last_assistant_message=text,
                error=error,
                duration_ms=state.duration_ms,
                tool_count=tools,
                usage=state.used if state.used != Usage() else None,
                totals=session.info.totals,
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
    if kind not in e.ERROR_TYPES:
        raise ValueError(f"{kind!r} is not a kind of failure: choose one of {', '.join(e.ERROR_TYPES)}")
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    if host_of(session).over:
        return
    if session.parent is None:
        await session.dispatch(e.ERROR, p.RunError(message=text, error_type=kind))
        await session.dispatch(e.STOP_FAILURE, p.TurnFailure(error=kind, error_details=text))
    else:
        await session.dispatch(e.SUBAGENT_STOP, _gate_payload(session, e.SUBAGENT_STOP, text, "failed"))
    await _settle(session, "failed", error=text)


async def cancelled(session: "Session") -> None:
    """Settle a turn that its user ended. It is over, so no Stop hook may send the model back."""
    if host_of(session).over:
        return
    if session.parent is not None:
        await session.dispatch(e.SUBAGENT_STOP, _gate_payload(session, e.SUBAGENT_STOP, "", "interrupted"))
    await _settle(session, "interrupted")


def _ended(session: "Session") -> dict[str, Any]:
    totals = session.info.totals
    cost = totals.cost_usd if totals is not None else None
    return {"turns": host_of(session).turn, "totals": totals, "cost_usd": cost}


async def close(session: "Session", reason: str) -> None:
    if host_of(session).is_open:
        await cancelled(session)
    if session.parent is None and host_of(session).started:
        await session.dispatch(e.SESSION_END, p.SessionEnded(reason=reason, **_ended(session)))
