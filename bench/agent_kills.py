"""Kill an agent at any time: everything it had written down is there, and it resumes from that."""

import json
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from bench.findings import Finding
from hookline.agent.transcript.reader import earlier_session, read_transcript
from hookline.agent.transcript.store import SessionsStore
from hookline.model.messages import own_messages
from tests.cli.run_cli import clean_env, command_line

_LONG = 60.0
#: More than is ever played before the kill.
_TURNS = 400
_HOOKS = {
    "PreToolUse": [{"hooks": [{"type": "command", "command": "cat > /dev/null"}]}],
    "PostToolUse": [{"hooks": [{"type": "command", "command": "cat > /dev/null", "async": True}]}],
}


class Killed(Struct, frozen=True, kw_only=True):
    """Results of the kills; each list that must be empty has a sentence per failure."""

    kills: int
    records: int
    torn: int
    compactions: int
    subagents: int
    lost: tuple[str, ...]
    not_resumed: tuple[str, ...]


def _script() -> list[dict[str, Any]]:
    """Turns with a call each; every third call is given to a sub-agent."""
    entries: list[dict[str, Any]] = []
    for number in range(_TURNS):
        if number % 3:
            entries.append({"tool_calls": [{"name": "Read", "input": {"file_path": "notes.txt"}}]})
        else:
            entries.append({"tool_calls": [{"name": "Agent", "input": {"prompt": f"look at {number}"}}]})
            entries.append({"agent": "general-purpose", "text": f"looked at {number}"})
        entries.append({"text": f"answer {number} " * 20})
    return entries


class ScriptedSession:
    """One project and one session in it, through all its lives."""

    def __init__(self, directory: Path) -> None:
        self.home, self.project = directory, directory / "project"
        self.project.mkdir()
        (self.project / "notes.txt").write_text("notes\n" * 20)
        (self.project / "hooks.json").write_text(json.dumps({"hooks": _HOOKS}))
        (self.project / "script.json").write_text(json.dumps(_script()))
        (self.project / "short.json").write_text(json.dumps([{"text": "back again"}]))
        self._store = SessionsStore(clean_env(self.home), str(self.project))
        self.lost: list[str] = []
        self.not_resumed: list[str] = []
        self.torn = 0

    @property
    def transcript(self) -> Path | None:
        stored = self._store.sessions()
        return Path(stored[0].path) if stored else None

    def _command(self, *words: str) -> list[str]:
        known = self.transcript
        resumed = () if known is None else ("--resume", known.stem)
        return command_line(["agent", *words, "--config", "hooks.json", "--compact-at", "3000", *resumed])

    def kill(self, after: float) -> None:
        """Play, and kill it so many seconds after it began to write."""
        before = self._size()
        prompts = [f"and what of number {number}?" for number in range(_TURNS)]
        with subprocess.Popen(
            self._command("--print", *prompts, "--model", "scripted:script.json"),
            cwd=self.project,
            env=clean_env(self.home),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            until = time.monotonic() + _LONG
            while self._size() == before and process.poll() is None and time.monotonic() < until:
                time.sleep(0.001)
            time.sleep(after)
            if process.poll() is not None:
                self.not_resumed.append(f"it ended by itself: {process.returncode}")
            process.kill()

    def _size(self) -> int:
        known = self.transcript
        return known.stat().st_size if known is not None else 0

    def tear(self, rng: random.Random) -> None:
        """A machine that loses power may lose the end of what was written, in the middle of a line."""
        file = self.transcript
        if file is None:
            return
        size = file.stat().st_size
        last = file.read_bytes().rfind(b"\n", 0, size - 1) + 1
        os.truncate(file, rng.randrange(last + 1, size))
        self.torn += 1

    def check(self) -> None:
        """Check that a resume keeps every complete line, and sends it to the model."""
        file = self.transcript
        if file is None:
            self.not_resumed.append("there is no transcript")
            return
        whole = b"".join(line for line in file.read_bytes().splitlines(keepends=True) if line.endswith(b"\n"))
        read = read_transcript(str(file))
        if len(read.problems) > 1 or any("is incomplete" not in problem for problem in read.problems):
            self.lost.append(f"not readable: {read.problems}")
        past = earlier_session(read).messages
        document = self._resumed()
        if not file.read_bytes().startswith(whole):
            self.lost.append("lines that were there are not there any more")
        if document.get("result") != "back again":
            self.not_resumed.append(f"no answer: {document.get('why')}")
        elif own_messages(document["requests"][0]["messages"][:-1]) != past:
            self.not_resumed.append("the model was told something else")

    def _resumed(self) -> Mapping[str, Any]:
        ran = subprocess.run(
            self._command("--json", "go on", "--model", "scripted:short.json"),
            cwd=self.project,
            env=clean_env(self.home),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LONG,
            check=False,
        )
        return json.loads(ran.stdout) if ran.stdout else {"why": f"{ran.returncode}: {ran.stderr}"}

    def seen(self, kills: int) -> Killed:
        file = self.transcript
        lines = file.read_bytes().splitlines() if file is not None else []
        children = file.with_suffix("") / "subagents" if file is not None else self.home / "none"
        return Killed(
            kills=kills,
            records=len(lines),
            torn=self.torn,
            compactions=sum(line.startswith(b'{"type":"compaction"') for line in lines),
            subagents=sum(1 for _ in children.glob("*.jsonl")),
            lost=tuple(self.lost),
            not_resumed=tuple(self.not_resumed),
        )


def killed(count: int, seed: int, say: Callable[[str], None] | None = None) -> Killed:
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as directory:
        scripted = ScriptedSession(Path(directory))
        for number in range(count):
            scripted.kill(rng.uniform(0.0, 0.8))
            if number % 2:
                scripted.tear(rng)
            scripted.check()
            if say is not None:
                say(f"{number + 1} of {count} kills")
        return scripted.seen(count)


def findings(seen: Killed) -> list[Finding]:
    what = f"{seen.kills} kills -9, {seen.torn} torn lines, {seen.records} records"
    return [
        Finding(f"{what}: lost", "; ".join(seen.lost) or "nothing", "nothing", not seen.lost),
        Finding(
            f"{what}: resumes that failed",
            "; ".join(seen.not_resumed) or "none",
            "none",
            not seen.not_resumed,
        ),
    ]
