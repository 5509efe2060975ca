"""`hookline hook --print-config`: what it prints is read by the agent's own reader, and works in a real shell."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from hookline import Engine
from hookline.cli.commands.hook.entries import entries_text, hook_calls, hookline_command
from hookline.config.install.self_calls import EntryChoice, calls_hookline_hook, entry_choice
from hookline.dialects.entries import IfMissing
from hookline.extending import Dialect, Hook
from hookline.hook.call.payload import CallError
from hookline.model.outcome import Outcome, Vote
from hookline.model.raw import Exited
from hookline.model.session_info import SessionInfo
from hookline.model.wire import HookInvocation
from tests.agents import AGENTS, OTHERS, WITH_FILES
from tests.cli.golden import check_golden
from tests.cli.run_cli import clean_env, run_cli, workspace
from tests.every import every
from tests.homes import NOBODYS_HOME
from tests.hook.relay.programs import KINDS, Kind, relay_of
from tests.trusting import trust_all_of

NAMES = WITH_FILES
#: The compiled relay, or the one in Python.
RELAY = Path(sys.executable).parent / "hookline-relay"


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print for a user whose home is in the user database."""
    monkeypatch.setenv("HOME", NOBODYS_HOME)


def dialect(name: str) -> Dialect:
    return Engine().loader.dialect(name)


def read_back(name: str, text: str, directory: Path) -> tuple[Hook, ...]:
    """The hooks as the agent's own reader has them; a mistake in them is ours."""
    file = directory / AGENTS[name].file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    loaded = Engine().loader.files([str(file)], name)
    assert [str(one) for one in loaded.diagnostics] == []
    return loaded.hooks


@pytest.mark.parametrize("name", NAMES)
def test_the_agents_own_reader_takes_what_is_printed(name: str, tmp_path: Path) -> None:
    hooks = read_back(name, entries_text(dialect(name), (), "hookline"), tmp_path)
    assert {hook.policy.event_name for hook in hooks} >= {AGENTS[name].gate}
    for hook in hooks:
        assert calls_hookline_hook(hook, [])
        line = hook.spec.command.removeprefix("sh -c '").removeprefix("said=$(")
        checked, _, rest = line.partition("hookline hook ")
        assert checked.startswith("command -v hookline >/dev/null || ")
        called, _, closes = rest.removesuffix("'").partition(" || ")
        assert (
            called.removesuffix(" && code=0").removesuffix(")")
            == f"--dialect {name} {hook.policy.event_name}"
        )
        guards = AGENTS[name].closed_in_shell and dialect(name).events[hook.policy.event_name].guards
        assert bool(closes) == (
            guards or (name == "claude-code" and hook.event.name in ("PreToolUse", "UserPromptSubmit"))
        )
        about_tools = hook.policy.event_name == AGENTS[name].gate
        assert not about_tools or hook.matcher is None or hook.matcher.matches("AnyTool")
        longest = 600 if hook.event.name != "SessionEnd" else 3 if name == "codex" else 60
        assert hook.timeout >= longest


@pytest.mark.parametrize("name", NAMES)
def test_every_event_can_be_printed(name: str, tmp_path: Path) -> None:
    whole = dialect(name)
    # No agent reports ExecStart, and its hooks must name programs.
    names = tuple(event for event in whole.events if event != "ExecStart")
    hooks = read_back(name, entries_text(whole, names, "hookline"), tmp_path)
    assert {hook.policy.event_name for hook in hooks} == set(names)


@every("name", NAMES)
def test_every_guard_is_among_what_is_printed_unasked(name: str) -> None:
    text = entries_text(dialect(name), (), "hookline")
    for event in dialect(name).events.values():
        if event.guards and event.name not in (*AGENTS[name].seen_elsewhere, "ExecStart"):
            assert f"{event.name}" in text


def test_an_event_the_agent_does_not_have_is_named() -> None:
    with pytest.raises(CallError, match="there it is called tool_call_before"):
        entries_text(dialect("codewhale"), ("PreToolUse",), "hookline")


