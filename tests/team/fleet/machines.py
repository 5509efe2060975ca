"""Make a machine of a fleet in a directory: its home, its settings, its trusted keys, and bundles to offer it."""

import asyncio
import functools
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from hookline.config.bundles.format import Bundle, BundleFile, digest_of
from hookline.config.engine import Engine
from hookline.config.load import Loaded
from hookline.events import PRE_TOOL_USE
from hookline.model.outcome import Outcome
from hookline.model.payloads import ToolCall
from hookline.team.fleet.bundles.activate import Activator
from hookline.team.fleet.bundles.follow import activator
from hookline.team.fleet.bundles.keys import SigningKey

GUARD = """
[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
type = "builtin"
command = "force-push"
name = "no force push"
"""
SCRIPTED = (
    GUARD
    + """
[[hooks.PreToolUse.hooks]]
command = '"$HOOKLINE_BUNDLE/bin/check.sh"'
name = "check"
"""
)
SCRIPT = b'#!/bin/sh\nif grep -q secret; then echo "no secrets" >&2; exit 2; fi\n'
FILES = (BundleFile("hooks.toml", SCRIPTED.encode()), BundleFile("bin/check.sh", SCRIPT, executable=True))


@functools.cache
def key(number: int = 0) -> SigningKey:
    return SigningKey(Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32))


def bundle(
    revision: int = 1, files: Sequence[BundleFile] = FILES, hooks: str = "hooks.toml", **changes: Any
) -> Bundle:
    now = int(time.time())
    made = Bundle(
        name="guards", revision=revision, issued=now, expires=now + 3_600, hooks=hooks, files=tuple(files),
        digest=digest_of(hooks, files),
    )  # fmt: skip
    return replace(made, **changes)


def signed(revision: int = 1, by: SigningKey | None = None, **changes: Any) -> bytes:
    return (by or key()).sign(bundle(revision, **changes))


class Machine:
    """One machine, with a user, a project, and the settings of a fleet."""

    def __init__(
        self, directory: Path, name: str = "alpha", more: str = "", keys: Sequence[SigningKey] = ()
    ) -> None:
        self.home, self.project = directory / name, directory / name / "project"
        self.project.mkdir(parents=True)
        self.name = name
        self.env: Mapping[str, str] = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        self.settings = self.home / ".config" / "hookline" / "fleet.toml"
        self.settings.parent.mkdir(parents=True)
        texts = ", ".join(f'"{each.text}"' for each in keys or [key()])
        self.settings.write_text(f'name = "{name}"\n[bundles]\nkeys = [{texts}]\n{more}')
        self.settings.chmod(0o600)
        self.bundles = self.home / ".local" / "state" / "hookline" / "bundles"

    @property
    def activator(self) -> Activator:
        return activator(self.env)

    def at(self, now: float) -> Activator:
        """As if it were that time, in seconds since the epoch."""
        own = self.activator
        return Activator(own.settings, own.loader, lambda: now)

    @property
    def active(self) -> Path:
        return self.bundles / "guards" / "active.bundle"

    def in_force(self) -> int:
        """The revision that counts here; 0 for none."""
        known = self.activator.store.in_force().bundles.get("guards")
        return known.revision if known is not None else 0

    def load(self) -> tuple[Engine, Loaded]:
        engine = Engine(env=self.env)
        return engine, engine.load(self.project)

    def ask(self, command: str) -> Outcome:
        """Return what the active hooks decide about a command."""

        async def main() -> Outcome:
            async with self.load()[0] as engine:
                return await self.dispatch(engine, command)

        return asyncio.run(main())

    async def dispatch(self, engine: Engine, command: str) -> Outcome:
        session = engine.session("s", cwd=str(self.project), project_dir=str(self.project))
        return await session.dispatch(
            PRE_TOOL_USE, ToolCall(tool_name="Bash", tool_input={"command": command})
        )
