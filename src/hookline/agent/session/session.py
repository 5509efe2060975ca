"""Run one session of an agent: start it, take prompts, play turns, wake it for background hooks, and end it."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from msgspec import Struct

from hookline.agent.conversation import LateMessages, wake_prompt
from hookline.agent.models.port import ModelError
from hookline.agent.prompts.local_commands import LocalCommand, local_command
from hookline.agent.prompts.prompt import next_steering
from hookline.agent.prompts.submit import AcceptedPrompt, PlainPrompts, Prompts, RejectedPrompt, Submission
from hookline.agent.session.changes import ChangeLog
from hookline.agent.session.compaction import Compactor
from hookline.agent.session.environment import Environment
from hookline.agent.session.instructions import Instructions
from hookline.agent.transcript.reader import EarlierSession
from hookline.agent.turn.calls import SettledCall
from hookline.agent.turn.loop import Loop
from hookline.agent.turn.turn import AgentParts, Settlement, Turn, TurnEnding, TurnKind
from hookline.dialects.json_text import whole_text
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.events import EventSpec
from hookline.model.messages import Assistant, ToolUse, Totals, User
from hookline.model.outcome import Outcome

P = TypeVar("P")

#: Seconds that cancelled hooks have to end.
_LONGEST_STOP = 5.0
_BY_THE_USER = "interrupted by the user"


class PromptTurn(Struct, frozen=True, kw_only=True):
    """Result of one prompt. `turn` is None when no turn began."""

    status: str
    #: The answer as it was shown.
    text: str = ""
    why: str = ""
    turn: int | None = None
    #: A prompt that was not accepted, so that the user can edit it and try again.
    rejected_text: str = ""

    @property
    def is_answer(self) -> bool:
        """False for a local command such as /cost, unless it failed."""
        return self.turn is not None or self.status != "completed"


def _ignore(result: PromptTurn) -> None:
    del result


class Agent:
    """An agent and its session."""

    def __init__(
        self,
        parts: AgentParts,
        prompts: Prompts | None = None,
        commands: "Mapping[str, Command] | None" = None,
        queue: deque[str] | None = None,
        changes: ChangeLog | None = None,
    ) -> None:
        self.settings = parts.settings
        self.hooks = parts.hooks
        self.permissions = parts.permissions
        self.workplace = parts.workplace
        self.conversation = parts.conversation
        self.user = parts.user
        self.tools = parts.tools
        self.model_name = parts.settings.model
        self.turns = 0
        self.queue: deque[str] = queue if queue is not None else deque()
        #: Prompts stay in the queue because the user stopped the turn.
        self.holds = False
        #: Set when the session is to end after this prompt: the reason for SessionEnd.
        self.leaving: str | None = None
        #: The id of the session to resume after this one.
        self.resume_id: str | None = None
        self.compaction = Compactor(parts, self._restart)
        self.changes = changes if changes is not None else ChangeLog()
        #: Where the prompts of turns begin: the conversation's version, the message, the prompt.
        self._marks: dict[int, tuple[int, int, str]] = {}
        self.instructions = Instructions(parts)
        self._mode_before_plan = "default"
        parts.conversation.effort = parts.settings.effort
        self._environment = Environment(parts)
        self._commands: Mapping[str, Command] = commands if commands is not None else {}
        self._submission = Submission(parts, prompts if prompts is not None else PlainPrompts())
        self._late = LateMessages(parts.hooks.inbox, parts.conversation, parts.user, parts.workplace.watch)
        self._loop = Loop(
            parts,
            TurnKind(
                before_request=self._before_request, shorten=self.compaction.automatic, steer=self._steer
            ),
        )
        self._settlement = Settlement(parts)
        #: The last turn, as long as it has no answer: /retry continues it.
        self._unanswered: Turn | None = None
        self._wakes = 0
        self._typed = 0
        self._tell: Callable[[PromptTurn], None] = _ignore
        self._playing: asyncio.Future[PromptTurn] | None = None
        self._ending: asyncio.Future[Outcome] | None = None
        self._end_fired = False
        self._ended: asyncio.Future[None] | None = None
        self._began = time.monotonic()
        parts.hooks.update(
            cwd=parts.workplace.cwd,
            model=parts.settings.model,
            permission_mode=parts.permissions.mode,
            transcript_path=parts.conversation.records.path,
            attended=parts.user.asker is not None,
        )

    # -- the session ------------------------------------------------------------------------------------

    def restore(self, past: EarlierSession) -> None:
        """Continue an earlier session. Call it before `start`."""
        self.conversation.restore(past.messages)
        self.turns = past.turns
        self.hooks.spending.restore(past.totals)

    @property
    def totals(self) -> Totals:
        """The session's usage so far, its subagents and the current turn included."""
        return self.hooks.spending.totals

    async def start(self, source: str = "startup", *, setup: str | None = None) -> None:
        """Fire Setup, if asked for, and SessionStart; load instructions."""
        self._end_fired = False
        # Before hooks of the start add their text, which is not a prompt.
        begun_before = self.turns > 0 and bool(self.conversation.messages)
        if setup is not None:
            ready = await self.fire(e.SETUP, p.SetupRun(trigger=setup))
            self.conversation.place(ready.context_items)
        begun = await self.fire(e.SESSION_START, p.SessionStarted(source=source, model=self.model_name))
        self.conversation.place(begun.context_items)
        self.workplace.watch(begun.watch_paths)
        if source == "compact":
            await self.instructions.reload()
        else:
            await self.instructions.start()
        if begun.initial_user_message is not None:
            self._queue_first_message(begun.initial_user_message, begun_before)

    def _queue_first_message(self, text: str, begun_before: bool) -> None:
        if local_command(text) is not None:
            name = text.split(maxsplit=1)[0]
            self.user.warn(f"a hook's first message was not used: only the user may type {name}")
        elif self.queue or begun_before:
            why = "there is a prompt already" if self.queue else "the conversation has begun already"
            self.user.show("notice", f"a hook's first message was not used: {why}")
        else:
            self.queue.append(text)

    async def _restart(self) -> None:
        await self.start("compact")

    async def end(self, reason: str = "other") -> None:
        """Fire SessionEnd, once however often this is called. A hook that fails cannot keep the session open."""
        if self._ended is None:
            self._ended = asyncio.ensure_future(self._end(reason))
        await asyncio.shield(self._ended)

    async def _end(self, reason: str) -> None:
        # /clear may have been interrupted after it fired SessionEnd.
        if not self._end_fired:
            await self._fire_end(reason)
        self.hooks.clear()
        self.conversation.records.close()

    def show_late_messages(self) -> None:
        """Show the user the messages of background hooks that came after the end."""
        self._late.show_messages()

    async def _fire_end(self, reason: str) -> None:
        """Fire SessionEnd, and wait until its hooks are done, were interrupted, or took too long."""
        payload = p.SessionEnded(
            reason=reason,
            duration_ms=self._lasted(),
            cost_usd=self.totals.cost_usd,
            turns=self.turns,
            totals=self.hooks.spending.known(self.conversation.tokens),
        )
        self._end_fired = True
        self._ending = ending = asyncio.ensure_future(self.fire(e.SESSION_END, payload))
        longest = self.settings.longest_end
        try:
            done, _late = await asyncio.wait({ending}, timeout=longest)
        except asyncio.CancelledError:
            ending.cancel()
            raise
        if not done:
            self.user.warn(f"SessionEnd: its hooks took longer than {longest:g} s and were stopped")
            ending.cancel()
            await asyncio.wait({ending}, timeout=_LONGEST_STOP)
        elif not ending.cancelled() and (problem := ending.exception()) is not None:
            self.user.warn(f"SessionEnd: {type(problem).__name__}: {problem}")

    def _lasted(self) -> int:
        return int((time.monotonic() - self._began) * 1000)

    async def begin_anew(self, source: str, reason: str) -> None:
        """End the conversation and begin another one instead."""
        await self._fire_end(reason)
        self.hooks.renew()
        self.conversation.replace_all(())
        self.conversation.turn_over()
        self.conversation.forget_session_context()
        self.conversation.records.cleared()
        self._unanswered = None
        await self.start(source)

    # -- prompts ----------------------------------------------------------------------------------------

    def submit(self, text: str) -> None:
        """Queue a prompt; `run` plays it."""
        self.queue.append(text)

    async def run(
        self, *, wait: bool = True, tell: Callable[[PromptTurn], None] = _ignore
    ) -> PromptTurn | None:
        """Play queued prompts, and wakes of background hooks. Returns the last result.

        With `wait`, hooks that may still wake the agent are waited for. `tell` is called with every result.
        """
        last: PromptTurn | None = None
        self._tell = tell
        while self.leaving is None:
            text, woken, wake = self._queued(), False, ""
            if text is not None:
                self._wakes = 0
            else:
                late = await self._late.next_wake() if wait else self._late.wake()
                if late is None:
                    break
                if not self._may_wake(late.text):
                    self._late.acknowledge(late.wake_id)
                    break
                about = {"hook": late.hook, "event": late.event, "source": late.source, "label": late.label}
                self.user.show("wake", late.text, **about)
                text, woken, wake = wake_prompt(late), True, late.wake_id
            result = await self.play(text, woken=woken, wake=wake)
            tell(result)
            if last is None or result.is_answer:
                last = result
        return last

    def _queued(self) -> str | None:
        """Return the next prompt. One that the user has just taken back is gone."""
        try:
            return None if self.holds or not self.queue else str(self.queue.popleft())
        except IndexError:
            return None

    async def wait_for_wake(self) -> None:
        """Wait until a background hook wakes the agent; then call `run`."""
        await self._late.wait_for_wake()

    def _may_wake(self, text: str) -> bool:
        self._wakes += 1
        if self._wakes <= self.settings.most_wakes:
            return True
        self.user.warn(f"hooks woke the agent {self._wakes - 1} times in a row; this wake is ignored: {text}")
        return False

    @property
    def busy(self) -> bool:
        return self._playing is not None

    async def play(self, text: str, *, woken: bool = False, wake: str = "") -> PromptTurn:
        """Play one prompt, from submission to settlement. An interrupted turn is settled too.

        `wake` is the id of the durable hook's result that woke the agent.
        """
        # Bytes that are not UTF-8 come from a command line as lone surrogates, which cannot be sent.
        text = text if text.isascii() else whole_text(text)
        self._playing = playing = asyncio.ensure_future(self._play(text, woken=woken, wake=wake))
        try:
            await asyncio.wait({playing})
        except asyncio.CancelledError:
            # Settle the turn before passing the cancellation on.
            playing.cancel()
            await asyncio.wait({playing})
            raise
        finally:
            self._playing = None
        # Cancelled here means: interrupted once more while it was being settled.
        return PromptTurn(status="interrupted", why=_BY_THE_USER) if playing.cancelled() else playing.result()

    def interrupt(self) -> bool:
        """Stop the current turn, or the hooks of SessionEnd. Returns False when there is nothing to stop."""
        at_work = self._playing if self._playing is not None else self._ending
        return at_work is not None and at_work.cancel()

    async def _play(self, text: str, *, woken: bool, wake: str) -> PromptTurn:
        started = time.monotonic()
        turn: Turn | None = None
        try:
            found = await self._turn_for(text, woken=woken, wake=wake)
            if isinstance(found, PromptTurn):
                return found
            turn = found
            ending = await self._run_turn(turn)
        except asyncio.CancelledError:
            self.conversation.close_open_calls()
            self.user.warn("interrupted")
            ending = TurnEnding(status="interrupted", why=_BY_THE_USER)
            if turn is None:
                return PromptTurn(status=ending.status, why=ending.why)
        except Exception as error:
            self.conversation.close_open_calls()
            if turn is not None:
                failed = TurnEnding(status="failed", why=f"{type(error).__name__}: {error}")
                await self._settle(turn, failed, started)
            raise
        return await self._settle(turn, ending, started)

    async def _turn_for(self, text: str, *, woken: bool, wake: str) -> Turn | PromptTurn:
        """Return the turn that a text begins. Hooks of prompts do not see a wake: the user did not type it."""
        if woken:
            return self._new_turn(AcceptedPrompt(shown=text, text=text, wake=wake))
        found = self._submission.command(text)
        if isinstance(found, LocalCommand):
            return await self._local(found)
        if found is None:
            # Hooks of prompts get the number of the turn that the prompt is to begin.
            self.hooks.update(turn=self.turns + 1)
            found = await self._submission.submit(text)
        if isinstance(found, RejectedPrompt):
            self.hooks.update(turn=self.turns or None)
            return PromptTurn(status="blocked", why=found.why, rejected_text=found.text)
        return self._new_turn(found)

    async def _local(self, local: LocalCommand) -> Turn | PromptTurn:
        if local.name == "retry" and (turn := self._unanswered or self._broken_off()) is not None:
            return self._continued(turn)
        command = self._commands.get(local.name)
        if command is not None:
            return await command(self, local.argument)
        why = "no prompt waits for an answer" if local.name == "retry" else "it cannot be used here"
        self.user.warn(f"/{local.name}: {why}")
        return PromptTurn(status="failed", why=f"/{local.name}: {why}")

    def _broken_off(self) -> Turn | None:
        """Return the last turn of a resumed session, if it has no answer."""
        messages = self.conversation.messages
        last = messages[-1] if messages else None
        if last is None or (isinstance(last, Assistant) and not last.tool_calls):
            return None
        asked = next((one.text for one in reversed(messages) if isinstance(one, User) and not one.by), "")
        return Turn(number=self.turns, text=asked, model=self.model_name, begun=True)

    def _continued(self, turn: Turn) -> Turn:
        """Return a turn that continues another one. Its prompt passed the hooks when it was submitted."""
        prompt = AcceptedPrompt(shown=turn.text, text=turn.text, allowed=turn.allowed, wake=turn.wake)
        again = self._new_turn(prompt)
        again.model = self.model_name if turn.begun else turn.model
        again.begun, again.context = turn.begun, () if turn.begun else turn.context
        return again

    def _new_turn(self, prompt: AcceptedPrompt) -> Turn:
        self.turns += 1
        self.hooks.update(turn=self.turns, prompt=prompt.text)
        return Turn(
            number=self.turns,
            session_ms=self._lasted(),
            text=prompt.text,
            shown=prompt.shown,
            model=prompt.model or self.model_name,
            allowed=prompt.allowed,
            context=prompt.context,
            wake=prompt.wake,
        )

    async def _run_turn(self, turn: Turn) -> TurnEnding:
        if not turn.begun:
            self._marks[turn.number] = (
                self.conversation.version,
                len(self.conversation.messages),
                turn.shown,
            )
            self.changes.begin(turn.number, time.time())
        try:
            return await self._loop.play(turn)
        except ModelError as error:
            return await self._settlement.failed(turn, error)

    async def _before_request(self, turn: Turn) -> None:
        await self._environment.update(turn)
        await self.compaction.keep_within(turn)
        self._late.take()
        touched = self.workplace.take_touched()
        if touched:
            await self.instructions.load_near(touched)

    async def _steer(self, turn: Turn) -> None:
        """Add prompts that the user typed for this turn, as hooks leave them."""
        while not self.holds and (text := next_steering(self.queue)) is not None:
            found = await self._submission.submit(str(text))
            if isinstance(found, RejectedPrompt):
                self._tell(PromptTurn(status="blocked", why=found.why, rejected_text=found.text))
                continue
            self.conversation.add(User(text=found.text))
            self.conversation.place(found.context)
            self._tell(PromptTurn(status="completed"))
            # What the turn is about, should it be compacted.
            turn.text = f"{turn.text}\n\n{found.text}"

    async def _settle(self, turn: Turn, ending: TurnEnding, started: float) -> PromptTurn:
        self._unanswered = None if ending.status == "completed" else turn
        turn.usage += self.workplace.take_spent()
        await self._settlement.settle(
            turn, ending, started=started, session_id=self.hooks.info.session_id, queued=len(self.queue)
        )
        return PromptTurn(status=ending.status, text=turn.last_shown, why=ending.why, turn=turn.number)

    def prompt_of(self, turn: int) -> str:
        """Return the prompt of a turn, as it was shown."""
        return self._marks.get(turn, (0, 0, ""))[2]

    def rewind(self, turn: int) -> str | None:
        """Remove a turn, and those after it, from the conversation. Returns its prompt; None if that is too late."""
        version, length, prompt = self._marks.pop(turn, (-1, 0, ""))
        if version != self.conversation.version:
            return None
        self.conversation.rewind(length)
        self._unanswered = None
        return prompt

    async def run_typed(self, command: str) -> SettledCall:
        """Run a shell command that the user typed. Guards apply."""
        self._typed += 1
        return await self._loop.run_typed(
            ToolUse(id=f"typed_{self._typed}", name="Bash", input={"command": command})
        )

    # -- for commands and hosts -------------------------------------------------------------------------

    async def fire(self, event: EventSpec[P], payload: P) -> Outcome:
        return await self.hooks.dispatch(event, payload)

    async def leave_plan(self) -> str:
        """Return to the permission mode from before plan mode."""
        await self.set_mode(self._mode_before_plan)
        return self.permissions.mode

    async def set_mode(self, mode: str) -> bool:
        """Change the permission mode; return False when it does not exist."""
        old = self.permissions.mode
        if old != "plan":
            self._mode_before_plan = old
        if not self.permissions.set_mode(mode):
            return False
        self.hooks.update(permission_mode=self.permissions.mode)
        if self.permissions.mode != old:
            await self.fire(e.MODE_CHANGED, p.ModeMove(old_mode=old, new_mode=self.permissions.mode))
        return True

    async def set_model(self, name: str, source: str) -> str | None:
        """Change the model. Returns None when hooks agree, else why they do not."""
        move = p.ModelMove(from_model=self.model_name, to_model=name, requested_model=name, source=source)
        before = await self.fire(e.PRE_MODEL_SWITCH, move)
        if before.blocked or before.permission == "ask":
            return before.reason or "a hook blocked the model switch"
        self.model_name = name
        self.hooks.update(model=name)
        after = await self.fire(e.POST_MODEL_SWITCH, move)
        self.conversation.place(after.context_items)
        return None


#: Carries out `/name argument`.
Command = Callable[[Agent, str], Awaitable[PromptTurn]]
