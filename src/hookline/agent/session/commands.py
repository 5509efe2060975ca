"""What the agent does itself when the user types `/name`: one function each, listed by whoever builds the agent."""

import asyncio
import os
from collections.abc import Mapping
from functools import partial

from hookline.agent.ports import Shown
from hookline.agent.prompts.prepare import ProjectIntake
from hookline.agent.session.session import Agent, Command, Told
from hookline.agent.subagents.worktrees import Worktrees
from hookline.agent.tools.base import ToolError
from hookline.agent.transcript.store import SessionsStore
from hookline.agent.transcript.writer import TranscriptError
from hookline.config.engine import Engine
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.permissions.modes import MODES

_DONE = Told(status="completed")


def _say(agent: Agent, text: str, *, failed: bool = False) -> Told:
    agent.listener.show(Shown(kind="warning" if failed else "notice", text=text))
    return Told(status="failed" if failed else "completed", why=text if failed else "")


async def clear(agent: Agent, argument: str) -> Told:
    del argument
    await agent.begin_anew("clear", "clear")
    return _DONE


async def compact(agent: Agent, argument: str) -> Told:
    why = await agent.compacting.compact(agent.model_name, "manual", argument, tokens=agent.talk.tokens)
    return _DONE if why is None else Told(status="blocked", why=why)


async def mode(agent: Agent, argument: str) -> Told:
    if await agent.set_mode(argument):
        return _say(agent, f"permission mode: {agent.permissions.mode}")
    return _say(agent, f"there is no mode {argument!r}; there are {', '.join(MODES)}", failed=True)


async def model(agent: Agent, argument: str) -> Told:
    why = await agent.set_model(argument, "command")
    return _say(agent, why or f"model: {argument}", failed=why is not None)


async def add_dir(agent: Agent, argument: str) -> Told:
    directory = agent.place.path(argument)
    if not await asyncio.to_thread(os.path.isdir, directory):
        return _say(agent, f"{directory} is no directory", failed=True)
    agent.permissions.add_directory(directory)
    added = await agent.fire(e.DIRECTORY_ADDED, p.DirectoryNote(directory=directory))
    agent.talk.place(added.context_items)
    return _say(agent, f"the tools may work in {directory} too")


async def leave(agent: Agent, argument: str) -> Told:
    del argument
    agent.leaving = "prompt_input_exit"
    return _DONE


async def logout(agent: Agent, argument: str) -> Told:
    del argument
    agent.leaving = "logout"
    return _DONE


async def cost(agent: Agent, argument: str) -> Told:
    del argument
    used = agent.totals
    price = f", {used.cost_usd:.4f} USD" if used.cost_usd is not None else ""
    return _say(agent, f"{used.input_tokens} tokens in, {used.output_tokens} out{price}")


def worktree_command(worktrees: Worktrees) -> Command:
    async def worktree(agent: Agent, argument: str) -> Told:
        """Into the worktree of that name; `keep` and `remove` lead out of the one it is in."""
        try:
            if argument in {"keep", "remove"}:
                left = await worktrees.leave(agent.place, remove=argument == "remove")
                path = left.came_from
            else:
                path = await worktrees.enter(argument, agent.place)
        except ToolError as problem:
            return _say(agent, str(problem), failed=True)
        await agent.place.move(path)
        return _say(agent, f"working in {path}")

    return worktree


def help_command(intake: ProjectIntake) -> Command:
    async def show_help(agent: Agent, argument: str) -> Told:
        del argument
        return _say(agent, await intake.help_text(agent.place.cwd))

    return show_help


def hooks_command(engine: Engine | None) -> Command:
    async def show_hooks(agent: Agent, argument: str) -> Told:
        del argument
        hooks = engine.hooks if engine is not None else ()
        lines = [f"{hook.policy.event_name}: {hook.name} ({hook.dialect}, {hook.where})" for hook in hooks]
        return _say(agent, "\n".join(lines) or "no hook is configured")

    return show_hooks


def resume_command(store: SessionsStore) -> Command:
    async def resume(agent: Agent, argument: str) -> Told:
        """The session ends here; whoever runs the agent goes on with the other one."""
        try:
            this = agent.hooks.scene.session_id
            find = partial(store.last, this) if argument == "last" else partial(store.find, argument)
            stored = await asyncio.to_thread(find)
        except TranscriptError as problem:
            return _say(agent, str(problem), failed=True)
        agent.leaving, agent.goes_on_with = "resume", stored.id
        return _DONE

    return resume


#: Those that need nothing but the agent.
COMMANDS: Mapping[str, Command] = {
    "clear": clear,
    "compact": compact,
    "mode": mode,
    "model": model,
    "add-dir": add_dir,
    "exit": leave,
    "logout": logout,
    "cost": cost,
}
