"""Agents that an agent calls: a tool whose work is a conversation of its own, under the same hooks and rules."""

import asyncio
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from hookline.agent.conversation import Conversation, LateWords
from hookline.agent.hooks import SessionHooks, Speaking
from hookline.agent.models.port import ModelError, ModelPort
from hookline.agent.ports import Asker, Listener
from hookline.agent.settings import AgentSettings
from hookline.agent.subagents.worktrees import Worktrees
from hookline.agent.tools.base import MAIN, Category, Tool, ToolError, ToolReply, Workplace, named
from hookline.agent.transcript.records import Records
from hookline.agent.turn.loop import wired_loop
from hookline.agent.turn.permission import Permitting
from hookline.agent.turn.turn import Ending, Gates, Turn
from hookline.matching.nearest import nearest
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.events import EventSpec
from hookline.permissions.state import Permissions

_LONGEST_ANSWER = 100_000


class AgentType(Struct, frozen=True, kw_only=True):
    """A kind of sub-agent: what it is for, what it is told, what it may use."""

    name: str
    description: str
    #: Its system text; the parent's when there is none.
    instruction: str = ""
    #: The tools it is offered; None: all that its caller may use.
    tools: tuple[str, ...] | None = None
    model: str | None = None
    max_iterations: int | None = None


GENERAL = AgentType(
    name="general-purpose",
    description="Looks into a question or does a piece of work on its own and reports back.",
)


class Crew(Struct, frozen=True, kw_only=True, eq=False):
    """What all sub-agents of a session are made of."""

    model: ModelPort
    hooks: SessionHooks
    permissions: Permissions
    settings: AgentSettings
    listener: Listener
    asker: Asker | None
    dialog: asyncio.Lock
    #: Every tool of the session, the one that starts sub-agents included; filled in when all are there.
    tools: dict[str, Tool]
    types: Mapping[str, AgentType]
    #: A transcript for a sub-agent, by its id.
    records: Callable[[str], Records]
    #: Where a sub-agent that is to work apart gets its directory.
    worktrees: Worktrees
    #: The texts of the session's instruction files; they grow as it goes on.
    instructions: dict[str, str]


class SubagentTool:
    """Starts a sub-agent and waits for its answer."""

    category: Category = "agent"
    callers: frozenset[str] | None = frozenset({MAIN})

    def __init__(self, crew: Crew, name: str = "Agent") -> None:
        self.name = name
        self._crew = crew

    @property
    def description(self) -> str:
        kinds = "; ".join(f"{kind.name}: {kind.description}" for kind in self._crew.types.values())
        return f"Give a piece of work to another agent and wait for its answer. Types: {kinds}"

    @property
    def schema(self) -> Mapping[str, Any]:
        return {
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": "The work in a few words."},
                "prompt": {"type": "string", "description": "Everything the agent needs to know."},
                "subagent_type": {"type": "string", "enum": list(self._crew.types)},
                "isolation": {
                    "type": "string",
                    "enum": ["worktree"],
                    "description": "Work in a git worktree of its own.",
                },
            },
            "required": ["prompt"],
        }

    def problem(self, arguments: Mapping[str, Any]) -> str | None:
        prompt = arguments.get("prompt")
        if not isinstance(prompt, str) or not prompt.strip():
            return "`prompt` is missing: say what the agent is to do"
        kind = arguments.get("subagent_type", _default(self._crew.types))
        if kind not in self._crew.types:
            close = nearest(str(kind), self._crew.types)
            return f"there is no type {kind!r}; " + (
                f"did you mean {close!r}?" if close else f"there are {', '.join(self._crew.types)}"
            )
        return None

    async def run(self, arguments: Mapping[str, Any], place: Workplace) -> ToolReply:
        kind = self._crew.types[arguments.get("subagent_type", _default(self._crew.types))]
        agent_id = "a" + uuid.uuid4().hex[:16]
        cwd, apart, by_hook = place.cwd, arguments.get("isolation") == "worktree", False
        if apart:
            cwd, by_hook = await self._crew.worktrees.create(f"agent-{agent_id}", place)
        child = _Subagent(self._crew, kind, place, agent_id, cwd)
        started = time.monotonic()
        ending, turn = await child.play(str(arguments["prompt"]), str(arguments.get("description", "")))
        kept = apart and not await self._tidied(cwd, place, by_hook=by_hook)
        where = f"\n\n(It worked in the worktree {cwd}, which is still there.)" if kept else ""
        if ending.status == "failed":
            raise ToolError(f"the {kind.name} agent failed: {ending.why}{where}")
        text = (
            turn.last_text[:_LONGEST_ANSWER] or f"(the agent gave no answer: {ending.why or ending.status})"
        ) + where
        return ToolReply(
            text=text,
            response={
                "status": ending.status,
                "prompt": arguments["prompt"],
                "agentId": child.id,
                "agentType": kind.name,
                "content": [{"type": "text", "text": text}],
                "totalDurationMs": int((time.monotonic() - started) * 1000),
                "totalToolUseCount": turn.tool_count,
                "usage": asdict(turn.usage),
            },
        )

    async def _tidied(self, path: str, place: Workplace, *, by_hook: bool) -> bool:
        """What a hook made is the hook's to remove, and what git cannot tell is kept."""
        try:
            return not by_hook and await self._crew.worktrees.tidied(path, place)
        except ToolError:
            return False


