"""List every event, or describe one completely: `hookline events`."""

from typing import Any

from hookline.cli.main import add_json_option, command_parser

_DESCRIPTION = """List the events hooks can react to, when each one fires and what hooks may do there.
With EVENT, show what the agents call it, its payload, its answers and how it behaves, with examples.

EVENT is a name of the table, or an agent's own name: then it says which event that is. With
--dialect everything is in that agent's own words: its events, what its hooks get, what they answer,
and what their exit codes mean there."""

_EPILOG = """examples:
  hookline events
  hookline events PreToolUse
  hookline events before_llm_call
  hookline events --dialect codewhale
  hookline events message_submit --dialect codewhale
  hookline events PreToolUse --json

exit status: 0 fine, 1 no event is called that"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "events", _DESCRIPTION, _EPILOG)
    parser.add_argument("event", nargs="?", metavar="EVENT", help="show everything about this one")
    parser.add_argument("--dialect", metavar="NAME", help="in the words of this agent")
    add_json_option(parser, "the same facts as JSON")
