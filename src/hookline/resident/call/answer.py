"""One call by another agent: its payload is read, dispatched to hooks, and answered in the agent's own terms."""

import os
from collections.abc import Mapping, MutableMapping, Sequence
from time import time
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.config.engine import Engine, strictly
from hookline.config.load import Loaded
from hookline.dialects.dialect import Dialect, DialectEvent, upward
from hookline.dialects.registry import OWN_FORMAT
from hookline.engine.lanes import HookStore
from hookline.engine.run_hook import Admission
from hookline.engine.session import Session
from hookline.jobs import jobs_path
from hookline.model.errors import ConfigError, HooklineError
from hookline.model.events import SESSION_END, EventSpec, May, field_of
from hookline.model.hook import Hook, Scope
from hookline.model.outcome import GO_ON, Message, Outcome, Vote
from hookline.model.run import Run
from hookline.model.safe_text import one_line, printable
from hookline.model.scene import Scene
from hookline.model.wire import HookReply, Parsed
from hookline.resident.call.memory import CallMemory
from hookline.resident.call.payload import CallError, event_named, event_of, read_payload
from hookline.resident.call.place import Place, find_place
from hookline.resident.call.protect import Protection, names_protected, protect, protection_in
from hookline.resident.call.twin import Asked, Given, Twin, now, twin_call
from hookline.trust.project import is_inside, project_root
from hookline.trust.sessions import Sessions
from hookline.trust.trust import Options as TrustOptions
from hookline.trust.trust import Trust

if TYPE_CHECKING:
    from hookline.matching.shell import ShellReader

#: Exit codes that mean the same to every agent: do not go on, and a failure that stops nothing.
BLOCKED, FAILED = 2, 1
#: Under which name and type the calls themselves are in the journal.
RUN_NAME, RUN_TYPE = "hookline hook", "answer"
#: How deep hooks may nest that start agents which call Hookline; beyond it, something calls itself.
DEEPEST = 4
DEPTH = "HOOKLINE_HOOK_DEPTH"
_MESSAGES, _REWRITE = "messages", "rewrite"


class Project(Struct, frozen=True, eq=False):
    """The hooks for a directory. Calls may share it: nothing in it belongs to one call."""

    loaded: Loaded
    #: None if the hooks are those of files that the entry names.
    trust: Trust | None
    #: The same hooks, prepared to run.
    store: HookStore


class Kept:
    """What outlives a call. In a process of its own nothing does: everything is read anew."""

    def project(
        self, engine: Engine, cwd: str, caller: str, files: Sequence[str] | None, *, strict: bool
    ) -> "Project":
        """The hooks that answer calls of this agent in this directory; the engine gets the trust they are under."""
        return find_project(engine, cwd, caller, files, strict=strict)

    def place(
        self, cwd: str, variables: Sequence[str], began_in: str | None, env: Mapping[str, str]
    ) -> Place | None:
        """Where a call belongs; None if nothing tells."""
        return find_place(cwd, variables, began_in, env)

    def protection(self, place: Place, hooks: Sequence[Hook], env: Mapping[str, str]) -> Protection:
        """What no call may edit unasked."""
        return protection_in(place, hooks, env)

    def recalled(self, home: str) -> Sessions:
        """What earlier calls have remembered of sessions."""
        return Sessions(home)

    def twin(self, dialect: Dialect, parsed: Parsed, asked: Asked) -> Twin | None:
        """The same call, if it may be made twice at the same time."""
        return twin_call(dialect, parsed, asked)

    def join(self, session: Session) -> None:
        """Go on with the session of earlier calls."""


