"""Manage the machines of a team: `hookline fleet`."""

from argparse import SUPPRESS, Action
from collections.abc import Mapping
from typing import Any, NamedTuple

from hookline.cli.main import add_json_option, command_parser, help_format


class FleetAction(NamedTuple):
    """One action; it is the module of that name beside this one."""

    line: str
    #: What its own help says beyond the line.
    text: str = ""
    #: Its options, and its positional words in its usage.
    options: tuple[str, ...] = ()
    words: str = ""
    examples: tuple[str, ...] = ()


_SOURCE = ("--directory",)
_SIGNS = ("--key", "--yes", "--force", "--json", *_SOURCE)

ACTIONS: Mapping[str, FleetAction] = {
    "status": FleetAction(
        "(or nothing) machines, their bundles, and problems: refused bundles, failures, calls that failed open",
        "With the name of a machine: everything that is known about it. Problems are errors, warnings and notes.\n"
        "--audit counts missing runs by reading all of the audit, instead of believing each machine's own count.",
        ("--audit", "--json", *_SOURCE),
        "[MACHINE]",
        ("hookline fleet status", "hookline fleet status build-1", "hookline fleet status --json"),
    ),
    "worker": FleetAction(
        "run this machine's part: send its jobs and runs, run jobs of others, take bundles; Ctrl-C ends it",
        "HUP reads fleet.toml again.",
        ("--slots", "--for-all", "--ops-port", "--ops-host", "--log"),
        examples=("hookline fleet worker", "hookline fleet worker --slots 0      only send what this machine has"),
    ),
    "join": FleetAction(
        "make this machine a part of the fleet at URL: settings, first bundles, agents, and a service",
        "It writes ~/.config/hookline/fleet.toml, takes the bundles that are meant for this machine, runs hookline\n"
        "install, and writes a service of systemd or launchd that runs the worker.",
        ("--machine", "--credentials", "--trust", "--force", "--json"),
        "URL",
        (
            "hookline fleet join tls://nats.example:4222 --credentials build-1.creds --trust ed25519:O5Fwe...",
        ),
    ),
    "init": FleetAction(
        "create the streams and buckets on the server, and set how long the audit keeps runs",
        "For an administrator: machines then need no rights to create anything. It may be repeated.",
        ("--permissions", "--machine", "--user", "--json"),
        examples=(
            "hookline fleet init",
            "hookline fleet init --permissions machine --machine build-1",
            "hookline fleet init --permissions machine --machine build-1 --user ann    of a shared one",
        ),
    ),
    "keygen": FleetAction(
        "make a key that bundles are signed with, in the file PATH",
        options=("--json",),
        words="PATH",
        examples=("hookline fleet keygen ~/guards.key",),
    ),
    "publish": FleetAction(
        "sign the hooks in PATH, a directory or a hooks file, and roll them out",
        "It refuses a key that no machine trusts, a scope that is none of the machines, a revision that machines\n"
        "refuse, and a larger stage while the smaller one fails, denies or delays more than the rest.",
        (
            "--name", "--scope", "--except", "--stage", "--wait", "--expires", "--revision", *_SIGNS,
        ),
        "PATH",
        (
            "hookline fleet publish guards/ --key ~/guards.key --stage 10% --expires 7d",
            "hookline fleet publish guards/ --key ~/guards.key --stage 10%,50%,100% --wait 1h",
            "hookline fleet publish guards/ --key ~/guards.key --scope group=backend --scope 'machine!=build-1'",
            "hookline fleet publish guards/ --key ~/guards.key --except 'laptop-7=7d: it breaks the old build'",
        ),
    ),
    "renew": FleetAction(
        "issue a published bundle again: for longer, for a larger stage, or with an exception; needs no files",
        options=("--name", "--except", "--stage", "--expires", *_SIGNS),
        words="[NAME ...]",
        examples=("hookline fleet renew --key ~/guards.key                 every bundle of this key",
                  "hookline fleet renew guards --key ~/guards.key --expires 60d"),
    ),
    "remove": FleetAction(
        "make machines do without a bundle, by a signed revision; its guards are gone then",
        options=_SIGNS,
        words="NAME",
        examples=("hookline fleet remove guards --key ~/guards.key",),
    ),
    "prune": FleetAction(
        "take revisions off the server that no machine can need any more; publish does it as well",
        options=("--key", "--json", *_SOURCE),
        examples=("hookline fleet prune --key ~/guards.key",),
    ),
    "forget": FleetAction(
        "drop what is known about machines that are gone for good",
        options=("--runs", "--json", *_SOURCE),
        words="MACHINE ...",
        examples=("hookline fleet forget laptop-7", "hookline fleet forget laptop-7 --runs     by an administrator"),
    ),
    "pull": FleetAction(
        "take the newest bundle that is meant for this machine, once",
        options=("--json", *_SOURCE),
        examples=("hookline fleet pull", "hookline fleet pull --directory /mnt/share/hookline"),
    ),
}  # fmt: skip

