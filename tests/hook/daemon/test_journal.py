"""Test that runs without effects are written after the answer, and that a stopped daemon loses none."""

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hookline.hook.daemon.connection import run_at_once
from hookline.hook.daemon.journal import JournalFiles
from hookline.journal.file import journal_path
from hookline.journal.payloads import payloads_path
from hookline.journal.redaction import Redactor
from hookline.model.run import Run
from tests.hook.daemon.daemons import Daemons, SharedResident, command, hook_file
from tests.waiting import wait_until, waits_for

_GUARD = 'type = "builtin"\ncommand = "force-push"'


def _runs(file: Path) -> list[str]:
    return [json.loads(line)["hook"] for line in file.read_text().splitlines()] if file.exists() else []


def _open_below(directory: Path) -> list[str]:
    """Return the files below a directory that this process has open."""
    targets: list[str] = []
    for descriptor in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # that of the listing itself is closed by now
            targets.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    return [each for each in targets if each.startswith(f"{directory}/")]


def test_what_waits_is_written_when_the_call_is_over(tmp_path: Path) -> None:
    file = tmp_path / "state" / "journal.jsonl"
    journal = JournalFiles().of_call(Redactor({}), str(file), "claude-code")
    journal.record(Run(hook="one"))
    journal.check()
    assert _runs(file) == []
    assert journal.problems == ()
    journal.write()
    assert _runs(file) == ["one"]
    journal.record(Run(hook="two"))
    assert _runs(file) == ["one", "two"]


def test_those_who_watch_are_told_at_once(tmp_path: Path) -> None:
    journal = JournalFiles().of_call(Redactor({}), str(tmp_path / "journal.jsonl"), "claude-code")
    seen: list[str] = []
    journal.record(Run(hook="one"))
    journal.subscribe(lambda run: seen.append(run.hook))
    journal.record(Run(hook="two"))
    assert seen == ["two"]
    assert _runs(tmp_path / "journal.jsonl") == ["one", "two"]


def test_a_journal_that_cannot_be_written_is_said_before_the_answer(tmp_path: Path) -> None:
    files = JournalFiles()
    for _ in range(2):  # with each call, as without the daemon
        journal = files.of_call(Redactor({}), "/dev/null/journal.jsonl", "claude-code")
        journal.record(Run(hook="one"))
        journal.check()
        assert len(journal.problems) == 1
        journal.close()


def test_after_a_write_that_failed_the_next_call_writes_at_once(tmp_path: Path) -> None:
    files = JournalFiles()
    full = files.of_call(Redactor({}), "/dev/full", "claude-code")
    full.record(Run(hook="one"))
    full.check()
    assert full.problems == ()
    full.close()
    again = files.of_call(Redactor({}), "/dev/full", "claude-code")
    again.record(Run(hook="two"))
    assert any("No space left" in problem for problem in again.problems)


def test_another_journal_is_opened_for_its_call_alone(tmp_path: Path) -> None:
    files = JournalFiles()
    for name in ("a", "b", "c"):
        journal = files.of_call(Redactor({}), str(tmp_path / name), "claude-code")
        journal.record(Run(hook=name))
        journal.close()
        assert _runs(tmp_path / name) == [name]
    assert _open_below(tmp_path) == [str(tmp_path / "a")]


def test_what_has_effects_is_written_before_they_begin(daemon: SharedResident, tmp_path: Path) -> None:
    started, go = tmp_path / "started", tmp_path / "go"
    slow = command(f"touch {started}; {waits_for(go)}")
    daemon.write(".hookline/hooks.toml", hook_file(_GUARD) + hook_file(command("true")) + hook_file(slow))
    file = Path(journal_path(daemon.env))

    def mine() -> list[str]:
        lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return [line["hook"] for line in lines if line.get("session") == daemon.session]

    asyncio.run(_while_running(daemon, started, go, mine))
    wait_until(lambda: len(mine()) == 3)


async def _while_running(
    daemon: SharedResident, started: Path, go: Path, mine: Callable[[], list[str]]
) -> None:
    call = asyncio.create_task(asyncio.to_thread(daemon.call))
    await asyncio.to_thread(wait_until, started.exists)
    # The guard that has answered, and what ended meanwhile.
    await asyncio.to_thread(wait_until, lambda: len(mine()) == 2)
    go.touch()
    await call


def test_payloads_are_kept_from_the_moment_the_settings_say_so(daemon: SharedResident) -> None:
    daemon.write(".hookline/hooks.toml", hook_file(_GUARD))
    settings = Path(daemon.home) / ".config/hookline/settings.toml"
    kept, before = Path(payloads_path(daemon.env)), settings.read_text()
    daemon.call()
    assert not kept.exists()
    settings.write_text(f"keep_payloads = true\n{before}")
    try:
        daemon.call(tool_input={"command": "git push", "token": "a-secret-of-mine"})
    finally:
        settings.write_text(before)
    daemon.call()
    payloads = [json.loads(line)["payload"] for line in kept.read_text().splitlines()]
    assert [each["tool_input"] for each in payloads] == [{"command": "git push", "token": "[redacted]"}]


def test_a_resident_that_is_asked_to_end_has_written_everything(daemons: Daemons) -> None:
    daemons.write(".hookline/hooks.toml", hook_file(_GUARD))
    process = daemons.start()
    for _ in range(20):
        daemons.call()
    process.terminate()
    assert process.wait(60) == 0
    assert len(_runs(Path(journal_path(daemons.env)))) == 20


def test_what_runs_at_once_goes_on_in_a_task_and_can_be_cancelled() -> None:
    said: list[str] = []

    async def work() -> None:
        said.append("begun")
        try:
            await asyncio.sleep(0)
            said.append("resumed")
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            said.append("cancelled")
            raise

    async def main() -> None:
        rest = run_at_once(work())
        assert said == ["begun"]
        assert rest is not None
        task = asyncio.create_task(rest)
        while said[-1] != "resumed":
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    asyncio.run(main())
    assert said == ["begun", "resumed", "cancelled"]
