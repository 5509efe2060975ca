"""Test decisions: by the hooks of the server, in time, with an id that is in both journals."""

import asyncio
import json
from pathlib import Path
from time import perf_counter

from hookline import Engine
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.handlers.http.handler import HttpHandler
from hookline.handlers.registry import standard_handlers
from hookline.model.outcome import Outcome
from hookline.model.run import Run
from hookline.team.serve.app import ServerLimits
from hookline.team.serve.decide import Decider, Lifetimes, ServedDecision
from tests.handlers.calls import finished
from tests.team.serve.servers import TOKEN, deciding, payload
from tests.waiting import until, waits_for

GUARDS = """
[[hooks.PreToolUse]]
matcher = "Bash"
hooks = [
  { name = "no pushing", type = "builtin", command = "deny", args = ["not today"], if = "Bash(git push *)" },
  { name = "where", command = "pwd > where.txt" },
]
"""


class Caller:
    """An agent whose guard asks the server."""

    def __init__(self, url: str, fields: str = "") -> None:
        environ = {"T": TOKEN}
        self.engine = Engine(
            handlers=standard_handlers() | {"http": HttpHandler(environ=environ)},
        )
        self._entry = (
            f'[[hooks.PreToolUse]]\nhooks = [{{ name = "central", type = "http", url = "{url}", timeout = 60, '
            f'headers = {{ Authorization = "Bearer $T" }}, allowedEnvVars = ["T"]{fields} }}]\n'
        )

    def load(self, file: Path) -> "Caller":
        file.write_text(self._entry)
        assert not self.engine.load(file.parent, [str(file)]).diagnostics
        return self

    async def asks(self, command: str, call_id: str = "1") -> tuple[Outcome, Run]:
        session = self.engine.session("s", cwd="/tmp")
        call = ToolCall(tool_name="Bash", tool_input={"command": command}, tool_use_id=call_id)
        outcome = await session.dispatch(PRE_TOOL_USE, call)
        return outcome, self.engine.journal.recent()[-1]


def test_a_guard_of_the_server_decides_and_both_journals_have_the_id(tmp_path: Path) -> None:
    async def info() -> None:
        async with deciding(tmp_path, GUARDS) as server:
            caller = Caller(server.url).load(tmp_path / "caller.toml")
            outcome, run = await caller.asks("git push")
            assert (outcome.permission, outcome.reason) == ("deny", "not today")
            assert run.decision_id
            of_server = {each.hook for each in server.runs if each.decision_id == run.decision_id}
            assert of_server == {"no pushing", "where", "hookline serve"}
            decided = next(each for each in server.runs if each.hook == "hookline serve")
            assert (decided.decision, decided.reason, decided.call.input) == ("deny", "not today", "git push")

            outcome, run = await caller.asks("ls")
            assert (outcome.permission, run.status, run.dropped) == (None, "ok", ())
            assert json.loads(run.stdout)["hookline"] == {
                "version": 1, "decision_id": run.decision_id, "revision": server.app.status().revision,
            }  # fmt: skip
            # Commands run where the server is: the caller's directory is on another machine.
            assert (tmp_path / "where.txt").read_text().strip() == str(tmp_path)
            await caller.engine.close()

    finished(info())


def test_what_may_be_repeated_is_not_asked_again(tmp_path: Path) -> None:
    async def info() -> None:
        async with deciding(tmp_path, GUARDS, lifetimes=Lifetimes(deny=600, allow=0)) as server:
            caller = Caller(server.url).load(tmp_path / "caller.toml")
            _, first = await caller.asks("git push", "1")
            outcome, second = await caller.asks("git push", "2")
            assert outcome.reason == "not today"
            assert (first.repeated, second.repeated) == (False, True)
            assert second.decision_id == first.decision_id
            assert server.app.counts.decisions == 1
            # Another payload, and one that was not denied, reach the server.
            await caller.asks("git push --force")
            for _ in range(2):
                _, run = await caller.asks("ls")
                assert not run.repeated
            assert server.app.counts.decisions == 4
            await caller.engine.close()
        async with deciding(tmp_path, GUARDS, lifetimes=Lifetimes(deny=0, allow=600)) as server:
            caller = Caller(server.url).load(tmp_path / "caller.toml")
            repeated = [
                (await caller.asks(line))[1].repeated for line in ("ls", "ls", "git push", "git push")
            ]
            assert repeated == [False, True, False, False]
            await caller.engine.close()

    finished(info())


