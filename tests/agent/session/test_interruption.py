"""Test Ctrl-C at any time: hooks and tools are gone, the turn is settled, the session ends once."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run_cli import clean_env, command_line
from tests.waiting import LONG, wait_until

#: Says that it runs, under which id, and stays.
_STAYS = "echo $$ > pid; exec sleep 600"
_CALLS_BASH = {"tool_calls": [{"name": "Bash", "input": {"command": _STAYS}}]}
_CALLS_READ = {"tool_calls": [{"name": "Read", "input": {"file_path": "a.txt"}}]}
_STAYS_OVER = {"type": "command", "asyncRewake": True, "command": _STAYS}


def _interrupted(
    directory: Path, script: list[Any], *flags: str, hooks: dict[str, Any] | None = None, times: int = 1
) -> tuple[int, dict[str, Any], str]:
    """Run it until something has written its id to `pid`, then press Ctrl-C."""
    project = directory / "home" / "project"
    project.mkdir(parents=True)
    (project / "a.txt").write_text("a")
    (project / "script.json").write_text(json.dumps(script))
    (project / "hooks.json").write_text(json.dumps({"hooks": hooks or {}}))
    words = ["agent", "--json", "go", "--model", f"scripted:{project / 'script.json'}"]
    process = subprocess.Popen(
        command_line([*words, "--config", str(project / "hooks.json"), *flags]),
        cwd=project,
        env=clean_env(directory / "home"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        for _ in range(times):
            pid = _when_written(project / "pid", process)
            process.send_signal(signal.SIGINT)
            (project / "pid").unlink()
            _when_gone(pid)
        out, err = process.communicate(timeout=LONG)
    finally:
        process.kill()
        process.wait()
    return process.returncode, json.loads(out) if out else {}, err


def _when_written(file: Path, process: "subprocess.Popen[str]") -> int:
    def written() -> str:
        assert process.poll() is None, process.communicate()
        return file.read_text().strip() if file.exists() else ""

    wait_until(written)
    return int(file.read_text())


def _command_line(pid: int) -> bytes:
    """Return the words of a process; nothing if it is gone, also between the opening and the reading of its file."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _when_gone(pid: int) -> None:
    wait_until(lambda: not _command_line(pid))


def _fired(document: dict[str, Any]) -> list[str]:
    return [event["event"] for event in document["events"]]


def _command(command: str, **more: Any) -> list[dict[str, Any]]:
    return [{"hooks": [{"type": "command", "command": command, **more}]}]


def _payload(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(event["payload"] for event in document["events"] if event["event"] == name)


def test_ctrl_c_in_a_hook_kills_it_and_settles_the_turn(tmp_path: Path) -> None:
    status, document, _err = _interrupted(tmp_path, [_CALLS_READ], hooks={"PreToolUse": _command(_STAYS)})
    assert status == 130
    assert document["status"] == "interrupted"
    assert _payload(document, "TurnSettled")["status"] == "interrupted"
    assert _fired(document).count("SessionEnd") == 1
    assert "Stop" not in _fired(document)
    assert "PostToolUse" not in _fired(document)
    assert "interrupted before it gave a result" in Path(document["transcript"]).read_text()


def test_ctrl_c_in_a_tool_kills_it_and_its_call_has_a_result(tmp_path: Path) -> None:
    both = {"tool_calls": [*_CALLS_READ["tool_calls"], *_CALLS_BASH["tool_calls"]]}
    status, document, _err = _interrupted(tmp_path, [both], "--allow", "Bash")
    assert status == 130
    assert _payload(document, "TurnSettled")["status"] == "interrupted"
    assert _fired(document).count("SessionEnd") == 1
    kept = Path(document["transcript"]).read_text()
    assert kept.count('"role":"tool"') == 2
    assert kept.count("interrupted before it gave a result") == 1


def test_a_session_that_was_interrupted_in_a_call_can_be_resumed(tmp_path: Path) -> None:
    _interrupted(tmp_path, [_CALLS_BASH], "--allow", "Bash")
    project = tmp_path / "home" / "project"
    (project / "script.json").write_text(json.dumps([{"text": "on it goes"}]))
    ran = subprocess.run(
        command_line(["agent", "--json", "on", "--resume", "last", "--model", "scripted:script.json"]),
        cwd=project,
        env=clean_env(tmp_path / "home"),
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    document = json.loads(ran.stdout)
    assert document["result"] == "on it goes"
    roles = [message["role"] for message in document["requests"][0]["messages"]]
    assert roles == ["user", "assistant", "tool", "user"]


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "TurnSettled"])
def test_ctrl_c_reaches_a_hook_of_any_moment(event: str, tmp_path: Path) -> None:
    status, document, _err = _interrupted(tmp_path, [{"text": "hello"}], hooks={event: _command(_STAYS)})
    assert status == 130
    assert document["status"] == "interrupted"
    assert _fired(document).count("SessionEnd") == 1
    assert _fired(document).count("TurnSettled") == (event not in {"SessionStart", "UserPromptSubmit"})


def test_ctrl_c_ends_waiting_for_a_hook_that_may_wake_the_agent(tmp_path: Path) -> None:
    status, document, _err = _interrupted(
        tmp_path, [{"text": "hello"}], hooks={"Stop": [{"hooks": [_STAYS_OVER]}]}
    )
    assert status == 130
    assert _fired(document).count("SessionEnd") == 1


def test_a_second_ctrl_c_ends_the_hooks_of_the_end_too(tmp_path: Path) -> None:
    hooks = {"PreModelCall": _command(_STAYS), "SessionEnd": _command(_STAYS)}
    status, document, _err = _interrupted(tmp_path, [{"text": "hello"}], hooks=hooks, times=2)
    assert status == 130
    assert _fired(document).count("SessionEnd") == 1
