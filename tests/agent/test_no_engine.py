"""Test the loop with no engine at all: hooks are a port, and it may be empty."""

import asyncio
import subprocess
import sys
from pathlib import Path

from hookline.agent.conversation import Conversation
from hookline.agent.hooks import AgentHooks, NoHooks
from hookline.agent.models.scripted import Scripted, ScriptedModel, ScriptedToolUse
from hookline.agent.ports import UserPort
from hookline.agent.session.session import Agent
from hookline.agent.settings import AgentSettings
from hookline.agent.subagents.subagent import GENERAL
from hookline.agent.tools.base import Workplace
from hookline.agent.turn.turn import AgentParts
from hookline.model.messages import ToolMessage
from hookline.permissions.rules import RuleReader, RuleSet
from hookline.permissions.state import Permissions
from hookline.trust.trust import Trust
from tests.agent.scripted_session import Probe, ScriptedSession, call, calls, says


def test_an_agent_is_built_from_its_parts_and_plays_a_turn_without_an_engine(tmp_path: Path) -> None:
    async def main() -> None:
        user, probe = UserPort(), Probe()
        hooks = AgentHooks(NoHooks(), user)
        script = [
            Scripted(tool_calls=(ScriptedToolUse("Probe", {"what": "this"}),)),
            Scripted(text="done"),
        ]
        rules, _problems = RuleSet.parse(["Probe"], source="test", reader=RuleReader(home=""))
        settings = AgentSettings(model="scripted")
        agent = Agent(
            AgentParts(
                settings=settings,
                model=ScriptedModel(script),
                hooks=hooks,
                conversation=Conversation(settings.system),
                tools={probe.name: probe},
                permissions=Permissions({"test": rules}, root=str(tmp_path), reader=RuleReader(home="")),
                workplace=Workplace(hooks, str(tmp_path), env={}),
                user=user,
                trust=Trust(str(tmp_path), {}),
            )
        )
        await agent.start()
        received = await agent.play("go")
        await agent.end()
        assert (received.status, received.text) == ("completed", "done")
        assert probe.calls == [{"what": "this"}]
        assert [each.text for each in agent.conversation.messages if isinstance(each, ToolMessage)] == [
            "done: this"
        ]

    asyncio.run(main())


def test_everything_around_it_works_without_an_engine_too(tmp_path: Path) -> None:
    script = [
        calls(call("Agent", prompt="help", subagent_type=GENERAL.name)),
        {"agent": GENERAL.name, "tool_calls": [call("Probe", what="inside")]},
        {"agent": GENERAL.name, "text": "helped"},
        calls(call("Bash", command="cd /", run_in_background=False), call("Bash", command="true")),
        says("done"),
        says("the summary"),
        says("on"),
    ]

    async def main() -> None:
        scripted = ScriptedSession(
            tmp_path, script, engine=False, tools=[Probe()], allow=("Probe", "Bash"), add_date=True
        )
        async with scripted:
            received = await scripted.play("go", "/compact", "/mode plan", "/clear", "go on")
            assert received is not None
            assert received.text == "on"
            assert scripted.engine is None
        assert all(fired.runs == [] for fired in scripted.log.fired)
        assert scripted.fired.count("SessionEnd") == 2

    asyncio.run(main())


def test_the_agents_parts_do_not_load_the_engines_configuration(tmp_path: Path) -> None:
    """A host with its own hooks behind the port loads no dialect, no YAML and no network."""
    heavy = [
        "yaml",
        "httpx",
        "httpx2",
        "mcp",
        "pydantic",
        "rich",
        "hookline.dialects.native",
        "hookline.config.load",
    ]
    code = (
        "import sys, hookline.agent.session.session, hookline.agent.hooks\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True, timeout=60
    )
    assert ran.stdout.strip() == "[]"
