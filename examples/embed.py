"""Add hooks to your own agent: one conversation, with every event of it."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

from hookline import Engine, Session
from hookline.host import ApprovalRequest

Message = Mapping[str, Any]
AskModel = Callable[[Sequence[Message]], Awaitable[Message]]


def run_shell(arguments: dict[str, Any]) -> str:
    return f"(output of {arguments['command']})"


TOOLS = {"run_shell": run_shell}


def approve(question: ApprovalRequest) -> bool:
    return input(f"{question.tool_name} {question.tool_input}: {question.reason} [y/N] ") == "y"


async def converse(engine: Engine, prompts: Sequence[str], ask_model: AskModel) -> list[str]:
    messages: list[Message] = []
    answers: list[str] = []
    async with engine.session("conversation 1", cwd=os.getcwd(), approve=approve) as session:
        for text in prompts:
            prompt = await session.prompt(text)
            if prompt.blocked is not None:
                answers.append(prompt.blocked)  # for the user: nothing of it is sent
                continue
            messages += map(user, prompt.texts)
            answers.append(await turn(session, messages, ask_model))
    return answers


async def turn(session: Session, messages: list[Message], ask_model: AskModel) -> str:
    while True:
        request = await session.model(messages)
        if request.blocked is not None:
            return (await session.end("")).stop or request.blocked
        messages[:] = [*request.messages, *(user(item.text) for item in request.context)]
        reply = await ask_model([*messages, *(user(text) for text in request.transient)])
        calls = reply.get("tool_calls", ())
        answer = await session.answer(reply["content"], calls)
        messages.append({**reply, "content": answer.text})
        if answer.stop is None and calls:
            done = await asyncio.gather(
                *(session.tool(c["name"], c["input"], run=TOOLS[c["name"]], id=c["id"]) for c in calls)
            )
            messages += [{"role": "tool", "id": d.call.tool_use_id, "content": d.text} for d in done]
            messages += [user(item.text) for d in done for item in d.context]
            if not any(d.stop for d in done):
                continue
        end = await session.end(answer.text)
        if end.send_back is None:
            return end.stop or answer.text
        messages += map(user, end.texts)


def user(text: str) -> Message:
    return {"role": "user", "content": text}


async def main() -> None:
    replies: Iterator[Message] = iter(
        [
            {"role": "assistant", "content": "Let me look.", "tool_calls": [
                {"id": "1", "name": "run_shell", "input": {"command": "ls"}}]},
            {"role": "assistant", "content": "There are two files."},
        ]
    )  # fmt: skip

    async def ask_model(_messages: Sequence[Message]) -> Message:
        return next(replies)

    async with Engine() as engine:
        for diagnostic in engine.load(os.getcwd()).diagnostics:  # .hookline/hooks.toml and the user's own
            print(diagnostic)
        for answer in await converse(engine, ["what is here?"], ask_model):
            print(answer)


if __name__ == "__main__":
    asyncio.run(main())
