"""Measure costs, each against the plainest way of doing the same."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import pluggy

from bench import exec_guard, trust_cost, warm_scripts
from bench.ratios import Timed, many, many_awaited, ratio
from hookline import Engine, Outcome, deny
from hookline.events import POST_TOOL_USE, PRE_TOOL_USE, ToolCall
from hookline.trust.trust import Trust
from tests.homes import at_home

CALL = ToolCall(tool_name="Bash", tool_input={"command": "ls"})
SH = "cat >/dev/null"
_spec, _impl = pluggy.HookspecMarker("bench"), pluggy.HookimplMarker("bench")


class _Spec:
    @_spec
    def before(self, call: ToolCall) -> None: ...


class _Impl:
    @_impl
    def before(self, call: ToolCall) -> None:  # noqa: ARG002 the specification names it
        return None


def pluggy_call() -> Callable[[], object]:
    plugins = pluggy.PluginManager("bench")
    plugins.add_hookspecs(_Spec)
    plugins.register(_Impl())
    hook: Any = plugins.hook
    return lambda: hook.before(call=CALL)


async def _passes(_call: ToolCall) -> None:
    return None


async def _denies(_call: ToolCall) -> Outcome:
    return deny("not here")


def _dispatching(engine: Engine, times: int) -> Timed:
    session = engine.session("bench")
    return many_awaited(lambda: session.dispatch(PRE_TOOL_USE, CALL), times)


async def has() -> float:
    """`has`, asked of an event with hooks and of one without, the slower of the two."""
    engine = Engine()
    engine.add(PRE_TOOL_USE, _passes)
    session = engine.session("bench")
    base = many(pluggy_call(), 2000)
    found = await ratio(many(lambda: session.has(PRE_TOOL_USE), 2000), base, 25)
    missing = await ratio(many(lambda: session.has(POST_TOOL_USE), 2000), base, 25)
    return max(found, missing)


async def dispatch_without_a_hook() -> float:
    return await ratio(_dispatching(Engine(), 200), many(pluggy_call(), 200), 125)


async def dispatch_that_passes() -> float:
    engine = Engine()
    engine.add(PRE_TOOL_USE, _passes, "Bash")
    return await ratio(_dispatching(engine, 100), many(pluggy_call(), 100), 250)


async def dispatch_that_denies() -> float:
    engine = Engine()
    engine.add(PRE_TOOL_USE, _denies, "Bash")
    return await ratio(_dispatching(engine, 100), many(pluggy_call(), 100), 250)


def _pydantic_ai_hooks(count: int) -> Callable[[], Awaitable[object]]:
    """The hooks of pydantic-ai before a tool runs, each for one tool, as ours are."""
    from pydantic_ai import RunContext
    from pydantic_ai.capabilities import Hooks
    from pydantic_ai.messages import ToolCallPart
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.usage import RunUsage

    async def passes(ctx: Any, /, *, call: Any, tool_def: Any, args: Any) -> Any:
        del ctx, call, tool_def
        return args

    hooks: Hooks[None] = Hooks()
    for _ in range(count):
        hooks.on.before_tool_execute(tools=["Bash"])(passes)
    arguments = {"command": "ls"}
    call, tool = ToolCallPart("Bash", arguments), ToolDefinition(name="Bash")
    context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    return lambda: hooks.before_tool_execute(context, call=call, tool_def=tool, args=arguments)


async def _async_functions(count: int, times: int) -> float:
    engine = Engine()
    for _ in range(count):
        engine.add(PRE_TOOL_USE, _passes, "Bash")
    return await ratio(_dispatching(engine, times), many_awaited(_pydantic_ai_hooks(count), times), 200)


async def five_async_functions() -> float:
    return await _async_functions(5, 40)


async def twenty_async_functions() -> float:
    return await _async_functions(20, 10)


def _passes_in_a_thread(_call: ToolCall) -> None:
    return None


async def sync_function() -> float:
    """Measure the cost of a thread, against the same as an async function."""
    in_thread, on_the_loop = Engine(), Engine()
    in_thread.add(PRE_TOOL_USE, _passes_in_a_thread, "Bash")
    on_the_loop.add(PRE_TOOL_USE, _passes, "Bash")
    try:
        return await ratio(_dispatching(in_thread, 200), _dispatching(on_the_loop, 200), 25)
    finally:
        await in_thread.close()


async def one_among_a_thousand() -> float:
    """1,000 hooks on one event, half exact names, half regular expressions; one of them concerned."""
    one, thousand = Engine(), Engine()
    one.add(PRE_TOOL_USE, _passes, "Bash")
    matchers = [f"Tool{number}" if number % 2 else f"Tool{number}.+" for number in range(999)]
    thousand.swap([thousand.make_hook(PRE_TOOL_USE, _passes, matcher) for matcher in (*matchers, "Bash")])
    return await ratio(_dispatching(thousand, 500), _dispatching(one, 500), 25)


async def shell_hook() -> float:
    """A `sh` hook that reads its stdin and exits, against Popen(...).communicate() of the same command."""
    engine = Engine()
    engine.add(PRE_TOOL_USE, SH)
    document = b'{"session_id": "bench", "hook_event_name": "PreToolUse", "tool_name": "Bash"}\n' * 4

    def plain() -> None:
        pipe = subprocess.PIPE
        with subprocess.Popen(["/bin/sh", "-c", SH], stdin=pipe, stdout=pipe, stderr=pipe) as process:
            process.communicate(document)

    ours = _dispatching(engine, 1)
    for _ in range(5):
        await ours()
    try:
        return await ratio(ours, many(plain, 1), 300)
    finally:
        await engine.close()


async def http_hook() -> float:
    """An http hook on loopback, against a bare POST by the same library with a warm connection."""
    import httpx2
    from msgspec.structs import replace

    from hookline.handlers.http.handler import HttpSpec

    server = await asyncio.start_server(_answers, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
    engine = Engine()
    hook = replace(engine.make_hook(PRE_TOOL_USE, _passes), kind="http", spec=HttpSpec(url=url))
    engine.swap([hook])
    body = b'{"session_id": "bench", "hook_event_name": "PreToolUse", "tool_name": "Bash"}\n' * 4
    try:
        async with httpx2.AsyncClient() as client:

            async def plain() -> None:
                await client.post(url, content=body, headers={"Content-Type": "application/json"})

            ours, theirs = _dispatching(engine, 5), many_awaited(plain, 5)
            await ours()
            await theirs()
            return await ratio(ours, theirs, 60)
    finally:
        await engine.close()
        server.close()


async def _answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The smallest server that keeps its connections open."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length")
            )
            await reader.readexactly(length)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
        pass  # the client is gone, or the measurement is over
    finally:
        writer.close()


async def twenty_at_once() -> float:
    """20 hooks of 200 ms in parallel, against one of them."""
    one, twenty = Engine(), Engine()
    one.add(PRE_TOOL_USE, "sleep 0.2")
    for number in range(20):
        twenty.add(PRE_TOOL_USE, f"sleep 0.2 # {number}")
    try:
        return await ratio(_dispatching(twenty, 1), _dispatching(one, 1), 9)
    finally:
        await one.close()
        await twenty.close()


def _process(*words: str, home: str | None = None, given: bytes = b"") -> Timed:
    """A whole Python process. Bytecode is there before, as it is for an installed package."""
    env = os.environ | {"HOME": home or tempfile.gettempdir(), "NO_COLOR": "1"}

    async def timed() -> float:
        started = perf_counter()
        subprocess.run([sys.executable, *words], check=True, input=given, stdout=subprocess.DEVNULL, env=env)
        return perf_counter() - started

    return timed


_BASE = ("-c", "import asyncio, msgspec")


async def import_hookline() -> float:
    """`from hookline import Engine` and everything it needs, against `import asyncio, msgspec`."""
    return await ratio(_process("-c", "from hookline import Engine; Engine()"), _process(*_BASE), 31)


def _trusted_project(home: str, hooks: str) -> str:
    """Make a project with a native file, below a home whose user trusts it."""
    project = os.path.join(home, "project")
    os.makedirs(os.path.join(project, ".hookline"))
    with open(os.path.join(project, ".hookline", "hooks.toml"), "w", encoding="utf-8") as stream:
        stream.write(hooks)
    trust = Trust(project, {"HOME": home})
    found = Engine().loader.directory(project, ["native"], trust=trust).hooks
    trust.accept([trust.item(hook) for hook in found if trust.is_foreign(hook.where.file, hook.scope)])
    return project


async def fire_one_hook() -> float:
    """`hookline fire` on one hook, less the hook's own time, against `import asyncio, msgspec`."""
    with tempfile.TemporaryDirectory() as directory:
        project = _trusted_project(
            directory, f'[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = "{SH}"\n'
        )
        script = os.path.join(os.path.dirname(sys.executable), "hookline")  # as people start it
        words = (script, "fire", "PreToolUse", "Bash", "command=ls", "--cwd", project)
        # A new home: the user who runs this may have hooks that should not run now.
        ours = _process(*words, home=directory)
        own = many(lambda: subprocess.run(["/bin/sh", "-c", SH], check=False, input=b""), 1)

        async def less_the_hook() -> float:
            return await ours() - await own()

        return await ratio(less_the_hook, _process(*_BASE), 31)


