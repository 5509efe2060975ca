"""Test calls that relays bring to the daemon: what it remembers between them, and which it takes.

One daemon answers them all; each test has a new project.
"""

import json
import os
import shlex
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hookline import __version__
from hookline.hook.call.answer import DEEPEST
from hookline.hook.daemon.directory import connect, open_directory
from hookline.hook.daemon.protocol import BEGINS, read_frame
from tests.homes import at_home
from tests.hook.daemon.daemons import Daemons, RefusalError, SharedResident, command, decision, hook_file
from tests.hook.relay.programs import KINDS, Kind, relay_of
from tests.waiting import wait_until, waits_for

DENIES = 'type = "builtin"\ncommand = "deny"\nargs = ["no shell here"]'


def test_it_answers_and_says_how_often(daemon: SharedResident) -> None:
    daemon.write(".hookline/hooks.toml", hook_file(DENIES))
    assert decision(daemon.call()) == "deny"
    status = daemon.status()
    assert status is not None
    assert (status.calls > 0, status.version, status.draining) == (True, __version__, False)


def test_a_change_of_any_file_is_seen_by_the_next_call(daemon: SharedResident) -> None:
    assert decision(daemon.call()) is None
    time.sleep(0.1)  # until a change would show in times of files, so that what was read is kept
    assert decision(daemon.call()) is None
    file = daemon.write(".hookline/hooks.toml", hook_file(DENIES))
    assert decision(daemon.call()) == "deny"
    time.sleep(0.1)
    assert decision(daemon.call()) == "deny"
    before = file.stat()
    text = file.read_text().replace("no shell here", "no shell HERE")
    file.write_text(text)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert b"HERE" in daemon.call(session_id=f"{daemon.session} 2").stdout
    file.unlink()
    assert decision(daemon.call(session_id=f"{daemon.session} 3")) is None


def test_no_project_gets_an_answer_that_was_given_in_another(daemon: SharedResident, whole: Daemons) -> None:
    """Not even for calls of the same id at the same time. (A session keeps the project that it began in.)"""
    other = SharedResident(whole, f"{daemon.session}-other")
    daemon.write(".hookline/hooks.toml", hook_file(DENIES))
    other.write(".hookline/hooks.toml", hook_file('type = "builtin"\ncommand = "force-push"'))
    same = {"tool_use_id": "the same"}
    with ThreadPoolExecutor(4) as pool:
        for _ in range(10):
            calls = [pool.submit(each.call, **same) for each in (daemon, other, daemon, other)]
            assert [decision(call.result()) for call in calls] == ["deny", None, "deny", None]


def test_once_and_the_limit_of_blocks_hold_across_calls(daemon: SharedResident, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    daemon.write(
        ".hookline/hooks.toml",
        hook_file(command(f"echo x >> {seen}", "once = true"))
        + hook_file(command("echo again >&2; exit 2"), event="Stop"),
    )
    for _ in range(3):
        daemon.call()
    assert seen.read_text() == "x\n"
    daemon.call(session_id=f"{daemon.session} 2")
    assert seen.read_text() == "x\nx\n"
    blocks = [daemon.call("Stop").stdout.startswith(b'{"decision":"block"') for _ in range(9)]
    assert blocks == [True] * 8 + [False]


def test_what_a_hook_in_the_background_says_comes_with_the_next_call(
    daemon: SharedResident, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    late = json.dumps(
        {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "late news"}}
    )
    daemon.write(
        ".hookline/hooks.toml",
        hook_file(command(f"{waits_for(go)}; echo '{late}'", "async = true"), event="PostToolUse"),
    )
    assert b"late news" not in daemon.call("PostToolUse", tool_response={"stdout": ""}).stdout
    go.touch()
    wait_until(lambda: b"late news" in daemon.call("UserPromptSubmit").stdout)
    assert b"late news" not in daemon.call("UserPromptSubmit").stdout


def test_hooks_of_a_relay_that_is_gone_are_ended(daemon: SharedResident, tmp_path: Path) -> None:
    started, never = tmp_path / "started", tmp_path / "never"
    daemon.write(".hookline/hooks.toml", hook_file(command(f"touch {started}; {waits_for(never)}")))
    directory = open_directory(str(daemon.directory))
    with connect(directory) as connection:
        connection.sendall(daemon.request())
        assert _frame(connection) == BEGINS
        connection.sendall(b"G")
        wait_until(started.exists)
    directory.close()
    wait_until(lambda: (status := daemon.status()) is not None and status.running == 0)


def test_no_hook_starts_before_the_relay_has_agreed(daemon: SharedResident, tmp_path: Path) -> None:
    started = tmp_path / "started"
    daemon.write(".hookline/hooks.toml", hook_file(command(f"touch {started}")))
    directory = open_directory(str(daemon.directory))
    with connect(directory) as connection:
        connection.sendall(daemon.request())
        assert _frame(connection) == BEGINS
    directory.close()
    wait_until(lambda: (status := daemon.status()) is not None and status.running == 0)
    daemon.call("SessionStart", source="startup")
    assert not started.exists()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"env": {"HOME": "/nowhere"}}, "HOME"),
        ({"env": {"HOOKLINE_TRACE": "1"}}, "tracing"),
        ({"words": ("hook", "--print-config", "native")}, "not a call"),
        ({"words": ("fire", "PreToolUse")}, "not a call"),
        ({"words": ("hook", "--dialect", "nobody", "PreToolUse")}, "not a call"),
        ({"words": ("hook", "--dialect", "native", "--config", "x.toml")}, "no file"),
        ({"words": ("hook", "--dialect", "native", "--from", "nobody")}, "not a call"),
    ],
)
def test_what_is_no_call_of_this_user_is_left_to_another_process(
    options: dict[str, Any], why: str, daemon: SharedResident
) -> None:
    with pytest.raises(RefusalError, match=why):
        daemon.call(**options)


