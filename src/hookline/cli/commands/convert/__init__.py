"""Run the hooks of one agent in another: `hookline convert`."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """Make another agent run the hooks of FILE, which is one agent's: its entries call Hookline with FILE,
which runs your hooks as their own agent does and answers in the other agent's terms. The report says of
each hook at which events it runs there, what the other agent cannot do that the hook may say, and what
is lost, with its line. No hook is run, and FILE is only read.

Without an option the other agent's file is printed, and the report on standard error. --report prints
the report, --write writes the file."""

_EPILOG = """examples:
  hookline convert .claude/settings.json --to codex
  hookline convert .claude/settings.json --to gemini-cli --report
  hookline convert ~/.codex/hooks.json --to claude-code --write
  hookline convert .claude/settings.json --to codex --json

exit status: 0 every hook runs there, 1 something is lost, or a usage or configuration error"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "convert", _DESCRIPTION, _EPILOG)
    parser.add_argument("words", nargs=1, metavar="FILE", help="the file with hooks")
    parser.add_argument("--to", required=True, metavar="AGENT", help="the agent to write entries for")
    parser.add_argument(
        "--from", dest="source", metavar="AGENT", help="whose file it is, if its path does not say"
    )
    parser.add_argument("--report", action="store_true", help="print what each hook does there")
    parser.add_argument("--write", action="store_true", help="add the entries to the other agent's file")
    parser.add_argument(
        "--trust", action="store_true", help="with --write: say in your own files that the agent may run them"
    )
    add_json_option(parser, "the report as JSON")
