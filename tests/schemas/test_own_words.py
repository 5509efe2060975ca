"""Test the descriptions of events in their agents' words, with real hooks."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hookline import Engine, Outcome
from hookline.dialects.registry import OWN_FORMAT, standard_dialects
from hookline.extending import Dialect, DialectEvent, Run
from hookline.model.wire import Parsed
from hookline.schemas.agent_event import OwnEvent, own_answer_schema, own_event, own_payload_schema
from tests.agents import WITH_FILES
from tests.schemas.samples import Checker

AGENTS = [name for name in WITH_FILES if name != OWN_FORMAT]

Effect = Callable[[Outcome], Any]
#: How an answer is found in the outcome.
EFFECTS: dict[str, Effect] = {
    "block": lambda outcome: outcome.blocked,
    "block, with context": lambda outcome: outcome.blocked and outcome.context,
    "allow": lambda outcome: outcome.permission == "allow",
    "ask": lambda outcome: outcome.permission == "ask",
    "rewrite": lambda outcome: outcome.edits,
    "context": lambda outcome: outcome.context,
    "stop": lambda outcome: outcome.stop or outcome.blocked,
    "rules": lambda outcome: outcome.permission_updates,
    "watch": lambda outcome: outcome.watch_paths,
    "seed": lambda outcome: outcome.initial_user_message,
    "retry": lambda outcome: outcome.retry,
    "env": lambda outcome: outcome.env == {"CI": "1"},
    "answer": lambda outcome: outcome.answers,
    "message": lambda outcome: outcome.messages,
}


class Trial:
    """One event of an agent, with a hook that follows its instructions."""

    def __init__(self, agent: str, name: str) -> None:
        self.dialect: Dialect = standard_dialects()[agent].build()
        self.own: DialectEvent = self.dialect.events[name]
        self.words: OwnEvent = own_event(self.dialect, name)

    def parsed(self) -> Parsed:
        """The example that is shown, as the agent would send it."""
        document = {**(self.words.stdin or {}), **self.words.environment}
        return self.dialect.wire.parse({**document, self.dialect.event_key: self.words.event})

    async def play(self, commands: Sequence[str]) -> list[tuple[Outcome, Run]]:
        """Return the result of each command, alone."""
        parsed, played, runs = self.parsed(), list[tuple[Outcome, Run]](), list[Run]()
        async with Engine() as engine:
            engine.journal.subscribe(runs.append)
            for command in commands:
                hook = self.dialect.flag_hook(self.own, command)
                engine.swap([replace(hook, matcher=None, condition=None, timeout=20.0)])
                session = engine.session("s")
                session.info = replace(parsed.info, cwd="/", project_dir="/")
                session.tools = self.dialect.own_tools
                outcome = await session.dispatch(self.own.event, parsed.payload)
                await engine.drain()
                played.append((outcome, runs[-1]))
        return played


def _says(answer: Any) -> str:
    quoted = {
        name: text.replace("'", "'\\''") for name, text in (("out", answer.stdout), ("err", answer.stderr))
    }
    return f"printf %s '{quoted['out']}'; printf %s '{quoted['err']}' >&2; exit {answer.exit_code}"


@pytest.mark.parametrize("agent", AGENTS)
def test_each_answer_that_is_shown_does_what_it_is_shown_for(agent: str) -> None:
    tried = 0
    for name in standard_dialects()[agent].build().events:
        trial = Trial(agent, name)
        if not trial.words.answers:
            continue
        played = asyncio.run(trial.play([_says(each) for each in trial.words.answers]))
        for answer, (outcome, run) in zip(trial.words.answers, played, strict=True):
            assert EFFECTS[answer.does](outcome), (name, answer, outcome)
            assert run.status in ("ok", "blocked"), (name, answer, run)
            tried += 1
    assert tried >= (4 if agent == "kimi-code" else 8)  # one that can only deny


#: What each way to end is, as a command.
ENDS = {
    "exit 0": "exit 0",
    "exit 0, and prints text": "echo text-on-stdout",
    "exit 2": "echo text-on-stdout; echo text-on-stderr >&2; exit 2",
    "exit 1": "echo text-on-stdout; echo text-on-stderr >&2; exit 1",
    "any other exit": "echo text-on-stdout; echo text-on-stderr >&2; exit 7",
}


@pytest.mark.parametrize("agent", AGENTS)
def test_each_way_to_end_means_what_is_said_of_it(agent: str) -> None:
    for name in standard_dialects()[agent].build().events:
        trial = Trial(agent, name)
        if not trial.words.waits:
            assert [each.ends for each in trial.words.endings] == ["in any way"]
            continue
        means = {each.ends: each.means for each in trial.words.endings}
        for ends, (outcome, run) in zip(ENDS, asyncio.run(trial.play(list(ENDS.values()))), strict=True):
            said = means.get(ends, means["any other exit"])
            assert outcome.blocked == said.startswith("blocks"), (name, ends, said, outcome)
            assert run.failed_open == ("is reported" in said), (name, ends, said, run)
            assert bool(outcome.context) == ("goes to the model" in said) or outcome.blocked, (
                name,
                ends,
                said,
            )
            for where in ("stdout", "stderr"):
                reason = outcome.reason if outcome.blocked else None
                assert (f"{where} is the reason" in said) <= (f"text-on-{where}" in (reason or "")), (
                    name,
                    said,
                )


@pytest.mark.parametrize("agent", AGENTS)
def test_what_a_hook_really_gets_fits_the_schema_and_the_list_of_keys(agent: str, tmp_path: Path) -> None:
    for name in standard_dialects()[agent].build().events:
        trial = Trial(agent, name)
        asyncio.run(trial.play([f"cat > {tmp_path}/stdin; env -0 > {tmp_path}/env"]))
        raw, pairs = (tmp_path / "stdin").read_text(), (tmp_path / "env").read_text().split("\0")
        environment = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
        document = json.loads(raw) if raw.strip() else environment
        checker = Checker(own_payload_schema(trial.dialect, name))
        assert checker.mistakes(document) == [], name
        assert not checker.valid({}), name
        keys = {(key.name, key.where): key for key in trial.words.keys}
        if raw.strip():
            assert {key for key, where in keys if where == "stdin"} >= set(document), name
        for (key, where), received in keys.items():
            if received.always:
                assert key in (document if where == "stdin" else environment), (name, key)


@pytest.mark.parametrize("agent", AGENTS)
def test_the_schema_of_answers_has_each_answer_that_is_shown(agent: str) -> None:
    dialect = standard_dialects()[agent].build()
    for name in dialect.events:
        shown = [each.stdout for each in own_event(dialect, name).answers if each.stdout.startswith("{")]
        schema = own_answer_schema(dialect, name)
        assert (schema is None) == (not shown), name
        if schema is not None:
            for text in shown:
                assert Checker(schema).mistakes(json.loads(text)) == [], (name, text)
                assert set(json.loads(text)) <= set(schema["properties"]), name


def test_text_that_comes_only_with_a_block_is_shown_with_one() -> None:
    turn_end = own_event(standard_dialects()["reasonix"].build(), "TurnEnd")
    answers = {each.does: each for each in turn_end.answers}
    assert answers["block, with context"].stdout == "@@INJECT: The build is red since Tuesday."
    assert answers["message"].stdout == "@@WARN: The guard looked at this."


def test_a_calls_arguments_are_those_of_the_agents_own_tool() -> None:
    words = own_event(standard_dialects()["docker-agent"].build(), "pre_tool_use")
    assert words.stdin is not None
    assert (words.stdin["tool_name"], words.stdin["tool_input"]) == ("shell", {"cmd": "git push --force"})
    assert (
        '"updated_input":{"cmd":"git push --force-with-lease"}'
        in {each.does: each for each in words.answers}["rewrite"].stdout
    )
