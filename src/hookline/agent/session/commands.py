"""Carry out local commands (`/name`): one function each."""

import asyncio
import os
from collections.abc import Mapping
from functools import partial
from typing import cast, get_args

from hookline.agent.call_text import near
from hookline.agent.models.port import Effort
from hookline.agent.models.suggest import model_choices
from hookline.agent.ports import Choice
from hookline.agent.prompts.local_commands import SHELL
from hookline.agent.prompts.prepare import ProjectPrompts
from hookline.agent.session.session import Agent, Command, PromptTurn
from hookline.agent.session.show_commands import context
from hookline.agent.session.undo import undo_turn
from hookline.agent.subagents.worktrees import Worktrees
from hookline.agent.transcript.store import SessionsStore, listed
from hookline.agent.transcript.writer import TranscriptError
from hookline.config.engine import Engine
from hookline.dialects.registry import OWN_FORMAT, home_dialect
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.errors import ToolError
from hookline.model.hook import Hook
from hookline.model.messages import User
from hookline.model.safe_text import one_line
from hookline.permissions.modes import MODES
from hookline.trust.trust import Trust

_DONE = PromptTurn(status="completed")
_WIDEST = 200
#: Columns of a page about an event.
_PAGE = 88


def _say(agent: Agent, text: str, *, failed: bool = False) -> PromptTurn:
    agent.user.show("warning" if failed else "notice", text)
    return PromptTurn(status="failed" if failed else "completed", why=text if failed else "")


def _messages(number: int) -> str:
    return f"{number} message{'' if number == 1 else 's'}"


async def clear(agent: Agent, argument: str) -> PromptTurn:
    del argument
    kept = _messages(len(agent.conversation.messages))
    await agent.begin_anew("clear", "clear")
    return _say(agent, f"a new conversation: nothing of the earlier one is sent any more ({kept})")


async def compact(agent: Agent, argument: str) -> PromptTurn:
    before = len(agent.conversation.messages)
    why = await agent.compaction.compact(agent.model_name, "manual", argument)
    if why is None:
        return _say(agent, f"compacted: a summary replaces {_messages(before)}")
    if not before:
        agent.user.warn(why)
    return PromptTurn(status="blocked", why=why)


async def mode(agent: Agent, argument: str) -> PromptTurn:
    if not argument:
        rows = (
            f"{'*' if name == agent.permissions.mode else ' '} {name}: {row.says}"
            for name, row in MODES.items()
        )
        return _say(agent, "\n".join(rows))
    if await agent.set_mode(argument):
        return _say(agent, f"permission mode: {agent.permissions.mode}")
    return _say(agent, f"unknown mode {argument!r}; there are {', '.join(MODES)}", failed=True)


async def model(agent: Agent, argument: str) -> PromptTurn:
    name = argument or await _picked_model(agent)
    if name is None:
        return _say(agent, f"model: {agent.model_name}; /model NAME changes it")
    why = await agent.set_model(name, "command" if argument else "picker")
    return _say(agent, why or f"model: {name}", failed=why is not None)


async def _picked_model(agent: Agent) -> str | None:
    """Let the user pick among models whose keys are set; None without one, or without an answer."""
    chooser = agent.user.chooser
    if chooser is None:
        return None
    listed = await asyncio.to_thread(lambda: dict(model_choices(agent.workplace.env)))
    if not listed:
        return None
    choices = [Choice(key, name) for key, name in listed.items()]
    key, said = await chooser.pick(f"Which model? Now: {agent.model_name}", (), choices, words=True)
    return None if key is None else listed.get(key, said)


async def effort(agent: Agent, argument: str) -> PromptTurn:
    levels = [level for level in get_args(Effort) if level]
    if not argument:
        now = agent.conversation.effort or "auto"
        return _say(agent, f"effort: {now}; /effort {'|'.join(levels)}, or auto: as the model does by itself")
    if argument != "auto" and argument not in levels:
        return _say(agent, f"unknown effort {argument!r}; there are auto, {', '.join(levels)}", failed=True)
    agent.conversation.effort = cast("Effort", "" if argument == "auto" else argument)
    return _say(agent, f"effort: {argument}")


async def add_dir(agent: Agent, argument: str) -> PromptTurn:
    directory = agent.workplace.path(argument)
    if not await asyncio.to_thread(os.path.isdir, directory):
        return _say(agent, f"{directory} is not a directory", failed=True)
    agent.permissions.add_directory(directory)
    added = await agent.fire(e.DIRECTORY_ADDED, p.DirectoryNote(directory=directory))
    agent.conversation.place(added.context_items)
    return _say(agent, f"the tools may work in {directory} too")


async def leave(agent: Agent, argument: str) -> PromptTurn:
    del argument
    agent.leaving = "prompt_input_exit"
    return _DONE


async def logout(agent: Agent, argument: str) -> PromptTurn:
    del argument
    agent.leaving = "logout"
    return _DONE


async def cost(agent: Agent, argument: str) -> PromptTurn:
    del argument
    used = agent.totals
    price = f", {used.cost_usd:.4f} USD" if used.cost_usd is not None else ""
    return _say(agent, f"{used.input_tokens or 0} tokens in, {used.output_tokens or 0} out{price}")


