"""Play a long session with a small window on a provider that fails: 429, 529, cut and broken streams, overflow."""

import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from bench.agent_play import playing
from bench.findings import Finding
from bench.process_cases import Held
from hookline.agent.hooks import EventLog
from hookline.agent.models.choose import provider_model
from hookline.agent.session.session import PromptTurn
from hookline.events import POST_MODEL_CALL, PRE_MODEL_CALL, STOP, STOP_FAILURE, USER_PROMPT_SUBMIT
from hookline.model.events import EventSpec
from tests.agent.models.loopback_server import Asked, Loopback, Reply, error
from tests.agent.models.provider_answers import chat

WINDOW = 6000
_FAULTY = 0.2
_COUNTED: tuple[EventSpec[Any], ...] = (
    USER_PROMPT_SUBMIT, PRE_MODEL_CALL, POST_MODEL_CALL, STOP, STOP_FAILURE,
)  # fmt: skip
_MOST_GROWTH = 10 * 1024 * 1024
#: A header by which clients wait no time at all.
_AT_ONCE = {"retry_after_ms": "1"}


class FaultyProvider(Loopback):
    """A provider that calls a tool in every other turn, counts tokens, and fails at random."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self._chance = chance
        self.faults: Counter[str] = Counter()
        self.requests = self.answers = self.summaries = 0
        #: Prompts that were in a request more than once.
        self.twice: list[str] = []

    def reply_to(self, asked: Asked) -> Reply:
        self.asked.clear()  # it serves hundreds of requests
        body: dict[str, Any] = asked.body
        self.requests += "tools" in body
        self._look_for_doubles(body["messages"])
        tokens = len(json.dumps(body["messages"])) // 4
        # Now and then its window is smaller than the agent knows.
        if tokens > (WINDOW if self.summaries % 2 else WINDOW * 3 // 4):
            self.faults["overflow"] += 1
            return error(400, {"error": {"message": "too long", "code": "context_length_exceeded"}})
        if self._chance.random() < _FAULTY:
            return self._fault()
        return self._answer(body, tokens)

    def _fault(self) -> Reply:
        kind = self._chance.choice(("429", "529", "503", "cut", "ends early", "error inside"))
        self.faults[kind] += 1
        if kind.isdigit():
            return error(int(kind), {"error": {"message": "not now"}}, **_AT_ONCE)
        begun = chat("Half an ", "answer").chunks[:3]
        if kind == "error inside":
            return Reply(
                chunks=[*begun, b'data: {"error": {"message": "overloaded", "type": "server_error"}}\n\n']
            )
        return Reply(chunks=begun, then="cut" if kind == "cut" else "end")

    def _answer(self, body: dict[str, Any], tokens: int) -> Reply:
        usage = {"prompt_tokens": tokens, "completion_tokens": 20, "total_tokens": tokens + 20}
        if "tools" not in body:
            self.summaries += 1
            return chat("They counted.", usage=usage)
        self.answers += 1
        number = max(_numbers(body["messages"]), default=0)
        if body["messages"][-1]["role"] != "tool" and number % 2:
            call = ("call_1", "Read", json.dumps({"file_path": "notes.txt"}))
            return chat(calls=[call], usage=usage)
        return chat(f"answer {number}", usage=usage)

    def _look_for_doubles(self, messages: list[dict[str, Any]]) -> None:
        # The summary's "Continue with" repeats the prompt once, in place of the one it replaced.
        times = Counter(_numbers(messages))
        self.twice += [f"prompt {number}: {count} times" for number, count in times.items() if count > 1]


def _numbers(messages: list[dict[str, Any]]) -> Iterator[int]:
    for message in messages:
        text = message["content"] if message["role"] == "user" else ""
        for line in text.splitlines() if isinstance(text, str) else ():
            if line.startswith("prompt "):
                yield int(line.removeprefix("prompt "))


class Faults(Struct, frozen=True, kw_only=True):
    """Result of a session: answers, what the provider did, how often hooks ran, and memory."""

    turns: int
    unanswered: tuple[str, ...]
    twice: tuple[str, ...]
    faults: dict[str, int]
    requests: int
    answers: int
    summaries: int
    hooks: dict[str, int]
    growth: int

    @property
    def miscounted(self) -> dict[str, tuple[int, int]]:
        """Hooks that ran another number of times than they should have, with both numbers."""
        expected = {"UserPromptSubmit": self.turns, "PreModelCall": self.requests, "PostModelCall": self.answers,
                    "Stop": self.turns, "StopFailure": 0}  # fmt: skip
        return {
            name: (self.hooks.get(name, 0), right)
            for name, right in expected.items()
            if self.hooks.get(name, 0) != right
        }


async def faulty_session(turns: int, seed: int, say: Callable[[str], None] | None = None) -> Faults:
    provider = FaultyProvider(random.Random(seed))
    counts: Counter[str] = Counter()
    received: list[PromptTurn] = []

    def counter(name: str) -> Callable[[object], None]:
        def count(_payload: object) -> None:
            counts[name] += 1

        return count

    with tempfile.TemporaryDirectory() as directory:
        async with provider:
            model = provider_model("openai:toy-1", base_url=f"{provider.url}/v1", env={})
            session = playing(
                Path(directory), model, {}, files={"notes.txt": "notes\n" * 60},
                log=EventLog(keep=False), context_window=WINDOW,
            )  # fmt: skip
            async with session as one:
                for event in _COUNTED:
                    one.engine.add(event, counter(event.name))
                await one.ready.begin()
                memory = 0
                for number in range(1, turns + 1):
                    one.agent.submit(f"prompt {number}")
                    await one.agent.run(tell=received.append)
                    if number == max(turns // 10, 1):
                        memory = Held.now().memory
                    if say is not None and number % 50 == 0:
                        say(f"{number} of {turns} turns, {sum(provider.faults.values())} faults")
                growth = Held.now().memory - memory
            await model.close()
    unanswered = [
        f"prompt {number}: {one.status} {one.text!r} {one.why}"
        for number, one in enumerate(received, 1)
        if (one.status, one.text) != ("completed", f"answer {number}")
    ]
    return Faults(
        turns=turns,
        unanswered=tuple(unanswered),
        twice=tuple(provider.twice),
        faults=dict(provider.faults),
        requests=provider.requests,
        answers=provider.answers,
        summaries=provider.summaries,
        hooks=dict(counts),
        growth=growth,
    )


def findings(seen: Faults) -> list[Finding]:
    name = f"{seen.turns} turns on {WINDOW} tokens, {sum(seen.faults.values())} faults, {seen.summaries} summaries"
    return [
        Finding(f"{name}: turns without their answer", f"{len(seen.unanswered)} {seen.unanswered[:3]}", "0",
                not seen.unanswered),
        Finding(f"{name}: prompts sent twice", f"{len(seen.twice)} {seen.twice[:3]}", "0", not seen.twice),
        Finding(f"{name}: hooks counted wrong", str(seen.miscounted), "none", not seen.miscounted),
        Finding(f"{name}: memory after the first tenth", f"{seen.growth / (1 << 20):+.1f} MB", "<= 10 MB",
                seen.growth <= _MOST_GROWTH),
    ]  # fmt: skip