@contextmanager
def _hook(line: str, *, of_user: bool = False) -> Generator[Timed]:
    """`hookline hook` as Claude Code starts it, with one guard in a native file of the project or the user."""
    with tempfile.TemporaryDirectory() as directory:
        project = _trusted_project(directory, "" if of_user else _GUARD)
        if of_user:
            os.makedirs(os.path.join(directory, ".config", "hookline"), exist_ok=True)
            own = os.path.join(directory, ".config", "hookline", "hooks.toml")
            with open(own, "w", encoding="utf-8") as stream:
                stream.write(_GUARD)
        payload = json.dumps(
            {
                "session_id": "bench", "transcript_path": "/tmp/t.jsonl", "cwd": project,
                "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash",
                "tool_input": {"command": line, "description": "look around"}, "tool_use_id": "toolu_1",
            }
        )  # fmt: skip
        script = os.path.join(os.path.dirname(sys.executable), "hookline")
        words = (script, *at_home(("hook", "--dialect", "claude-code", "PreToolUse"), {"HOME": directory}))
        yield _process(*words, home=directory, given=payload.encode())


async def hook_plain_line() -> float:
    """A guard of the project, which needs trust, and one of the user, in turns: what they cost on average."""
    with _hook("ls -la") as of_project, _hook("ls -la", of_user=True) as of_user:

        async def ours() -> float:
            return (await of_project() + await of_user()) / 2

        return await ratio(ours, _process(*_BASE), 41)


