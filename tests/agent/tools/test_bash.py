"""Bash: what the model reads, where the shell stands afterwards, and that nothing of a command stays behind."""

import asyncio
import os
from pathlib import Path

import pytest

from hookline import Engine, Outcome
from hookline.agent.tools.base import ShellError, ToolOutput
from hookline.events import SHELL_ENV, ShellStart
from tests.agent.tools.tool_runner import ToolRunner, alive, run_tools, soon


def bash(directory: Path, command: str, **arguments: int) -> ToolOutput | ShellError:
    async def action(runner: ToolRunner) -> ToolOutput | ShellError:
        try:
            return await runner.bash(command, **arguments)
        except ShellError as failure:
            return failure

    return run_tools(directory, action)


def test_output_is_what_the_model_reads_and_both_streams_are_told(tmp_path: Path) -> None:
    reply = bash(tmp_path, "echo hi; echo oops >&2")
    assert isinstance(reply, ToolOutput)
    assert reply.text == "hi\noops"
    assert reply.response == {
        "stdout": "hi",
        "stderr": "oops",
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    }
    assert reply.moved_to is None


def test_a_silent_command_says_so(tmp_path: Path) -> None:
    reply = bash(tmp_path, "true")
    assert isinstance(reply, ToolOutput)
    assert reply.text == "(Bash completed with no output)"


@pytest.mark.parametrize(
    ("command", "text"),
    [("exit 3", "Exit code 3"), ("echo out; echo err >&2; exit 4", "Exit code 4\nout\nerr")],
)
def test_a_failure_tells_exit_code_and_output(tmp_path: Path, command: str, text: str) -> None:
    failure = bash(tmp_path, command)
    assert isinstance(failure, ShellError)
    assert str(failure) == text
    assert failure.exit_code == int(text.split()[2])
    assert not failure.interrupted


@pytest.mark.parametrize(
    ("command", "code", "output"),
    [
        ("cd sub", 0, ""),
        ("cd sub; exit 4", 4, ""),
        ("cd sub && false", 1, ""),
        ("set -e; cd sub; false; echo no", 1, ""),
        ("set -C; cd sub", 0, ""),
        ("trap 'echo bye $?' EXIT; cd sub; exit 5", 5, "bye 5"),
        ("trap 'echo bye' EXIT; cd sub", 0, "bye"),
        ('trap "echo it\\\'s" 0; set -e; cd sub; false', 1, "it's"),
        ("trap 'echo bye $?' EXIT; set -e; cd sub; (exit 7)", 7, "bye 7"),
        ("trap 'echo bye' EXIT; trap - EXIT; cd sub; exit 2", 2, ""),
        ("trap 'exit 9' EXIT; cd sub; exit 1", 9, ""),
        ("trap 'echo term' TERM; cd sub; kill -TERM $$; exit 3", 3, "term"),
        ("set -x; cd sub", 0, "++ cd sub"),
        ("set -x; cd sub; exit 1", 1, "++ cd sub\n++ exit 1"),
        ("set -o posix; cd sub; exit 1", 1, ""),
        ("pushd sub >/dev/null; f() { exit 6; }; f", 6, ""),
    ],
)
def test_the_shell_is_followed_whatever_way_it_ends(
    tmp_path: Path, command: str, code: int, output: str
) -> None:
    (tmp_path / "sub").mkdir()
    end = bash(tmp_path, command)
    assert end.moved_to == str(tmp_path / "sub")
    if isinstance(end, ShellError):
        assert end.exit_code == code
        first, _, said = str(end).partition("\n")
        assert first == f"Exit code {code}"
    else:
        assert code == 0
        said = end.text.replace("(Bash completed with no output)", "")
    assert said == output


