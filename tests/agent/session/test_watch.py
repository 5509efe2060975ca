"""Test files that change around a session: reported once, also if directories come and go and hooks change the list."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hookline.agent.session.watch import Change, ChangeLimit, FileWatch
from tests.agent.scripted_session import ScriptedSession, call, calls, says
from tests.waiting import until


class Received:
    """Keeps each change; `does` is what a hook of the change would do."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, Change]] = []
        self.warnings: list[str] = []

    async def changed(self, file: str, change: Change) -> None:
        self.changes.append((Path(file).name, change))
        self.does(Path(file))

    def does(self, file: Path) -> None:
        """Nothing."""


@asynccontextmanager
async def watching(received: Received, *paths: Path) -> AsyncGenerator[FileWatch]:
    watch = FileWatch(ChangeLimit(received.warnings.append, most=5))
    watch.add(map(str, paths))
    task = asyncio.ensure_future(watch.run(received.changed))
    await asyncio.sleep(0.1)
    try:
        yield watch
    finally:
        task.cancel()
        await asyncio.wait({task})


def test_a_watched_directory_that_disappears_is_told_file_by_file_and_again_when_it_is_back(tmp_path: Path):
    directory = tmp_path / "a" / "b"
    directory.mkdir(parents=True)
    (directory / "x").write_text("1")

    async def main() -> Received:
        received = Received()
        async with watching(received, directory):
            shutil.rmtree(tmp_path / "a")
            await until(lambda: ("x", "unlink") in received.changes)
            directory.mkdir(parents=True)
            (directory / "x").write_text("2")
            await until(lambda: ("x", "add") in received.changes)
            (directory / "x").write_text("333")
            await until(lambda: ("x", "change") in received.changes)
        return received

    assert asyncio.run(main()).changes == [("x", "unlink"), ("x", "add"), ("x", "change")]


def test_a_directory_that_comes_and_goes_all_the_time_does_not_end_the_watch(tmp_path: Path):
    directory = tmp_path / "gone"

    async def main() -> Received:
        received = Received()
        async with watching(received, directory / "x", tmp_path / "last"):
            for _ in range(30):
                directory.mkdir()
                (directory / "x").write_text("1")
                await asyncio.sleep(0.01)
                shutil.rmtree(directory)
                await asyncio.sleep(0.01)
            (tmp_path / "last").write_text("1")
            await until(lambda: ("last", "add") in received.changes)
        return received

    asyncio.run(main())


def test_a_path_that_cannot_be_watched_yet_is_told_when_it_comes(tmp_path: Path):
    async def main() -> Received:
        received = Received()
        async with watching(received, tmp_path / "no" / "such" / "folder" / "x"):
            (tmp_path / "no" / "such" / "folder").mkdir(parents=True)
            (tmp_path / "no" / "such" / "folder" / "x").write_text("1")
            await until(lambda: bool(received.changes))
        return received

    assert asyncio.run(main()).changes == [("x", "add")]


def test_files_that_hooks_change_back_and_forth_stop_firing_and_the_user_is_told(tmp_path: Path):
    a, b = tmp_path / "a", tmp_path / "b"

    class Echoing(Received):
        def does(self, file: Path) -> None:
            other = b if file.name == "a" else a
            other.write_text(f"{len(self.changes)} changes")

    async def main() -> Received:
        received = Echoing()
        async with watching(received, a, b):
            a.write_text("begin")
            await until(lambda: bool(received.warnings), 60)
            count = len(received.changes)
            await asyncio.sleep(0.5)
            assert len(received.changes) <= count + 1
        return received

    received = asyncio.run(main())
    assert "changed 5 times in 60 s" in received.warnings[0]
    assert len(received.changes) <= 12


def test_a_storm_is_over_when_the_file_was_left_alone_for_as_long():
    times = iter([0, 1, 2, 3, 4, 13, 24, 25, 26])
    said: list[str] = []
    storms = ChangeLimit(said.append, most=3, seconds=10, clock=lambda: next(times))
    passed = [storms.allows("f") for _ in range(8)]
    assert passed == [True, True, True, False, False, False, True, True]
    assert len(said) == 1
    assert storms.allows("other")


def test_changes_that_are_not_too_many_are_all_told():
    times = iter(range(0, 400, 4))
    storms = ChangeLimit(pytest.fail, most=3, seconds=10, clock=lambda: next(times))
    assert all(storms.allows("f") for _ in range(100))


def _watched_by_hook(command: str) -> Mapping[str, Any]:
    return {"FileChanged": [{"matcher": "watched.txt", "hooks": [{"command": command}]}]}


def test_a_hook_that_edits_the_file_it_watches_runs_once(tmp_path: Path):
    async def main() -> None:
        async with ScriptedSession(
            tmp_path, (), hooks=_watched_by_hook("echo again >> watched.txt")
        ) as scripted:
            watched = scripted.project / "watched.txt"
            await scripted.ready.begin()
            await asyncio.sleep(0.1)
            watched.write_text("begin\n")
            await until(lambda: bool(scripted.events("FileChanged")))
            await asyncio.sleep(1)
            assert watched.read_text() == "begin\nagain\n"
            assert len(scripted.events("FileChanged")) == 1

    asyncio.run(main())


def test_a_write_of_the_agent_and_the_hook_that_formats_it_are_one_change(tmp_path: Path):
    async def main() -> None:
        script = (calls(call("Write", file_path="watched.txt", content="x\n")), says("done"))
        hooks = _watched_by_hook("sleep 0.3; echo formatted >> watched.txt; sleep 0.6")
        async with ScriptedSession(tmp_path, script, hooks=hooks, mode="bypass") as scripted:
            await scripted.play("go")
            await asyncio.sleep(1)
            assert [fired.payload.event for fired in scripted.events("FileChanged")] == ["add"]

    asyncio.run(main())


def test_a_watched_directory_that_disappears_does_not_end_the_session(tmp_path: Path):
    directory = tmp_path / "home" / "project" / "folder"

    async def main() -> None:
        hooks = {
            "SessionStart": [{"hooks": [{"command": f"echo '{_WATCH.replace('FOLDER', str(directory))}'"}]}],
            "FileChanged": [{"hooks": [{"command": "true"}]}],
        }
        async with ScriptedSession(tmp_path, (says("one"), says("two")), hooks=hooks) as scripted:
            directory.mkdir()
            (directory / "x").write_text("1")
            await scripted.play("one")
            await asyncio.sleep(0.1)
            shutil.rmtree(directory)
            await until(lambda: bool(scripted.events("FileChanged")))
            received = await scripted.play("two")
            assert received is not None
            assert received.text == "two"
            assert [fired.payload.event for fired in scripted.events("FileChanged")] == ["unlink"]
            assert scripted.seen.texts("warning") == []

    asyncio.run(main())


_WATCH = '{"hookSpecificOutput": {"watchPaths": ["FOLDER"]}}'
