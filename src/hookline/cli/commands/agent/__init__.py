"""Run a coding agent that fires every event: `hookline agent`."""

import argparse
from typing import Any

from hookline.cli.main import (
    add_hook_option,
    add_host_option,
    add_json_option,
    add_source_options,
    command_parser,
)

_DESCRIPTION = """Run a coding agent in the terminal: it reads, edits and runs commands in a project, and every
step of its work is an event your hooks can see, change or stop.

PROMPT is its task; further prompts are queued and follow. At a terminal it is a conversation on a
screen, or by lines with --plain and on terminals that can do no more. With --print there is none: the answers
go to stdout, everything else to stderr, and a call that needs the user's permission is denied, with that
reason. Prompts that begin with / are commands: /help lists them."""

_EPILOG = """examples:
  hookline agent --print 'what does this project do?' --model anthropic:claude-sonnet-5
  hookline agent --print 'fix the failing test' --allow 'Bash(pytest:*)' --mode acceptEdits
  hookline agent --json 'hello' --model scripted:answers.yaml
  hookline agent --continue

exit status: 0 completed, 1 blocked, failed or a usage error, 130 interrupted"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "agent", _DESCRIPTION, _EPILOG)
    parser.add_argument("words", nargs="*", metavar="PROMPT")
    parser.add_argument(
        "--model", metavar="NAME", help="provider:name, scripted:FILE or demo (HOOKLINE_MODEL)"
    )
    parser.add_argument("--base-url", metavar="URL", help="a server that speaks the provider's protocol")
    parser.add_argument("-p", "--print", action="store_true", help="no conversation: print the answers alone")
    parser.add_argument("--plain", action="store_true", help="a conversation by lines, without a screen")
    parser.add_argument(
        "--output-format",
        choices=("text", "json", "stream-json"),
        default="text",
        help="with --print: the answers, one document (as --json), or a line of JSON for all that happens",
    )
    add_json_option(parser, "print all that happened as one document")
    add_source_options(parser)
    add_hook_option(parser)
    parser.add_argument(
        "--durable", action="store_true", help="every hook that is not waited for is durable, of any format"
    )
    parser.add_argument("--trust", action="store_true", help="run this project's own hooks")
    parser.add_argument("--no-hooks", action="store_true", help="run without an engine: no hook runs at all")
    parser.add_argument("--mode", metavar="MODE", help="default, plan, acceptEdits, dontAsk or bypass")
    for name, what in (("allow", "runs"), ("ask", "is asked about"), ("deny", "never runs")):
        parser.add_argument(
            f"--{name}", action="append", metavar="RULE", help=f"what it covers {what}: 'Bash(git:*)'"
        )
    parser.add_argument(
        "--walls", action="store_true", help="the kernel refuses what guards over files forbid (Linux)"
    )
    add_host_option(parser)
    parser.add_argument("--add-dir", action="append", metavar="DIR", help="tools may work there too")
    parser.add_argument("--definition", metavar="FILE", help="a YAML file that describes the agent to run")
    parser.add_argument("--agent", metavar="NAME", help="which agent of the definition (default: root)")
    parser.add_argument(
        "--resume", nargs="?", const="", metavar="ID", help="continue a session; without an ID it lists them"
    )
    parser.add_argument(
        "-c", "--continue", dest="continue_", action="store_true", help="continue the newest: --resume last"
    )
    parser.add_argument("--fork", action="store_true", help="with --resume: under a new id")
    parser.add_argument("--setup", choices=("init", "maintenance"), help="fire Setup first")
    parser.add_argument(
        "--max-iterations", type=_positive, metavar="N", help="requests to the model per turn"
    )
    parser.add_argument("--max-tool-calls", type=_count, metavar="N", help="calls of tools per turn")
    parser.add_argument(
        "--compact-at", type=_count, metavar="TOKENS", help="compact the conversation from here on"
    )


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number, 0 or more")
    return int(text)


def _positive(text: str) -> int:
    if (number := _count(text)) == 0:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