class AgentCall:
    """One call. What is known by the time something breaks decides how the failure is answered."""

    def __init__(
        self,
        engine: Engine,
        dialect: str,
        event: str | None,
        files: Sequence[str] | None = None,
        env: MutableMapping[str, str] = os.environ,
        *,
        strict: bool = False,
        directory: str | None = None,
        kept: Kept | None = None,
    ) -> None:
        self.engine = engine
        self.outcome: Outcome = GO_ON
        #: What is odd about the session and its place, for stderr and the journal.
        self.remarks: tuple[str, ...] = ()
        self._name = dialect
        self._event_name = event
        self._files = files
        self._strict = strict
        self._env = env
        #: Where the agent has started this call, if that is not where this process is.
        self._directory = directory
        self._kept = kept or Kept()
        #: When the agent asked.
        self.started = now()
        self._twin: Twin | None = None
        self._dialect: Dialect | None = None
        self._event: DialectEvent | None = None
        self._session: Session | None = None
        self._payload: Any = None
        #: What is to be said about guards that concern the call and may not run.
        self._untrusted: list[str] = []
        self._unheard: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """For stderr, where that is not the reason for a block."""
        return (*self.remarks, *self.engine.journal.problems)

    @property
    def session_id(self) -> str:
        return self._session.id if self._session is not None else ""

    @property
    def ends_session(self) -> bool:
        return self._event is not None and self._event.event is SESSION_END

    def failed_answer(self, why: str) -> HookReply:
        """The answer if the hooks could not be asked to the end."""
        text = one_line(f"hookline hook --dialect {self._name}: {why}", 2000)
        return _failed_answer(self._dialect, self._event, text)

    async def answer(self, raw: bytes | CallError) -> HookReply:
        """The answer to a payload, or to the reason why there is none. Raises nothing but cancellation."""
        try:
            answer = await self._answer_or_refuse(raw)
            if self._twin is not None:
                self._twin.share(answer, self.outcome.permission)
        finally:
            if self._twin is not None:
                self._twin.close()
        return answer

    async def _answer_or_refuse(self, raw: bytes | CallError) -> HookReply:
        try:
            return await self._answer(raw)
        except ConfigError as problem:
            return self._refuse("; ".join(one.message for one in problem.diagnostics))
        except HooklineError as problem:
            return self._refuse(str(problem))
        except Exception as problem:  # noqa: BLE001 a guard that breaks must not let things pass
            what = f"it broke: {type(problem).__name__}"
            return self._refuse(f"{what}; hookline log has the details", f"{what}: {problem}")

    async def _answer(self, raw: bytes | CallError) -> HookReply:
        dialect = self._dialect = self.engine.loader.dialect(self._name)
        if self._event_name is not None:
            self._event = event_named(dialect, self._event_name)
        if isinstance(raw, CallError):
            raise raw
        _count_depth(self._env)
        document = read_payload(raw, dialect, self._env)
        event = self._event = event_of(document, dialect, self._event)
        try:
            parsed = dialect.wire.parse(document)
        except ConfigError:
            if self._no_hook_concerned(dialect, document, event):
                return HookReply()
            raise
        self._payload = parsed.payload
        asked = Asked(raw, self._files, self._env, self.started, self._strict)
        self._twin = self._kept.twin(dialect, parsed, asked)
        given = await self._twin.given() if self._twin is not None else None
        return await self._judged(dialect, event, parsed) if given is None else self._repeated(given)

    def _repeated(self, given: Given) -> HookReply:
        """What another process has answered that was started for the same call."""
        self._twin, self.outcome = None, given.outcome
        self._record(
            why="its answer is that of another process: two entries of the agent ask about each call, "
            "and hookline doctor names them"
        )
        return given.reply

    async def _judged(self, dialect: Dialect, event: DialectEvent, parsed: Parsed) -> HookReply:
        """What hooks, the session and trust say, in the agent's terms."""
        found = self._find(dialect, parsed)
        session = self._start_session(parsed, event, found.place)
        found.memory.keep()
        self.outcome += self._late(session, event)
        for moment in dialect.asked_at(parsed.event):
            if session.has(moment) and not self.outcome.blocked:
                self.outcome += await session.dispatch(moment, parsed.payload)
        self.outcome += found.memory.objection(event.policy) + self._about_untrusted(found.memory, event)
        guarded = protect(
            self.outcome, parsed, dialect, found.place.cwd,
            lambda: self._kept.protection(found.place, found.loaded.hooks, self._env),
        )  # fmt: skip
        if guarded is not self.outcome:
            self._record(decision="ask", reason=guarded.reason, why="it would edit a protected file")
        self.outcome = guarded
        self._remark(found)
        answerable = dialect.answerable(self.outcome, parsed)
        answer = dialect.wire.answer(event.name, answerable, parsed.payload)
        self._report_lost(answer.lost, dialect, event, parsed)
        return _with_config_problems(answer, found.loaded, parsed.event)

    def _report_lost(
        self, lost: Sequence[str], dialect: Dialect, event: DialectEvent, parsed: Parsed
    ) -> None:
        """What the agent cannot be told is in the journal; on stderr as well if the user relies on it."""
        if _MESSAGES in lost:
            self.remarks += self._unheard
        if _REWRITE in lost:
            about = field_of(parsed.payload, parsed.event.subject or "")
            form = f"{dialect.title} takes no such value at {event.name}{f' of {about}' if about else ''}"
            self.remarks += (one_line(f"what a hook rewrote was not applied: {form}", 300),)
        if lost:
            self._record(dropped=lost, why=f"{dialect.name} has no way to express this at {event.name}")

    def _find(self, dialect: Dialect, parsed: Parsed) -> "_Found":
        """The place of the call and its hooks, which are put in force; the session remembers both."""
        memory = CallMemory(self._name, parsed, self._files, self._kept.recalled(self._env.get("HOME", "")))
        cwd = parsed.scene.cwd or self._directory or _own_directory()
        place = self._kept.place(cwd, dialect.project_variables, memory.began_in, self._env)
        if place is None and self._files is None:
            raise CallError(
                f"the directory {cwd[:500]} does not exist, and nothing else says which project this is: "
                "go back to the project's directory"
            )
        place = place or Place(cwd, cwd, cwd, in_project=False)
        project = self._kept.project(
            self.engine, place.directory, self._name, self._files, strict=self._strict
        )
        loaded = project.loaded
        self.engine.store.share(project.store)
        # Files that the entry names count as trusted.
        trust = project.trust or Trust(place.directory, self._env, TrustOptions(trusts_all=True))
        memory.add(place, loaded.hooks, trust)
        return _Found(place, loaded, memory, trust)

    def _admitted(self, hook: Hook, scene: Scene) -> Admission:
        """As the engine admits, but what is said in place of a guard is said for the agent that calls, below."""
        admission = self.engine.admit(hook, scene)
        if admission.instead is GO_ON:
            return admission
        if hook.waiting == "wait":
            self._untrusted += [message.text for message in admission.instead.messages]
        return replace(admission, instead=GO_ON)

    def _about_untrusted(self, memory: CallMemory, event: DialectEvent) -> Outcome:
        """A question in place of guards that may not run; where the agent cannot ask, a message once a session."""
        if event.policy.may & May.PERMIT:
            return Outcome(votes=tuple(Vote("ask", text) for text in self._untrusted))
        self._unheard = memory.new(self._untrusted)
        return Outcome(messages=tuple(Message(text) for text in self._unheard))

    def _remark(self, found: "_Found") -> None:
        """Say what is odd about place, session and trust, once in a session where that can be remembered."""
        remarks = found.memory.new((*found.place.remarks, *found.trust.problems))
        found.memory.keep()
        self.remarks = (*remarks, *found.memory.problems)
        for line in self.remarks:
            self._record(why=line)

    def _start_session(self, parsed: Parsed, event: DialectEvent, place: Place) -> Session:
        self._session = session = self.engine.session(parsed.scene.session_id or RUN_NAME)
        session.admit = self._admitted
        session.tools = self._dialect.own_tools if self._dialect is not None else None
        session.scene = replace(
            parsed.scene,
            session_id=session.id,
            cwd=place.cwd,
            project_dir=parsed.scene.project_dir or place.root,
            attended=bool(event.policy.may & May.PERMIT),
        )
        if parsed.scene.session_id:
            self._kept.join(session)
        return session

    def _late(self, session: Session, event: DialectEvent) -> Outcome:
        """Deliver background results. If that fails, nothing was said: hooks decide about the call as ever."""
        try:
            if session.id != RUN_NAME and os.path.exists(jobs_path(self._env)):
                self.engine.jobs.wakes.join(session)
            if not len(session.inbox):
                return GO_ON
            from hookline.resident.call.late import late_outcome

            return late_outcome(session.inbox, event)
        except Exception as problem:  # noqa: BLE001 whatever breaks here must not decide about the call
            self._record_broken("background results could not be delivered", problem)
            return GO_ON

    def _no_hook_concerned(self, dialect: Dialect, document: dict[str, Any], event: DialectEvent) -> bool:
        """Arguments that the agent truncated cannot be judged; that is fine if no hook is about the tool."""
        rest = dialect.without_cut(document)
        if rest is None:
            return False
        parsed = dialect.wire.parse(rest)
        found = self._find(dialect, parsed)
        cut = [value for key, value in document.items() if key not in rest]
        if found.memory.weakened or names_protected(cut, found.place, self._env):
            return False
        session = self._start_session(parsed, event, found.place)
        payload = parsed.payload
        if hasattr(payload, "tool_input"):
            # None would say that there are no arguments; what they are is not known.
            payload = replace(payload, tool_input="(truncated)")
        return not session.may_concern(parsed.event, payload)

    def _refuse(self, why: str, detail: str = "") -> HookReply:
        """The answer if no hook could be asked, or the outcome could not be expressed. `detail`: for the journal."""
        answer = self.failed_answer(why)
        text = one_line(f"hookline hook --dialect {self._name}: {why}", 2000)
        closed = self._event is None or self._event.guards
        self.outcome = Outcome(votes=(Vote("block", text),)) if closed else GO_ON
        self._record(
            status="failed",
            detail=detail or why,
            decision="deny" if closed else None,
            passed_without_answer=not closed,
        )
        return answer

    async def finish(self, seconds: float) -> None:
        """Let background hooks end. The agent has its answer: what fails from now on changes nothing."""
        try:
            await self.engine.drain(seconds)
            self.record_late()
        except Exception as problem:  # noqa: BLE001 see above
            self._record_broken("background hooks could not be ended", problem)

    async def close(self) -> None:
        """Close the engine. What fails here changes no answer, either."""
        try:
            await self.engine.close(0)
        except Exception as problem:  # noqa: BLE001 as above
            self._record_broken("the engine could not be closed", problem)

    def record_late(self) -> None:
        """What hooks said after the answer did not reach the agent; the journal says so."""
        if self._session is None:
            return
        # What durable hooks said is kept, for the next call of the session.
        self._session.inbox.owner_acknowledges = True
        late = [item for item in self._session.inbox.take_all() if not item.wake_id]
        if late:
            names = tuple(dict.fromkeys(f"late {item.kind} of {item.hook}" for item in late))
            self._record(dropped=names, why="it came after the answer")

    def _record_broken(self, what: str, problem: Exception) -> None:
        self._record(status="failed", why=what, detail=f"{type(problem).__name__}: {problem}")

    def _record(self, **facts: Any) -> None:
        event, scene = self._event, self._session.scene if self._session is not None else None
        project = scene.project_dir or scene.cwd if scene is not None else ""
        self.engine.journal.record(
            Run(
                hook=RUN_NAME,
                type=RUN_TYPE,
                dialect=self._name,
                event=event.event.name if event is not None else "",
                spelled=event.name if event is not None else "",
                session=scene.session_id if scene is not None else "",
                agent=scene.agent_id if scene is not None else None,
                call=self.engine.journal.called(self._payload, project),
                at=time(),
                **facts,
            )
        )


