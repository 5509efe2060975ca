"""Print a script that lets the shell complete commands, options, events and dialects: `hookline completion`."""

from typing import Any

from hookline.cli.main import command_parser

SHELLS = ("bash", "zsh", "fish")

_DESCRIPTION = "Print a completion script for your shell. It knows commands, options, events and dialects."

_EPILOG = """examples:
  source <(hookline completion bash)                                   now, in this bash
  hookline completion bash > ~/.local/share/bash-completion/completions/hookline
  hookline completion zsh > "${fpath[1]}/_hookline"
  hookline completion fish > ~/.config/fish/completions/hookline.fish

exit status: 0 fine, 1 a usage error"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "completion", _DESCRIPTION, _EPILOG)
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
