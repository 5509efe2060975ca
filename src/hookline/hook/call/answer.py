"""Answer one call of another agent: read its payload, dispatch it to hooks, and answer in the agent's own
terms."""

import os
from collections.abc import Callable, MutableMapping, Sequence
from functools import partial
from time import time
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.config.engine import Engine
from hookline.config.load import Loaded
from hookline.dialects.dialect import Dialect, DialectEvent
from hookline.dialects.registry import OWN_FORMAT, caller_of
from hookline.disk import DISK
from hookline.engine.memory import memory_of
from hookline.engine.run_hook import Admission
from hookline.engine.select_hooks import any_may_concern
from hookline.engine.session import Session
from hookline.hook.call.deduplicate import RawRequest, SharedCall, SharedReply, now, shared_call
from hookline.hook.call.payload import CallError, event_named, event_of, read_payload
from hookline.hook.call.project import CallProject
from hookline.hook.call.resources import CallResources, protected_for
from hookline.hook.call.session_memory import CallMemory
from hookline.model.errors import ConfigError, HooklineError
from hookline.model.events import (
    PERMISSION_REQUEST,
    POST_TOOL_USE,
    PRE_TOOL_USE,
    SESSION_END,
    SESSION_START,
    Capability,
    EventSpec,
    field_of,
)
from hookline.model.hook import Hook
from hookline.model.outcome import PASS, Message, Outcome, Vote
from hookline.model.payloads import ToolCall
from hookline.model.run import Run
from hookline.model.safe_text import one_line, printable
from hookline.model.session_info import SessionInfo
from hookline.model.wire import HookReply, Parsed
from hookline.trust.trust import Trust, TrustOptions

if TYPE_CHECKING:
    from hookline.dialects.entries import AskedHooks, HookSelection

#: Exit codes that mean the same to every agent: stop, and a failure that stops nothing.
BLOCKED, FAILED = 2, 1
#: The name and type of the calls themselves in the journal.
RUN_NAME, RUN_TYPE = "hookline hook", "answer"
#: The deepest nesting of hooks that start agents which call Hookline; beyond it, something calls itself.
DEEPEST = 4
DEPTH = "HOOKLINE_HOOK_DEPTH"
_MESSAGES, _REWRITE = "messages", "rewrite"
_NOT_REMEMBERED = (
    "this denial could not be remembered, so no alarm will say if the call runs all the same: the file of this "
    "session's calls, in ~/.local/state/hookline/sessions, cannot be written; check its owner and mode"
)


