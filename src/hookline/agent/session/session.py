"""One conversation with its user: begins, takes prompts, plays turns, is woken, ends."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from hookline.agent.conversation import Conversation, LateWords, notice
from hookline.agent.hooks import SessionHooks, Speaking
from hookline.agent.messages import Message
from hookline.agent.models.port import ModelError, ModelPort, Usage
from hookline.agent.ports import Asker, Listener, Nobody, Shown, ShownKind
from hookline.agent.prompts.local_commands import LOCAL_COMMANDS, not_typed, slash_of
from hookline.agent.prompts.prompt import LocalCommand
from hookline.agent.prompts.submit import Admitted, Admitting, Intake, PlainIntake, Rejected
from hookline.agent.session.compaction import Compacting
from hookline.agent.session.instructions import Instructions
from hookline.agent.session.settle import Settling
from hookline.agent.settings import AgentSettings
from hookline.agent.tools.base import Tool, Workplace
from hookline.agent.transcript.records import NoRecords, Records
from hookline.agent.turn.loop import wired_loop
from hookline.agent.turn.permission import Permitting
from hookline.agent.turn.turn import Ending, Gates, Turn
from hookline.dialects.surrogates import whole_text
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.events import EventSpec
from hookline.model.outcome import Outcome
from hookline.permissions.state import Permissions

P = TypeVar("P")

#: Seconds for hooks that were cancelled to be gone.
_LONGEST_STOP = 5.0
_BY_THE_USER = "interrupted by the user"


class Told(Struct, frozen=True, kw_only=True):
    """What one prompt came to. `turn` is None when no turn began."""

    status: str
    #: The answer as it was shown.
    text: str = ""
    why: str = ""
    turn: int | None = None
    #: A prompt that was not accepted, for whoever wants to mend it and try again.
    given_back: str = ""

    @property
    def is_an_answer(self) -> bool:
        """What a command of the agent's own came to is no answer to anything, unless it went wrong."""
        return self.turn is not None or self.status != "completed"


def _ignore(told: Told) -> None:
    del told


def _ignore_paths(paths: Iterable[str]) -> None:
    del paths


