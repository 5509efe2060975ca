"""Make this machine a part of a fleet: settings, credentials, first bundles, agents, service: `hookline fleet join`."""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from hookline.cli.commands.fleet.report import JoinDocument, as_json
from hookline.cli.commands.fleet.run import transport_of
from hookline.cli.output import ExitStatus, note, show
from hookline.cli.requests import RequestError
from hookline.config.bundles.format import read_key
from hookline.model.safe_text import one_line
from hookline.team.fleet.bundles.follow import activator, pull
from hookline.team.fleet.settings import is_name, read_settings
from hookline.trust.store import replace_file

_SETTINGS: Final = "fleet.toml"
_CREDENTIALS: Final = "fleet.creds"
_UNIT: Final = """[Unit]
Description=Hookline: this machine in the fleet
After=network-online.target

[Service]
ExecStart={command}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=10
NoNewPrivileges=yes

[Install]
WantedBy=default.target
"""


async def run(args: argparse.Namespace) -> int:
    if len(args.words) != 1:
        raise RequestError(
            "give the server: hookline fleet join nats://nats.example:4222 --trust ed25519:..."
        )
    directory = os.path.join(os.environ["HOME"], ".config", "hookline")
    done = [f"wrote {_write_settings(args, directory)}"]
    settings = read_settings(os.environ)  # reports what the server's address or the name lacks
    async with transport_of(args) as transport:
        done.append(f"{settings.name} reaches {', '.join(settings.servers)}")
        if args.trust:
            done += [
                f"bundle {each.line}" for each in await pull(activator(os.environ), transport, os.environ)
            ]
    done.append(_installed())
    done.append(_service(directory))
    if args.json:
        return show(as_json(JoinDocument(machine=settings.name, done=tuple(done))), as_json=True)
    for line in done:
        show(one_line(line, 500))
    return ExitStatus.OK


def _write_settings(args: argparse.Namespace, directory: str) -> str:
    file = os.path.join(directory, _SETTINGS)
    if os.path.lexists(file) and not args.force:
        raise RequestError(f"{file} exists already: this machine has joined a fleet; --force writes it anew")
    text = _settings(args)
    os.makedirs(directory, 0o700, exist_ok=True)
    if args.credentials is not None:
        try:
            with open(args.credentials, "rb") as stream:
                replace_file(os.path.join(directory, _CREDENTIALS), stream.read())
        except OSError as problem:
            raise RequestError(f"--credentials {args.credentials}: {problem.strerror}") from None
    replace_file(file, text.encode())
    return file


def _settings(args: argparse.Namespace) -> str:
    for key in args.trust:
        if read_key(key) is None:
            raise RequestError(
                f"--trust {key[:60]!r} is not a public key; `hookline fleet keygen` prints one"
            )
    if args.machine is not None and not is_name(args.machine):
        raise RequestError(f"--machine {args.machine[:80]!r} is not a valid machine name")
    lines = [f"server = {json.dumps(args.words[0])}"]
    lines += [f"name = {json.dumps(args.machine)}"] if args.machine else []
    lines += [f"credentials = {json.dumps(_CREDENTIALS)}"] if args.credentials else []
    lines += ["", "[bundles]", f"keys = {json.dumps(args.trust)}"] if args.trust else []
    return "\n".join([*lines, ""])


def _installed() -> str:
    """Make the agents of this user ask Hookline."""
    ran = subprocess.run(
        [sys.executable, "-m", "hookline", "install", "--yes"], capture_output=True, text=True, check=False
    )
    if ran.returncode:
        note(one_line(f"hookline fleet join: {ran.stderr or ran.stdout}", 500))
        return "no agent was changed: run hookline install"
    return "the agents of this user ask Hookline (hookline install)"


def _service(directory: str) -> str:
    """Write the service of this user, and start it where that is possible."""
    words = [sys.executable, "-m", "hookline", "fleet", "worker"]
    home = os.path.dirname(os.path.dirname(directory))
    if sys.platform == "darwin":
        file = os.path.join(home, "Library", "LaunchAgents", "hookline.fleet.plist")
        _write(file, launchd_agent(words))
        return f"wrote {file}: launchctl load {file}"
    file = os.path.join(home, ".config", "systemd", "user", "hookline-fleet.service")
    _write(file, systemd_unit(words))
    start = ["systemctl", "--user", "enable", "--now", "hookline-fleet.service"]
    if shutil.which(start[0]) is not None:
        ran = subprocess.run(start, capture_output=True, check=False)
        if not ran.returncode:
            return f"wrote {file}, and the worker runs"
    return f"wrote {file}: start it with `{' '.join(start)}`, or run `hookline fleet worker`"


def systemd_unit(words: Sequence[str]) -> bytes:
    """Return a unit that runs these words, whatever characters are in them."""
    quoted = [word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") for word in words]
    # Variables are only replaced in what follows the program.
    given = [quoted[0], *(word.replace("$", "$$") for word in quoted[1:])]
    return _UNIT.format(command=" ".join(f'"{word}"' for word in given)).encode()


def launchd_agent(words: Sequence[str]) -> bytes:
    """Return an agent of launchd that runs these words."""
    import plistlib

    agent = {
        "Label": "hookline.fleet",
        "ProgramArguments": list(words),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
    }
    return plistlib.dumps(agent)


def _write(file: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(file), exist_ok=True)
    replace_file(file, content)
