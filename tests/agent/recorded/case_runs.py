"""Plays a recorded case of Claude Code in the agent: its settings, its files, the calls its model made."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from hookline import Engine
from hookline.agent.build import AgentHost, AgentOptions, BuiltAgent, build_agent
from hookline.agent.hooks import EventLog, FiredEvent
from hookline.agent.models.port import CompletionRequest, CompletionResponse, Piece
from hookline.agent.ports import Shown, UserPort
from hookline.agent.session.session import PromptTurn
from hookline.extending import standard_handlers
from hookline.handlers.process.pool import Processes
from hookline.model.messages import ToolUse
from tests.agent.mcp import server as mcp_server
from tests.agent.scripted_session import Answers, Seen
from tests.dialects.claude_code.driver import CaseDirectory, is_streaming
from tests.recorded import Case
from tests.waiting import until

_PROMPT = "MAIN-TASK go"
#: The person who ran the recorded client changed its model; here it is a command.
_SWITCH = "/model claude-sonnet-4-5"
_PROMPTS: Mapping[str, Sequence[str]] = {
    "PreModelSwitch": (_PROMPT, _SWITCH, _PROMPT),
    "PostModelSwitch": (_PROMPT, _SWITCH, _PROMPT),
    "PreCompact": (_PROMPT, "/compact"),
}
#: A server that asks as the recorded one did.
_SERVERS = {"mcpServers": {"hk": {"command": sys.executable, "args": [str(mcp_server.__file__)]}}}


class Acted(Struct, kw_only=True):
    """The result of a case in the agent."""

    received: list[PromptTurn]
    fired: list[FiredEvent]
    requests: list[CompletionRequest]
    shown: list[Shown]
    #: Lines the calls of tools left behind.
    effects: list[str]
    log: list[str]

    @property
    def main_requests(self) -> list[CompletionRequest]:
        return [request for request in self.requests if request.agent_type is None]


class RecordedModel:
    """Makes the recorded calls, one a response, then answers; a sub-agent gets an answer at once."""

    def __init__(self, steps: Iterable[Sequence[ToolUse]], beside: str = "") -> None:
        self._steps = iter(steps)
        #: What it says beside a call.
        self._beside = beside
        self.requests: list[CompletionRequest] = []

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Piece]:
        self.requests.append(request)
        if request.agent_type is not None:
            yield CompletionResponse(text="sub done")
            return
        uses = tuple(next(self._steps, ()))
        yield (
            CompletionResponse(text=self._beside, tool_calls=uses)
            if uses
            else CompletionResponse(text="final answer")
        )

    async def close(self) -> None:
        """Nothing is held."""


def steps_of(case: Case) -> list[list[ToolUse]]:
    made = [
        ToolUse(id=call["id"], name=call["name"], input=call["input"])
        for call in case.get("model_tool_calls") or ()
    ]
    if case["id"].endswith("-batch"):
        return [made]
    if case["id"] == "stop-block-always-with-tools":
        # A call and an answer in turns; only the first few of the calls were recorded.
        return [step for number in range(12) for step in ([ToolUse(id=f"t{number}", **_same(made[0]))], [])]
    return [[use] for use in made]


def _beside(case: Case) -> str:
    """Only where hooks were shown it is it known."""
    return case["payloads"][0]["delta"] if case["event"] == "MessageDisplay" else ""


def _same(use: ToolUse) -> dict[str, Any]:
    return {"name": use.name, "input": use.input}


def action(case: Case, root: Path, setenv: Callable[[str, str], None]) -> Acted:
    """`setenv` changes this process for the test alone: hooks and settings are found by the environment."""
    directory = CaseDirectory(case, root, 0)
    for name, _scope, text in directory.files():
        file = Path(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    if "--mcp-config" in case.get("args", ()):
        (directory.project / ".mcp.json").write_text(json.dumps(_SERVERS))
    surroundings = {"HOME": str(directory.home), "HKLOG": str(directory.log), **case.get("env", {})}
    for name, value in surroundings.items():
        setenv(name, value)
    return asyncio.run(_acted(case, directory, surroundings))


async def _acted(case: Case, directory: CaseDirectory, surroundings: Mapping[str, str]) -> Acted:
    processes, log, seen = Processes(), EventLog(), Seen()
    model = RecordedModel([[_here(use, directory) for use in step] for step in steps_of(case)], _beside(case))
    engine = Engine(handlers=standard_handlers(processes=processes))
    engine.journal.subscribe(log.ran)
    engine.load(str(directory.project), dialects=["claude-code"], trust=True)
    preapproved = tuple(name for name in case["preapproved_tools"].split(",") if name)
    ready = build_agent(
        AgentOptions(cwd=str(directory.project), model="claude-opus-5-5", trust=True, allow=preapproved),
        AgentHost(
            engine=engine,
            model=model,
            processes=processes,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **surroundings},
            user=UserPort(listener=seen, asker=Answers() if is_streaming(case) else None),
            log=log,
        ),
    )
    received: list[PromptTurn] = []
    try:
        await _play(ready, log, case, directory, received)
    finally:
        await ready.agent.end()
        await ready.close()
        await engine.close(0.1 if case["id"] == "async-outlives-session" else 5.0)
        await processes.close()
    return Acted(
        received=received,
        fired=log.fired,
        requests=model.requests,
        shown=seen.all,
        effects=_lines(directory.project / "effect.txt"),
        log=directory.lines(),
    )


async def _play(
    ready: BuiltAgent, log: EventLog, case: Case, directory: CaseDirectory, received: list[PromptTurn]
) -> None:
    agent = ready.agent
    prompts = list(_PROMPTS.get(case["event"], (case.get("prompt", _PROMPT),)))
    if case["id"].endswith("-noprompt"):
        prompts = []
    for prompt in prompts:
        agent.submit(prompt)
    await ready.begin()
    await agent.run(tell=received.append)
    for _seconds, name, text in case.get("later", ()):
        (directory.project / name).write_text(text)
        await until(lambda: any(fired.event == case["event"] for fired in log.fired))
        agent.submit(_PROMPT)
        await agent.run(tell=received.append)


def _here(use: ToolUse, directory: CaseDirectory) -> ToolUse:
    return ToolUse(id=use.id, name=use.name, input=directory.here(use.input))


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []
