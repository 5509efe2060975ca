"""Check that calls of one project share what was read of its files, and nothing else."""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hookline.hook.daemon.directory import connect, open_directory
from hookline.hook.daemon.protocol import GO, RelayReply
from tests.hook.daemon.daemons import Daemons, command, decision, hook_file
from tests.waiting import wait_until, waits_for


@pytest.fixture
def one(daemons: Daemons) -> Daemons:
    daemons.start()
    return daemons


def _user(one: Daemons, *entries: str, event: str = "PreToolUse") -> None:
    one.write("~/.config/hookline/hooks.toml", hook_file(*entries, event=event))
    _settle()


def _settle() -> None:
    """Let the files grow old enough for the cache, so that the rest tests the cache."""
    time.sleep(0.12)


def _at_once(call: Callable[[int], RelayReply], count: int) -> list[RelayReply]:
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(call, range(count)))


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.parametrize("name", ["OLDPWD", "TRACEPARENT", "TRACESTATE", "ANYTHING"])
def test_calls_at_once_that_differ_in_a_variable_get_their_own(
    one: Daemons, tmp_path: Path, name: str
) -> None:
    """The first three do not tell callers apart: what was read is shared."""
    arrived, go = tmp_path / "arrived", tmp_path / "go"
    _user(one, command(f'echo x >> {arrived}; {waits_for(go)}; echo "${name}" >> {tmp_path}/seen'))
    go.touch()
    one.call(env={name: "/first"})
    go.unlink()
    with ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(one.call, env={name: f"/old{number}"}) for number in range(8)]
        wait_until(lambda: len(_lines(arrived)) == 9)
        go.touch()
        for each in calls:
            each.result()
    assert sorted(_lines(tmp_path / "seen")[1:]) == [f"/old{number}" for number in range(8)]


def test_a_variable_that_leads_to_files_is_seen_in_each_call(one: Daemons, tmp_path: Path) -> None:
    """Calls that differ in it are made in turns, and at once."""
    hook = {"type": "command", "command": "exit 2"}
    guards = json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}})
    (tmp_path / "with").mkdir()
    (tmp_path / "with" / "settings.json").write_text(guards)
    (tmp_path / "without").mkdir()
    _settle()

    def asked(number: int) -> RelayReply:
        env = {"CLAUDE_CONFIG_DIR": str(tmp_path / ("without" if number % 2 else "with"))}
        return one.call(dialect="codex", env=env, session_id=f"session {number}")

    found = [asked(number) for number in range(4)] + _at_once(asked, 8)
    assert [decision(each) for each in found] == ["deny", None] * 6


def test_a_script_that_a_passing_variable_names_is_the_one_of_the_call(one: Daemons, tmp_path: Path) -> None:
    """What is trusted is what runs: two calls whose OLDPWD differs name two scripts."""
    one.write("~/.config/hookline/settings.toml", "")
    one.write(".hookline/hooks.toml", hook_file(command('sh "$OLDPWD/guard.sh"')))
    for name in ("a", "b"):
        one.write(f"{name}/guard.sh", f"echo {name} >&2; exit 2\n")
    shown = one.in_process(b"", "trust", "--json", env={"OLDPWD": str(one.project / "a")})
    trusted = json.loads(shown.stdout)["hashes"]
    done = one.in_process(b"", "trust", "--yes", trusted, env={"OLDPWD": str(one.project / "a")})
    assert done.code == 0, done
    _settle()
    for _ in range(2):
        assert decision(one.call(env={"OLDPWD": str(one.project / "a")}, session_id="a")) == "deny"
        assert decision(one.call(env={"OLDPWD": str(one.project / "b")}, session_id="b")) == "ask"


def test_a_hook_that_fails_is_run_by_each_call(one: Daemons, tmp_path: Path) -> None:
    """The circuit breaker counts within one call, as without the daemon."""
    _user(one, command(f"echo x >> {tmp_path}/ran; exit 3"))
    for _ in range(8):
        one.call()
    assert len(_lines(tmp_path / "ran")) == 8


