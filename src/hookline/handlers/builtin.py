"""Run the hooks that come with Hookline, by name, in this process and without starting a program."""

import os
import stat
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec.structs import replace

from hookline.handlers.specs import GUARDS, BuiltinSpec
from hookline.model.outcome import ContextItem, Message, Outcome, allow, ask, context, deny
from hookline.model.raw import RETURNED_NOTHING, Failed, RawResult, Returned
from hookline.model.session_info import SessionInfo
from hookline.model.wire import HookInvocation

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from hookline.guards.judge import Protects
    from hookline.guards.runner import GuardDecision, GuardRunner
    from hookline.shell import ShellReader

#: Bytes read of a prompt file.
_MOST: Final = 64 * 1024
#: Guards judge calls with more text, or with more values, in a thread.
_LONG_CALL: Final = 16 * 1024
_MANY_VALUES: Final = 1000
_PLAIN: Final = frozenset((int, float, bool, type(None)))

#: A builtin: it gets the arguments of the entry, the payload and the session info, and returns an outcome.
Builtin = Callable[[tuple[str, ...], Any, SessionInfo], Outcome | None]


class BuiltinHandler:
    """Calls builtins on the event loop: they must be quick and must not block. Guards judge long calls in a thread."""

    kind = "builtin"
    own_clock = False

    def __init__(
        self,
        builtins: Mapping[str, Builtin],
        protects: "Protects | None" = None,
        shell_reader: "Callable[[], ShellReader | None] | None" = None,
    ) -> None:
        self._builtins = builtins
        #: Guards share one of these, unless a host brings others.
        self._guards = {each.guards for each in builtins.values() if isinstance(each, GuardBuiltin)}
        for guards in self._guards:
            guards.protects = guards.protects or protects
            guards.shell_reader = guards.shell_reader or shell_reader

    async def run(self, call: HookInvocation) -> RawResult:
        begun = self.begin(call)
        return await begun if isinstance(begun, Coroutine) else begun

    def begin(self, call: HookInvocation) -> RawResult | Coroutine[Any, Any, RawResult]:
        """Run it for an engine that asks for the first step: most have no other."""
        spec: BuiltinSpec = call.hook.spec
        builtin = self._builtins.get(spec.name)
        if builtin is None:
            return Failed("not_started", self.problem(spec) or "")
        try:
            info = call.info if spec.cwd is None and not spec.env else _placed(call.info, spec)
            if isinstance(builtin, GuardBuiltin):
                if is_long(call.payload):
                    return builtin.guards.apart.judged(builtin, call, spec, info)
                answer = builtin.judge(call, spec, info)
                return RETURNED_NOTHING if answer is None else Returned(answer)
            # A host may add builtins: context variables they set stay theirs.
            from contextvars import copy_context  # noqa: PLC0415 - guards set none

            return Returned(copy_context().run(builtin, spec.args, call.payload, info))
        except Exception as error:  # noqa: BLE001 - as above
            from hookline.handlers.failures import crashed  # noqa: PLC0415 - rarely needed

            return crashed(error)

    def problem(self, spec: Any) -> str | None:
        builtin = self._builtins.get(spec.name)
        if builtin is not None:
            return builtin.problem(spec.args) if isinstance(builtin, GuardBuiltin) else None
        from difflib import get_close_matches  # noqa: PLC0415 - only needed to explain a mistake

        name: str = spec.name
        nearest = get_close_matches(name, self._builtins, n=1)
        known = ", ".join(sorted(self._builtins))
        return f"no builtin is called {name!r}; " + (
            f"did you mean {nearest[0]!r}?" if nearest else f"there are {known}"
        )

    async def close(self) -> None:
        """End the thread of the guards, if they have one."""
        for guards in self._guards:
            guards.apart.close()


def is_long(payload: Any) -> bool:
    """Return True if a call has so much text that judging it would hold up the event loop."""
    given: Any = getattr(payload, "tool_input", None)
    if given.__class__ is dict:
        # Every guard asks about it, and most calls are plain.
        plain: dict[str, Any] = given
        length = 0
        for one in plain.values():
            if type(one) is str:
                length += len(one)
            elif type(one) not in _PLAIN:
                break
        else:
            return length > _LONG_CALL or len(plain) >= _MANY_VALUES
    waiting, length, steps = [given], 0, 0
    while waiting and length <= _LONG_CALL and steps <= _MANY_VALUES:
        value = waiting.pop()
        steps += 1
        if isinstance(value, str):
            length += len(value)
        elif isinstance(value, Mapping):
            waiting.extend(cast("Mapping[Any, Any]", value).values())
        elif isinstance(value, list | tuple):
            waiting.extend(cast("Sequence[Any]", value))
    return length > _LONG_CALL or steps > _MANY_VALUES


