"""Each example of `hookline COMMAND --help` is a line that the command takes, with options that it has."""

import re
import shlex

import pytest

from hookline.cli.main import build_parser, parsed
from hookline.config.commands import COMMANDS


def examples(command: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    with pytest.raises(SystemExit):
        parsed(build_parser(command), [command, "--help"])
    after = capsys.readouterr().out.partition("\nexamples:\n")[2]
    lines = after.partition("\n\n")[0].splitlines()
    # Two spaces begin a remark.
    return [re.split(r" {2,}", line.strip())[0] for line in lines]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_example_of_the_help_is_a_line_that_the_command_takes(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = examples(command, capsys)
    assert shown
    for line in shown:
        words = shlex.split(
            line.removeprefix("sudo ").removeprefix("source <(").partition(" > ")[0].partition(" < ")[0]
        )
        if words[0] == "hookline":
            assert words[1] == command, line
            parsed(build_parser(command), [word.rstrip(")") for word in words[1:]])