def test_where_no_shell_finds_it_the_whole_path_is_printed(tmp_path: Path) -> None:
    assert hookline_command({"PATH": str(tmp_path)}).endswith(" -I -m hookline")
    (tmp_path / "hookline").write_text("#!/bin/sh\n")
    (tmp_path / "hookline").chmod(0o755)
    assert hookline_command({"PATH": str(tmp_path)}) == "hookline"


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_works_in_a_real_shell(name: str, tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "home" / "project"
    (project / ".hookline").mkdir(parents=True)
    (project / ".hookline" / "hooks.toml").write_text(
        '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "builtin"\ncommand = "deny"\nargs = ["not here"]\n'
    )
    trust_all_of(home, project)
    gate = AGENTS[name].gate
    printed = run_cli(["hook", "--print-config", name, gate], project, home)
    assert (printed.status, AGENTS[name].file in printed.stderr or name == "docker-agent") == (0, True)
    (hook,) = {one.spec.command for one in read_back(name, printed.stdout, tmp_path / "elsewhere")}
    translated = AGENTS[name].call(gate, AGENTS[name].shell, {"command": "ls"}, str(project))
    env = {
        "DEEPSEEK_TOOL_NAME": "Bash",
        "DEEPSEEK_TOOL_ARGS": '{"command": "ls"}',
        "DEEPSEEK_WORKSPACE": str(project),
    }
    ran = subprocess.run(
        ["/bin/sh", "-c", hook],
        cwd=project, env=clean_env(home, env if name == "codewhale" else None), capture_output=True, text=True,
        input="" if name == "codewhale" else json.dumps(translated), check=False,
    )  # fmt: skip
    assert "not here" in ran.stdout + ran.stderr
    assert ran.returncode in (0, 2)


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini-cli"])
@pytest.mark.parametrize(
    ("program", "code", "stdout", "stderr"),
    [
        ("exit 1", 2, "", "hookline could not be run"),
        ("kill -9 $$", 2, "", "hookline could not be run"),
        # What it said before that is still said, and its own codes keep their meaning.
        ("echo '{}'; exit 1", 2, "{}", "hookline could not be run"),
        ("echo '{}'; echo psst >&2", 0, "{}", "psst"),
        ("echo because >&2; exit 2", 2, "", "because"),
    ],
)
def test_an_entry_closes_in_the_shell(
    name: str, program: str, code: int, stdout: str, stderr: str, tmp_path: Path
) -> None:
    (tmp_path / "hookline").write_text(f"#!/bin/sh\n{program}\n")
    (tmp_path / "hookline").chmod(0o755)
    (tmp_path / "sh").symlink_to("/bin/sh")
    gate = AGENTS[name].gate
    (hook,) = read_back(name, entries_text(dialect(name), [gate], "hookline"), tmp_path)
    ran = subprocess.run(
        ["/bin/sh", "-c", hook.spec.command],
        env={"PATH": str(tmp_path)}, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout.strip()) == (code, stdout)
    assert ran.stderr.splitlines()[-1].startswith(stderr)


#: What is missing: the program of the entry, with the programs in its directory.
LOSSES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "the launcher": ("hookline-relay", {}),
    "the program": ("hookline-relay", {"hookline-relay": ""}),
    "its Python": ("hookline-relay", {"hookline-relay": "", "hookline": "#!/nowhere/bin/python\n"}),
    "a module": ("hookline-relay", {"hookline-relay": "", "hookline": f"#!{sys.executable}\nimport gone\n"}),
    "the launcher's Python": ("hookline", {"hookline": "#!/nowhere/bin/python\n"}),
    "what it needs to start": ("hookline", {"hookline": f"#!{sys.executable}\nraise OSError\n"}),
}


