"""Print the JSON Schemas of payloads, answers and the configuration file: `hookline schema`."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """Print a JSON Schema (2020-12): of a hook's input at an event, of its possible answers there, or of
the file with hooks. Without arguments, list them.

EVENT is a name of the event table (`hookline events`), or an agent's own name for one of them. The
format is that of Hookline's own hooks; with --dialect it is that of the agent's hooks."""

_EPILOG = """examples:
  hookline schema
  hookline schema config > .hookline/hooks.schema.json
  hookline schema config --dialect claude-code
  hookline schema payload PreToolUse
  hookline schema answer Stop
  hookline schema payload message_submit --dialect codewhale

exit status: 0 fine, 1 no such schema"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "schema", _DESCRIPTION, _EPILOG)
    parser.add_argument("kind", nargs="?", metavar="payload|answer|config", help="which kind of schema")
    parser.add_argument("event", nargs="?", metavar="EVENT", help="of which event; config needs none")
    parser.add_argument("--dialect", metavar="NAME", help="for hooks of this agent")
    add_json_option(parser, "the list of schemas as JSON")
