"""Test trust while entries change, come and go."""

import os
import time
from pathlib import Path

import pytest

from hookline import Engine
from hookline.handlers.specs import CommandSpec
from hookline.model.hook import Hook
from hookline.model.session_info import SessionInfo
from hookline.trust.trust import Trust, TrustOptions


class Project:
    """Make a project with native hooks, and the store of a new home."""

    def __init__(self, directory: Path) -> None:
        self.root = directory / "project"
        (self.root / ".hookline").mkdir(parents=True)
        self.engine = Engine()
        self.trust = self.engine.trust_in(str(self.root), TrustOptions())

    def load(self, *commands: str) -> dict[str, str]:
        """The state of each hook."""
        entries = "".join(f'[[hooks.PreToolUse.hooks]]\ncommand = "{each}"\n' for each in commands)
        (self.root / ".hookline/hooks.toml").write_text(f"[[hooks.PreToolUse]]\n{entries}")
        self.engine.use(self.engine.loader.directory(str(self.root), ["native"], trust=self.trust))
        return {_command(hook): self.trust.status(hook).state for hook in self.engine.hooks}

    def accept(self, command: str) -> None:
        self.trust.accept([self.trust.item(hook) for hook in self.engine.hooks if _command(hook) == command])


def _command(hook: Hook) -> str:
    assert isinstance(hook.spec, CommandSpec)
    return hook.spec.command


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    (tmp_path / "home").mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Project(tmp_path)


def test_another_command_in_the_place_of_a_trusted_one_is_not_trusted(project: Project) -> None:
    assert project.load("echo good") == {"echo good": "untrusted"}
    project.accept("echo good")
    assert project.load("echo good") == {"echo good": "trusted"}
    assert project.load("echo evil") == {"echo evil": "modified"}
    (hook,) = project.engine.hooks
    assert not project.trust.admit(hook, SessionInfo(cwd=str(project.root))).admitted


def test_trusting_a_new_hook_does_not_forget_one_that_is_still_there(project: Project) -> None:
    project.load("echo a")
    project.accept("echo a")
    assert project.load("echo a", "echo b") == {"echo a": "trusted", "echo b": "untrusted"}
    project.accept("echo b")
    assert project.load("echo a", "echo b") == {"echo a": "trusted", "echo b": "trusted"}
    again = Trust(str(project.root), {"HOME": str(project.root.parent / "home")})
    assert len(again.store.read(again.root).items) == 2


def test_a_variable_that_means_another_directory_runs_no_other_script(project: Project) -> None:
    """Hooks get the project's directory in a variable: where that is another one, so are the scripts."""
    for directory, text in ((project.root, "good"), (project.root / "sub", "evil")):
        (directory / "hooks").mkdir(parents=True)
        (directory / "hooks/guard.sh").write_text(text)
    command = "$HOOKLINE_PROJECT_DIR/hooks/guard.sh"
    project.load(command)
    project.accept(command)
    (hook,) = project.engine.hooks
    root, sub = str(project.root), str(project.root / "sub")
    for info, admitted in (
        (SessionInfo(cwd=root, project_dir=root), True),
        (SessionInfo(cwd=sub, project_dir=root), True),
        (SessionInfo(cwd=root, project_dir=sub), False),
        (SessionInfo(cwd=sub), False),
        (SessionInfo(cwd=root, project_dir=root), True),
    ):
        assert project.trust.admit(hook, info).admitted is admitted, info


def test_a_trusted_file_is_not_trusted_by_another_name(project: Project) -> None:
    """A file that was trusted as data of a script must not become the script in another directory."""
    (project.root / "guard.sh").write_text("good")
    (project.root / "data.txt").write_text("evil as a script")
    project.load("sh guard.sh data.txt")
    project.accept("sh guard.sh data.txt")
    (project.root / "sub").mkdir()
    (project.root / "sub/guard.sh").write_text("evil as a script")
    (hook,) = project.engine.hooks
    assert not project.trust.admit(hook, SessionInfo(cwd=str(project.root / "sub"))).admitted


def test_a_pattern_that_means_the_same_files_elsewhere_runs_there(project: Project) -> None:
    for name in ("a.sh", "b.sh", "sub/c.sh"):
        file = project.root / "hooks" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    command = "for f in $HOOKLINE_PROJECT_DIR/hooks/*.sh; do sh $f; done"
    project.load(command)
    project.accept(command)
    (hook,) = project.engine.hooks
    root, sub = str(project.root), str(project.root / "hooks/sub")
    assert project.trust.admit(hook, SessionInfo(cwd=sub, project_dir=root)).admitted
    (project.root / "hooks/sub/hooks").mkdir()
    (project.root / "hooks/sub/hooks/d.sh").write_text("evil")
    assert not project.trust.admit(hook, SessionInfo(cwd=sub, project_dir=sub)).admitted


def test_two_files_that_are_shown_alike_are_both_covered(project: Project, tmp_path: Path) -> None:
    for directory in (tmp_path / "home", project.root / "~"):
        directory.mkdir(exist_ok=True)
        (directory / "guard.sh").write_text("good")
    command = "sh ./~/guard.sh && sh ~/guard.sh"
    for changed in (tmp_path / "home", project.root / "~"):
        project.load(command)
        project.accept(command)
        assert project.load(command) == {command: "trusted"}
        (changed / "guard.sh").write_text("evil")
        assert project.load(command) == {command: "modified"}


