"""Check that the daemon notices a change of every path that a reading uses, whichever agent's files it reads.

An independent witness records the paths, so the test holds however the program records them.
"""

import builtins
import os
import shutil
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine
from hookline.disk import DISK, Disk
from hookline.hook.call.project import find_project, hooks_for
from hookline.hook.call.resources import protected_for
from hookline.hook.daemon.path_cache import RecordingDisk
from hookline.team.fleet.bundles.follow import activator
from tests.cli.commands.agent_calls import Caller, repository
from tests.team.fleet.machines import key, signed
from tests.trust.trusted_samples import SAMPLES, SCRIPT, Sample

_LOOKING = ("stat", "lstat", "open", "listdir", "scandir", "readlink", "access")
_LISTING = ("listdir", "scandir")


@pytest.fixture
def caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Caller:
    made = Caller(tmp_path, monkeypatch)
    repository(made.project)
    return made


class Witness:
    """The paths that were read, and the directories that were listed."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.listed: set[str] = set()


@contextmanager
def witness() -> Generator[Witness]:
    seen, own = Witness(), {name: getattr(os, name) for name in _LOOKING}
    opens = builtins.open

    def watched(function: Callable[..., Any], into: set[str]) -> Callable[..., Any]:
        def look(path: Any = ".", *arguments: Any, **options: Any) -> Any:
            if not isinstance(path, int):
                base = os.readlink(f"/proc/self/fd/{fd}") if (fd := options.get("dir_fd")) is not None else ""
                into.add(os.path.abspath(os.path.join(base, os.fsdecode(path))))
            return function(path, *arguments, **options)

        return look

    with pytest.MonkeyPatch.context() as patch:
        for name, function in own.items():
            patch.setattr(os, name, watched(function, seen.listed if name in _LISTING else seen.paths))
        patch.setattr(builtins, "open", watched(opens, seen.paths))
        yield seen


def _read(caller: Caller, dialect: str, disk: Disk = DISK, files: Sequence[str] | None = None) -> None:
    """Read what the daemon caches between calls: the project, the hooks with their trust, and what is protected."""
    env = dict(os.environ)
    place = find_project(str(caller.project), (), None, env, disk)
    assert place is not None
    loaded = hooks_for(Engine(), place.directory, dialect, files, disk=disk)
    protected_for(place, loaded.hooks, env, disk)


def _snapshot(caller: Caller, dialect: str, files: Sequence[str] | None = None) -> Callable[[], bool]:
    """Read as the daemon does; returns the question whether nothing has changed since."""
    disk = RecordingDisk()
    _read(caller, dialect, disk, files)
    return disk.end().holds


def _write(caller: Caller, sample: Sample) -> str:
    """Set up a project and its user with files of one agent; returns another agent, which calls."""
    caller.write(sample.files[0], sample.render(sample.document))
    caller.write(SCRIPT, "#!/bin/sh\n").chmod(0o755)
    caller.write("~/.config/hookline/hooks.toml", "# none\n")
    caller.write(".hookline/hooks.local.toml", "# none\n")
    if sample.dialect == "claude-code":
        root = caller.home / "elsewhere" / "tidy"
        (root / "hooks").mkdir(parents=True)
        (root / "hooks" / "hooks.json").write_text('{"hooks": {}}')
        caller.write(
            "~/.claude/plugins/installed_plugins.json",
            f'{{"plugins": {{"tidy@shop": [{{"installPath": "{root}", "version": "1"}}]}}}}',
        )
        caller.write("~/.claude/settings.json", '{"enabledPlugins": {"tidy@shop": true}}')
    if sample.dialect == "gemini-cli":
        caller.write("~/.gemini/extensions/tidy/gemini-extension.json", '{"name": "tidy", "version": "1"}')
        caller.write("~/.gemini/extensions/tidy/hooks/hooks.json", '{"hooks": {}}')
    return "codex" if sample.dialect == "claude-code" else "claude-code"


@contextmanager
def _changed(path: Path) -> Generator[None]:
    """Change a path as little as possible: a missing one appears, a file or a directory gets another mode."""
    if path.is_symlink() or path.exists():
        mode = path.stat().st_mode
        path.chmod(mode ^ 0o010)
        yield
        path.chmod(mode)
        return
    made = next(each for each in reversed((path, *path.parents)) if not each.exists())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    yield
    shutil.rmtree(made) if made.is_dir() else made.unlink()


def _unnoticed(
    caller: Caller, dialect: str, *looked_at: Path, files: Sequence[str] | None = None
) -> list[Path]:
    """Return the paths whose change a snapshot does not show. These ones are known to be read."""
    _read(caller, dialect, files=files)
    with witness() as seen:
        _read(caller, dialect, files=files)
    own = sorted(path for path in map(Path, seen.paths) if _is_own(path, caller))
    assert len(own) > (50 if files is None else 30)
    assert set(looked_at) <= set(own)
    unnoticed: list[Path] = []
    holds = _snapshot(caller, dialect, files)
    for path in own:
        if not holds():  # a file has another time of change, although it is as it was
            holds = _snapshot(caller, dialect, files)
        assert holds(), path
        with _changed(path):
            unnoticed += [path] if holds() else []
    return unnoticed


@pytest.mark.parametrize("sample", SAMPLES, ids=[each.dialect for each in SAMPLES])
def test_a_change_of_any_path_that_was_looked_at_is_noticed(sample: Sample, caller: Caller) -> None:
    dialect = _write(caller, sample)
    assert not _unnoticed(caller, dialect, caller.project / sample.files[0])
    named = caller.project / sample.files[0]
    assert not _unnoticed(caller, dialect, named, files=[str(named)])


def test_plugins_bundles_worktrees_and_what_is_not_trusted_are_noticed(caller: Caller) -> None:
    """Nothing is trusted as a whole, so each script is read, and the store."""
    for sample in SAMPLES:
        _write(caller, sample)
    caller.write("~/.config/hookline/settings.toml", "trusted = []\n")
    for directory, manifest in (("~/.gen", ".gen-plugin/plugin.json"), ("~/.codewhale", "plugin.json")):
        caller.write(f"{directory}/plugins/tidy/hooks/hooks.json", '{"hooks": {}}')
        caller.write(
            f"{directory}/plugins/tidy/{manifest}", '{"name": "tidy", "hooks": "./hooks/hooks.json"}'
        )
    fleet = caller.write("~/.config/hookline/fleet.toml", f'name = "a"\n[bundles]\nkeys = ["{key().text}"]\n')
    fleet.chmod(0o600)
    assert activator(os.environ).offer(signed(3)).what == "activated"
    (caller.project / ".git").rename(caller.home / "repository")
    worktree = caller.home / "repository/worktrees/project"
    worktree.mkdir(parents=True)
    (worktree / "gitdir").write_text(f"{caller.project}/.git\n")
    caller.write(".git", f"gitdir: {worktree}\n")
    seen = (caller.home / ".local/state/hookline/bundles/guards/active.bundle", worktree / "gitdir")
    scripts = (caller.project / SCRIPT, caller.home / ".gen/plugins/tidy/.gen-plugin/plugin.json")
    assert not _unnoticed(caller, "claude-code", *seen, *scripts)


def test_what_comes_into_a_directory_that_was_listed_is_noticed(caller: Caller) -> None:
    dialect = _write(caller, next(each for each in SAMPLES if each.dialect == "gemini-cli"))
    with witness() as seen:
        _read(caller, dialect)
    listed = [path for path in map(Path, seen.listed) if path.is_dir() and _is_own(path, caller)]
    assert caller.home / ".gemini/extensions" in listed
    for path in listed:
        holds = _snapshot(caller, dialect)
        with _changed(path / "new"):
            assert not holds(), path


def _is_own(path: Path, caller: Caller) -> bool:
    """Tell whether the test may change it: something below a file cannot be made."""
    return (
        path.is_relative_to(caller.home) and path != caller.home and not any(map(Path.is_file, path.parents))
    )