def _placed(info: SessionInfo, spec: BuiltinSpec) -> SessionInfo:
    if spec.cwd is not None:
        info = replace(info, cwd=os.path.join(info.cwd, os.path.expanduser(spec.cwd)))
    return replace(info, extra={**(info.extra or {}), "env": spec.env}) if spec.env else info


def standard_builtins(
    *,
    today: Callable[[], date] = date.today,
    home: str | None = None,
    env: Mapping[str, str] = os.environ,
    past: bool = False,
) -> dict[str, Builtin]:
    """Return the builtins every engine has, by the names that configurations use. The reference shows their
    docstrings.

    The search for prompt files goes up to `home`. With `past`, guards judge calls that were made long ago.
    """
    guards = Guards(env, past=past)
    return {
        "add_date": AddDate(today),
        "add_environment_info": add_environment_info,
        "add_prompt_files": AddPromptFiles(home),
        "deny": always_deny,
        "ask": always_ask,
        "allow": always_allow,
        "context": add_context,
        **{name: GuardBuiltin(name, guards) for name in GUARDS},
    }


# Fixed answers: with a matcher or a condition they are a complete guard


def always_deny(args: tuple[str, ...], _payload: Any, _info: SessionInfo) -> Outcome:
    """Blocks, with args as the reason."""
    return deny(" ".join(args) or "denied by a hook")


def always_ask(args: tuple[str, ...], _payload: Any, _info: SessionInfo) -> Outcome:
    """Asks the user, with args as the reason."""
    return ask(" ".join(args))


def always_allow(args: tuple[str, ...], _payload: Any, _info: SessionInfo) -> Outcome:
    """Lets the call run without asking."""
    return allow(" ".join(args))


def add_context(args: tuple[str, ...], _payload: Any, _info: SessionInfo) -> Outcome | None:
    """Adds args as text for the model."""
    text = " ".join(args)
    return context(text) if text else None


# Built-in guards: their rules are in the package `guards`, which is loaded with the first hook that names
# one


class Guards:
    """The guards of one engine."""

    def __init__(self, env: Mapping[str, str] = os.environ, *, past: bool = False) -> None:
        self.env = env
        self.past = past
        #: Returns why a call changes what guards the agent; the engine sets it.
        self.protects: Protects | None = None
        #: The reader of shell lines of the engine's rules.
        self.shell_reader: Callable[[], ShellReader | None] | None = None
        self._runner: GuardRunner | None = None
        self.apart = GuardThread(self)

    @property
    def runner(self) -> "GuardRunner":
        if self._runner is None:
            from hookline.guards.runner import GuardRunner  # noqa: PLC0415 - see above

            reader = self.shell_reader() if self.shell_reader is not None else None
            self._runner = GuardRunner(self.protects, self.env, reader, past=self.past)
        return self._runner


class GuardThread:
    """A thread for guards that judge long calls, one after another, with readers of its own."""

    def __init__(self, guards: Guards) -> None:
        self._guards = guards
        self._runner: GuardRunner | None = None
        self._thread: ThreadPoolExecutor | None = None

    async def judged(
        self, builtin: "GuardBuiltin", call: HookInvocation, spec: BuiltinSpec, info: SessionInfo
    ) -> RawResult:
        from asyncio import get_running_loop  # noqa: PLC0415 - few calls are long
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - as above

        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "hookline-guards")
        try:
            answer = await get_running_loop().run_in_executor(
                self._thread, self._judge, builtin, call, spec, info
            )
            return RETURNED_NOTHING if answer is None else Returned(answer)
        except Exception as error:  # noqa: BLE001 - as with those on the event loop
            from hookline.handlers.failures import crashed  # noqa: PLC0415 - rarely needed

            return crashed(error)

    def _judge(
        self, builtin: "GuardBuiltin", call: HookInvocation, spec: BuiltinSpec, info: SessionInfo
    ) -> Outcome | None:
        if self._runner is None:
            from hookline.guards.runner import GuardRunner  # noqa: PLC0415 - see above

            guards = self._guards
            self._runner = GuardRunner(guards.protects, guards.env, past=guards.past)
        return builtin.judge(call, spec, info, self._runner)

    def close(self) -> None:
        if self._thread is not None:
            self._thread.shutdown(wait=False)
            self._thread = None


class GuardBuiltin:
    """A built-in guard."""

    def __init__(self, name: str, guards: Guards) -> None:
        self.name = name
        self.guards = guards

    def problem(self, args: tuple[str, ...]) -> str | None:
        return self.guards.runner.problem(self.name, args)

    def judge(
        self, call: HookInvocation, spec: BuiltinSpec, info: SessionInfo, runner: "GuardRunner | None" = None
    ) -> Outcome | None:
        """Judge a call in the terms of the hook's agent."""
        hook = call.hook
        tools = getattr(hook.wire, "tools", None)
        # A guard with a condition is not among those that judge programs when they start.
        at_exec = info.exec_guard and hook.condition is None
        found = (runner or self.guards.runner).decision(
            self.name, spec.args, call.payload, info, tools, hook.in_doubt, at_exec=at_exec
        )
        if found is not None and found.doubt:
            call.match_doubt = call.match_doubt or found.doubt
        return _answer(found) if found is not None else None

    def __call__(self, args: tuple[str, ...], payload: Any, info: SessionInfo) -> Outcome | None:
        found = self.guards.runner.decision(self.name, args, payload, info)
        return _answer(found) if found is not None else None


