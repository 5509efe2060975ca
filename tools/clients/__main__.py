"""Install the client, play every case, print the table. Exits with 1 when one of them ends otherwise than expected.

Words choose cases by a part of their name; `--release` names another release of the client than the newest.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from msgspec import Struct

from tools.clients.cases import MAIN, Case, cases
from tools.clients.model_server import Model
from tools.clients.scene import Scene

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "@anthropic-ai/claude-code"
#: Kept between runs, because the client is large. Not under version control; `make clean` removes it.
SCRATCH = ROOT / ".clients"
#: Seconds one case may take.
_LONGEST = 180
_TOOLS = ("Bash", "Read", "Glob", "Agent", "Task")


class ClientError(Exception):
    """Why nothing could be played."""


class Seen(Struct, frozen=True):
    verdict: str
    #: What the model was told, or what went wrong.
    words: str


def main() -> int:
    parser = argparse.ArgumentParser(prog="make clients", description=__doc__)
    parser.add_argument("words", nargs="*", metavar="CASE", help="only cases with this in their name")
    parser.add_argument(
        "--release", default="latest", help="of the client (default: the newest that npm has)"
    )
    args = parser.parse_args()
    try:
        client = installed(args.release)
    except ClientError as problem:
        say(f"make clients: {problem}")
        return 1
    chosen = [case for case in cases() if not args.words or any(word in case.name for word in args.words)]
    say(f"{'case':50} {'expected':9} seen")
    different = [case for case in chosen if not _as_expected(client, case)]
    say(f"{len(chosen)} cases, {len(different)} not as expected")
    return 1 if different or not chosen else 0


def installed(release: str) -> Path:
    """The client's program, from npm if it is not there yet."""
    npm = shutil.which("npm")
    if npm is None:
        raise ClientError("npm is not installed; it is needed to get the client")
    place = SCRATCH / release
    program = place / "node_modules" / ".bin" / "claude"
    if not program.exists():
        place.mkdir(parents=True, exist_ok=True)
        say(f"installing {PACKAGE}@{release} into {place.relative_to(ROOT)} (some 350 MB, once) ...")
        words = [npm, "install", "--prefix", str(place), "--no-audit", "--no-fund", f"{PACKAGE}@{release}"]
        ran = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if ran.returncode or not program.exists():
            raise ClientError(f"npm could not install {PACKAGE}@{release}: {ran.stderr.strip()[-500:]}")
    with tempfile.TemporaryDirectory() as home:
        version = subprocess.run(
            [program, "--version"],
            env={"HOME": home, "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
    if version.returncode:
        raise ClientError(f"{program} does not start: {version.stderr.strip()[-500:]}")
    say(f"client: {version.stdout.strip()}")
    return program


def _as_expected(client: Path, case: Case) -> bool:
    started = time.monotonic()
    seen = play(client, case)
    ok = seen.verdict == case.expected
    took = f"({time.monotonic() - started:.0f} s)"
    say(f"{case.name:50} {case.expected:9} {seen.verdict} {took}{'' if ok else '  <- DIFFERENT'}")
    if not ok or seen.verdict == "denied":
        say(f"    {seen.words[:200]!r}")
    return ok


def play(client: Path, case: Case) -> Seen:
    with tempfile.TemporaryDirectory(prefix="hookline-clients-") as top:
        scene = Scene(Path(top, "scene"), hooked=case.hooked, vouched=case.vouched)
        with Model(case.script(scene)) as model:
            words = [
                str(client),
                "-p",
                MAIN,
                "--permission-mode",
                case.mode,
                "--allowedTools",
                ",".join(_TOOLS),
            ]
            try:
                ran = subprocess.run(
                    words, cwd=scene.project, env=scene.environment(model.url), stdin=subprocess.DEVNULL,
                    capture_output=True, text=True, timeout=_LONGEST, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return Seen("timeout", f"the client did not end within {_LONGEST} s")
        return _verdict(case, scene, model, ran)


def _verdict(case: Case, scene: Scene, model: Model, ran: "subprocess.CompletedProcess[str]") -> Seen:
    """`denied` needs both: it did not happen, and the model was told so."""
    last = model.last_result
    if case.verdict is not None and not model.problems and last is not None:
        return Seen(case.verdict(scene, model), last.text)
    if model.problems or last is None:
        said = f"the last call was not made: {(ran.stdout + ran.stderr)[-300:]}"
        return Seen("broken", "; ".join(model.problems) or said)
    if case.ran(scene):
        return Seen("ran", last.text)
    return Seen("denied" if last.is_error else "no effect", last.text)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
