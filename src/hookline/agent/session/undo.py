"""Undo the last turn (`/undo`): the files its tools changed, its part of the conversation, or both."""

import os

from hookline.agent.call_text import near
from hookline.agent.ports import Choice, UserPort
from hookline.agent.session.changes import TurnChanges, Undone, changed_by_others, undo
from hookline.agent.session.session import Agent, PromptTurn
from hookline.agent.tools.off_loop import off_loop
from hookline.model.safe_text import one_line

_WHAT = ("both", "code", "conversation")


async def undo_turn(agent: Agent, argument: str) -> PromptTurn:
    """Carry out /undo."""
    changes = agent.changes.last
    if changes is None:
        return _failed(agent, "/undo: no prompt of this run is left to undo")
    what = argument or await _chosen(agent.user, agent, changes)
    if what is None:
        return PromptTurn(status="completed")
    if what not in _WHAT:
        return _failed(agent, f"/undo takes {', '.join(_WHAT)}; {one_line(what, 40)!r} is none of them")
    if what != "conversation":
        await _undo_files(agent, changes)
    text = agent.rewind(changes.turn) if what != "code" else None
    if what != "code":
        said = "the conversation is as before that prompt" if text is not None else _LOST
        agent.user.show("notice" if text is not None else "warning", said)
    agent.changes.forget(changes)
    return PromptTurn(status="completed", rejected_text=text or "")


_LOST = "the conversation stays as it is: it was compacted since that prompt"


async def _chosen(user: UserPort, agent: Agent, changes: TurnChanges) -> str | None:
    if user.chooser is None:
        return "both"
    files = [near(path) for path in changes.files] or ["(no file was changed by Edit or Write)"]
    choices = (
        Choice("1", "both: files and conversation", ("both",)),
        Choice("2", "the files alone", ("code",)),
        Choice("3", "the conversation alone", ("conversation",)),
        Choice("4", "nothing", ("n", "no")),
    )
    prompt = one_line(agent.prompt_of(changes.turn), 80)
    key, _said = await user.chooser.pick(f"Undo the last prompt: {prompt}", files, choices)
    return {"1": "both", "2": "code", "3": "conversation"}.get(key or "")


async def _undo_files(agent: Agent, changes: TurnChanges) -> None:
    others = await off_loop(lambda limit: changed_by_others(changes, agent.workplace.cwd, limit))
    undone = await off_loop(lambda _limit: undo(changes))
    for path in (*undone.restored, *undone.removed):
        # The model has to read it again before it changes it.
        agent.workplace.read_files.pop(path, None)
        await agent.workplace.wrote(path, "change" if path in undone.restored else "unlink")
    _report(agent, undone, others)


def _report(agent: Agent, undone: Undone, others: list[str]) -> None:
    lines = [
        f"{what}: {', '.join(near(path) for path in paths)}"
        for what, paths in (("restored", undone.restored), ("removed", undone.removed))
        if paths
    ]
    agent.user.show("notice", "\n".join(lines) or "no file was changed by Edit or Write")
    if undone.kept:
        names = ", ".join(near(path) for path in undone.kept)
        agent.user.warn(f"not restored, because it changed since or cannot be written: {names}")
    others = [name for name in others if os.path.join(agent.workplace.cwd, name) not in undone.kept]
    if others:
        agent.user.warn(f"changed otherwise since that prompt, by the shell for example, and not restored: "
                        f"{', '.join(others)}")  # fmt: skip


def _failed(agent: Agent, why: str) -> PromptTurn:
    agent.user.warn(why)
    return PromptTurn(status="failed", why=why)