def test_the_shell_is_followed_when_it_ends_at_an_unset_variable(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert bash(tmp_path, "set -u; cd sub; echo $nothing").moved_to == str(tmp_path / "sub")


@pytest.mark.parametrize("command", ["cd sub", "cd sub; exit 3", "set -e; cd sub; false", "cd sub; echo '"])
def test_where_there_is_no_bash_a_plain_shell_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.setattr("hookline.agent.tools.shell._BASH", "/no/bash")
    reply = bash(tmp_path, "echo $0")
    assert isinstance(reply, ToolOutput)
    assert reply.text == "sh"
    parsed = "'" not in command
    assert bash(tmp_path, command).moved_to == (str(tmp_path / "sub") if parsed else None)


@pytest.mark.parametrize(
    "command",
    [
        "cd .",
        "(cd sub)",
        "(cd sub; exit 3) || true",
        "( trap 'cd /' EXIT; cd sub; exit 1 ) || true",
        "x=$(cd sub; pwd)",
        "cd sub | cat",
        "bash -c 'cd sub'",
        "cd sub; cd ..",
        "cd sub; exec true",
    ],
)
def test_what_does_not_move_the_shell_moves_nothing(tmp_path: Path, command: str) -> None:
    (tmp_path / "sub").mkdir()
    assert bash(tmp_path, command).moved_to is None


def test_a_directory_reached_by_a_link_counts_as_the_same(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    reply = bash(tmp_path / "link", "pwd")
    assert isinstance(reply, ToolOutput)
    assert (reply.text, reply.moved_to) == (str(tmp_path / "link"), None)


def test_directories_with_odd_names_are_followed(tmp_path: Path) -> None:
    odd = tmp_path / "a b\n'\"$x"
    odd.mkdir()
    assert bash(tmp_path, "cd a*").moved_to == str(odd)


def test_a_command_cannot_hang_or_fool_whoever_reads_its_directory(tmp_path: Path) -> None:
    mkfifo = bash(tmp_path, 'rm -f "$__hookline_note_file"; mkfifo "$__hookline_note_file"; exec true')
    lie = bash(tmp_path, 'echo /no/such/place > "$__hookline_note_file"; exec true')
    link = bash(tmp_path, 'ln -s /dev/zero "$__hookline_note_file"; exec true')
    other = bash(tmp_path, 'echo / > other; ln -s "$PWD/other" "$__hookline_note_file"; exec true')
    assert [end.moved_to for end in (mkfifo, lie, link, other)] == [None] * 4


def test_a_command_that_cannot_be_parsed_fails_with_its_own_words_only(tmp_path: Path) -> None:
    failure = bash(tmp_path, "echo 'open")
    assert isinstance(failure, ShellError)
    assert str(failure).startswith("Exit code 2\nbash: eval: line 1: unexpected EOF")
    assert "hookline" not in str(failure)


def test_a_command_sees_no_arguments_no_input_and_no_variables_of_ours(tmp_path: Path) -> None:
    reply = bash(tmp_path, "cat; echo $#; env | grep -c __hookline")
    assert isinstance(reply, ShellError)
    assert str(reply) == "Exit code 1\n0\n0"


def test_the_beginning_and_the_end_of_long_output_are_kept(tmp_path: Path) -> None:
    reply = bash(tmp_path, "echo first; yes | head -c 3000000; echo last")
    assert isinstance(reply, ToolOutput)
    assert reply.text.startswith("first\ny\n")
    assert reply.text.endswith("y\nlast")
    assert "characters left out ...]" in reply.text
    assert len(reply.text) < 30_100
    assert len(reply.response["stdout"]) < 30_100


def test_a_flood_of_output_is_ended_and_told(tmp_path: Path) -> None:
    failure = bash(tmp_path, "yes")
    assert isinstance(failure, ShellError)
    assert str(failure).startswith("The command was stopped: output flood")


def test_a_command_that_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    failure = bash(tmp_path, "echo before; sleep 60 & echo $! > pid; wait", timeout=300)
    assert isinstance(failure, ShellError)
    assert str(failure) == "The command was stopped: it had not finished after 0.3 s.\nbefore"
    assert failure.exit_code is None
    assert not alive(int((tmp_path / "pid").read_text()))


def test_what_a_command_leaves_running_is_ended_with_it(tmp_path: Path) -> None:
    reply = bash(tmp_path, "sleep 60 & echo $! > pid")
    assert isinstance(reply, ToolOutput)
    assert not alive(int((tmp_path / "pid").read_text()))


def test_cancelling_ends_the_command_and_all_it_started(tmp_path: Path) -> None:
    async def action(runner: ToolRunner) -> bool:
        running = asyncio.create_task(runner.bash("sleep 60 & echo $! > pid; wait"))
        pid = tmp_path / "pid"
        assert await soon(lambda: pid.exists() and pid.read_text().strip() != "")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return await soon(lambda: not alive(int(pid.read_text())))

    assert run_tools(tmp_path, action)


def test_no_temporary_directory_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    bash(tmp_path, "true")
    bash(tmp_path, "sleep 60", timeout=50)

    async def cancelled(runner: ToolRunner) -> None:
        for _ in range(20):
            running = asyncio.create_task(runner.bash("echo > started; sleep 60"))
            assert await soon((tmp_path / "started").exists)
            (tmp_path / "started").unlink()
            running.cancel()
            await asyncio.wait((running,))

    run_tools(tmp_path, cancelled)
    assert os.listdir(place) == []


def test_nothing_runs_where_the_directory_is_gone_and_the_agent_gets_out(tmp_path: Path) -> None:
    lost = tmp_path / "a" / "b"
    failure = bash(lost, "touch /should-not-be")
    assert isinstance(failure, ShellError)
    assert failure.moved_to == str(tmp_path)
    assert "no longer exists, so nothing was run" in str(failure)


@pytest.mark.parametrize("command", ["echo \0", "echo \ud800", "x" * 200_000])
def test_a_command_that_cannot_be_started_says_why(tmp_path: Path, command: str) -> None:
    failure = bash(tmp_path, command)
    assert isinstance(failure, ShellError)
    assert str(failure).startswith("The command was not started: ")


def test_shell_env_hooks_make_the_environment_once_per_command(tmp_path: Path) -> None:
    engine = Engine()
    asked: list[ShellStart] = []

    @engine.on(SHELL_ENV, "Bash")
    def add(start: ShellStart) -> Outcome:
        asked.append(start)
        return Outcome(env_items=(("WHO", "the hook"), ("HOME", "/changed")))

    async def action(runner: ToolRunner) -> str:
        return (await runner.bash("echo $WHO $HOME", description="show", timeout=9000)).text

    assert run_tools(tmp_path, action, engine) == "the hook /changed"
    assert asked == [
        ShellStart(
            tool_name="Bash",
            command="echo $WHO $HOME",
            tool_input={"command": "echo $WHO $HOME", "description": "show", "timeout": 9000},
        )
    ]


def test_only_the_environment_of_the_workplace_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONLY_IN_THIS_PROCESS", "1")
    reply = bash(tmp_path, "echo ${ONLY_IN_THIS_PROCESS-unset}")
    assert isinstance(reply, ToolOutput)
    assert reply.text == "unset"