async def hook_parsed_line() -> float:
    """A line that has to be parsed, and is denied."""
    with _hook("cd web && git push --force") as ours:
        return await ratio(ours, _process(*_BASE), 31)


_GUARD = """
[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
type = "builtin"
command = "force-push"
"""


async def bare_help() -> float:
    script = os.path.join(os.path.dirname(sys.executable), "hookline")
    return await ratio(_process(script, "--help"), _process("-c", "pass"), 31)


#: The description, and how many times the cost of the other thing it may cost.
FIGURES: tuple[tuple[str, Callable[[], Awaitable[float]], float], ...] = (
    ("has, against a pluggy call", has, 0.1),
    ("dispatch without a hook, against a pluggy call", dispatch_without_a_hook, 0.5),
    # Three would be reached without the payload that hooks cannot change: pluggy passes on the object itself.
    ("dispatch, one async function passes, against a pluggy call", dispatch_that_passes, 4),
    ("dispatch, one async function denies, against a pluggy call", dispatch_that_denies, 6),
    ("dispatch, 5 async functions, against pydantic-ai's hooks", five_async_functions, 3),
    ("dispatch, 20 async functions, against pydantic-ai's hooks", twenty_async_functions, 3),
    ("dispatch, one function in a thread, against an async one", sync_function, 40),
    ("1 hook among 1,000, against 1 among 1", one_among_a_thousand, 2),
    ("sh hook, against Popen.communicate", shell_hook, 1.2),
    ("http hook on loopback, against a bare POST", http_hook, 1.3),
    ("20 parallel hooks of 200 ms, against one", twenty_at_once, 1.5),
    ("import hookline, against import asyncio, msgspec", import_hookline, 1.5),
    ("hookline fire less its hook, against import asyncio, msgspec", fire_one_hook, 1.6),
    ("hookline hook, one builtin guard, against import asyncio, msgspec", hook_plain_line, 1.75),
    # The same reader for every line, and an event loop: without one, whatever waits would break.
    ("hookline hook, a guard denies a line of two commands, against the same", hook_parsed_line, 1.75),
    ("trust in 100 hooks, against reading and hashing their scripts", trust_cost.cold, 3),
    ("trust in 100 hooks once more, against stat of their scripts", trust_cost.warm, 3),
    ("hookline --help, against python -c pass", bare_help, 5),
    ("exec guard: 200 execs, against the same without", exec_guard.two_hundred_execs, 1.3),
    ("exec guard: 1,000 forks without exec, against the same without", exec_guard.a_thousand_forks, 1.1),
    ("exec guard: git status, against the same without", exec_guard.git_status, 1.15),
    ("exec guard: true in the agent's shell, against the same without", exec_guard.true, 2),
    ("warm Python guard (json, re), against a cold one", warm_scripts.guard, 0.15),
    ("warm Python guard with nine standard imports, against a cold one", warm_scripts.nine_imports, 0.06),
    ("second warm call with no pause, against a cold one", warm_scripts.second_call, 0.35),
)
