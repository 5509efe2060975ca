"""Test failures: hooks that break or hang, a run that is cancelled, an engine that is closed."""

import asyncio
import contextlib
import os
from typing import Any

from msgspec import Struct

from hookline.events import POST_TOOL_USE, PRE_TOOL_USE, USER_PROMPT_SUBMIT
from hookline.testing.conformance.harness import ScriptedCall
from hookline.testing.conformance.run import Case
from hookline.testing.conformance.trial import Trial, until, use

#: Writes its pid, records when it is asked to end, and continues.
_STUBBORN = (
    "trap 'echo > {directory}/signalled' TERM; echo $$ > {directory}/stubborn; while :; do sleep 0.05; done"
)
#: Writes its pid, and ends when asked.
_OBEDIENT = "echo $$ > {directory}/obedient; exec sleep 600"


async def _closed(t: Trial) -> None:
    """Test a guard that fails: the call does not run, and the conversation continues."""
    played = await t.play(use("look"), "done")
    t.must(played.log.ran == [], "the tool did not run")
    t.must(t.times("PostToolUse") == 0, "PostToolUse did not fire")
    t.also(bool((played.result() or "").strip()), "the model read why")
    t.also(played.seen.answers == ("done",), "the model went on and answered")


async def crashed(t: Trial) -> None:
    async def crash(_payload: Any) -> None:
        raise LookupError("no such rule")

    t.engine.add(PRE_TOOL_USE, crash)
    await _closed(t)


async def command_crashed(t: Trial) -> None:
    t.engine.add(PRE_TOOL_USE, "exit 3")
    await _closed(t)


async def timed_out(t: Trial) -> None:
    async def hang(_payload: Any) -> None:
        await asyncio.sleep(600)

    t.engine.add(PRE_TOOL_USE, hang, timeout=0.05)
    await _closed(t)


async def malformed(t: Trial) -> None:
    t.engine.add(PRE_TOOL_USE, "echo 'all fine, I think'")
    await _closed(t)


async def prompt_guard_crashed(t: Trial) -> None:
    async def crash(_payload: Any) -> None:
        raise LookupError("no such rule")

    t.engine.add(USER_PROMPT_SUBMIT, crash)
    played = await t.play("done", may_fail=True)
    t.must(played.requests == [], "the model was not asked")


async def closed_engine(t: Trial) -> None:
    await t.engine.close()
    played = await t.play(use("look"), "done", may_fail=True)
    t.must(played.log.ran == [], "the tool did not run")
    t.also(
        "closed" in (played.seen.error or ""), "the caller of the run got the error that the engine is closed"
    )


async def closed_in_between(t: Trial) -> None:
    async def close(_payload: Any) -> None:
        await t.engine.close(0)

    t.engine.add(POST_TOOL_USE, close)
    played = await t.play(use("look"), use("note", "c2", text="x"), "done", may_fail=True)
    t.must([ran.name for ran in played.log.ran] == ["look"], "no tool ran after the engine was closed")
    t.must(len(played.requests) == 1, "the model was not asked after the engine was closed")


async def result_withheld(t: Trial) -> None:
    async def crash(_payload: Any) -> None:
        raise LookupError("no such rule")

    t.engine.add(POST_TOOL_USE, crash, on_failure="closed")
    played = await t.play(use("look", place="there"), "done")
    t.must("saw there" not in played.read(2), "the model did not read what the hook could not check")
    t.also("withheld" in (played.result() or ""), "the model read that it was withheld")


class Cancelled(Struct, frozen=True):
    """State of the hooks of a cancelled run: seconds after the cancellation."""

    signalled: float | None
    dead: float | None


async def cancel(t: Trial, *said: ScriptedCall | str) -> tuple[Cancelled, Any]:
    """Cancel a run while two commands decide about its first call, one of which does not want to end."""
    directory = t.directory
    for script in (_STUBBORN, _OBEDIENT):
        t.engine.add(PRE_TOOL_USE, script.format(directory=f"'{directory}'"))
    files = (directory / "stubborn", directory / "obedient")
    conversation, log = t.conversation(*said)
    running = asyncio.create_task(t.play_this(conversation, log, may_fail=True))
    begun = await until(lambda: running.done() or all(file.exists() and file.read_text() for file in files))
    t.must(begun and not running.done(), "the hooks of the call were running")
    pids = [int(file.read_text()) for file in files if file.exists()]
    loop = asyncio.get_running_loop()
    running.cancel()
    since = loop.time()
    # Where no hook began, none can be signalled: there is nothing to wait for.
    signalled = loop.time() - since if pids and await until((directory / "signalled").exists) else None
    dead = loop.time() - since if await until(lambda: not any(map(_lives, pids))) else None
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.wait([running], timeout=20)
    t.must(running.done(), "the run ended")
    return Cancelled(signalled, dead), log


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def cancelled(t: Trial) -> None:
    ended, log = await cancel(t, use("look"), "done")
    t.must(ended.signalled is not None, "the hooks were asked to end")
    t.must(ended.dead is not None, "no process of a hook is left")
    t.must(log.ran == [], "the tool did not run")


CASES = (
    Case("trouble: crash", "a guard that raises closes: the call does not run", crashed),
    Case("trouble: command crash", "a guard whose command fails closes: the call does not run", command_crashed),
    Case("trouble: timeout", "a guard that hangs closes: the call does not run", timed_out),
    Case("trouble: malformed answer", "a guard whose answer cannot be read closes: the call does not run", malformed),
    Case("trouble: prompt guard", "a guard of prompts that raises closes: no request is made", prompt_guard_crashed),
    Case("trouble: redaction", "a redaction that fails closed withholds the result", result_withheld),
    Case("closed: in between", "with an engine that is closed in a turn, nothing more runs", closed_in_between),
    Case("closed: engine", "with a closed engine no tool runs", closed_engine),
    Case("cancel: no process left", "cancelling a run ends its hooks, also one that does not want to", cancelled),
)  # fmt: skip
