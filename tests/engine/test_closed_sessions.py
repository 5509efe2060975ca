"""A closed session refuses tools, prompts and requests; so does one whose engine or parent is closed."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from hookline import Engine, ask, deny, rewrite
from hookline.engine.host.bridge import Blocking
from hookline.engine.session import Session
from hookline.events import (
    PERMISSION_REQUEST,
    POST_MODEL_CALL,
    POST_TOOL_USE,
    PRE_MODEL_CALL,
    PRE_TOOL_USE,
    SESSION_END,
    ToolCall,
    ToolResult,
)
from hookline.host import ApprovalRequest
from tests.every import every

CLOSED = "the session is closed"


async def _close_itself(engine: Engine, _parent: Session, session: Session) -> None:
    del engine
    await session.close()


async def _close_parent(engine: Engine, parent: Session, _session: Session) -> None:
    del engine
    await parent.close()


async def _close_engine(engine: Engine, _parent: Session, _session: Session) -> None:
    await engine.close()


#: How the session is closed, and whether it is that of a subagent.
WAYS = (
    (_close_itself, False), (_close_itself, True), (_close_parent, True), (_close_engine, False), (_close_engine, True),
)  # fmt: skip


async def _tool(session: Session, ran: list[Any]) -> str | None:
    return (await session.tool("t", {}, run=ran.append)).refused


async def _open_tool(session: Session, _ran: list[Any]) -> str | None:
    call = await session.open_tool("t", {})
    return call.refused.refused if call.refused is not None else None


async def _ask(session: Session, _ran: list[Any]) -> str | None:
    call = await session.ask("t", {}, "it pays")
    return call.refused.refused if call.refused is not None else None


async def _prompt(session: Session, _ran: list[Any]) -> str | None:
    return (await session.prompt("go on")).blocked


async def _model(session: Session, _ran: list[Any]) -> str | None:
    return (await session.model([{"role": "user", "content": "hi"}])).blocked


async def _compact(session: Session, ran: list[Any]) -> str | None:
    return (await session.compact(lambda _instructions: str(ran.append("summary")))).blocked


@every("hooked", [False, True])
@every(["close", "is_subagent"], WAYS)
@every("use", [_tool, _open_tool, _ask, _prompt, _model, _compact])
def test_a_closed_session_refuses(
    use: Callable[[Session, list[Any]], Coroutine[Any, Any, str | None]],
    close: Callable[[Engine, Session, Session], Coroutine[Any, Any, None]],
    is_subagent: bool,
    hooked: bool,
) -> None:
    ran: list[Any] = []
    asked: list[Any] = []
    fired: list[Any] = []

    async def play() -> str | None:
        engine = Engine(approve=lambda question: asked.append(question) is None)
        parent = engine.session("s")
        session = engine.session("s", parent) if is_subagent else parent
        if hooked:
            session.add(PRE_TOOL_USE, fired.append)
        await close(engine, parent, session)
        assert session.closed
        assert session.has(PRE_MODEL_CALL)  # who asks first must come by
        return await use(session, ran)

    assert asyncio.run(play()) == CLOSED
    assert (ran, asked, fired) == ([], [], [])


def test_an_open_session_refuses_nothing() -> None:
    async def play() -> list[str | None]:
        session = Engine(approve=lambda _question: True).session("s")
        assert not session.closed
        assert not session.has(PRE_MODEL_CALL)
        return [await use(session, []) for use in (_tool, _open_tool, _ask, _prompt, _model)]

    assert asyncio.run(play()) == [None] * 5


def test_what_a_hook_would_rewrite_is_withheld_once_the_engine_is_closed() -> None:
    async def hide(_payload: Any) -> Any:
        return rewrite("***")

    async def play() -> list[str]:
        engine = Engine()
        engine.add(POST_TOOL_USE, hide, name="hide", rewrites=True)
        engine.add(POST_MODEL_CALL, hide, name="hide", rewrites=True)
        session = engine.session("s")
        await session.prompt("go")
        call = await session.open_tool("t", {})
        await engine.close()
        result = await call.returned("a secret")
        return [result.output, (await session.answer("a secret")).text]

    assert asyncio.run(play()) == ["(withheld: the hook hide gave no answer)"] * 2


def test_a_call_that_had_begun_is_still_judged_by_the_hooks_of_the_session() -> None:
    async def hide(_result: ToolResult) -> Any:
        return rewrite("***")

    async def play() -> str:
        session = Engine().session("s")
        session.add(POST_TOOL_USE, hide, rewrites=True)
        call = await session.open_tool("t", {})
        await session.close()
        return (await call.returned("hunter2")).text

    assert asyncio.run(play()) == "***"


def test_hosts_that_dispatch_themselves_still_meet_the_guards_of_the_session() -> None:
    async def guard(_call: ToolCall) -> Any:
        return deny("no")

    async def play() -> str | None:
        session = Engine().session("s")
        session.add(PRE_TOOL_USE, guard)
        await session.close()
        return (await session.dispatch(PRE_TOOL_USE, ToolCall(tool_name="t", tool_input={}))).reason

    assert asyncio.run(play()) == "no"


def test_a_session_ends_once() -> None:
    ended: list[Any] = []

    async def play() -> None:
        engine = Engine()
        engine.add(SESSION_END, lambda payload: ended.append(payload.reason))
        session = engine.session("s")
        await session.start()
        await session.close("logout")
        await session.close()
        await engine.close()

    asyncio.run(play())
    assert ended == ["logout"]


def test_hosts_without_a_loop_are_refused_too() -> None:
    ran: list[Any] = []
    with Blocking(Engine()) as hooks:
        session = hooks.session("s")
        session.close()
        assert session.tool("t", {}, run=ran.append).refused == CLOSED
        assert session.prompt("go on").blocked == CLOSED
    assert ran == []


@every("close", [_close_itself, _close_parent, _close_engine])
@every("waits", ["PreToolUse", "PermissionRequest", "approve"])
@every("use", [_tool, _open_tool, _ask])
def test_a_call_does_not_run_if_the_session_is_closed_while_it_is_judged(
    use: Callable[[Session, list[Any]], Coroutine[Any, Any, str | None]],
    waits: str,
    close: Callable[[Engine, Session, Session], Coroutine[Any, Any, None]],
) -> None:
    if waits == "PreToolUse" and use is _ask:
        return  # `ask` comes after it
    ran: list[Any] = []

    async def play() -> str | None:
        engine = Engine()
        parent = engine.session("s")
        session = engine.session("s", parent)

        async def closing(*_given: Any) -> None:
            await close(engine, parent, session)

        async def approve(_question: ApprovalRequest) -> bool:
            if waits == "approve":
                await closing()
            return True

        engine.approve = approve
        if waits == "PreToolUse":
            session.add(PRE_TOOL_USE, closing)
        elif waits == "PermissionRequest":
            session.add(PERMISSION_REQUEST, closing)
        session.add(PRE_TOOL_USE, lambda _call: ask("it pays"))
        try:
            return await use(session, ran)
        finally:
            await engine.close()

    said = asyncio.run(play()) or ""
    assert "is closed" in said
    assert ran == []
