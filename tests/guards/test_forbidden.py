"""Test guards that forbid the paths, hosts and commands of their options, and options that add to other guards."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.guards import FORBIDDING, guard
from hookline.guards.spec import policy_of


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "home" / "project"
    for file in ("src/generated/a.py", "README.md", "../.ssh/config", "../.ssh/id_rsa"):
        (made / file).parent.mkdir(parents=True, exist_ok=True)
        (made / file).write_text("x")
    (made / "link").symlink_to(tmp_path / "home" / ".ssh")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return made


def _reason(project: Path, name: str, options: tuple[str, ...], tool: str, **arguments: Any) -> str | None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, guard(name, *options))
    session = engine.session("s", cwd=str(project), project_dir=str(project))
    payload = ToolCall(tool_name=tool, tool_input=arguments)
    outcome = asyncio.run(session.dispatch(PRE_TOOL_USE, payload))
    return outcome.reason if outcome.blocked else None


@pytest.mark.parametrize("name", FORBIDDING)
def test_the_examples_of_the_table(name: str, project: Path) -> None:
    policy = policy_of(name)
    passed = [
        line for line in policy.catches if not _reason(project, name, policy.example, "Bash", command=line)
    ]
    stopped = [line for line in policy.leaves if _reason(project, name, policy.example, "Bash", command=line)]
    assert (passed, stopped) == ([], [])


def test_every_tool_is_stopped(project: Path) -> None:
    home = project.parent
    for tool, arguments in (
        ("Read", {"file_path": f"{home}/.ssh/config"}),
        ("Read", {"file_path": "~/.ssh/config"}),
        ("Read", {"file_path": "link/config"}),
        ("Edit", {"file_path": f"{home}/.ssh/config", "old_string": "a", "new_string": "b"}),
        ("Grep", {"pattern": "x", "path": str(home)}),
        ("LS", {"path": f"{home}/.ssh"}),
        ("mcp__files__load", {"path": f"{home}/.ssh/config"}),
        ("Bash", {"command": "cat link/config"}),
    ):
        assert _reason(project, "forbid-path", ("path=~/.ssh",), tool, **arguments), (tool, arguments)
    assert not _reason(project, "forbid-path", ("path=~/.ssh",), "Read", file_path="README.md")
    fetched = {"url": "https://a.evil.example/x", "prompt": "x"}
    assert _reason(project, "forbid-host", ("host=evil.example",), "WebFetch", **fetched)
    excepted = ("host=evil.example", "allow=a.evil.example")
    assert not _reason(project, "forbid-host", excepted, "WebFetch", **fetched)


def test_reading_or_writing_alone(project: Path) -> None:
    read, write = {"command": "cat ~/.ssh/config"}, {"command": "touch ~/.ssh/config"}
    assert _reason(project, "forbid-path", ("path=~/.ssh", "read"), "Bash", **read)
    assert not _reason(project, "forbid-path", ("path=~/.ssh", "read"), "Bash", **write)
    assert not _reason(project, "forbid-path", ("path=~/.ssh", "write"), "Bash", **read)
    assert _reason(project, "forbid-path", ("path=~/.ssh", "write"), "Bash", **write)


def test_the_reason_says_what_and_where(project: Path) -> None:
    reason = _reason(project, "forbid-path", ("path=~/.ssh",), "Bash", command="cat ~/.ssh/config")
    assert reason == (
        f"`{project.parent}/.ssh/config` is in ~/.ssh, which may not be read. The user forbids it. Do without it, or "
        "ask the user."
    )


def test_other_guards_take_paths_and_commands(project: Path) -> None:
    line = {"command": "cat ~/.ssh/config"}
    assert not _reason(project, "secrets-read", (), "Bash", **line)
    assert _reason(project, "secrets-read", ("path=~/.ssh",), "Bash", **line)
    assert not _reason(project, "secrets-read", ("path=~/.ssh", "allow=~/.ssh/config"), "Bash", **line)
    assert _reason(
        project, "write-outside-project", ("path=src/generated",), "Bash", command="touch src/generated/a"
    )
    assert _reason(
        project, "force-push", ("command=git push origin main",), "Bash", command="git push origin main"
    )


def test_a_guard_that_forbids_nothing_is_a_mistake() -> None:
    for name in FORBIDDING:
        with pytest.raises(ValueError, match="forbids nothing yet"):
            guard(name)
    with pytest.raises(ValueError, match="no option 'path='"):
        guard("force-push", "path=x")