class _Found(Struct, frozen=True, eq=False):
    """Where a call belongs, and what is in force there."""

    place: Place
    loaded: Loaded
    memory: CallMemory
    trust: Trust


def _own_directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return "of this process"


def _failed_answer(dialect: Dialect | None, event: DialectEvent | None, why: str) -> HookReply:
    """If no hook could be asked: a block at a guard, elsewhere a failure that stops nothing."""
    if dialect is None or event is None:
        return HookReply(BLOCKED, "", why)
    if not event.guards:
        return HookReply(FAILED, "", why)
    try:
        return dialect.wire.answer(event.name, Outcome(votes=(Vote("block", why),)))
    except Exception:  # noqa: BLE001 an answer that cannot be written must not become a pass
        return HookReply(BLOCKED, "", why)


def find_project(
    engine: Engine, cwd: str, caller: str, files: Sequence[str] | None, *, strict: bool
) -> Project:
    """Read the hooks that answer and prepare them, for this engine and others of the same environment."""
    loaded = hooks_for(engine, cwd, caller, files, strict=strict)
    store = HookStore(dict.fromkeys(engine.handlers), engine.events)
    store.swap(strictly(engine, loaded.hooks) if strict else loaded.hooks)
    return Project(loaded, None if files is not None else engine.trust, store)


