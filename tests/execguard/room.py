"""A home with a project, a directory beside it and secrets, where lines are run under guard and walls."""

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from hookline import Engine
from hookline.events import PRE_TOOL_USE
from hookline.execguard.guard import ExecGuard, exec_guard
from hookline.execguard.judge import ExecRules, GuardRow
from hookline.execguard.messages import FileWall
from hookline.execguard.supervision import Walls
from hookline.execguard.walls.files import secret_files
from hookline.guards import guard

ATTACKS = Path(__file__).parents[1] / "guards" / "attacks"
SECRET = "Zx9Qw7Rt5Yu3"


class Attack(Struct, frozen=True):
    kind: str
    #: Lines, and files that the agent writes before.
    steps: tuple[str | dict[str, Any], ...]


def attacks(name: str) -> Iterator[Attack]:
    for one in json.loads((ATTACKS / f"{name}.json").read_text()):
        yield Attack(one["kind"], tuple(one["steps"]))


class Room:
    """The files as an attack finds them."""

    def __init__(self, directory: Path) -> None:
        self.home = directory
        self.project = directory / "project"
        self.kept = [directory / "other" / "keep" / f"f{number}" for number in (1, 2, 3)]
        self.secrets = [
            directory / name
            for name in (
                ".ssh/id_rsa",
                ".ssh/id_ed25519",
                ".aws/credentials",
                ".netrc",
                ".npmrc",
                ".kube/config",
            )
        ]
        self.own_secret = self.project / ".env"

    def prepare(self) -> None:
        for file in (*self.kept, *self.secrets, self.own_secret):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"TOKEN={SECRET}\n" if file not in self.kept else "kept\n")
        for name in ("notes.txt", "a.txt", "src/main.py"):
            (self.project / name).parent.mkdir(parents=True, exist_ok=True)
            (self.project / name).write_text("hello\n")
        if not (self.project / ".git").exists():
            subprocess.run(["git", "init", "-q", "."], cwd=self.project, check=True)

    def prepare_remote(self) -> None:
        """Make the project's `main` differ from that of its remote, which only a forced push can overwrite."""
        kept = self.home / "as-it-was"
        self.home.mkdir(exist_ok=True)
        (self.home / ".gitconfig").write_text("[user]\nname = ada\nemail = ada@example.org\n")
        if not kept.exists():
            kept.mkdir(parents=True)
            for line in (
                f"git init -q --bare -b main {kept / 'remote.git'}",
                "git init -q -b main project",
                f"git -C project remote add origin {kept / 'remote.git'}",
                "git -C project commit -q --allow-empty -m first",
                "git -C project push -q -u origin main",
                "git -C project commit -q --allow-empty --amend -m second",
                f"git -C project remote set-url origin {self.remote}",
            ):
                env = {**os.environ, "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
                subprocess.run(line.split(), cwd=kept, env=env, check=True)
        for made in (self.remote, self.project):
            shutil.rmtree(made, ignore_errors=True)
            shutil.copytree(kept / made.name, made)

    @property
    def remote(self) -> Path:
        return self.home / "remote.git"

    @property
    def is_remote_intact(self) -> bool:
        subject = ["git", "--git-dir", str(self.remote), "log", "-1", "--format=%s", "main"]
        return subprocess.run(subject, capture_output=True, check=False).stdout == b"first\n"

    @property
    def is_intact(self) -> bool:
        return all(file.exists() and file.read_text() == "kept\n" for file in self.kept)

    def line(self, text: str) -> str:
        return text.replace("/tmp/", "/home/ada/tmp-").replace("/home/ada", str(self.home))

    @property
    def walls(self) -> Walls:
        rules = ExecRules(project=str(self.project), home=str(self.home))
        return Walls(
            files=FileWall((str(self.project),), tuple(secret_files(GuardRow("secrets-read"), rules)))
        )


def play(
    room: Room,
    several: Sequence[Attack],
    guards: Sequence[str],
    walls: Walls | None = None,
    *,
    pushes: bool = False,
) -> Iterator[tuple[Attack, str, bool]]:
    """Run attacks one after another; yield each with its output, and True if what it attacks is as before.

    That is the directory beside the project, or the remote repository.
    """
    env = {**os.environ, "HOME": str(room.home), "TMPDIR": str(room.project), "GIT_CONFIG_NOSYSTEM": "1"}

    async def run_all() -> list[tuple[Attack, str, bool]]:
        found: list[tuple[Attack, str, bool]] = []
        async with Engine(env=env) as engine:
            for name in guards:
                engine.add(PRE_TOOL_USE, guard(name))
            session = engine.session("s", cwd=str(room.project))
            prepare = room.prepare_remote if pushes else room.prepare
            prepare()
            async with exec_guard(session, walls=walls if walls is not None else room.walls) as under:
                for attack in several:
                    prepare()
                    said = [await _step(under, step, env, room) for step in attack.steps]
                    found.append((attack, "".join(said), room.is_remote_intact if pushes else room.is_intact))
        return found

    yield from asyncio.run(run_all())


async def _step(under: ExecGuard, step: str | dict[str, Any], env: dict[str, str], room: Room) -> str:
    if isinstance(step, dict):
        file = Path(room.line(step["input"]["file_path"]))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(room.line(step["input"]["content"]))
        file.chmod(0o755)
        return ""
    line = room.line(step)
    done = await under.run(["bash", "-c", line], cwd=room.project, env=env, timeout=10)
    return "".join(getattr(done.raw, name, b"").decode("utf-8", "replace") for name in ("stdout", "stderr"))
