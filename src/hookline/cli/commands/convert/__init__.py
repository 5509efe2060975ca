"""`hookline convert`: the hooks of one agent, written for another."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """Write the hooks of FILE, which is one agent's, for another agent: events, matchers, names of tools,
timeouts and exit codes by what they mean. An entry calls your script as before where it is proven that
the script does the same there; in doubt Hookline runs it in the other agent as its own agent would;
what is not possible is reported as lost, with its line. No hook is run.

Without an option the other agent's file is printed, and what is not as it was on standard error.
--report prints what becomes of each entry, --write writes the file."""

_EPILOG = """examples:
  hookline convert .claude/settings.json --to codex
  hookline convert .claude/settings.json --to gemini-cli --report
  hookline convert ~/.codex/hooks.json --to claude-code --write
  hookline convert .claude/settings.json --to codex --json

exit status: 0 every entry is converted, 1 something is lost, or a usage or configuration error"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "convert", _DESCRIPTION, _EPILOG)
    parser.add_argument("words", nargs=1, metavar="FILE", help="the file with hooks")
    parser.add_argument("--to", required=True, metavar="AGENT", help="the agent to write them for")
    parser.add_argument(
        "--from", dest="source", metavar="AGENT", help="whose file it is, if its path does not say"
    )
    parser.add_argument("--report", action="store_true", help="print what becomes of each entry")
    parser.add_argument("--write", action="store_true", help="add the entries to the other agent's file")
    parser.add_argument(
        "--trust", action="store_true", help="with --write: say in your own files that the agent may run them"
    )
    add_json_option(parser, "the report as JSON")
