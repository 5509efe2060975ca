"""Run the hooks on one event, and show or measure them: `hookline fire`."""

from typing import Any

from hookline.cli.main import (
    add_event_options,
    add_hook_option,
    add_json_option,
    add_model_option,
    add_source_options,
    add_strict_option,
    add_trust_option,
    command_parser,
)

_DESCRIPTION = """Run the real hooks on one event and show each hook, why it ran or did not, and the outcome.

EVENT is a name of the event table; with --payload it may be left out. After TOOL, key=value sets
tool_input.key, otherwise a field of the payload. Text stays the text as typed, unless the field
takes none (turn=3); key:=JSON sets a number, a list, an object, true, false or null anywhere.

The last lines say in which agents on this machine the outcome holds, and which agent would not ask a
hook. --dialect NAME takes an agent's own names of events and tools, --as NAME its tools alone.

With --times N the hooks run N times, after 2 rounds to warm up, and the figures say how long each hook
and the whole event take. Without a tool or a payload they run on samples that they match: EVENT may be
several events then, or be left out for all. These runs are not in the journal. An event that takes
long gets fewer rounds (30 seconds, three rounds at least)."""

_EPILOG = """examples:
  hookline fire PreToolUse Bash command='git push --force'
  hookline fire PreToolUse Read file_path=notes.md limit:=20
  hookline fire UserPromptSubmit prompt='hello'
  hookline fire --payload event.json --config hooks.toml --json
  hookline fire Stop --hook Stop='notify-send done'
  hookline fire PreToolUse Bash command='rm -rf /' --dry-run
  hookline fire PreToolUse read_file path=.env --as reasonix
  hookline fire --times 20 --dry-run              what would be measured
  hookline fire PreToolUse --times 20 --only force-push
  hookline fire PreToolUse Bash command=ls --times 50 --json

exit status: 0 fine, 2 blocked or denied, 1 a usage or configuration error, or a hook that is not
trusted would have run (`hookline trust`); with --times: 0 fine, 1 also if a hook failed or timed out"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "fire", _DESCRIPTION, _EPILOG)
    add_event_options(parser)
    add_source_options(parser)
    add_trust_option(parser)
    add_model_option(parser)
    add_hook_option(parser)
    add_strict_option(parser)
    parser.add_argument("--times", type=int, metavar="N", help="run the hooks N times, and measure them")
    parser.add_argument(
        "--only",
        action="append",
        metavar="TEXT",
        help="only hooks with this in their name; with / or : also in file:line (repeatable)",
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would run, and run nothing")
    add_json_option(parser, "print the outcome as JSON")