async def typed(agent: Agent, argument: str) -> PromptTurn:
    """Run a shell command that the user typed (`!command`). The model gets its output, except after `!!`."""
    hidden = argument.startswith("!")
    command = argument.removeprefix("!").strip()
    settled = await agent.run_typed(command)
    if not hidden:
        text = f"<user-command>\n$ {command}\n{settled.result.text}\n</user-command>"
        agent.conversation.add(User(text=text, by="user command"))
        agent.conversation.place(settled.context)
    return PromptTurn(status="completed" if settled.ran else "blocked")


def worktree_command(worktrees: Worktrees) -> Command:
    async def worktree(agent: Agent, argument: str) -> PromptTurn:
        """Enter the worktree of that name; `keep` and `remove` leave the current one."""
        try:
            if argument in {"keep", "remove"}:
                left = await worktrees.leave(agent.workplace, remove=argument == "remove")
                path = left.came_from
            else:
                path = await worktrees.enter(argument, agent.workplace)
        except ToolError as problem:
            return _say(agent, str(problem), failed=True)
        await agent.workplace.move(path)
        return _say(agent, f"working in {near(path)}")

    return worktree


def help_command(prompts: ProjectPrompts) -> Command:
    async def show_help(agent: Agent, argument: str) -> PromptTurn:
        del argument
        return _say(agent, await prompts.help_text(agent.workplace.cwd))

    return show_help


def hooks_command(engine: Engine | None) -> Command:
    async def show_hooks(agent: Agent, argument: str) -> PromptTurn:
        asked, _, event = argument.partition(" ")
        if asked == "events":
            found = await asyncio.to_thread(_about_events, engine, event.strip())
            unknown = f"no event is called {event.strip()!r}; /hooks events lists them"
            return _say(agent, found or unknown, failed=not found)
        if asked:
            return _say(agent, "/hooks shows the active hooks, /hooks events lists the events", failed=True)
        trust = engine.trust if engine is not None else None
        hooks = engine.hooks if engine is not None else ()
        lines = [
            one_line(f"{hook.event_label}: {hook.name}", _WIDEST)
            + f" ({hook.dialect}, {hook.where}{_state(hook, trust)}{_mode(hook, engine)})"
            for hook in hooks
        ]
        return _say(agent, "\n".join(lines) or "no hook is configured")

    return show_hooks


def _about_events(engine: Engine | None, event: str) -> str:
    """List the events of every agent whose hooks are active, or one of them, each in that agent's words."""
    from hookline.schemas.agent_event import own_event  # noqa: PLC0415 as above
    from hookline.schemas.agent_page import listing, own_lines, page  # noqa: PLC0415 few users look

    names = dict.fromkeys(hook.dialect for hook in engine.hooks) if engine is not None else {}
    known = [] if engine is None else [engine.loader.dialect(each) for each in names or (OWN_FORMAT,)]
    dialects = known or [home_dialect()]
    if not event:
        parts = [f"{each.title}:\n{listing(own_lines(each), _PAGE)}" for each in dialects]
        return "\n\n".join([*parts, "/hooks events EVENT shows what its hooks get, answer and exit with"])
    found = (
        page(own_event(dialect, name), dialect.title, _PAGE)
        for dialect in dialects
        for name in dialect.events
        if event in (name, *(each.event.name for each in dialect.recorded_events(name)))
    )
    return "\n\n".join(found)


def _mode(hook: Hook, engine: Engine | None) -> str:
    mode = engine.mode_of(hook) if engine is not None else hook.mode
    return "" if mode == "enforce" else f", {mode}"


def _state(hook: Hook, trust: Trust | None) -> str:
    standing = trust.status(hook) if trust is not None else None
    return "" if standing is None or standing.runs else f", {standing.state}"


def resume_command(store: SessionsStore) -> Command:
    async def resume(agent: Agent, argument: str) -> PromptTurn:
        """End this session; the host resumes the other one."""
        if not argument:
            return _say(agent, await asyncio.to_thread(listed, store))
        try:
            this = agent.hooks.info.session_id
            find = partial(store.last, this) if argument == "last" else partial(store.find, argument)
            stored = await asyncio.to_thread(find)
        except TranscriptError as problem:
            return _say(agent, str(problem), failed=True)
        agent.leaving, agent.resume_id = "resume", stored.id
        return _DONE

    return resume


def session_commands(
    worktrees: Worktrees, prompts: ProjectPrompts, engine: Engine | None, store: SessionsStore
) -> Mapping[str, Command]:
    """Return every local command by its name."""
    return {
        SHELL: typed,
        "clear": clear,
        "compact": compact,
        "mode": mode,
        "model": model,
        "effort": effort,
        "add-dir": add_dir,
        "exit": leave,
        "logout": logout,
        "cost": cost,
        "context": context,
        "undo": undo_turn,
        "worktree": worktree_command(worktrees),
        "help": help_command(prompts),
        "hooks": hooks_command(engine),
        "resume": resume_command(store),
    }