#: The options of all actions; `--json` is beside them.
_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "--slots": {
        "type": int, "metavar": "N", "help": "how many jobs to run at once (default: as in fleet.toml)",
    },
    "--log": {"choices": ("text", "json"), "default": "text", "help": "how to write what happens (default text)"},
    "--for-all": {
        "action": "store_true", "help": "only take bundles, for all users of this machine: root's part",
    },
    "--ops-port": {
        "type": int, "metavar": "N", "help": "answer /healthz, /readyz and /metrics there, without a token",
    },
    "--ops-host": {"metavar": "ADDRESS", "default": "127.0.0.1", "help": "at this address (127.0.0.1)"},
    "--audit": {"action": "store_true", "help": "count missing runs by reading all of the audit"},
    "--permissions": {
        "choices": ("machine", "publisher", "console", "administrator"),
        "help": "only print the rights of this role, as the server's configuration has them",
    },
    "--machine": {"metavar": "NAME", "help": "the name of the machine (join: by default the host name)"},
    "--runs": {"action": "store_true", "help": "also delete its runs from the audit; an administrator may"},
    "--user": {"metavar": "USER", "help": "a user of that machine, if its settings have shared = true"},
    "--credentials": {"metavar": "FILE", "help": "credentials of this machine, as nsc makes them; they are copied"},
    "--trust": {
        "action": "append", "default": [], "metavar": "KEY",
        "help": "take bundles that this public key has signed (repeatable)",
    },
    "--key": {"metavar": "FILE", "help": "the private key to sign with"},
    "--name": {"default": "guards", "help": "which bundle (default guards)"},
    "--scope": {
        "action": "append", "default": [], "metavar": "WHAT=PATTERN",
        "help": "only these: machine=, machine!=, group= or project= (repeatable; default: all machines)",
    },
    "--except": {
        "dest": "exceptions", "action": "append", "default": [], "metavar": "MACHINE=UNTIL:REASON",
        "help": "this machine does without it until then: 7d, or 2026-12-01 (repeatable)",
    },
    "--stage": {
        "metavar": "SHARE",
        "help": "to this share of them (default: all); several, such as 10%%,50%%,100%%, one after the other",
    },
    "--wait": {"metavar": "TIME", "default": "1h", "help": "between two stages (default 1h)"},
    "--expires": {"default": "30d", "metavar": "TIME", "help": "guards close after it: 12h, 7d (default 30d)"},
    "--revision": {
        "type": int, "metavar": "N", "help": "the revision (default: the next, or that of the same hooks)",
    },
    "--directory": {"metavar": "DIR", "help": "a directory that machines share, instead of the server"},
    "--yes": {"action": "store_true", "help": "do not ask"},
    "--force": {"action": "store_true", "help": "also if something speaks against it"},
}  # fmt: skip

_DESCRIPTION = """Manage the machines of a team, over a NATS server that fleet.toml names (in /etc/hookline, or in the
user's own directory). Each of them keeps accepted jobs in its own files: the server may be down.

{}

`hookline fleet ACTION --help` shows the options of an action, with examples.""".format(
    "\n".join(f"  {name:9} {each.line}" for name, each in ACTIONS.items())
)

_STATUS = (
    "exit status: 0 fine, 1 something is wrong: the settings, a bundle, a machine; or nothing was published"
)
_EPILOG = f"""examples:
  hookline fleet worker
  hookline fleet keygen ~/guards.key
  hookline fleet publish guards/ --key ~/guards.key --stage 10% --expires 7d
  hookline fleet status --json

{_STATUS}"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "fleet", _DESCRIPTION, _EPILOG)
    parser.add_argument(
        "action", nargs="?", choices=ACTIONS, metavar="ACTION", help="the action (default: status)"
    )
    parser.add_argument("words", nargs="*", metavar="WORD", help="its words: a file, a bundle, a machine")
    for name, settings in _OPTIONS.items():
        parser.add_argument(name, **settings)
    add_json_option(parser, "as JSON")
    # After an action, `--help` shows that action alone.
    parser.add_argument(
        "-h", "--help", action=_Help, nargs=0, default=SUPPRESS, help="show this help and exit"
    )


class _Help(Action):
    """Option that shows the help of the action before it, or of all."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        del values, option_string
        (action_parser(namespace.action) if namespace.action is not None else parser).print_help()
        parser.exit(0)


def action_parser(name: str) -> Any:
    """Return a parser with the options of one action alone."""
    from hookline.cli.parser import CommandParser

    action = ACTIONS[name]
    examples = "\n".join(f"  {each}" for each in action.examples)
    line = action.line.removeprefix("(or nothing) ")
    parser = CommandParser(
        prog=f"hookline fleet {name}",
        usage=" ".join(filter(None, (f"hookline fleet {name}", action.words, "[options]"))),
        description="\n\n".join(filter(None, (f"{line[0].upper()}{line[1:]}.", action.text))),
        epilog="\n\n".join(filter(None, (f"examples:\n{examples}" if examples else "", _STATUS))),
        formatter_class=help_format,
    )
    for each in action.options:
        if each == "--json":
            add_json_option(parser, "as JSON")
        else:
            parser.add_argument(each, **_OPTIONS[each])
    return parser


def foreign_options(args: Any) -> list[str]:
    """Return the options that were given and that the action does not have."""
    known = ACTIONS[args.action].options
    return [
        name for name, settings in _OPTIONS.items() if name not in known and _is_given(args, name, settings)
    ]


def _is_given(args: Any, name: str, settings: Mapping[str, Any]) -> bool:
    default = settings.get("default", False if settings.get("action") == "store_true" else None)
    return getattr(args, settings.get("dest", name[2:].replace("-", "_")), default) != default
