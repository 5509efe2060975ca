"""Run a subagent: a tool whose work is a separate conversation, with the same hooks and rules."""

import asyncio
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.agent.conversation import Conversation, ConversationRecorder, LateMessages
from hookline.agent.models.port import ModelError
from hookline.agent.session.compaction import Compactor
from hookline.agent.session.environment import Environment
from hookline.agent.subagents.worktrees import Worktrees
from hookline.agent.tools.base import MAIN, Category, ToolOutput, Workplace
from hookline.agent.tools.exec_guard import AgentGuard
from hookline.agent.tools.toolbox import Toolbox
from hookline.agent.turn.loop import Loop
from hookline.agent.turn.turn import AgentParts, Turn, TurnEnding, TurnKind
from hookline.matching.nearest import nearest
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.errors import ToolError
from hookline.model.events import EventSpec

_LONGEST_ANSWER = 100_000


class AgentType(Struct, frozen=True, kw_only=True):
    """A kind of subagent."""

    name: str
    description: str
    #: Its system text; empty for the parent's.
    instruction: str = ""
    #: The tools it is offered; None for all that its caller may use.
    tools: tuple[str, ...] | None = None
    model: str | None = None
    max_iterations: int | None = None


GENERAL = AgentType(
    name="general-purpose",
    description="Looks into a question or does a piece of work on its own and reports back.",
)


def agent_types(types: Sequence[AgentType]) -> Mapping[str, AgentType]:
    """Return the types by name, with the general one."""
    return {kind.name: kind for kind in (GENERAL, *types)}


class SubagentConfig(Struct, frozen=True, kw_only=True, eq=False):
    """Shared parts of all subagents of a session."""

    parent: AgentParts
    toolbox: Toolbox
    types: Mapping[str, AgentType]
    #: Makes the transcript of a subagent, given its id.
    records: Callable[[str], ConversationRecorder]
    worktrees: Worktrees

    @property
    def default_type(self) -> str:
        return GENERAL.name if GENERAL.name in self.types else next(iter(self.types), GENERAL.name)


class SubagentTool:
    """Tool that starts a subagent and waits for its answer."""

    category: Category = "agent"
    callers: frozenset[str] | None = frozenset({MAIN})

    def __init__(self, config: SubagentConfig, name: str = "Agent") -> None:
        self.name = name
        self._config = config

    @property
    def description(self) -> str:
        kinds = "; ".join(f"{kind.name}: {kind.description}" for kind in self._config.types.values())
        return f"Give a piece of work to another agent and wait for its answer. Types: {kinds}"

    @property
    def schema(self) -> Mapping[str, Any]:
        return {
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": "The work in a few words."},
                "prompt": {"type": "string", "description": "Everything the agent needs to know."},
                "subagent_type": {"type": "string", "enum": list(self._config.types)},
                "isolation": {
                    "type": "string",
                    "enum": ["worktree"],
                    "description": "Work in a separate git worktree.",
                },
            },
            "required": ["prompt"],
        }

    def problem(self, arguments: Mapping[str, Any]) -> str | None:
        prompt = arguments.get("prompt")
        if not isinstance(prompt, str) or not prompt.strip():
            return "`prompt` is missing: describe the agent's task"
        kind, types = self._type(arguments), self._config.types
        if kind not in types:
            close = nearest(str(kind), types)
            hint = f"did you mean {close!r}?" if close else f"there are {', '.join(types)}"
            return f"unknown type {kind!r}; {hint}"
        return None

    def _type(self, arguments: Mapping[str, Any]) -> Any:
        return arguments.get("subagent_type", self._config.default_type)

    async def run(self, arguments: Mapping[str, Any], workplace: Workplace) -> ToolOutput:
        kind = self._config.types[self._type(arguments)]
        agent_id = "a" + uuid.uuid4().hex[:16]
        cwd, isolated, by_hook = workplace.cwd, arguments.get("isolation") == "worktree", False
        if isolated:
            cwd, by_hook = await self._config.worktrees.create(f"agent-{agent_id}", workplace)
        child = Subagent(self._config, kind, workplace, agent_id, cwd)
        started = time.monotonic()
        ending, turn = await child.play(str(arguments["prompt"]), str(arguments.get("description", "")))
        kept = isolated and not await self._removed(cwd, workplace, by_hook=by_hook)
        where = f"\n\n(It worked in the worktree {cwd}, which is still there.)" if kept else ""
        if ending.status == "failed":
            raise ToolError(f"the {kind.name} agent failed: {ending.why}{where}")
        answer = turn.last_text[:_LONGEST_ANSWER]
        text = (answer or f"(the agent gave no answer: {ending.why or ending.status})") + where
        return ToolOutput(
            text=text,
            response={
                "status": ending.status,
                "prompt": arguments["prompt"],
                "agentId": agent_id,
                "agentType": kind.name,
                "content": [{"type": "text", "text": text}],
                "totalDurationMs": int((time.monotonic() - started) * 1000),
                "totalToolUseCount": turn.tool_count,
                "usage": msgspec.to_builtins(turn.usage),
            },
        )

    async def _removed(self, path: str, workplace: Workplace, *, by_hook: bool) -> bool:
        """Remove an unchanged worktree. A hook removes its own; one that git cannot judge is kept."""
        try:
            return not by_hook and await self._config.worktrees.remove_unchanged(path, workplace)
        except ToolError:
            return False


