"""Install the clients, play every case, print the table. Exits with 1 when one of them ends otherwise than expected.

Words choose cases by a part of their name, `--client` those of some clients; `--release` names another release than the
newest. A client that npm does not have, or that does not start here, is skipped, and said to be.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from msgspec import Struct

from tools.clients import (
    claude_code_cases,
    convert_cases,
    exec_guard_cases,
    guard_cases,
    install_cases,
    mod_cases,
    speed_cases,
)
from tools.clients.agents import CLIENTS
from tools.clients.case import Case
from tools.clients.model_server import Model
from tools.clients.published import UnavailableError, installed, node_directory, packages
from tools.clients.scene import Scene

_GROUPS = (
    claude_code_cases,
    guard_cases,
    install_cases,
    convert_cases,
    mod_cases,
    exec_guard_cases,
    speed_cases,
)


class Seen(Struct, frozen=True):
    decision: str
    #: What the model read, or what went wrong.
    words: str


class Program(Struct, frozen=True):
    """A client that starts here."""

    file: Path
    #: Directories that it needs in PATH.
    path: tuple[str, ...]
    #: The `node_modules` that it needs, by directory below the home.
    packages: dict[str, Path]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make clients", description=__doc__)
    parser.add_argument("words", nargs="*", metavar="CASE", help="only cases with this in their name")
    names = [client.name for client in CLIENTS]
    parser.add_argument("--client", action="append", choices=names, help="only its cases; may be repeated")
    parser.add_argument("--release", default="latest", help="of --client (default: the newest that npm has)")
    args = parser.parse_args()
    chosen = [
        case
        for group in _GROUPS
        for case in group.cases()
        if (not args.client or case.client.name in args.client)
        and (not args.words or any(word in case.name for word in args.words))
    ]
    programs, skipped = _programs({case.client.name for case in chosen}, args.release)
    say(f"{'case':60} {'expected':9} seen")
    played = [case for case in chosen if case.client.name in programs]
    different = [case for case in played if not _as_expected(programs[case.client.name], case)]
    say(f"{len(played)} cases, {len(different)} not as expected")
    for case in different:
        say(f"  DIFFERENT: {case.name}")
    for name, why in skipped.items():
        say(f"SKIPPED {name}, {sum(case.client.name == name for case in chosen)} cases: {why}")
    return 1 if different or not played else 0


def _programs(names: set[str], release: str) -> tuple[dict[str, Program], dict[str, str]]:
    """Return the clients that start here, and why the others do not."""
    found: dict[str, Program] = {}
    skipped: dict[str, str] = {}
    for client in CLIENTS:
        if client.name not in names:
            continue
        try:
            file = installed(client, release, say)
            found[client.name] = Program(
                file, tuple(node_directory(client, say)), packages(client, file, say)
            )
        except UnavailableError as problem:
            skipped[client.name] = str(problem)
            say(f"{client.name}: SKIPPED: {problem}")
    return found, skipped


def _as_expected(program: Program, case: Case) -> bool:
    started = time.monotonic()
    seen = play(program, case)
    ok = seen.decision == case.expected
    took = f"({time.monotonic() - started:.0f} s)"
    say(f"{case.name:60} {case.expected:9} {seen.decision} {took}{'' if ok else '  <- DIFFERENT'}")
    if not ok or seen.decision == "denied":
        say(f"    {seen.words[:200]!r}")
    return ok


def play(program: Program, case: Case) -> Seen:
    with tempfile.TemporaryDirectory(prefix="hookline-clients-") as top:
        info = Scene(
            Path(top, "scene"),
            case.client,
            hooked=case.hooked,
            guarded=case.guarded,
            trusted=case.trusted,
            packages=program.packages,
        )
        info.program, info.path = str(program.file), program.path
        with Model(case.script(info), case.client.protocol, info.port) as model:
            try:
                ran = info.run(*case.client.words(case.prompt, case.mode, model.url))
            except subprocess.TimeoutExpired:
                return Seen("timeout", "the client did not end in time")
        return _decision(case, info, model, ran)


def _decision(case: Case, info: Scene, model: Model, ran: "subprocess.CompletedProcess[str]") -> Seen:
    """Require both for `denied`: the call did not happen, and the model read so."""
    last = model.last_result
    if case.decision is not None and not model.problems and (last is not None or not model.asked):
        return Seen(case.decision(info, model), last.text if last is not None else ran.stderr[-200:])
    if model.problems or last is None:
        said = f"the last call was not made: {(ran.stdout + ran.stderr)[-300:]}"
        return Seen("broken", "; ".join(model.problems) or said)
    if case.ran(info):
        return Seen("ran", last.text)
    return Seen("denied" if last.is_error else "no effect", last.text)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