class AgentCall:
    """One call. The facts known when something breaks decide how the failure is answered."""

    def __init__(
        self,
        engine: Engine,
        dialect: str,
        event: str | None,
        files: Sequence[str] | None = None,
        env: MutableMapping[str, str] = os.environ,
        *,
        source: str | None = None,
        strict: bool = False,
        hooks: "HookSelection" = "all",
        scope: str = "",
        by_hand: bool = False,
        directory: str | None = None,
        resources: CallResources | None = None,
        started: Callable[[], float] | None = None,
        pid: int = 0,
    ) -> None:
        """Prepare a call. `started` is when the process that the agent started began; without it, the call
        begins now."""
        self.engine = engine
        self.outcome: Outcome = PASS
        #: Oddities of the session and its project, for stderr and the journal.
        self.remarks: tuple[str, ...] = ()
        self._name = dialect
        #: The dialect that the entry names; another agent may run it.
        self._named = dialect
        self._event_name = event
        self._files = files and [os.path.join(directory or _own_directory(), file) for file in files]
        #: The dialect of the files, if their paths do not show it.
        self._source = source
        self._strict = strict
        self._hooks: AskedHooks = hooks
        #: The file that the entry is in, where the agent runs equal entries of two files.
        self._scope = scope
        #: True if a person made the call, at a terminal.
        self._by_hand = by_hand
        self._env = env
        #: The directory in which the agent started this call, if that is not this process's.
        self._directory = directory
        self._resources = resources or CallResources(env)
        self._started = started or partial(float, now())
        #: The process that the agent started; 0 where it is not known.
        self._pid = pid
        self._shared_call: SharedCall | None = None
        self._dialect: Dialect | None = None
        self._event: DialectEvent | None = None
        self._session: Session | None = None
        self._payload: Any = None
        #: Notices about guards that match the call and may not run.
        self._untrusted: list[str] = []
        self._unheard: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """Lines for stderr, where that is not the reason for a block."""
        return (*self.remarks, *self.engine.journal.problems)

    @property
    def session_id(self) -> str:
        return self._session.id if self._session is not None else ""

    @property
    def event_name(self) -> str:
        """The agent's name of the event; empty until it is known to be one."""
        return self._event.name if self._event is not None else ""

    @property
    def ends_session(self) -> bool:
        return self._event is not None and self._event.event is SESSION_END

    def failed_answer(self, why: str) -> HookReply:
        """Return the answer if the hooks could not run to the end."""
        text = one_line(f"hookline hook --dialect {self._name}: {why}", 2000)
        return _failed_answer(self._dialect, self._event, text)

    async def answer(self, raw: bytes | CallError) -> HookReply:
        """Return the answer to a payload, or to the reason why there is none. Raises nothing but
        cancellation."""
        try:
            try:
                answer = await self._read_and_answer(raw)
            except ConfigError as problem:
                answer = self._refuse("; ".join(one.message for one in problem.diagnostics))
            except HooklineError as problem:
                answer = self._refuse(str(problem))
            except Exception as problem:  # noqa: BLE001 a guard that breaks must not let things pass
                what = f"it broke: {type(problem).__name__}"
                answer = self._refuse(f"{what}; hookline log has the details", f"{what}: {problem}")
            if self._shared_call is not None:
                self._shared_call.share(answer, self.outcome, self.event_name)
        finally:
            if self._shared_call is not None:
                self._shared_call.close()
        return answer

    async def _read_and_answer(self, raw: bytes | CallError) -> HookReply:
        """Read the payload; ask the hooks, or repeat the answer of another process for the same call."""
        dialect = self._dialect = self.engine.loader.dialect(self._name)
        if self._event_name is not None:
            self._event = event_named(dialect, self._event_name)
        if isinstance(raw, CallError):
            raise raw
        _count_depth(self._env)
        document = read_payload(raw, dialect, self._env)
        if (caller := caller_of(self._name, document)) != self._name:
            dialect = self._switch_dialect(caller)
        event = self._event = event_of(document, dialect, self._event)
        try:
            parsed = dialect.wire.parse(document)
        except ConfigError:
            if self._no_hook_concerned(dialect, document, event):
                return HookReply()
            raise
        self._payload = parsed.payload
        apart = [self._env[name] for name in dialect.own_variables if name in self._env]
        words = (self._named, str(self._event_name), self._hooks, self._scope, self._source, *apart)
        entry = " ".join(filter(None, words))
        request = RawRequest(raw, self._files, self._env, self._started, self._strict, entry, self._hooks)
        self._shared_call = None if self._by_hand else shared_call(dialect, parsed, request)
        shared = await self._shared_call.shared_reply() if self._shared_call is not None else None
        if shared is not None and shared.hooks == "own" and self._hooks == "all":
            # Its other entry asked our own hooks alone: here the rest is asked.
            self._hooks, shared = "others", None
        if shared is None:
            return await self._ask_hooks(dialect, event, parsed)
        return self._repeat(shared, dialect, event, parsed)

    def _switch_dialect(self, name: str) -> Dialect:
        """Use the dialect of the agent that really calls: some run the entries of other agents."""
        self._name = name
        dialect = self._dialect = self.engine.loader.dialect(name)
        self._event = dialect.events.get(self._event_name or "")
        return dialect

    def _repeat(
        self, shared: SharedReply, dialect: Dialect, event: DialectEvent, parsed: Parsed
    ) -> HookReply:
        """Return the answer of another process that was started for the same call, in the form of this event."""
        self.outcome = shared.outcome
        self._record(
            why="its answer is that of another process: the agent has two entries for each call; "
            "run `hookline doctor` to find them"
        )
        return shared.reply if shared.event == event.name else self._write(dialect, event, parsed)

    async def _ask_hooks(self, dialect: Dialect, event: DialectEvent, parsed: Parsed) -> HookReply:
        """Return the answer of hooks, session and trust, in the agent's terms."""
        found = self._find(dialect, parsed)
        session = self._start_session(parsed, event, found.project)
        self._keep(found.memory)
        self.outcome += self._background_results(session, event)
        for recorded in dialect.asked_at(parsed.event):
            if session.has(recorded) and not self.outcome.blocked:
                self.outcome += await session.dispatch(recorded, parsed.payload)
        self.outcome += found.memory.objection(event.policy) + self._about_untrusted(found.memory, event)
        if event.event is SESSION_START:
            self.outcome += self._about_skipped(dialect, found)
        self._protect(dialect, parsed, found)
        self.outcome += self._alarm_if_overruled(found.memory, parsed)
        self.outcome = await self._approved(dialect, parsed, session)
        self._remark(found)
        return _with_config_problems(self._write(dialect, event, parsed), found.loaded, parsed.event)

    def _find(self, dialect: Dialect, parsed: Parsed) -> "_Found":
        """Find the project of the call and activate its hooks; the session remembers both."""
        memory = CallMemory(self._name, parsed, self._files, self._resources)
        cwd = parsed.info.cwd or self._directory or _own_directory()
        shown = {name: self._env.get(name, "") for name in dialect.project_variables}
        found = self._resources.call_project(cwd, shown, memory.began_in)
        if found is None and self._files is None:
            raise CallError(
                f"the directory {cwd[:500]} does not exist, and nothing else names the project: "
                "go back to the project's directory"
            )
        call_project = found or CallProject(cwd, cwd, cwd, in_project=False)
        project = self._resources.project(
            self.engine,
            call_project.directory,
            self._name,
            self._files,
            self._source,
            strict=self._strict,
            hooks=self._hooks,
        )
        loaded = project.loaded
        memory_of(self.engine).store.share(project.store)
        # Files that the entry names are treated as trusted.
        trust = project.trust or Trust(call_project.directory, self._env, TrustOptions(trusts_all=True), DISK)
        memory.add(call_project, project.guards, trust)
        return _Found(call_project, loaded, memory, trust)

    def _start_session(self, parsed: Parsed, event: DialectEvent, project: CallProject) -> Session:
        self._session = session = self.engine.session(parsed.info.session_id or RUN_NAME)
        session.admit = self._admitted
        session.tools = self._dialect.own_tools if self._dialect is not None else None
        session.info = replace(
            parsed.info,
            session_id=session.id,
            cwd=project.cwd,
            project_dir=parsed.info.project_dir or project.root,
            attended=bool(event.policy.may & Capability.PERMIT),
        )
        if parsed.info.session_id:
            self._resources.join(self._name, session)
        return session

    def _admitted(self, hook: Hook, info: SessionInfo) -> Admission:
        """Admit a hook as the engine does; the notice about a refused guard is written for the calling agent,
        below."""
        admission = self.engine.admit(hook, info)
        if admission.instead is PASS:
            return admission
        if hook.waiting == "wait":
            self._untrusted += [message.text for message in admission.instead.messages]
        return replace(admission, instead=PASS)

    def _keep(self, memory: CallMemory) -> None:
        """Remember the session, unless a person made the call: that is no session of the agent."""
        if not self._by_hand:
            memory.keep()

    def _background_results(self, session: Session, event: DialectEvent) -> Outcome:
        """Deliver background results. If that fails, nothing is delivered: hooks decide about the call as
        usual."""
        try:
            if session.id != RUN_NAME and os.path.exists(self._resources.jobs_path):
                self.engine.jobs.wakes.join(session)
            if not len(session.inbox):
                return PASS
            from hookline.hook.call.background_results import late_outcome

            return late_outcome(session.inbox, event)
        except Exception as problem:  # noqa: BLE001 whatever breaks here must not decide about the call
            self._record_broken("background results could not be delivered", problem)
            return PASS

    def _about_untrusted(self, memory: CallMemory, event: DialectEvent) -> Outcome:
        """Return a question instead of guards that may not run; where the agent cannot ask, one line each time."""
        if event.policy.may & Capability.PERMIT:
            return Outcome(votes=tuple(Vote("ask", text) for text in self._untrusted))
        lines = tuple(dict.fromkeys(self._untrusted))
        if len(lines) > 1:
            lines = (f"{lines[0]} {len(lines) - 1} more of its hooks did not run either.",)
        self._unheard = lines if event.policy.may & Capability.BLOCK else memory.new(lines)
        return Outcome(messages=tuple(Message(text) for text in self._unheard))

    def _about_skipped(self, dialect: Dialect, found: "_Found") -> Outcome:
        """Return a warning about hooks of the agent's own that it skips, which it does not say itself, and about
        other agents, which cannot say that this project switches their hooks off."""
        skipped: list[str] = []
        if dialect.skips_silently:
            loaded = self.engine.loader.directory(found.project.directory, [dialect.name])
            skipped += [str(one) for one in loaded.diagnostics if one.code in dialect.skips_silently]
        if found.project.in_project:
            from hookline.checks.switches import switched_off_here

            off = switched_off_here(found.project.directory, self._env, but=dialect.name)
            skipped += [str(one) for _, one in off]
        lines = found.memory.new(skipped)
        self._unheard += lines
        return Outcome(messages=tuple(Message(printable(line), warns=True) for line in lines))

    def _protect(self, dialect: Dialect, parsed: Parsed, found: "_Found") -> None:
        """Ask the user about a call that would edit a protected file. A hook's denial is stronger, its allow is not.

        An agent that cannot ask at this event denies the call, through its wire. Where the agent asks already, no
        hook may answer for the user.
        """
        outcome, tool = self.outcome, field_of(parsed.payload, "tool_name")
        if (
            outcome.blocked
            or parsed.event not in (PRE_TOOL_USE, PERMISSION_REQUEST)
            or not isinstance(tool, str)
        ):
            return
        updated: Any = outcome.updated_input
        arguments: Any = updated if updated is not None else field_of(parsed.payload, "tool_input")
        reader = self._resources.call_reader(
            found.project, found.loaded.hooks, lambda: self.engine.home.tables()[1]
        )
        hit = reader.written_by_call(tool, arguments, found.project.cwd, dialect.own_tools)
        if hit is None:
            return
        if parsed.event is PERMISSION_REQUEST:
            allowed = tuple(vote for vote in outcome.votes if vote.kind != "allow")
            self.outcome = replace(outcome, votes=allowed)
        else:
            self.outcome += Outcome(votes=(Vote("ask", str(hit), by=RUN_NAME),))
        self._record(decision="ask", reason=self.outcome.reason, why="it would edit a protected file")

    def _alarm_if_overruled(self, memory: CallMemory, parsed: Parsed) -> Outcome:
        """Return an alarm about a call that was denied and has run all the same; remember a call that is denied."""
        call, shared = str(field_of(parsed.payload, "tool_use_id") or ""), self._shared_call
        if not call or self._by_hand or not parsed.info.session_id:
            return PASS
        if parsed.event is PRE_TOOL_USE:
            denied = self.outcome.blocked
            if not (shared is not None and shared.remember(call, self._hooks, denied=denied)) and denied:
                self.remarks += (_NOT_REMEMBERED,)
        if parsed.event is not POST_TOOL_USE or shared is None or not shared.was_denied(call):
            return PASS
        tool = one_line(str(field_of(parsed.payload, "tool_name")), 100)
        alarm = (
            f"ALARM: Hookline denied this call of {tool}, and it has run all the same: something overrules your hooks; "
            "run `hookline doctor`"
        )
        self._record(status="failed", why=alarm)
        self._unheard += memory.new((alarm,))
        return Outcome(messages=(Message(alarm, warns=True),))

    def _remark(self, found: "_Found") -> None:
        """Report oddities of project, session and trust, once in a session where that can be remembered."""
        remarks = found.memory.new((*self.remarks, *found.project.remarks, *found.trust.problems))
        self._keep(found.memory)
        self.remarks = (*remarks, *found.memory.problems)
        for line in self.remarks:
            self._record(why=line)

    def _write(self, dialect: Dialect, event: DialectEvent, parsed: Parsed) -> HookReply:
        """Write the outcome in the agent's terms."""
        answerable = dialect.answerable(self._deny_if_headless(dialect), parsed)
        answer = dialect.wire.answer(event.name, answerable, parsed.payload)
        self._report_lost(answer.lost, dialect, event, parsed)
        return answer

    async def _approved(self, dialect: Dialect, parsed: Parsed, session: Session) -> Outcome:
        """Return the outcome, with an answer from the queue instead of a question that the agent cannot put to a
        user."""
        vote = self.outcome.deciding_vote
        if vote is None or vote.kind not in ("ask", "defer") or not isinstance(parsed.payload, ToolCall):
            return self.outcome
        from hookline.hook.call.approve import approved, seconds_to_wait

        seconds = seconds_to_wait(self._env)
        if not seconds or not self._is_headless(dialect):
            return self.outcome
        try:
            outcome, answer = await approved(
                self.outcome, vote, parsed.payload, session.info, dialect.title, self._env, seconds
            )
        except OSError as problem:
            self._record_broken("the question could not be kept for an approval", problem)
            return self.outcome
        decision = "allow" if answer.allow else "deny"
        self._record(
            decision=decision,
            reason=vote.reason,
            why=f"`hookline approvals`: {answer.by or 'no one answered'}",
        )
        return outcome

    def _is_headless(self, dialect: Dialect) -> bool:
        """Return True if the agent runs without a user; False where that is not known."""
        from hookline.hook.call.headless import runs_headless

        return bool(self._pid) and runs_headless(self._pid, dialect.listed.programs, dialect.headless_options)

    def _deny_if_headless(self, dialect: Dialect) -> Outcome:
        """Return the outcome, with a denial instead of a question that the agent would wait for in vain."""
        vote = self.outcome.deciding_vote
        if vote is None or vote.kind not in ("ask", "defer") or not dialect.headless_options:
            return self.outcome
        if not self._is_headless(dialect):
            return self.outcome
        no_user = f"no user can be asked: {dialect.title} runs without one"
        why = f"{vote.reason or 'this needs your permission'} ({no_user})"
        return replace(self.outcome, votes=(*self.outcome.votes, Vote("block", why, vote.rank, vote.by)))

    def _report_lost(
        self, lost: Sequence[str], dialect: Dialect, event: DialectEvent, parsed: Parsed
    ) -> None:
        """Record parts of the answer that the agent cannot express; print them to stderr as well if the user
        relies on them."""
        if _MESSAGES in lost:
            self.remarks += self._unheard
        if _REWRITE in lost:
            about = field_of(parsed.payload, parsed.event.subject or "")
            form = f"{dialect.title} takes no such value at {event.name}{f' of {about}' if about else ''}"
            self.remarks += (one_line(f"a hook's rewrite was not applied: {form}", 300),)
        if lost:
            self._record(dropped=lost, why=f"{dialect.name} cannot express this at {event.name}")

    def _no_hook_concerned(self, dialect: Dialect, document: dict[str, Any], event: DialectEvent) -> bool:
        """Return True if no hook is about the tool: arguments that the agent truncated cannot be judged."""
        rest = dialect.without_cut(document)
        if rest is None:
            return False
        parsed = dialect.wire.parse(rest)
        found = self._find(dialect, parsed)
        cut = [value for key, value in document.items() if key not in rest]
        protected = protected_for(found.project, (), self._env, DISK)
        if found.memory.weakened or any(isinstance(text, str) and protected.mentioned(text) for text in cut):
            return False
        session = self._start_session(parsed, event, found.project)
        payload = parsed.payload
        if hasattr(payload, "tool_input"):
            # None would mean that there are no arguments; they are unknown.
            payload = replace(payload, tool_input="(truncated)")
        return not any_may_concern(session, parsed.event, payload)

    def _refuse(self, why: str, detail: str = "") -> HookReply:
        """Return the answer if no hook could run, or the outcome could not be expressed. `detail` is for the
        journal."""
        answer = self.failed_answer(why)
        text = one_line(f"hookline hook --dialect {self._name}: {why}", 2000)
        closed = self._event is None or self._event.guards
        self.outcome = Outcome(votes=(Vote("block", text),)) if closed else PASS
        self._record(
            status="failed",
            detail=detail or why,
            decision="deny" if closed else None,
            failed_open=not closed,
        )
        return answer

    async def finish(self, seconds: float) -> None:
        """Let background hooks end. The agent has its answer: later failures change nothing."""
        try:
            await self.engine.drain(seconds)
            self.record_late()
        except Exception as problem:  # noqa: BLE001 see above
            self._record_broken("background hooks could not be ended", problem)

    async def close(self) -> None:
        """Close the engine. Failures here change no answer, either."""
        try:
            await self.engine.close(0)
        except Exception as problem:  # noqa: BLE001 as above
            self._record_broken("the engine could not be closed", problem)

    def record_late(self) -> None:
        """Record what hooks said after the answer, which did not reach the agent."""
        if self._session is None:
            return
        # Messages of durable hooks are kept, for the next call of the session.
        self._session.inbox.owner_acknowledges = True
        late = [item for item in self._session.inbox.take_all() if not item.wake_id]
        if late:
            names = tuple(dict.fromkeys(f"late {item.kind} of {item.hook}" for item in late))
            self._record(dropped=names, why="it came after the answer")

    def _record_broken(self, what: str, problem: Exception) -> None:
        self._record(status="failed", why=what, detail=f"{type(problem).__name__}: {problem}")

    def _record(self, **facts: Any) -> None:
        event, info = self._event, self._session.info if self._session is not None else None
        project = info.project_dir or info.cwd if info is not None else ""
        self.engine.journal.record(
            Run(
                hook=RUN_NAME,
                type=RUN_TYPE,
                dialect=self._name,
                event=event.event.name if event is not None else "",
                dialect_event=event.name if event is not None else "",
                session=info.session_id if info is not None else "",
                agent=info.agent_id if info is not None else None,
                call=self.engine.journal.called(self._payload, project),
                at=time(),
                **facts,
            )
        )


