"""A trust store that an earlier version wrote is read, and means the same."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from hookline import Engine
from hookline.model.session_info import SessionInfo
from hookline.trust.trust import Trust

_HOOKS = (
    '[[hooks.PreToolUse]]\nmatcher = "Bash"\n[[hooks.PreToolUse.hooks]]\ncommand = "sh ./guard.sh $HOME"\n'
)
_SCRIPT = "exit 2\n"
#: As version 1 of the store has it; only the root is the test's own.
_STORED = {
    "version": 1,
    "items": [
        {
            "identity": "24b6a2cd0f8e766464f5e3a72d89ef4fc53f0ac3ff4d194b83175e085edd8e1d",
            "kind": "hook",
            "file": ".hookline/hooks.toml",
            "label": "PreToolUse guard.sh",
            "facts": (
                '{"at":["hooks","PreToolUse","hooks"],"dialect":"native","entry":{"command":"sh ./guard.sh $HOME"},'
                '"event":"PreToolUse","event_name":"PreToolUse","group":{"matcher":"Bash"},"matcher":"Bash",'
                '"scope":"project","timeout":600.0,"type":"command","waiting":"wait"}'
            ),
            "files": {"guard.sh": "5362fb632b157f283b9135804a517da6491d939d8635435911a91f389c9e4aff"},
            "at": "2026-11-18T02:36:42+00:00",
        }
    ],
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project, home = tmp_path / "project", tmp_path / "home"
    (project / ".hookline").mkdir(parents=True)
    (project / ".hookline" / "hooks.toml").write_text(_HOOKS)
    (project / "guard.sh").write_text(_SCRIPT)
    store = home / ".local" / "state" / "hookline" / "trust"
    store.mkdir(parents=True, mode=0o700)
    name = sha256(str(project).encode()).hexdigest()[:40]
    (store / f"{name}.json").write_text(json.dumps({**_STORED, "root": str(project)}))
    return project


def _trust(project: Path) -> tuple[str, bool]:
    """The state of its one hook, and whether that may start."""
    env = {"HOME": str(project.parent / "home")}
    trust = Trust(str(project), env)
    (hook,) = Engine(env=env).loader.directory(str(project), ["native"], trust=trust).hooks
    return trust.status(hook).state, trust.admit(hook, SessionInfo(cwd=str(project))).admitted


def test_a_hook_that_was_trusted_then_is_trusted(project: Path) -> None:
    assert _trust(project) == ("trusted", True)


def test_a_hook_whose_script_changed_since_is_modified(project: Path) -> None:
    (project / "guard.sh").write_text("exit 0\n")
    assert _trust(project) == ("modified", False)