def test_many_new_hooks_beside_a_trusted_one_are_judged_in_bounded_time(project: Project) -> None:
    project.load("echo a")
    project.accept("echo a")
    commands = ["echo a", *(f"echo {number}" for number in range(1500))]
    started = time.process_time()
    states = project.load(*commands)
    assert time.process_time() - started < 20  # it was minutes: each one was compared with all others
    assert states["echo a"] == "trusted"
    assert list(states.values()).count("trusted") == 1


@pytest.mark.parametrize("above", ["", ".."])
def test_above_the_home_directory_hooks_of_the_user_stay_the_users(
    project: Project, tmp_path: Path, above: str
) -> None:
    """Unless a repository is there, which may have brought the home directory."""
    own = tmp_path / "home/.config/hookline/hooks.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = "true"\n')
    env = {"HOME": str(tmp_path / "home")}
    for directory in (os.sep, str(tmp_path / above)):
        assert not Trust(directory, env).is_foreign(str(own), "user")
        assert Trust(directory, env).is_foreign(str(tmp_path / ".hookline/hooks.toml"), "project")
    (tmp_path / ".git").mkdir()
    assert Trust(str(tmp_path), env).is_foreign(str(own), "user")


def test_a_variable_of_an_entry_that_is_filled_in_late_may_name_a_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    script = tmp_path / "project/guard.sh"
    script.parent.mkdir()
    script.write_text("good")
    entry = "{type: command, command: $GUARD, env: {GUARD: ./guard.sh}}"
    (tmp_path / "project/agent.yaml").write_text(
        f"agents: {{root: {{hooks: {{session_start: [{entry}]}}}}}}\n"
    )
    engine = Engine()
    trust = engine.trust_in(str(script.parent), TrustOptions())
    engine.use(engine.loader.directory(str(script.parent), ["docker-agent"], trust=trust))
    (hook,) = engine.hooks
    assert list(trust.item(hook).files) == ["guard.sh"]


def test_an_entry_with_half_a_character_can_be_trusted_and_breaks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    settings = tmp_path / "project/.claude/settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(
        '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "\\ud800 x"}]}]}}'
    )
    engine = Engine()
    trust = engine.trust_in(str(tmp_path / "project"), TrustOptions())
    engine.use(engine.loader.directory(str(tmp_path / "project"), ["claude-code"], trust=trust))
    (hook,) = engine.hooks
    assert trust.status(hook).state == "untrusted"
    trust.accept([trust.item(hook)])
    assert trust.status(hook).state == "trusted"


@pytest.mark.parametrize("linked", [False, True])
def test_settings_in_the_project_do_not_vouch_for_it_by_a_link(
    project: Project, tmp_path: Path, linked: bool
) -> None:
    own = tmp_path / "home/.config/hookline/settings.toml"
    own.parent.mkdir(parents=True)
    held = project.root / "dotfiles.toml" if linked else own
    held.write_text(f'trusted = ["{project.root}"]\n')
    if linked:
        own.symlink_to(held)
    assert Trust(str(project.root), {"HOME": str(tmp_path / "home")}).trusts_all is not linked


def test_an_empty_text_in_trusted_names_no_directory(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".config/hookline").mkdir(parents=True)
    (home / ".config/hookline/settings.toml").write_text('trusted = ["", " "]\n')
    (home / "project").mkdir()
    assert not Trust(str(home / "project"), {"HOME": str(home)}).trusts_all


def test_a_guard_whose_script_changes_while_it_is_in_force_asks(project: Project) -> None:
    script = project.root / "check.sh"
    script.write_text("exit 0")
    project.load("sh check.sh")
    (hook,) = project.engine.hooks
    here = SessionInfo(cwd=str(project.root))
    assert project.trust.admit(hook, here).instead.votes == ()  # it was never active
    project.accept("sh check.sh")
    assert project.load("sh check.sh") == {"sh check.sh": "trusted"}
    (hook,) = project.engine.hooks
    script.write_text("exit 0 # and something else")
    refused = project.trust.admit(hook, here)
    assert not refused.admitted
    assert [vote.kind for vote in refused.instead.votes] == ["ask"]
    assert "check.sh changed since you trusted it" in refused.instead.votes[0].reason
    elsewhere = Project.__new__(Project)  # `hookline trust` in another terminal
    elsewhere.root, elsewhere.engine = project.root, Engine()
    elsewhere.trust = elsewhere.engine.trust_in(str(project.root), TrustOptions())
    elsewhere.load("sh check.sh")
    elsewhere.accept("sh check.sh")
    assert project.trust.admit(hook, here).admitted


def test_a_guard_whose_name_means_another_file_elsewhere_asks_there(project: Project) -> None:
    (project.root / "check.sh").write_text("exit 0")
    project.load("sh check.sh")
    project.accept("sh check.sh")
    (project.root / "sub").mkdir()
    (project.root / "sub/check.sh").write_text("touch ran")
    (hook,) = project.engine.hooks
    refused = project.trust.admit(hook, SessionInfo(cwd=str(project.root / "sub")))
    assert not refused.admitted
    assert [vote.kind for vote in refused.instead.votes] == ["ask"]