def test_no_decision_in_time_is_closed_unless_the_entry_says_open(tmp_path: Path) -> None:
    release = tmp_path / "release"
    slow = f"[[hooks.PreToolUse]]\nhooks = [{{ command = '{waits_for(release)}' }}]\n"

    async def info() -> None:
        async with deciding(tmp_path, slow, bounds=ServerLimits(deadline=0.05)) as server:
            closed = Caller(server.url).load(tmp_path / "closed.toml")
            outcome, run = await closed.asks("ls")
            assert outcome.blocked
            assert (run.status, run.cause, run.failed_open) == ("failed", "transport", False)
            assert "no decision within 0.05 s" in run.detail
            opened = Caller(server.url, ', on_failure = "open"').load(tmp_path / "open.toml")
            outcome, run = await opened.asks("ls")
            assert not outcome.blocked
            assert run.failed_open
            assert opened.engine.journal.failed_open == 1
            # The server's journal has the result, under the id that the caller got.
            decided = next(each for each in server.runs if each.decision_id == run.decision_id)
            assert {decided.status, server.app.counts.timed_out} <= {"cancelled", "timed_out", 2}
            await closed.engine.close()
            await opened.engine.close()

    finished(info())


def test_a_full_queue_is_said_and_counted(tmp_path: Path) -> None:
    release = tmp_path / "release"
    slow = f"[[hooks.PreToolUse]]\nhooks = [{{ command = '{waits_for(release)}' }}]\n"

    async def info() -> None:
        async with deciding(tmp_path, slow, bounds=ServerLimits(at_once=1, queue=1, deadline=60)) as server:
            waiting = [asyncio.create_task(server.ask(payload("ls"))) for _ in range(2)]
            await until(lambda: server.app.waiting == 1)
            refused = await server.ask(payload("ls"))
            assert (refused.status, refused.headers["retry-after"]) == (503, "1")
            assert refused.body["error"].startswith("1 decisions are being made and 1 wait")
            release.touch()
            assert [(await each).status for each in waiting] == [200, 200]
            status = await server.ask(b"", path="/v1/status", method="GET")
            received = {key: status.body[key] for key in ("decisions", "longest_queue", "refused", "waiting")}
            assert received == {"decisions": 2, "longest_queue": 1, "refused": {"queue": 1}, "waiting": 0}

    finished(info())


def test_a_server_that_breaks_off_its_answer_is_no_answer(tmp_path: Path) -> None:
    """It vanishes in mid-request: the guard closes, and says why."""
    from tests.handlers.servers import serving

    async def info() -> None:
        async with serving(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"hookline":') as server:
            task: list[asyncio.Task[tuple[Outcome, Run]]] = []
            caller = Caller(f"{server.url}/v1/decide").load(tmp_path / "caller.toml")
            task.append(asyncio.create_task(caller.asks("ls")))
            await until(lambda: server.requests)
        outcome, run = await task[0]
        assert outcome.blocked
        assert run.cause == "transport"
        await caller.engine.close()

    finished(info())


def test_a_journal_that_cannot_be_written_stops_no_decision_and_is_in_the_status(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").mkdir()

    async def info() -> None:
        async with deciding(tmp_path, GUARDS) as server:
            reply = await server.ask(payload("git push"))
            assert reply.body["hookSpecificOutput"]["permissionDecision"] == "deny"
            (problem,) = server.app.status().journal_problems
            assert problem.startswith("journal off: Is a directory")

    finished(info())


def test_an_answer_of_an_unknown_version_is_not_read(tmp_path: Path) -> None:
    from tests.handlers.servers import response, serving

    async def info() -> None:
        async with serving(response(b'{"hookline": {"version": 2}}')) as server:
            caller = Caller(f"{server.url}/v1/decide").load(tmp_path / "caller.toml")
            outcome, run = await caller.asks("ls")
            assert outcome.blocked
            assert "version 2" in run.detail
            await caller.engine.close()

    finished(info())


def test_a_builtin_is_answered_before_others_are_decided_and_is_late_by_its_arrival(tmp_path: Path) -> None:
    """If each decision paused, a crowd would be decided before the first is answered, and all would be late."""
    guard = (
        '[[hooks.PreToolUse]]\nhooks = [{ name = "no", type = "builtin", command = "deny", args = ["no"] }]\n'
    )

    async def info() -> None:
        async with deciding(tmp_path, guard) as server:
            decider = Decider(server.engine, server.engine.loader.home, "x", 60.0, Lifetimes())
            slots = asyncio.Semaphore(1)

            def decision(old: float) -> "asyncio.Task[ServedDecision]":
                return asyncio.create_task(decider.decide(payload("ls"), perf_counter() - old, slots))

            assert (await decision(0)).status == 200
            some = [decision(0) for _ in range(3)]
            await asyncio.sleep(0)
            assert [each.done() for each in some] == [True, True, True]
            assert (await decision(60.0 - 1e-6)).status == 504

    asyncio.run(info())