class _Subagent:
    """One sub-agent at work."""

    def __init__(self, crew: Crew, kind: AgentType, place: Workplace, agent_id: str, cwd: str) -> None:
        self.id = agent_id
        self._kind = kind
        self._crew = crew
        # The user may have chosen another one since the session began.
        self._model = kind.model or crew.hooks.scene.model or crew.settings.model
        self._hooks = crew.hooks.child(agent_id=self.id, agent_type=kind.name, cwd=cwd, model=self._model)
        self._spoken = Speaking(self._hooks, crew.listener)
        self._records = crew.records(self.id)
        self._talk = Conversation(kind.instruction or crew.settings.system, self._records.message)
        self._talk.instructions = crew.instructions
        self._place = Workplace(self._spoken, cwd, env=place.env, agent_id=self.id, agent_type=kind.name)
        self._place.worktree = cwd if cwd != place.cwd else place.worktree
        self._place.on_move, self._place.on_watch = self._moved, place.on_watch
        self._place.on_wrote, self._place.on_told = place.on_wrote, place.on_told
        self._permissions = crew.permissions.child(source=kind.name)
        permitting = Permitting(self._spoken, self._permissions, crew.asker, crew.listener, crew.dialog)
        settings = replace(crew.settings, max_iterations=kind.max_iterations or crew.settings.max_iterations)
        self._loop = wired_loop(
            model=crew.model,
            hooks=self._spoken,
            conversation=self._talk,
            tools=_tools_of(kind, crew.tools),
            permissions=self._permissions,
            permitting=permitting,
            place=self._place,
            settings=settings,
            listener=crew.listener,
            gates=Gates(self._last_gate, self._before_request, own_turn=False),
        )
        self._late = LateWords(self._hooks.inbox, self._talk, crew.listener, place.on_watch)
        self._caller = place

    async def play(self, prompt: str, description: str) -> tuple[Ending, Turn]:
        begun = await self._spoken.dispatch(
            e.SUBAGENT_START,
            p.SubagentBegun(
                agent_id=self.id, agent_type=self._kind.name, description=description, prompt=prompt
            ),
        )
        turn = Turn(
            number=1,
            text=prompt,
            model=self._model,
            context=begun.context_items,
            allowed=self._caller.allowed,
        )
        try:
            return await self._ending(turn), turn
        except asyncio.CancelledError:
            self._talk.close_open_calls()
            await self._over("interrupted", turn)
            raise
        finally:
            self._caller.spend(turn.usage + self._place.take_spent())
            # Hooks that still run in the background have nobody but the caller to tell.
            self._late.hand_over(self._crew.hooks.inbox)
            self._records.close()

    async def _ending(self, turn: Turn) -> Ending:
        try:
            ending = await self._loop.play(turn)
        except ModelError as error:
            ending = Ending(status="failed", why=f"{error.kind}: {error}")
        if ending.status != "completed":
            await self._over(ending.status, turn)
        return ending

    async def _before_request(self, turn: Turn) -> None:
        del turn
        self._late.take()

    async def _over(self, status: str, turn: Turn) -> None:
        """It ended without an answer: hooks hear of it, and cannot keep it going."""
        await self._spoken.dispatch(e.SUBAGENT_STOP, self._ended(turn, turn.last_text, status))

    def _last_gate(self, turn: Turn, answer: p.TurnAnswer) -> tuple[EventSpec[Any], Any]:
        return e.SUBAGENT_STOP, self._ended(turn, answer.last_assistant_message, "completed")

    def _ended(self, turn: Turn, text: str, status: str) -> p.SubagentEnded:
        return p.SubagentEnded(
            agent_id=self.id,
            agent_type=self._kind.name,
            status=status,
            last_assistant_message=text,
            agent_transcript_path=self._records.path or None,
            stop_hook_active=turn.held,
        )

    def _moved(self, where: str) -> None:
        self._hooks.update(cwd=where)


def _default(types: Mapping[str, AgentType]) -> str:
    return GENERAL.name if GENERAL.name in types else next(iter(types), GENERAL.name)


def _tools_of(kind: AgentType, tools: Mapping[str, Tool]) -> Mapping[str, Tool]:
    return {name: tool for name, tool in tools.items() if named(name, kind.tools)}


def agent_types(types: Sequence[AgentType]) -> Mapping[str, AgentType]:
    """By name; the general one is always there."""
    return {kind.name: kind for kind in (GENERAL, *types)}
