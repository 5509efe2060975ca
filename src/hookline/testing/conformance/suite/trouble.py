"""Cases in which something goes wrong: hooks that break or hang, a run that is cancelled, an engine that is closed."""

import asyncio
import contextlib
import os
from typing import Any

from msgspec import Struct

from hookline.events import PRE_TOOL_USE, USER_PROMPT_SUBMIT
from hookline.testing.conformance.harness import ToolUse
from hookline.testing.conformance.run import Case
from hookline.testing.conformance.trial import Trial, until, use

#: Says who it is, notes when it is told to end, and goes on.
_STUBBORN = "trap 'echo > {folder}/signalled' TERM; echo $$ > {folder}/stubborn; while :; do sleep 0.05; done"
#: Says who it is, and ends when it is told to.
_OBEDIENT = "echo $$ > {folder}/obedient; exec sleep 600"


async def _closed(t: Trial) -> None:
    """A guard that gives no answer: the call does not run, and the conversation goes on."""
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
        "closed" in (played.seen.error or ""), "whoever started the run was told that the engine is closed"
    )


class Cancelled(Struct, frozen=True):
    """What became of the hooks of a run that was cancelled: seconds after that."""

    signalled: float | None
    dead: float | None


async def cancel(t: Trial, *said: ToolUse | str) -> tuple[Cancelled, Any]:
    """Cancel a run while two commands decide about its first call, one of which does not want to end."""
    folder = t.folder
    for script in (_STUBBORN, _OBEDIENT):
        t.engine.add(PRE_TOOL_USE, script.format(folder=f"'{folder}'"))
    files = (folder / "stubborn", folder / "obedient")
    conversation, log = t.conversation(*said)
    running = asyncio.create_task(t.play_this(conversation, log, may_fail=True))
    begun = await until(lambda: running.done() or all(file.exists() and file.read_text() for file in files))
    t.must(begun and not running.done(), "the hooks of the call were running")
    pids = [int(file.read_text()) for file in files if file.exists()]
    loop = asyncio.get_running_loop()
    running.cancel()
    since = loop.time()
    signalled = loop.time() - since if await until((folder / "signalled").exists) else None
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
    t.must(ended.signalled is not None, "the hooks were told to end")
    t.must(ended.dead is not None, "no process of a hook is left")
    t.must(log.ran == [], "the tool did not run")


CASES = (
    Case("trouble: crash", "a guard that raises closes: the call does not run", crashed),
    Case("trouble: command crash", "a guard whose command fails closes: the call does not run", command_crashed),
    Case("trouble: timeout", "a guard that hangs closes: the call does not run", timed_out),
    Case("trouble: malformed answer", "a guard whose answer cannot be read closes: the call does not run", malformed),
    Case("trouble: prompt guard", "a guard of prompts that raises closes: no request is made", prompt_guard_crashed),
    Case("closed: engine", "with a closed engine no tool runs", closed_engine),
    Case("cancel: no process left", "cancelling a run ends its hooks, also one that does not want to", cancelled),
)  # fmt: skip