class _Found(Struct, frozen=True, eq=False):
    """The project of a call, and its active hooks."""

    project: CallProject
    loaded: Loaded
    memory: CallMemory
    trust: Trust


def _own_directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return "of this process"


def _failed_answer(dialect: Dialect | None, event: DialectEvent | None, why: str) -> HookReply:
    """Return the answer if no hook could run: a block at a guard, elsewhere a failure that stops nothing."""
    if dialect is None or event is None:
        return HookReply(BLOCKED, "", why)
    if not event.guards:
        return HookReply(FAILED, "", why)
    try:
        return dialect.wire.answer(event.name, Outcome(votes=(Vote("block", why),)))
    except Exception:  # noqa: BLE001 an answer that cannot be written must not become a pass
        return HookReply(BLOCKED, "", why)


def _count_depth(env: MutableMapping[str, str]) -> None:
    """Count how deep calls are nested: a hook may start an agent, which has hooks, too."""
    text = env.get(DEPTH, "")
    depth = int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else 0
    if depth >= DEEPEST:
        raise CallError(
            f"a hook runs hookline hook again and again ({DEPTH}={depth}): remove that call from the hook"
        )
    env[DEPTH] = str(depth + 1)


def _with_config_problems(answer: HookReply, loaded: Loaded, event: EventSpec[Any]) -> HookReply:
    """Add warnings about unreadable files, which may have had hooks for this event; at guards they have
    blocked already."""
    unread = [one for one in loaded.found if one.unreadable and one.dialect == OWN_FORMAT]
    if not unread or event.guard:
        return answer
    lines = "\n".join(
        printable(str(one)) for one in loaded.errors if one.where.file in {f.file for f in unread}
    )
    silent = answer.code == 0 and not answer.stdout
    return replace(answer, code=FAILED if silent else answer.code, stderr=f"{answer.stderr}\n{lines}".strip())