def test_each_spelling_of_an_option_is_answered(daemon: SharedResident) -> None:
    daemon.write(".hookline/hooks.toml", hook_file(DENIES))
    words = ("hook", "--dialect=claude-code", "--hooks=own", f"--home={daemon.home}", "PreToolUse")
    assert decision(daemon.call(words=words)) == "deny"


def test_the_hooks_of_named_files_answer_and_no_others(daemon: SharedResident) -> None:
    """Also where their paths do not show whose they are, and a change of them is seen."""
    daemon.write(".hookline/hooks.toml", hook_file(command("echo of the project >&2; exit 2")))
    handler = {"type": "command", "command": "echo of the file >&2; exit 2"}
    text = json.dumps({"hooks": {"BeforeTool": [{"hooks": [handler]}]}})
    file = daemon.write("shared/guards.json", text)
    named = ("hook", "--dialect", "claude-code", "--config", str(file))

    def said(*words: str) -> bytes:
        return daemon.call(words=(*words, "PreToolUse"), session_id=f"{daemon.session} {len(words)}").stdout

    time.sleep(0.1)
    for _ in range(2):
        assert b"of the file" in said(*named, "--from", "gemini-cli")
        assert b"of the file" in said(*named[:-1], "shared/guards.json", "--from=gemini-cli")
        assert b"of the file" not in said(*named, "--from", "claude-code")  # which has no such event
        assert b"of the project" in said(*named[:3])
    file.write_text(text.replace("of the file", "of its change"))
    assert b"of its change" in said(*named, "--from", "gemini-cli")


def _frame(connection: socket.socket) -> bytes:
    received = b""
    while (found := read_frame(received)) is None:
        part = connection.recv(1 << 16)
        if not part:
            raise ConnectionResetError
        received += part
    return found[0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_relay_in_a_hook_counts_how_deep_it_is_and_ends(
    kind: Kind, daemon: SharedResident, tmp_path: Path
) -> None:
    """A script that asks again about the same call: its text does not show that it does."""
    relay, received = relay_of(kind, daemon.directory), tmp_path / "told"
    words = at_home(("hook", "--dialect", "claude-code", "PreToolUse"), daemon.env)
    line = shlex.join(map(str, relay.words(*words)))
    again = daemon.write("again.sh", f'echo "$HOOKLINE_HOOK_DEPTH" >> {received}\nexec {line}\n')
    daemon.write(".hookline/hooks.toml", hook_file(command(f"exec sh {again}")))
    ran = relay.run(*words, given=daemon.payload(), env=daemon.env, cwd=daemon.project)
    assert received.read_text().split() == [str(depth) for depth in range(1, DEEPEST + 1)]
    assert ran.code == 0
    assert (
        "remove that call from the hook"
        in json.loads(ran.stdout)["hookSpecificOutput"]["permissionDecisionReason"]
    )


@pytest.mark.parametrize("first", ["process", "daemon"])
def test_one_entry_of_a_call_is_answered_by_the_daemon_and_one_by_a_process(
    first: str, daemon: SharedResident
) -> None:
    """The daemon may begin or end between two entries of one call: hooks run once all the same."""
    daemon.write(".hookline/hooks.toml", hook_file(command("echo ran >> ran; echo no rm here >&2; exit 2")))
    payload = json.loads(daemon.payload(hookEventName="pre_tool_use", workspaceRoot="/w", toolUseId="t-1"))
    payload |= {
        "sessionId": daemon.session,
        "toolName": "run_terminal_command",
        "toolInput": {"command": "ls"},
    }
    words = {"process": ("hook", "--dialect", "claude-code"), "daemon": ("hook", "--dialect", "grok")}

    def ask(by: str, event: str = "PreToolUse") -> bytes:
        own = (*words[by], event)
        if by == "process":
            answer = daemon.in_process(json.dumps(payload).encode(), *own)
            return answer.stdout + answer.stderr
        replied = daemon.call(words=own, **payload)
        return replied.stdout + replied.stderr

    for by in (first, "daemon" if first == "process" else "process"):
        assert b"no rm here" in ask(by)
    assert (daemon.project / "ran").read_text() == "ran\n"


def test_two_entries_that_ask_the_daemon_at_the_same_time_have_one_answer(daemon: SharedResident) -> None:
    daemon.write(
        ".hookline/hooks.toml", hook_file(command("sleep 0.3; echo ran >> ran; echo no >&2; exit 2"))
    )
    requests = [daemon.request(tool_use_id="t-9") for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        replies = list(pool.map(daemon.send, requests))
    assert [decision(each) for each in replies] == ["deny"] * 3
    assert (daemon.project / "ran").read_text() == "ran\n"
