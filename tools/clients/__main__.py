"""Install the clients, play every case, print the table. Exits with 1 when one of them ends otherwise than expected.

Words choose cases by a part of their name, `--client` those of one client; `--release` names another release than the
newest.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from msgspec import Struct

from tools.clients import claude_code_cases, convert_cases, guard_cases, install_cases, speed_cases
from tools.clients.case import Case
from tools.clients.client import CLIENTS, Client
from tools.clients.model_server import Model
from tools.clients.scene import Scene

ROOT = Path(__file__).resolve().parents[2]
#: Kept between runs, because the clients are large. Not under version control; `make clean` removes it.
SCRATCH = ROOT / ".clients"
_GROUPS = (claude_code_cases, guard_cases, install_cases, convert_cases, speed_cases)


class ClientError(Exception):
    """The reason why no case could be played."""


class Seen(Struct, frozen=True):
    decision: str
    #: What the model read, or what went wrong.
    words: str


def main() -> int:
    parser = argparse.ArgumentParser(prog="make clients", description=__doc__)
    parser.add_argument("words", nargs="*", metavar="CASE", help="only cases with this in their name")
    parser.add_argument("--client", choices=[client.name for client in CLIENTS], help="only its cases")
    parser.add_argument("--release", default="latest", help="of --client (default: the newest that npm has)")
    args = parser.parse_args()
    chosen = [
        case
        for group in _GROUPS
        for case in group.cases()
        if args.client in (None, case.client.name)
        and (not args.words or any(word in case.name for word in args.words))
    ]
    try:
        names = {case.client.name for case in chosen}
        programs = {
            client.name: installed(client, args.release if args.client else "latest")
            for client in CLIENTS
            if client.name in names
        }
    except ClientError as problem:
        say(f"make clients: {problem}")
        return 1
    say(f"{'case':60} {'expected':9} seen")
    different = [case for case in chosen if not _as_expected(programs[case.client.name], case)]
    say(f"{len(chosen)} cases, {len(different)} not as expected")
    return 1 if different or not chosen else 0


def installed(client: Client, release: str) -> Path:
    """The client's program, from npm if it is not there yet."""
    npm = shutil.which("npm")
    if npm is None:
        raise ClientError("npm is not installed; it is needed to get the clients")
    place = SCRATCH / client.name / release
    program = place / "node_modules" / ".bin" / client.program
    if not program.exists():
        place.mkdir(parents=True, exist_ok=True)
        what = f"{client.package}@{release}"
        say(f"installing {what} into {place.relative_to(ROOT)} (some 300 MB, once) ...")
        words = [npm, "install", "--prefix", str(place), "--no-audit", "--no-fund", what]
        ran = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if ran.returncode or not program.exists():
            raise ClientError(f"npm could not install {what}: {ran.stderr.strip()[-500:]}")
    with tempfile.TemporaryDirectory() as home:
        version = subprocess.run(
            [program, "--version"],
            env={"HOME": home, "PATH": os.environ.get("PATH", os.defpath)},
            capture_output=True,
            text=True,
            check=False,
        )
    if version.returncode:
        raise ClientError(f"{program} does not start: {version.stderr.strip()[-500:]}")
    say(f"{client.name}: {version.stdout.strip()}")
    return program


def _as_expected(program: Path, case: Case) -> bool:
    started = time.monotonic()
    seen = play(program, case)
    ok = seen.decision == case.expected
    took = f"({time.monotonic() - started:.0f} s)"
    say(f"{case.name:60} {case.expected:9} {seen.decision} {took}{'' if ok else '  <- DIFFERENT'}")
    if not ok or seen.decision == "denied":
        say(f"    {seen.words[:200]!r}")
    return ok


def play(program: Path, case: Case) -> Seen:
    with tempfile.TemporaryDirectory(prefix="hookline-clients-") as top:
        info = Scene(
            Path(top, "scene"),
            case.client,
            hooked=case.hooked,
            guarded=case.guarded,
            trusted=case.trusted,
        )
        info.program = str(program)
        with Model(case.script(info), case.client.protocol) as model:
            try:
                ran = info.run(*case.client.words(case.prompt, case.mode, model.url), model=model.url)
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