def _answer(decision: "GuardDecision") -> Outcome:
    return ask(decision.reason) if decision.answer == "ask" else deny(decision.reason)


# Facts the model cannot know: the date, the machine, instructions from files


class AddDate:
    """Adds today's date for the model."""

    def __init__(self, today: Callable[[], date]) -> None:
        self._today = today

    def __call__(self, _args: tuple[str, ...], _payload: Any, _info: SessionInfo) -> Outcome:
        return context(f"Today's date: {self._today().isoformat()}")


def add_environment_info(_args: tuple[str, ...], _payload: Any, info: SessionInfo) -> Outcome:
    """Adds the working directory, the system and the git state for the model."""
    return context(environment_info(info.cwd or os.getcwd()))


def environment_info(cwd: str) -> str:
    """Describe where an agent works. Reads files; runs nothing of the repository."""
    system = os.uname()
    return (
        "Environment:\n"
        f"- Working directory: {cwd}\n"
        f"- Operating system: {system.sysname} {system.release}\n"
        f"- Architecture: {system.machine}\n"
        f"- Git repository: {_git(cwd)}"
    )


def _git(cwd: str) -> str:
    """Return `no`, or `yes` with the branch."""
    for directory in upward(cwd, None):
        marker = os.path.join(directory, ".git")
        if not os.path.exists(marker):
            continue
        try:
            head = _text(os.path.join(_git_directory(marker), "HEAD"))
        except OSError:
            head = ""
        if not head:
            return "yes"
        branch = head.removeprefix("ref: refs/heads/")
        return f"yes, branch {branch}" if branch != head else f"yes, at commit {head[:12]}"
    return "no"


def _git_directory(marker: str) -> str:
    """Return the git directory: in a worktree or a submodule `.git` is a file that names the real one."""
    if os.path.isdir(marker):
        return marker
    named = _text(marker).removeprefix("gitdir:").strip()
    return os.path.join(os.path.dirname(marker), named)


def _text(path: str) -> str:
    lines = read_start(path, 4096).decode("utf-8", "replace").splitlines()
    return lines[0].strip() if lines else ""


class AddPromptFiles:
    """Adds the files listed in args, searched from the working directory upward; a missing one is reported."""

    def __init__(self, home: str | None = None, most: int = _MOST) -> None:
        self._home = home
        self._most = most

    def __call__(self, args: tuple[str, ...], _payload: Any, info: SessionInfo) -> Outcome:
        cwd = info.cwd or os.getcwd()
        items: list[ContextItem] = []
        messages: list[Message] = []
        for name in dict.fromkeys(args):
            path = self._nearest(name, cwd)
            if path is None:
                messages.append(Message(f"add_prompt_files: {name} was not found from {cwd} upward"))
                continue
            try:
                items.append(ContextItem(f"Contents of {path}:\n\n{self._text(path)}"))
            except OSError as error:
                messages.append(
                    Message(f"add_prompt_files: {path} cannot be read: {error.strerror or error}")
                )
        if not args:
            messages.append(Message("add_prompt_files: no file is named in args"))
        return Outcome(context_items=tuple(items), messages=tuple(messages))

    def _nearest(self, name: str, cwd: str) -> str | None:
        if "\0" in name or not name:
            return None
        if os.path.isabs(name):
            return name if os.path.lexists(name) else None
        home = self._home if self._home is not None else os.path.expanduser("~")
        candidates = (os.path.join(directory, name) for directory in upward(cwd, home))
        return next((path for path in candidates if os.path.lexists(path)), None)

    def _text(self, path: str) -> str:
        content = read_start(path, self._most + 1)
        text = content[: self._most].decode("utf-8", "replace")
        return f"{text}\n[cut after {self._most} bytes]" if len(content) > self._most else text


def read_start(path: str, most: int) -> bytes:
    """Return the first bytes of a regular file; OSError for anything else. Never waits on a pipe or a device."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is not a regular file")
        parts: list[bytes] = []
        while most > 0 and (part := os.read(descriptor, most)):
            parts.append(part)
            most -= len(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def upward(start: str, last: str | None) -> list[str]:
    """List the directory, its parent and so on, up to the root or to `last` if that is on the way."""
    found = [os.path.abspath(start)]
    while found[-1] != last and (parent := os.path.dirname(found[-1])) != found[-1]:
        found.append(parent)
    return found
