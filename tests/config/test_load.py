import os
import socket
from collections.abc import Mapping
from pathlib import Path

import pytest

from hookline.config.load import Loaded, Loader
from hookline.dialects.files import read_file
from hookline.dialects.registry import home_dialect
from hookline.extending import standard_handlers


def loader(env: Mapping[str, str] = {}) -> Loader:
    return Loader(home_dialect(), standard_handlers(), env=env)


HOOK = '[[hooks.{event}]]\nhooks = [{{ command = "{command}" }}]\n'


def put(path: Path, *hooks: tuple[str, str]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(HOOK.format(event=event, command=command) for event, command in hooks))
    return str(path)


class Workspace:
    def __init__(self, root: Path) -> None:
        self.user = root / "home/.config/hookline"
        self.project = root / "project/.hookline"
        self._home = str(root / "home")
        (root / "project/.git").mkdir(parents=True)

    def load(self) -> Loaded:
        return loader({"HOME": self._home}).directory(str(self.project.parent), ["native"])


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def names(loaded: Loaded) -> list[str]:
    return [f"{hook.event.name}:{hook.name}:{hook.scope}" for hook in loaded.hooks]


def codes(loaded: Loaded) -> list[str]:
    return [diagnostic.code for diagnostic in loaded.diagnostics]


def test_the_layers_add_up(workspace: Workspace):
    put(workspace.user / "hooks.toml", ("Stop", "u1"), ("PreToolUse", "u2"))
    put(workspace.user / "hooks.local.toml", ("Stop", "ul"))
    put(workspace.project / "hooks.toml", ("Stop", "p1"))
    put(workspace.project / "hooks.local.toml", ("PreToolUse", "pl"))
    loaded = workspace.load()
    assert names(loaded) == [
        "Stop:u1:user", "PreToolUse:u2:user", "Stop:ul:user", "Stop:p1:project", "PreToolUse:pl:local",
    ]  # fmt: skip
    assert loaded.diagnostics == ()
    assert [(found.dialect, found.scope) for found in loaded.found] == [
        ("native", "user"), ("native", "user"), ("native", "project"), ("native", "local"),
    ]  # fmt: skip


def test_a_project_that_names_an_event_without_hooks_switches_nothing_off(workspace: Workspace):
    put(workspace.user / "hooks.toml", ("Stop", "u1"))
    workspace.project.mkdir()
    (workspace.project / "hooks.json").write_text('{"hooks": {"Stop": []}, "disableAllHooks": true}')
    assert names(workspace.load()) == ["Stop:u1:user"]


def test_formats_that_may_be_in_a_directory_which_cannot_be_searched_are_not_said_to_be_there(
    workspace: Workspace,
):
    workspace.project.write_text("a file in place of the directory")
    loaded = workspace.load()
    assert {hook.event.name for hook in loaded.hooks if hook.broken} >= {"UserPromptSubmit", "PreToolUse"}
    assert set(codes(loaded)) == {"unreadable"}


def test_two_formats_side_by_side_are_an_error_and_the_first_is_in_force(workspace: Workspace):
    put(workspace.project / "hooks.toml", ("Stop", "toml"))
    (workspace.project / "hooks.json").write_text('{"hooks": {"Stop": [{"hooks": [{"command": "json"}]}]}}')
    loaded = workspace.load()
    assert names(loaded) == ["Stop:toml:project"]
    (error,) = loaded.errors
    assert error.code == "two-formats"
    assert "hooks.json" in error.message
    assert "hooks.toml" in error.message


