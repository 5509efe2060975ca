"""A server with an agent for many tenants: streaming, and approvals that a second request answers.

    uvicorn app:app

It keeps nothing in memory between two requests. Messages, the state of hooks and calls that wait for an approval are in
one SQLite file, so that any process of the server may answer any request.
"""

import json
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import Any

import model
import store
from fastapi import FastAPI, Header, HTTPException
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from hookline import Engine, Outcome, Session, ask, deny, rewrite
from hookline.events import POST_MODEL_CALL, PRE_TOOL_USE, ModelResponse, ToolCall
from hookline.host import LATER, Approval, ApprovalRequest, CallResult, PendingCall

#: Each tenant has its own hooks, in an engine of its own: no session of one can meet a hook of another.
TENANTS = ("acme", "globex")


def answer_later(_question: ApprovalRequest) -> Any:
    return LATER


def make_engine(tenant: str) -> Engine:
    engine = Engine(approve=answer_later)

    @engine.on(PRE_TOOL_USE, "pay", quick=True)
    def ask_about_money(call: ToolCall) -> Outcome | None:
        if call.tool_input["amount"] > 1000:
            return deny(f"{tenant} pays at most 1000")
        return ask(f"{tenant} pays {call.tool_input['amount']}") if call.tool_input["amount"] > 10 else None

    if tenant == "acme":

        @engine.on(POST_MODEL_CALL, rewrites=True, on_failure="closed", quick=True)
        def hide_account(answer: ModelResponse) -> Outcome | None:
            return rewrite(answer.response.replace("4711", "****")) if "4711" in answer.response else None

    return engine


ENGINES: dict[str, Engine] = {}


@asynccontextmanager
async def lifespan(_app: FastAPI) -> AsyncGenerator[None]:
    ENGINES.update({tenant: make_engine(tenant) for tenant in TENANTS})
    yield
    for engine in ENGINES.values():
        await engine.close()


app = FastAPI(lifespan=lifespan)


class Prompt(BaseModel):
    text: str


class Answer(BaseModel):
    allow: bool
    amount: int | None = None


def pay(arguments: dict[str, Any]) -> str:
    return f"paid {arguments['amount']}"


def engine_of(tenant: str) -> Engine:
    if tenant not in ENGINES:
        raise HTTPException(404, "no such tenant")
    return ENGINES[tenant]


@app.post("/conversations/{name}")
async def say(name: str, prompt: Prompt, tenant: str = Header()) -> StreamingResponse:
    """Answer a prompt: server-sent events with `text`, and `pending` for a call that waits for an approval."""
    return StreamingResponse(
        answered(engine_of(tenant), f"{tenant}/{name}", prompt.text), media_type="text/event-stream"
    )


async def answered(engine: Engine, key: str, text: str) -> AsyncIterator[str]:
    with closing(store.open_store(os.environ["STORE"])) as database:
        conversation = database.conversation(key)
        session = engine.session(key, state=conversation.hooks)
        try:
            prompt = await session.prompt(text)
            if prompt.blocked is not None:
                yield event(text=prompt.blocked)
                return
            conversation.say("user", *prompt.texts)
            async for each in turn(session, conversation, database):
                yield each
        finally:
            conversation.hooks = session.state()
            database.keep(conversation)


async def turn(
    session: Session, conversation: store.Conversation, database: store.Store
) -> AsyncIterator[str]:
    """Let the model answer, and call tools, until it is done or a call must wait."""
    while True:
        request = await session.model(conversation.messages)
        if request.blocked is not None:
            yield event(text=(await session.end("")).stop or request.blocked)
            return
        conversation.messages = [dict(message) for message in request.messages]
        conversation.say("user", *(item.text for item in request.context))
        reply = model.Reply(
            [*conversation.messages, *({"role": "user", "content": t} for t in request.transient)]
        )
        shown = session.stream(reply.pieces(), tool_calls=lambda reply=reply: reply.calls)
        async for text in shown:
            yield event(text=text)
        conversation.say("assistant", shown.answer.text)
        for call in reply.calls:
            done = await session.tool(call["name"], call["input"], run=pay, id=call["id"])
            if done.pending is not None:
                database.wait(conversation.key, done.pending.id, done.pending.to_json())
                yield event(pending=done.pending.id, question=done.pending.reason)
                return
            keep_result(conversation, done)
        if reply.calls and shown.answer.stop is None:
            continue
        end = await session.end(shown.answer.text)
        if end.send_back is None:
            return
        conversation.say("user", *end.texts)


def keep_result(conversation: store.Conversation, done: CallResult) -> None:
    conversation.say("tool", done.text)
    conversation.say("user", *(item.text for item in done.context))


@app.post("/approvals/{pending_id}")
async def approve(pending_id: str, answer: Answer, tenant: str = Header()) -> StreamingResponse:
    """Continue a call that waits, and the turn that it belongs to."""
    engine = engine_of(tenant)
    with closing(store.open_store(os.environ["STORE"])) as database:
        taken = database.take(pending_id, f"{tenant}/")  # it is gone now: nobody can answer it twice
    if taken is None:
        raise HTTPException(404, "no such call waits")
    return StreamingResponse(resumed(engine, *taken, answer), media_type="text/event-stream")


async def resumed(engine: Engine, key: str, record: str, answer: Answer) -> AsyncIterator[str]:
    pending = PendingCall.from_json(record)
    edited = None if answer.amount is None else {**pending.tool_input, "amount": answer.amount}
    with closing(store.open_store(os.environ["STORE"])) as database:
        conversation = database.conversation(key)
        session = engine.session(key, state=conversation.hooks)
        try:
            done = await session.resume(pending, Approval(allow=answer.allow, arguments=edited), run=pay)
            keep_result(conversation, done)
            async for each in turn(session, conversation, database):
                yield each
        finally:
            conversation.hooks = session.state()
            database.keep(conversation)


def event(**fields: str) -> str:
    return f"data: {json.dumps(fields)}\n\n"
