"""Configuration that changes in mid-session: what weakens a guard or runs something new waits for the user."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine
from hookline.trust.trust import Trust
from tests.agent.scripted_session import Probe, ScriptedSession, call, calls, says
from tests.waiting import until

_GUARD = (
    '[[hooks.PreToolUse]]\nmatcher = "Probe"\nhooks = [{ command = "echo no >&2; exit 2", name = "guard" }]\n'
)
_DENY = '[[hooks.PreToolUse]]\nhooks = [{ type = "builtin", command = "deny", name = "stricter" }]\n'
_NEW = '[[hooks.PostToolUse]]\nhooks = [{ command = "touch ran", name = "new" }]\n'


class Confirms:
    """A user at a terminal who gets a question beside the conversation."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answer: asyncio.Future[bool] | None = None

    async def confirm(self, text: str) -> bool:
        self.asked.append(text)
        self.answer = asyncio.get_running_loop().create_future()
        return await self.answer

    def says(self, yes: bool) -> None:
        assert self.answer is not None
        self.answer.set_result(yes)


class LiveSession(ScriptedSession):
    """Its hooks are in the project's own file, which is watched."""

    def __init__(self, directory: Path, *, trust: bool = True, **more: Any) -> None:
        self._trusted = trust
        script = [step for _ in range(4) for step in (calls(call("Probe", what="it")), says("done"))]
        super().__init__(directory, script, tools=(Probe(),), trust=trust, **more)

    @property
    def file(self) -> Path:
        return self.project / ".hookline" / "hooks.toml"

    def _load(self, engine: Engine, hooks: Mapping[str, Any] | None) -> None:
        del hooks
        self.file.parent.mkdir()
        self.file.write_text(_GUARD)
        engine.load(str(self.project), trust=self._trusted)
        engine.journal.subscribe(self.log.ran)

    @property
    def names(self) -> list[str]:
        assert self.engine is not None
        return [hook.name for hook in self.engine.hooks]

    async def denies(self) -> bool:
        """Return True if the guard still blocks the tool."""
        before = len(self.results())
        await self.play("go")
        return "done: it" not in self.results()[before:]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_without_a_terminal_a_guard_stays_and_one_line_says_so(tmp_path: Path) -> None:
    async def main() -> None:
        async with LiveSession(tmp_path) as session:
            assert await session.denies()
            session.file.write_text("")
            await until(lambda: bool(session.seen.texts("warning")))
            assert await session.denies()
            (line,) = session.seen.texts("warning")
            assert "guard gone: PreToolUse guard" in line
            assert "the previous hooks stay active" in line
            session.file.write_text(_GUARD + _DENY)
            await until(lambda: session.names == ["guard", "stricter"])  # what only tightens needs no yes

    asyncio.run(main())


@pytest.mark.parametrize("yes", [True, False])
def test_at_a_terminal_it_is_asked_about_and_the_session_goes_on_meanwhile(tmp_path: Path, yes: bool) -> None:
    user = Confirms()

    async def main() -> None:
        async with LiveSession(tmp_path, confirmer=user) as session:
            assert await session.denies()
            session.file.write_text(_GUARD.replace("Probe", "Other") + _NEW)
            await until(lambda: user.answer is not None)
            assert await session.denies()
            user.says(yes)
            await until(lambda: session.names == ["guard", "new"] or bool(session.seen.texts("warning")))
            assert await session.denies() is not yes
            assert (session.project / "ran").exists() is yes
        (question,) = user.asked
        assert "guard changed: PreToolUse guard" in question
        assert "new: PostToolUse new" in question
        assert "touch ran" in question

    asyncio.run(main())


def test_a_change_that_is_taken_back_is_not_asked_about_any_more(tmp_path: Path) -> None:
    user = Confirms()

    async def main() -> None:
        async with LiveSession(tmp_path, confirmer=user) as session:
            assert await session.denies()
            session.file.write_text("")
            await until(lambda: user.answer is not None)
            session.file.write_text(_GUARD + "# as it was")
            await until(lambda: user.answer is not None and user.answer.cancelled())
            assert await session.denies()
        assert len(user.asked) == 1

    asyncio.run(main())


def test_a_yes_is_trust_in_what_was_shown(tmp_path: Path, home: Path) -> None:
    user = Confirms()

    async def main() -> None:
        async with LiveSession(tmp_path, trust=False, confirmer=user) as session:
            assert session.engine is not None
            trust = session.engine.trust
            assert trust is not None
            trust.accept([trust.item(hook) for hook in session.engine.hooks])
            assert await session.denies()
            session.file.write_text(_GUARD.replace("no >&2", "never >&2"))
            await until(lambda: user.answer is not None)
            assert await session.denies()  # by the active guard, which is still trusted
            assert "no" in session.results()[-1]
            user.says(True)
            await until(lambda: bool(session.seen.texts("notice")))
            assert await session.denies()
            assert "never" in session.results()[-1]
        stored = Trust(str(session.project), {"HOME": str(home)})
        assert [item.label for item in stored.store.read(stored.root).items][-1] == "PreToolUse guard"

    asyncio.run(main())