def hooks_for(
    engine: Engine, cwd: str, caller: str, files: Sequence[str] | None, *, strict: bool = False
) -> Loaded:
    """The hooks that answer: native ones and those of other agents, without those that the calling agent runs
    itself and those that would call Hookline again."""
    if files is not None:
        loaded = engine.loader.files(files)
        own: set[str] = set()
    else:
        trust = engine.trust_in(cwd, TrustOptions(environment=False, asks=True, strict=strict))
        loaded = engine.loader.directory(cwd, without=caller, trust=trust)
        own = _files_of_caller(engine, cwd, caller, loaded)
    hooks = tuple(hook for hook in loaded.hooks if hook.where.file not in own)
    return replace(loaded, hooks=_without_own_calls(hooks))


def _without_own_calls(hooks: tuple[Hook, ...]) -> tuple[Hook, ...]:
    if all(hook.kind != "command" for hook in hooks):
        return hooks
    from hookline.config.install.self_calls import calls_hookline_hook

    shell: list[ShellReader] = []
    return tuple(hook for hook in hooks if not calls_hookline_hook(hook, shell))


def _files_of_caller(engine: Engine, cwd: str, caller: str, loaded: Loaded) -> set[str]:
    """Files of other dialects that the calling agent reads as well, and so runs itself."""
    others: dict[str, Scope] = {
        found.file: found.scope for found in loaded.found if found.dialect != OWN_FORMAT
    }
    if caller == OWN_FORMAT or not others:
        return set()
    named, root, reads = upward(os.path.abspath(cwd))[-1], project_root(cwd), dict[str, bool]()
    for place in engine.loader.places(cwd, [caller]):
        real = os.path.realpath(place)
        # A link in the project may lead to a file of the user: the hooks there stay in force.
        by_link = is_inside(os.path.abspath(place), named) and not is_inside(real, root)
        reads[real] = reads.get(real, False) or not by_link
    trust = engine.trust
    return {
        file
        for file, scope in others.items()
        if (real := os.path.realpath(file)) in reads
        and (reads[real] or trust is None or trust.is_foreign(file, scope))
    }


def _count_depth(env: MutableMapping[str, str]) -> None:
    """Counts how deep calls are nested: a hook may start an agent, which has hooks, too."""
    text = env.get(DEPTH, "")
    depth = int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else 0
    if depth >= DEEPEST:
        raise CallError(
            f"a hook runs hookline hook again and again ({DEPTH}={depth}): take that call out of the hook"
        )
    env[DEPTH] = str(depth + 1)


def _with_config_problems(answer: HookReply, loaded: Loaded, event: EventSpec[Any]) -> HookReply:
    """An unreadable file may have had hooks for this event; at guards it has blocked already."""
    unread = [one for one in loaded.found if one.unreadable and one.dialect == OWN_FORMAT]
    if not unread or event.guard:
        return answer
    lines = "\n".join(
        printable(str(one)) for one in loaded.errors if one.where.file in {f.file for f in unread}
    )
    silent = answer.code == 0 and not answer.stdout
    return replace(answer, code=FAILED if silent else answer.code, stderr=f"{answer.stderr}\n{lines}".strip())