class Subagent:
    """A running subagent, started by a call in `caller`."""

    def __init__(
        self, config: SubagentConfig, kind: AgentType, caller: Workplace, agent_id: str, cwd: str
    ) -> None:
        self._id = agent_id
        self._kind = kind
        self._caller = caller
        self._parent = parent = config.parent
        # The user may have switched the model since the session began.
        self._model = kind.model or parent.hooks.info.model or parent.settings.model
        user = parent.user.of_subagent(kind.name)
        info = parent.hooks.info
        hooks = parent.hooks.of_subagent(
            user,
            agent_id=agent_id,
            agent_type=kind.name,
            cwd=cwd,
            model=self._model,
            turn=info.turn,
            prompt_id=info.prompt_id,
            # That of the session; its own is in the payload of SubagentStop.
            transcript_path=info.transcript_path,
        )
        self._workplace = Workplace(
            hooks, cwd, env=caller.env, files=caller.files, agent_id=agent_id, agent_type=kind.name
        )
        self._workplace.outputs = caller.outputs
        self._workplace.worktree = cwd if cwd != caller.cwd else caller.worktree
        iterations = kind.max_iterations or parent.settings.max_iterations
        self._parts = AgentParts(
            settings=replace(parent.settings, max_iterations=iterations),
            model=parent.model,
            hooks=hooks,
            conversation=Conversation(
                kind.instruction or parent.settings.system,
                config.records(agent_id),
                parent.conversation.instructions,
            ),
            tools=config.toolbox.listed(kind.tools),
            permissions=parent.permissions.child(source=kind.name),
            workplace=self._workplace,
            user=user,
            trust=parent.trust,
        )
        if isinstance(caller.guard, AgentGuard):
            self._workplace.guard = caller.guard.of_subagent(self._parts.permissions, hooks, user)
        self._hooks = hooks
        self._conversation = self._parts.conversation
        self._loop = Loop(
            self._parts,
            TurnKind(
                before_request=self._before_request,
                shorten=self._shorten,
                is_user_turn=False,
                last_gate=self._last_gate,
            ),
        )
        self._conversation.effort = parent.conversation.effort
        self._compaction = Compactor(self._parts)
        self._environment = Environment(self._parts)
        self._late = LateMessages(hooks.inbox, self._conversation, user, self._workplace.watch)

    async def play(self, prompt: str, description: str) -> tuple[TurnEnding, Turn]:
        self._hooks.update(prompt=prompt)
        begun = await self._hooks.dispatch(
            e.SUBAGENT_START,
            p.SubagentBegun(
                agent_id=self._id, agent_type=self._kind.name, description=description, prompt=prompt
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
            return await self._play(turn), turn
        except asyncio.CancelledError:
            self._conversation.close_open_calls()
            await self._fire_stop("interrupted", turn)
            raise
        finally:
            self._caller.spend(turn.usage + self._workplace.take_spent())
            # Hooks that still run in the background report to the caller from now on.
            self._late.hand_over(self._parent.hooks.inbox)
            self._conversation.records.close()

    async def _play(self, turn: Turn) -> TurnEnding:
        try:
            ending = await self._loop.play(turn)
        except ModelError as error:
            ending = TurnEnding(status="failed", why=f"{error.kind}: {error}")
        if ending.status != "completed":
            await self._fire_stop(ending.status, turn)
        return ending

    async def _before_request(self, turn: Turn) -> None:
        await self._environment.update(turn)
        await self._compaction.keep_within(turn)
        self._late.take()

    async def _shorten(self, turn: Turn) -> bool:
        return await self._compaction.automatic(turn)

    async def _fire_stop(self, status: str, turn: Turn) -> None:
        """Notify hooks that it ended without an answer; they cannot keep it going."""
        await self._hooks.dispatch(e.SUBAGENT_STOP, self._stop_payload(turn, turn.last_text, status))

    def _last_gate(self, turn: Turn, answer: p.TurnAnswer) -> tuple[EventSpec[Any], Any]:
        return e.SUBAGENT_STOP, self._stop_payload(turn, answer.last_assistant_message, "completed")

    def _stop_payload(self, turn: Turn, text: str, status: str) -> p.SubagentEnded:
        return p.SubagentEnded(
            agent_id=self._id,
            agent_type=self._kind.name,
            status=status,
            last_assistant_message=text,
            agent_transcript_path=self._conversation.records.path or None,
            stop_hook_active=turn.held,
        )
