"""Both races of the exec guard, a thousand times each: verify loses none, and notify some, so the race is real."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest

from bench.findings import Finding
from hookline.execguard.probe import capabilities
from tests.execguard.room import SECRET, Room, attacks, play
from tests.execguard.test_git import forced_pushes, overwritten, silent_pushes
from tests.execguard.test_network import raced, uploads
from tests.execguard.test_races import reached
from tests.execguard.test_reaches import lost
from tests.execguard.test_walls import OWN_SECRETS
from tests.matching.reaches import corpus

_ATTEMPTS = 1000


def exec_guard(say: Callable[[str], None]) -> Iterator[Finding]:
    del say
    found = capabilities()
    if found.level != "verify":
        yield Finding("exec guard", f"{found.level}: {found.why}", "verify", False)
        return
    for kind in ("threads", "vfork"):
        count = _lost(kind, "verify")
        yield Finding(f"races lost by verify, {kind}", f"{count} of {_ATTEMPTS}", "0", count == 0)
        count = _lost(kind, "notify")
        yield Finding(f"races lost by notify, {kind}", f"{count} of {_ATTEMPTS}", "not 0", count > 0)
    yield from corpora()
    if found.network_why:
        yield Finding("network wall", found.network_why, "works", False)
        return
    for kind in ("address", "descriptor"):
        with tempfile.TemporaryDirectory() as directory:
            count = raced(Path(directory), kind, _ATTEMPTS)
            yield Finding(
                f"connections past the network wall, {kind}", f"{count} of {_ATTEMPTS}", "0", count == 0
            )
            count = raced(Path(directory), kind, _ATTEMPTS, naive=True)
            shown = f"{count} of {_ATTEMPTS}"
            yield Finding(f"the same where calls continue, {kind}", shown, "not 0", count > 0)
    with tempfile.TemporaryDirectory() as directory:
        whole, reached_host = uploads(Path(directory), behind_wall=True)
        shown = f"{len(reached_host)} of {whole} {reached_host[:3]}"
        yield Finding("silent uploads behind the network wall", shown, "0", not reached_host)
        _whole, reached_host = uploads(Path(directory), behind_wall=False)
        shown = f"{len(reached_host)} of {whole}"
        yield Finding("the same without a wall", shown, "not 0", bool(reached_host))


def corpora() -> Iterator[Finding]:
    """All lines that start `rm`, and all acts that text cannot see, under guard and walls."""
    with tempfile.TemporaryDirectory() as directory:
        lines = [one for one in corpus() if one.program == "rm" and one.shells]
        found = lost(Path(directory), lines)
        yield Finding(
            "lines that reach a denied rm", f"{len(found)} of {len(lines)} {found[:3]}", "0", not found
        )
        room = Room(Path(directory) / "ada")
        deletions = list(attacks("silent-delete"))
        reached_other = [
            attack.steps
            for attack, _said, intact in play(room, deletions, ("delete-recursive", "write-outside-project"))
            if not intact
        ]
        shown = f"{len(reached_other)} of {len(deletions)} {reached_other[:3]}"
        yield Finding("silent deletions outside the project", shown, "0", not reached_other)
        reads = [one for one in attacks("silent-secrets-read") if one.steps[-1] not in tuple(OWN_SECRETS)]
        leaked = [
            attack.steps for attack, said, _intact in play(room, reads, ("secrets-read",)) if SECRET in said
        ]
        shown = f"{len(leaked)} of {len(reads)} {leaked[:3]}"
        yield Finding("silent reads of secrets in the home directory", shown, "0", not leaked)
        for what, pushes in (("silent", silent_pushes()), ("settings that force", forced_pushes())):
            through = overwritten(room, pushes, "force-push")
            shown = f"{len(through)} of {len(pushes)} {through[:3]}"
            yield Finding(f"pushes that overwrite the remote: {what}", shown, "0", not through)
            bare = overwritten(room, pushes)
            shown = f"{len(bare)} of {len(pushes)}"
            yield Finding(f"the same without a guard: {what}", shown, "all", len(bare) == len(pushes))


def _lost(kind: str, level: Literal["verify", "notify"]) -> int:
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        return reached(Path(directory), kind, level, _ATTEMPTS, patch)