def test_what_is_said_in_place_of_untrusted_guards_is_said_in_that_call_only(one: Daemons) -> None:
    one.write("~/.config/hookline/settings.toml", "")
    one.write(".hookline/hooks.toml", hook_file(command("exit 2")))
    _settle()
    first, second = one.call(session_id="a"), one.call(session_id="b")
    assert decision(first) == decision(second) == "ask"
    found = {each.stdout for each in _at_once(lambda number: one.call(session_id=f"c{number}"), 8)}
    assert found == {first.stdout} == {second.stdout}  # not one line more with each call


def test_a_strict_call_does_not_make_others_strict(one: Daemons) -> None:
    _user(one, command("exit 7", 'on_failure = "open"'))
    strict = ("hook", "--dialect", "claude-code", "PreToolUse", "--strict")
    for _ in range(2):
        assert b'"deny"' not in one.call().stdout
        assert b'"deny"' in one.call(words=strict).stdout


def test_background_results_reach_their_own_session(one: Daemons, tmp_path: Path) -> None:
    said = json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "late"}})
    _user(
        one, command(f"{waits_for(tmp_path / 'go')}; echo '{said}'", "async = true"), event="PostToolUse"
    )  # fmt: skip
    for name in ("a", "b"):
        one.call("PostToolUse", session_id=name, tool_response={"stdout": ""})
    one.call("UserPromptSubmit", session_id="c")
    (tmp_path / "go").touch()
    wait_until(lambda: (found := one.status()) is not None and found.running == 0)
    assert b"late" not in one.call("UserPromptSubmit", session_id="c").stdout
    for name in ("a", "b"):
        assert one.call("UserPromptSubmit", session_id=name).stdout.count(b"late") == 1
        # Another prompt: the same one, by a process as old as this, would be the same call.
        assert b"late" not in one.call("UserPromptSubmit", session_id=name, prompt="more").stdout


def test_a_relay_that_goes_away_ends_its_own_hooks_only(one: Daemons, tmp_path: Path) -> None:
    arrived, go = tmp_path / "arrived", tmp_path / "go"
    _user(one, command(f"echo x >> {arrived}; {waits_for(go)}; echo x >> {tmp_path}/ran"))
    directory = open_directory(str(one.directory))
    try:
        with ThreadPoolExecutor(1) as pool:
            with connect(directory, 60) as gone:
                gone.sendall(one.request(session_id="gone"))
                gone.recv(1 << 16)
                gone.sendall(GO)
                other = pool.submit(one.call, session_id="stays")
                wait_until(lambda: len(_lines(arrived)) == 2)
            wait_until(lambda: (found := one.status()) is not None and found.running == 1)
            go.touch()
            other.result()
    finally:
        directory.close()
    assert len(_lines(tmp_path / "ran")) == 1


def test_a_change_of_links_is_seen_by_the_next_call(one: Daemons) -> None:
    """The daemon looks up protected files for each reading, not once for all calls."""
    _user(one, 'type = "builtin"\ncommand = "self-protection"')
    link = one.project / "notes"

    def write() -> str | None:
        given = {"file_path": str(link / "hooks.toml"), "content": "x"}
        return decision(one.call(tool_name="Write", tool_input=given))

    assert write() is None
    link.symlink_to(one.home / ".config" / "hookline")
    assert write() in ("ask", "deny")


def test_a_call_that_begins_meanwhile_does_not_take_the_question_of_another(
    one: Daemons, tmp_path: Path
) -> None:
    """The first lane waits, the second has a guard that is not trusted: each call asks about it."""
    one.write("~/.config/hookline/settings.toml", "")
    one.write(".hookline/hooks.toml", hook_file(command("exit 2")))
    arrived, go = tmp_path / "arrived", tmp_path / "go"
    _user(one, command(f"echo x >> {arrived}; {waits_for(go)}", "rewrites = true"))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(one.call, session_id="first")
        wait_until(lambda: len(_lines(arrived)) == 1)
        second = pool.submit(one.call, session_id="second")
        wait_until(lambda: len(_lines(arrived)) == 2)
        go.touch()
        assert [decision(each.result()) for each in (first, second)] == ["ask", "ask"]
