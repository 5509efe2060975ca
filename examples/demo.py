"""A coding agent works on a small project, under hooks that were written for six different agents.

The agent is the one of `hookline agent`, with a script in place of a model: nothing here needs an account or a
key. It works on a copy of examples/demo, with a temporary home directory. demo_timeline.py prints what happens.
"""

import asyncio
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from demo_timeline import Timeline

from hookline import Engine
from hookline.agent.build import AgentHost, AgentOptions, build_agent
from hookline.agent.hooks import EventLog
from hookline.agent.models.scripted import scripted_model
from hookline.agent.ports import UserPort
from hookline.handlers.process.pool import Processes
from hookline.handlers.registry import standard_handlers

HERE = Path(__file__).parent
PROMPT = "add the tax to the prices and deploy"

BEFORE = """\
A coding agent works on a small shop: prices, invoices, a deployment script. The project has hooks for
Claude Code, Gemini CLI, CodeWhale, Reasonix, gen-code and Hookline itself. A project's hooks run only once
you have trusted them; the demo trusts its own (`trust=True`), so all of them run. Watch what they do.
"""
AFTER = """
Without these hooks the invoices would be deleted, the model would know the key of the bank, the shop would be
online with prices ten times too high, and its check would find nothing wrong. The hooks are in examples/demo:
change one and run it again.
"""


async def play(project: str) -> None:
    processes = Processes()
    engine = Engine(handlers=standard_handlers(processes=processes))
    timeline = Timeline(project)
    log = EventLog(timeline.fired)
    engine.journal.subscribe(log.ran)
    # Every hook of every agent that has a config here. The project is our own, so we trust it: hooks of an
    # untrusted project would not run.
    engine.load(project, dialects=engine.loader.names, trust=True)
    ready = build_agent(
        AgentOptions(
            cwd=project,
            model="scripted",
            mode="acceptEdits",
            allow=("Bash(python3:*)", "Bash(rm:*)"),
            trust=True,
        ),
        AgentHost(
            engine=engine,
            model=scripted_model(str(HERE / "demo_script.yaml")),
            processes=processes,
            env=dict(os.environ),
            user=UserPort(listener=timeline),
            log=log,
        ),
    )
    await ready.begin()
    ready.agent.submit(PROMPT)
    await ready.agent.run()
    await ready.agent.end()
    await ready.close()
    await engine.close()
    await processes.close()


def settle_in(home: Path) -> Path:
    """A temporary home with a copy of the project, so that nothing of the user's is read or written."""
    for name in [name for name in os.environ if name.startswith(("XDG_", "HOOKLINE_"))]:
        del os.environ[name]
    os.environ["HOME"] = str(home)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return shutil.copytree(HERE / "demo", home / "shop")


def main() -> None:
    with TemporaryDirectory() as home:
        project = settle_in(Path(home))
        print(BEFORE)
        asyncio.run(play(str(project)))
        print(AFTER, end="")


if __name__ == "__main__":
    main()