@pytest.mark.parametrize("name", OTHERS)
def test_the_agent_shows_what_is_missing_and_the_way_out(name: str, tmp_path: Path) -> None:
    """Play the installed line of calls and prompts; the agent's own reader says what it would show."""
    own, agent = dialect(name), AGENTS[name]
    for number, (program, files) in enumerate(LOSSES.values()):
        place = tmp_path / str(number)
        place.mkdir()
        for each, text in files.items():
            (place / each).write_bytes(text.encode() or RELAY.read_bytes())
            (place / each).chmod(0o755)
        events = [each for each in (agent.gate, agent.prompt) if own.events[each].guards]
        assert agent.gate in events
        calls = hook_calls(own, events, str(place / program), EntryChoice("own", "block"), "its file")
        for hook in read_back(name, own.call_entries(calls), tmp_path):
            ran = subprocess.run(
                ["/bin/sh", "-c", hook.spec.command],
                input=b"{}", env={"PATH": os.defpath, "HOME": str(tmp_path)}, capture_output=True, check=False,
            )  # fmt: skip
            invocation = HookInvocation(hook, hook.event, None, SessionInfo(cwd=str(tmp_path)), 60)
            decoded = own.wire.decode(invocation, Exited(ran.returncode, ran.stdout, ran.stderr))
            (vote,) = decoded.outcome.votes
            assert (vote.kind, decoded.failure) == ("block", None)
            shown = vote.reason.lower()
            assert "hookline" in shown
            assert any(
                word in shown for word in ("is not installed", "is not there", "missing", "cannot be run")
            )
            assert "install hookline again, or remove its entries" in shown or "install it again" in shown


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OTHERS)
def test_only_guards_are_blocked_by_what_is_missing(name: str, kind: Kind, tmp_path: Path) -> None:
    """Play the installed line of every other event. At the end of a turn a block would start another one, again and
    again."""
    own, relay = dialect(name), relay_of(kind, tmp_path).program.read_bytes()
    observed = [each for each in own.call_events if not own.events[each].guards]
    assert observed
    for loss in ("the program", "its Python", "a module"):
        program, files = LOSSES[loss]
        place = tmp_path / loss
        place.mkdir()
        for each, text in files.items():
            (place / each).write_bytes(text.encode() or relay)
            (place / each).chmod(0o755)
        started = shlex.quote(str(place / program))
        calls = hook_calls(own, observed, started, EntryChoice("own", "block"), "its file")
        hooks = read_back(name, own.call_entries(calls), tmp_path)
        assert {hook.policy.event_name for hook in hooks} == set(observed)
        for hook in hooks:
            ran = subprocess.run(
                ["/bin/sh", "-c", hook.spec.command],
                input=b"{}", env={"PATH": os.defpath, "HOME": str(tmp_path)}, capture_output=True, check=False,
            )  # fmt: skip
            said = ran.stderr.decode()
            assert (ran.returncode, ran.stdout) == (1, b""), (hook.policy.event_name, said)
            assert re.fullmatch(
                r"hookline-relay: \S.* (is not there|cannot be run \(.*\)), so no hook was asked: "
                r"install hookline again, or remove its entries from the hooks of this agent\n",
                said,
            )
            invocation = HookInvocation(hook, hook.event, None, SessionInfo(cwd=str(tmp_path)), 60)
            decoded = own.wire.decode(invocation, Exited(ran.returncode, ran.stdout, ran.stderr))
            assert not decoded.outcome.votes, hook.policy.event_name


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("choice", ["allow", "block"])
def test_an_entry_says_itself_that_hookline_is_gone(name: str, choice: IfMissing, tmp_path: Path) -> None:
    own, gate = dialect(name), AGENTS[name].gate
    start = next(each for each in own.call_events if own.events[each].event.name == "SessionStart")
    after = next(each for each in own.call_events if own.events[each].event.name == "PostToolUse")
    calls = hook_calls(
        own, [gate, start, after], "/nowhere/hookline", EntryChoice("own", choice), "a 'file' of $HOME"
    )
    said: dict[str, tuple[int, str]] = {}
    for hook in read_back(name, own.call_entries(calls), tmp_path):
        ran = subprocess.run(
            ["/bin/sh", "-c", hook.spec.command], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        said[hook.policy.event_name] = ran.returncode, ran.stdout + ran.stderr
    text = "Hookline is not installed. Remove this entry from a 'file' of $HOME, or install it again."
    votes = (Vote("block", text),) if choice == "block" else ()
    for event, outcome in ((gate, Outcome(votes=votes)), (after, Outcome())):
        expected = own.wire.answer(event, outcome)
        assert said[event][0] == expected.code
        assert said[event][1].strip() == (expected.stdout + expected.stderr).strip()
    assert text in said[start][1]
    for call in calls:
        if call.event == gate:
            assert entry_choice(call.command, event_guards=True) == EntryChoice("own", choice)


def test_what_is_printed_is_as_it_was_approved() -> None:
    with workspace() as where:
        for name in ("claude-code", "docker-agent"):
            printed = run_cli(["hook", "--print-config", name], where.project, Path(NOBODYS_HOME))
            check_golden(f"hook-print-config-{name}.txt", printed.stderr + printed.stdout)
        check_golden("hook-help.txt", run_cli(["hook", "--help"], where.project, where.home).stdout)


def test_a_wrong_name_says_the_nearest(tmp_path: Path) -> None:
    ran = run_cli(["hook", "--print-config", "claud"], tmp_path, tmp_path)
    assert (ran.status, ran.stdout) == (1, "")
    assert "did you mean 'claude-code'?" in ran.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", OTHERS)
def test_a_missing_file_blocks_at_guards_alone(name: str, tmp_path: Path) -> None:
    """An entry may name the file whose hooks it asks, and the file may be gone."""
    own = dialect(name)
    observed = next(each for each in own.call_events if not own.events[each].guards)
    for event in (AGENTS[name].gate, observed):
        words = ["hook", "--dialect", name, "--config", str(tmp_path / "gone.json"), event]
        ran = run_cli(words, tmp_path, tmp_path)
        assert "gone.json" in ran.stdout + ran.stderr
        assert ran.status == (1 if event == observed else 2)
