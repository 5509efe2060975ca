"""shell_env: KEY=VALUE lines become variables of the shell command."""

from pathlib import Path

from hookline import Outcome
from hookline.dialects.codewhale.shell_env import read_lines, write_lines
from hookline.events import ShellStart
from tests.dialects.codewhale.hooks import agent_with, entry, read_config, variables
from tests.dialects.hooked_agent import HookedAgent
from tests.every import every

SHELL = ShellStart(tool_name="exec_shell", command="ls", tool_input={"command": "ls"})


def collect(*hooks: str) -> tuple[Outcome, HookedAgent]:
    agent = agent_with("".join(hooks), session_id="sess_1", cwd="/", model="m")
    return agent.fire("shell_env", SHELL), agent


PRINTED = r"""
# a comment
PLAIN=value
export EXPORTED=yes
  SPACED  =  around it
SINGLE='in quotes'
DOUBLE="in quotes"
UNEVEN='half"
NESTED="'inner'"
EMPTY=
EQUALS=a=b=c
NOT_EXPANDED=$HOME
no assignment here
=nothing before
TWO WORDS=x
export export TWICE=x
"""


def test_the_grammar_of_lines(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_text(PRINTED)

    outcome, agent = collect(entry("shell_env", f"cat {file}"))

    assert outcome.env == {
        "PLAIN": "value",
        "EXPORTED": "yes",
        "SPACED": "around it",
        "SINGLE": "in quotes",
        "DOUBLE": "in quotes",
        "UNEVEN": "'half\"",
        "NESTED": "'inner'",
        "EMPTY": "",
        "EQUALS": "a=b=c",
        "NOT_EXPANDED": "$HOME",
    }
    assert agent.runs[0].dropped == ("env", "env TWO WORDS", "env export TWICE")


@every(
    ("text", "kept"),
    [
        ("A=x\0y\nB=1", {"B": "1"}),
        ("A\0=x\nB=1", {"B": "1"}),
        ("A\x01=x\nB=1", {"B": "1"}),
        ("A=" + "x" * 32_769 + "\nB=1", {"B": "1"}),
        ("A=" + "x" * 32_768, {"A": "x" * 32_768}),
        ("A=x\r\nB=1\r\n", {"A": "x", "B": "1"}),
        ("'=x", {"'": "x"}),
        ("A='", {"A": "'"}),
        ("A=1\nA=2", {"A": "2"}),
    ],
)
def test_what_no_shell_could_be_given_is_dropped(text: str, kept: dict[str, str]) -> None:
    assert dict(read_lines(text)[0]) == kept


def test_256_kib_are_the_end() -> None:
    items, dropped = read_lines("".join(f"K{number}={'x' * 30_000}\n" for number in range(20)))

    assert len(items) == 8
    assert dropped == ("K8",)


def test_captured_output_ends_at_64_kib_with_its_mark() -> None:
    lines = "i=0; while [ $i -lt 9 ]; do printf 'K%s=' $i; head -c 9997 /dev/zero | tr '\\0' x; echo; i=$((i+1)); done"
    outcome, _ = collect(entry("shell_env", lines))

    assert list(outcome.env) == [f"K{number}" for number in range(7)]
    assert outcome.env["K6"].endswith("x…[truncated]")


def test_it_is_always_waited_for() -> None:
    config = entry("shell_env", "sleep 0.2; echo A=1", background=True)

    assert collect(config)[0].env == {"A": "1"}
    assert [(one.severity, one.where.line) for one in read_config(config).diagnostics] == [("warning", 4)]


def test_a_failure_contributes_nothing_and_stops_nothing() -> None:
    outcome, _ = collect(
        entry("shell_env", "echo A=1"),
        entry("shell_env", "echo B=1; exit 1"),
        entry("shell_env", "echo C=1; exit 2"),
        entry("shell_env", "echo D=1; sleep 30", timeout_secs=1),
        entry("shell_env", "echo E=1"),
    )

    assert outcome.env == {"A": "1", "E": "1"}
    assert not outcome.blocked


def test_later_hooks_override_earlier_ones() -> None:
    outcome, _ = collect(entry("shell_env", "echo A=1; echo B=1"), entry("shell_env", "echo A=2"))

    assert outcome.env == {"A": "2", "B": "1"}


def test_it_is_told_the_tool_and_its_arguments_and_nothing_else(tmp_path: Path) -> None:
    env = tmp_path / "env"
    collect(entry("shell_env", f"env -0 > {env}; cat"))

    assert variables(env) == {"DEEPSEEK_TOOL_NAME": "exec_shell", "DEEPSEEK_TOOL_ARGS": '{"command":"ls"}'}


def test_arguments_are_made_from_the_command_where_the_host_gives_no_input(tmp_path: Path) -> None:
    env = tmp_path / "env"
    agent = agent_with(entry("shell_env", f"env -0 > {env}"))
    agent.fire("shell_env", ShellStart(tool_name="bash", command="ls"))

    assert variables(env)["DEEPSEEK_TOOL_ARGS"] == '{"command":"ls"}'


@every("value", ["", " around ", "'quoted'", '"', 'a"b', "# no comment", "ü", "a=b", "\t"])
def test_what_is_written_is_read_back(value: str) -> None:
    text, lost = write_lines({"KEY": value, "export": "x"})

    assert lost == ()
    assert dict(read_lines(text)[0]) == {"KEY": value, "export": "x"}


def test_what_a_line_cannot_say_is_named() -> None:
    env = {"A": "x\ny", "B C": "x", "#D": "x", "E": "x\0", "F": "x" * 40_000, "G": "fine", "": "x"}
    env |= {f"K{number}": "x" * 30_000 for number in range(3)}

    assert write_lines(env)[1] == ("A", "B C", "#D", "E", "F", "", "K2")
