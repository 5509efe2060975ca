"""What trust makes of entries that change, come and go while it is in use."""

from pathlib import Path

import pytest

from hookline import Engine
from hookline.config.trust.trust import Options, Trust
from hookline.handlers.specs import CommandSpec
from hookline.model.hook import Hook
from hookline.model.scene import Scene


class Project:
    """A project with native hooks, and the store of a home of its own."""

    def __init__(self, place: Path) -> None:
        self.root = place / "project"
        (self.root / ".hookline").mkdir(parents=True)
        self.engine = Engine()
        self.trust = self.engine.trust_in(str(self.root), Options())

    def load(self, *commands: str) -> dict[str, str]:
        """The state of each hook."""
        entries = "".join(f'[[hooks.PreToolUse.hooks]]\ncommand = "{each}"\n' for each in commands)
        (self.root / ".hookline/hooks.toml").write_text(f"[[hooks.PreToolUse]]\n{entries}")
        self.engine.use(self.engine.loader.directory(str(self.root), ["native"], trust=self.trust))
        return {_command(hook): self.trust.standing(hook).state for hook in self.engine.hooks}

    def accept(self, command: str) -> None:
        self.trust.accept([self.trust.item(hook) for hook in self.engine.hooks if _command(hook) == command])


def _command(hook: Hook) -> str:
    assert isinstance(hook.spec, CommandSpec)
    return hook.spec.command


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Project(tmp_path)


def test_another_command_in_the_place_of_a_trusted_one_is_not_trusted(project: Project) -> None:
    assert project.load("echo good") == {"echo good": "untrusted"}
    project.accept("echo good")
    assert project.load("echo good") == {"echo good": "trusted"}
    assert project.load("echo evil") == {"echo evil": "modified"}
    (hook,) = project.engine.hooks
    assert not project.trust.admit(hook, Scene(cwd=str(project.root))).admitted


def test_trusting_a_new_hook_does_not_forget_one_that_is_still_there(project: Project) -> None:
    project.load("echo a")
    project.accept("echo a")
    assert project.load("echo a", "echo b") == {"echo a": "trusted", "echo b": "untrusted"}
    project.accept("echo b")
    assert project.load("echo a", "echo b") == {"echo a": "trusted", "echo b": "trusted"}
    again = Trust(str(project.root), {"HOME": str(project.root.parent / "home")})
    assert len(again.store.read(again.root).items) == 2