class Agent:
    """An agent and one conversation. Everything it works with comes through the constructor."""

    def __init__(
        self,
        *,
        settings: AgentSettings,
        model: ModelPort,
        hooks: SessionHooks,
        tools: Sequence[Tool],
        permissions: Permissions,
        place: Workplace,
        intake: Intake | None = None,
        asker: Asker | None = None,
        listener: Listener | None = None,
        records: Records | None = None,
        commands: "Mapping[str, Command] | None" = None,
        dialog: asyncio.Lock | None = None,
    ) -> None:
        self.settings = settings
        self.model_name = settings.model
        self.hooks = hooks
        self.permissions = permissions
        self.place = place
        self.listener: Listener = listener if listener is not None else Nobody()
        self.records: Records = records if records is not None else NoRecords()
        self.talk = Conversation(settings.system, self.records.message)
        self.turns = 0
        self.watched: set[str] = set()
        #: Told what hooks want watched from now on.
        self.on_watch: Callable[[Iterable[str]], None] = _ignore_paths
        #: Set by a command: the session is over after this prompt.
        self.leaving: str | None = None
        #: The session to take up after this one.
        self.goes_on_with: str | None = None
        self._last_prompt: Admitted | None = None
        self.queue: deque[str] = deque()
        self._commands: Mapping[str, Command] = commands if commands is not None else {}
        self._spoken = Speaking(hooks, self.listener)
        self._admitting = Admitting(self._spoken, intake or PlainIntake(), self.listener, permissions.reader)
        self._late = LateWords(hooks.inbox, self.talk, self.listener, self.watch)
        place.hooks, place.on_move, place.on_watch = self._spoken, self._moved, self.watch
        permitting = Permitting(self._spoken, permissions, asker, self.listener, dialog)
        permitting.on_mode = self._mode_changed
        #: What the model is offered; tools may still join.
        self.tools: dict[str, Tool] = {tool.name: tool for tool in tools}
        self._loop = wired_loop(
            model=model,
            hooks=self._spoken,
            conversation=self.talk,
            tools=self.tools,
            permissions=permissions,
            permitting=permitting,
            place=place,
            settings=settings,
            listener=self.listener,
            gates=Gates(before_request=self._before_request),
        )
        self._settling = Settling(self._spoken, self.talk, self.records, self.listener)
        self.compacting = Compacting(
            model=model,
            hooks=self._spoken,
            conversation=self.talk,
            records=self.records,
            listener=self.listener,
            limit=settings.compact_at,
            restart=self._compacted,
            spend=place.spend,
        )
        self.instructions = Instructions(
            root=hooks.scene.project_dir or place.cwd,
            env=place.env,
            hooks=self._spoken,
            conversation=self.talk,
            listener=self.listener,
        )
        self._wakes = 0
        self._playing: asyncio.Future[Told] | None = None
        self._farewell: asyncio.Future[Outcome] | None = None
        self._end_told = False
        self._ended: asyncio.Future[None] | None = None
        self._began = time.monotonic()
        hooks.update(
            cwd=place.cwd,
            model=settings.model,
            permission_mode=permissions.mode,
            transcript_path=self.records.path,
            attended=asker is not None,
        )

    # -- the session ------------------------------------------------------------------------------------

    def go_on_from(self, messages: Sequence[Message], turns: int, totals: Usage) -> None:
        """Take up an earlier conversation, before this one starts."""
        self.talk.restore(messages)
        self.turns = turns
        self._settling.totals = totals

    @property
    def totals(self) -> Usage:
        return self._settling.totals

    async def start(self, source: str = "startup", *, setup: str | None = None) -> None:
        """Setup, where it is asked for, then SessionStart: before the first prompt, and once."""
        self._end_told = False
        if setup is not None:
            ready = await self.fire(e.SETUP, p.SetupRun(trigger=setup))
            self.talk.place(ready.context_items)
        begun = await self.fire(e.SESSION_START, p.SessionStarted(source=source, model=self.model_name))
        self.talk.place(begun.context_items)
        self.watch(begun.watch_paths)
        if source == "compact":
            await self.instructions.again()
        else:
            await self.instructions.start(self.place.cwd)
        seed = begun.initial_user_message
        if seed is None:
            return
        slash = slash_of(seed)
        if slash is not None and slash.name in LOCAL_COMMANDS:
            self._show(
                "warning", f"a hook's first message was not used: /{slash.name} is for the user to type"
            )
        elif self.queue or self.talk.messages:
            self._show("notice", "a hook's first message was not used: there is a prompt already")
        else:
            self.queue.append(seed)

    async def _compacted(self) -> None:
        await self.start("compact")

    async def end(self, reason: str = "other") -> None:
        """SessionEnd, once, whoever calls how often; nothing that goes wrong there keeps the agent here."""
        if self._ended is None:
            self._ended = asyncio.ensure_future(self._end(reason))
        await asyncio.shield(self._ended)

    async def _end(self, reason: str) -> None:
        # A new beginning that was interrupted has told the end already.
        if not self._end_told:
            await self._say_farewell(reason)
        self.hooks.clear()
        self.records.close()

    async def _say_farewell(self, reason: str) -> None:
        """Until the hooks of SessionEnd are done, were interrupted, or took too long."""
        took = int((time.monotonic() - self._began) * 1000)
        over = p.SessionEnded(reason=reason, duration_ms=took, cost_usd=self.totals.cost_usd)
        self._end_told = True
        self._farewell = farewell = asyncio.ensure_future(self.fire(e.SESSION_END, over))
        longest = self.settings.longest_end
        try:
            done, _late = await asyncio.wait({farewell}, timeout=longest)
        except asyncio.CancelledError:
            farewell.cancel()
            raise
        if not done:
            self._show("warning", f"SessionEnd: its hooks took longer than {longest:g} s and were stopped")
            farewell.cancel()
            await asyncio.wait({farewell}, timeout=_LONGEST_STOP)
        elif not farewell.cancelled() and (problem := farewell.exception()) is not None:
            self._show("warning", f"SessionEnd: {type(problem).__name__}: {problem}")

    async def begin_anew(self, source: str, reason: str) -> None:
        """The conversation ends here and another one begins in its place."""
        await self._say_farewell(reason)
        self.hooks.renew()
        self.talk.replace_all(())
        self.talk.turn_over()
        self.talk.forget_session_context()
        self.records.cleared()
        self._last_prompt = None
        await self.start(source)

    # -- prompts ----------------------------------------------------------------------------------------

    def submit(self, text: str) -> None:
        """Take a prompt: it is played when its turn comes."""
        self.queue.append(text)

    async def run(self, *, wait: bool = True, tell: "Callable[[Told], None]" = _ignore) -> Told | None:
        """Play what is queued and what background hooks wake the agent for; the last thing it came to.

        With `wait` hooks that may still wake the agent are waited for; `tell` hears of each end.
        """
        last: Told | None = None
        while self.leaving is None:
            if self.queue:
                self._wakes, text, woken = 0, self.queue.popleft(), False
            else:
                late = await self._late.next_wake() if wait else self._late.wake()
                if late is None or not self._may_wake(late.text):
                    break
                text, woken = notice(late), True
            told = await self.play(text, woken=woken)
            tell(told)
            if last is None or told.is_an_answer:
                last = told
        return last

    async def woken(self) -> None:
        """Until a background hook wants the agent to go on; `run` plays it then."""
        await self._late.wait_for_wake()

    def _may_wake(self, text: str) -> bool:
        self._wakes += 1
        if self._wakes <= self.settings.most_wakes:
            return True
        self._show("warning", f"hooks woke the agent {self._wakes - 1} times in a row; it sleeps on: {text}")
        return False

    @property
    def busy(self) -> bool:
        return self._playing is not None

    async def play(self, text: str, *, woken: bool = False) -> Told:
        """One prompt from submission to settlement. Interrupting it settles it too."""
        # Bytes that are no text come from a command line as halves of characters, which nobody can send on.
        self._playing = playing = asyncio.ensure_future(self._played(whole_text(text), woken=woken))
        try:
            await asyncio.wait({playing})
        except asyncio.CancelledError:
            # Whoever cancels us cancels the turn with us; it is settled, and then it is our turn.
            playing.cancel()
            await asyncio.wait({playing})
            raise
        finally:
            self._playing = None
        # Interrupted once more, while it was being settled.
        return Told(status="interrupted", why=_BY_THE_USER) if playing.cancelled() else playing.result()

    def interrupt(self) -> bool:
        """Stop what is being played, its hooks and its calls, or the hooks of its end; False when nothing is."""
        at_work = self._playing if self._playing is not None else self._farewell
        return at_work is not None and at_work.cancel()

    async def _played(self, text: str, *, woken: bool) -> Told:
        started = time.monotonic()
        turn: Turn | None = None
        try:
            found = await self._admitted(text, woken=woken)
            if isinstance(found, Told):
                return found
            turn = found
            ending = await self._ending(turn)
        except asyncio.CancelledError:
            self.talk.close_open_calls()
            self._show("warning", "interrupted")
            ending = Ending(status="interrupted", why=_BY_THE_USER)
            if turn is None:
                return Told(status=ending.status, why=ending.why)
        except Exception as error:
            self.talk.close_open_calls()
            await self._settle(turn, Ending(status="failed", why=f"{type(error).__name__}: {error}"), started)
            raise
        return await self._settle(turn, ending, started)

    async def _admitted(self, text: str, *, woken: bool) -> Turn | Told:
        """The turn a text begins. A wake is nobody's prompt, so the hooks of prompts do not see it."""
        if woken:
            return self._turn(Admitted(shown=text, text=text))
        found = await self._admitting.admit(text, self.place.cwd, self._named)
        if isinstance(found, Rejected):
            return Told(status="blocked", why=found.why, given_back=found.text)
        if isinstance(found, Admitted):
            self._last_prompt = found
            return self._turn(found)
        if not_typed(found, text):
            why = f"a hook made the prompt /{found.name}, which only the user may type"
            self._show("blocked", why)
            return Told(status="blocked", why=why, given_back=text)
        return await self._done(found)

    async def _done(self, local: LocalCommand) -> Turn | Told:
        if local.name == "retry" and self._last_prompt is not None:
            # It passed the hooks when it was submitted; this is the same prompt.
            return self._turn(self._last_prompt)
        command = self._commands.get(local.name)
        if command is not None:
            return await command(self, local.argument)
        why = "there is no prompt yet to send again" if local.name == "retry" else "it cannot be used here"
        self._show("warning", f"/{local.name}: {why}")
        return Told(status="failed", why=f"/{local.name}: {why}")

    def _named(self, prompt_id: str) -> None:
        self.hooks.update(prompt_id=prompt_id)

    def _turn(self, prompt: Admitted) -> Turn:
        self.turns += 1
        self.hooks.update(turn=self.turns)
        return Turn(
            number=self.turns,
            text=prompt.text,
            model=prompt.model or self.model_name,
            allowed=prompt.allowed,
            context=prompt.context,
        )

    async def _ending(self, turn: Turn) -> Ending:
        try:
            return await self._loop.play(turn)
        except ModelError as error:
            return await self._settling.failed(turn, error)

    async def _before_request(self, turn: Turn) -> None:
        if await self.compacting.if_needed(turn.model, self.talk.tokens, turn.text):
            # What hooks said of the prompt holds for the whole turn, so it must not be lost in the summary.
            self.talk.place_again(turn.context)
        self._late.take()
        await self.instructions.touched(self.place.take_touched())

    async def _settle(self, turn: Turn | None, ending: Ending, started: float) -> Told:
        if turn is None:
            return Told(status=ending.status, why=ending.why)
        turn.usage += self.place.take_spent()
        await self._settling.settle(
            turn, ending, started=started, session_id=self.hooks.scene.session_id, queued=len(self.queue)
        )
        return Told(status=ending.status, text=turn.last_shown, why=ending.why, turn=turn.number)

    # -- what others ask of it --------------------------------------------------------------------------

    async def fire(self, event: EventSpec[P], payload: P) -> Outcome:
        """Dispatch, and show the user what hooks say to the user."""
        return await self._spoken.dispatch(event, payload)

    async def set_mode(self, mode: str) -> bool:
        """Another permission mode from now on; False when there is none of that name."""
        old = self.permissions.mode
        if not self.permissions.set_mode(mode):
            return False
        self.hooks.update(permission_mode=self.permissions.mode)
        if self.permissions.mode != old:
            await self.fire(e.MODE_CHANGED, p.ModeMove(old_mode=old, new_mode=self.permissions.mode))
        return True

    async def set_model(self, name: str, source: str) -> str | None:
        """Another model from now on, if hooks agree; why not, where they do not."""
        move = p.ModelMove(from_model=self.model_name, to_model=name, requested_model=name, source=source)
        before = await self.fire(e.PRE_MODEL_SWITCH, move)
        if before.blocked or before.permission == "ask":
            return before.reason or "a hook keeps the model as it is"
        self.model_name = name
        self.hooks.update(model=name)
        after = await self.fire(e.POST_MODEL_SWITCH, move)
        self.talk.place(after.context_items)
        return None

    def watch(self, paths: tuple[str, ...]) -> None:
        """Hooks want to know when these change."""
        new = {self.place.path(path) for path in paths} - self.watched
        self.watched |= new
        self.on_watch(new)

    def _mode_changed(self, mode: str) -> None:
        self.hooks.update(permission_mode=mode)

    def _moved(self, where: str) -> None:
        self.hooks.update(cwd=where)

    def _show(self, kind: ShownKind, text: str) -> None:
        self.listener.show(Shown(kind=kind, text=text))


#: What `/name argument` does.
Command = Callable[[Agent, str], Awaitable[Told]]
