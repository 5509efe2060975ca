"""Live reload with real files."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from hookline import Engine, Watch, load
from hookline.config.watch import Reload

GOOD = '[[hooks.Stop]]\nhooks = [{{ command = "{command}" }}]\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return tmp_path / "project"


def hooks(engine: Engine) -> list[str]:
    return [hook.name for hook in engine.hooks]


def watched(
    project: Path, story: Callable[[Engine, Callable[[], Awaitable[Reload]]], Awaitable[None]]
) -> None:
    async def main() -> None:
        engine = load(project).engine
        reloads: asyncio.Queue[Reload] = asyncio.Queue()
        watch = Watch(engine, str(project), reloads.put_nowait)
        task = asyncio.create_task(watch.run())
        await asyncio.wait_for(watch.ready.wait(), 30)

        async def next_reload() -> Reload:
            return await asyncio.wait_for(reloads.get(), 30)

        await story(engine, next_reload)
        watch.stop()
        await asyncio.wait_for(task, 30)
        await engine.close()

    asyncio.run(main())


def test_an_edit_is_put_in_force_and_a_bad_one_keeps_the_last_good_set(project: Path) -> None:
    (project / ".hookline").mkdir()
    file = project / ".hookline" / "hooks.toml"
    file.write_text(GOOD.format(command="one"))

    async def story(engine: Engine, next_reload: Callable[[], Awaitable[Reload]]) -> None:
        assert hooks(engine) == ["one"]
        file.write_text(GOOD.format(command="two"))
        good = await next_reload()
        assert (good.active, good.changed, hooks(engine)) == (True, (str(file),), ["two"])
        file.write_text("[[hooks.Stop")
        bad = await next_reload()
        assert (bad.active, hooks(engine)) == (False, ["two"])
        assert [one.code for one in bad.diagnostics] == ["syntax", "kept-last-good"]
        file.write_text(GOOD.format(command="three"))
        assert (await next_reload()).active
        assert hooks(engine) == ["three"]

    watched(project, story)


def test_a_directory_made_while_watching_is_seen(project: Path) -> None:
    async def story(engine: Engine, next_reload: Callable[[], Awaitable[Reload]]) -> None:
        assert hooks(engine) == []
        (project / ".hookline").mkdir()
        (project / ".hookline" / "hooks.toml").write_text(GOOD.format(command="late"))
        while hooks(engine) != ["late"]:
            await next_reload()

    watched(project, story)


def test_a_file_that_is_removed_takes_its_hooks_away(project: Path) -> None:
    (project / ".hookline").mkdir()
    file = project / ".hookline" / "hooks.toml"
    file.write_text(GOOD.format(command="one"))

    async def story(engine: Engine, next_reload: Callable[[], Awaitable[Reload]]) -> None:
        file.unlink()
        assert (await next_reload()).active
        assert hooks(engine) == []

    watched(project, story)