def test_a_file_that_cannot_be_read_is_said_and_the_others_count(workspace: Workspace):
    put(workspace.user / "hooks.toml", ("Stop", "u1"))
    workspace.project.mkdir()
    (workspace.project / "hooks.toml").write_text("hooks = [")
    loaded = workspace.load()
    assert [(hook.event.name, hook.name) for hook in loaded.hooks if hook.broken is None] == [("Stop", "u1")]
    assert {hook.event.name for hook in loaded.hooks if hook.broken} == {
        "UserPromptSubmit", "PreToolUse", "PermissionRequest", "ExecStart",
    }  # fmt: skip
    assert codes(loaded) == ["syntax"]
    assert [os.path.basename(file) for file in loaded.unreadable] == ["hooks.toml"]
    assert str(loaded.diagnostics[0].where).endswith(".hookline/hooks.toml:1")


def test_nothing_anywhere_is_no_mistake(workspace: Workspace):
    loaded = workspace.load()
    assert (loaded.hooks, loaded.diagnostics) == ((), ())


def test_given_files_are_read_in_their_order(tmp_path: Path):
    first = put(tmp_path / "one.toml", ("Stop", "a"))
    second = put(tmp_path / "two.toml", ("Stop", "b"))
    files = (second, first, str(tmp_path / "none.toml"))
    loaded = loader().files(files, "native")
    assert names(loaded)[:2] == ["Stop:b:flag", "Stop:a:flag"]
    assert all(hook.broken for hook in loaded.hooks[2:])
    assert codes(loaded) == ["unreadable"]


def refused(file: Path | str, limit: int = 10_000_000) -> tuple[str, int | None]:
    document = read_file(str(file), limit=limit)
    assert document.value is None
    (diagnostic,) = document.diagnostics
    assert str(diagnostic).startswith(str(file))
    return diagnostic.code, diagnostic.where.line


def test_whatever_stands_in_the_place_of_a_file_is_said(tmp_path: Path):
    (tmp_path / "dir.toml").mkdir()
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "dangling.toml").symlink_to("nowhere")
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    (tmp_path / "binary.toml").write_bytes(b"a = 1\n\x00\x01")
    (tmp_path / "latin.toml").write_bytes(b"a = 1\nb = 'caf\xe9'\n")
    (tmp_path / "big.json").write_bytes(b" " * 101)
    with socket.socket(socket.AF_UNIX) as listener:
        # By a directory's number, because a socket's path must be short.
        descriptor = os.open(tmp_path, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{descriptor}/sock.toml")
        os.close(descriptor)
        assert refused(tmp_path / "sock.toml")[0] == "unreadable"
    assert refused(tmp_path / "dir.toml") == ("not-a-file", None)
    assert refused(tmp_path / "pipe.toml") == ("not-a-file", None)
    assert refused(tmp_path / "dangling.toml") == ("unreadable", None)
    assert refused(tmp_path / "loop.toml") == ("unreadable", None)
    assert refused(tmp_path / "none.toml") == ("unreadable", None)
    assert refused(tmp_path / "binary.toml") == ("not-text", 2)
    assert refused(tmp_path / "latin.toml") == ("not-text", 2)
    assert refused(tmp_path / "big.json", limit=100) == ("too-big", None)
    assert refused("/dev/null") == ("unknown-format", None)


def test_a_byte_order_mark_is_dropped(tmp_path: Path):
    (tmp_path / "x.json").write_bytes(b'\xef\xbb\xbf{"hooks": {}}')
    document = read_file(str(tmp_path / "x.json"))
    assert (document.value, document.diagnostics) == ({"hooks": {}}, ())


def test_a_file_that_others_may_write_is_a_warning(tmp_path: Path):
    file = put(tmp_path / "x.toml", ("Stop", "a"))
    os.chmod(file, 0o666)
    loaded = loader().files([file], "native")
    assert [(each.severity, each.code) for each in loaded.diagnostics] == [("warning", "world-writable")]
    assert names(loaded) == ["Stop:a:flag"]
    os.chmod(file, 0o644)
    assert loader().files([file], "native").diagnostics == ()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_file_of_somebody_else_is_a_warning(tmp_path: Path):
    file = put(tmp_path / "x.toml", ("Stop", "a"))
    os.chown(file, 12345, -1)
    assert codes(loader().files([file], "native")) == ["foreign-owner"]
