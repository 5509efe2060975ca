"""Arguments that change between judgement and exec: verify lets none through, and notify some, so the race is real."""

import sys
from pathlib import Path
from typing import Literal

import pytest

from hookline import Engine
from hookline.execguard import supervision
from hookline.execguard.guard import ExecGuard
from hookline.execguard.probe import Capabilities
from tests.execguard.guarded import guarded, needs_verify, program

pytestmark = [needs_verify, pytest.mark.unmeasured]
_RACER = Path(__file__).with_name("racer.py")
#: A thousand of each run in `python -m bench.soak execguard`.
ATTEMPTS = 250


def reached(
    directory: Path,
    kind: str,
    level: Literal["verify", "notify"],
    attempts: int,
    monkeypatch: pytest.MonkeyPatch,
) -> int:
    """Return how often the forbidden program ran."""
    monkeypatch.setattr(supervision, "capabilities", lambda: Capabilities(level))
    marks = directory / "marks"
    good, bad = program(directory, "harmless1", directory / "fine"), program(directory, "forbidden", marks)
    argv = [sys.executable, str(_RACER), kind, str(attempts), str(good), str(bad)]

    async def work(guard: ExecGuard, _engine: Engine) -> None:
        await guard.run(argv, timeout=300)

    guarded(directory, work, deny=["Bash(forbidden *)"], most_denials=10 * attempts)
    assert (directory / "fine").exists(), "nothing ran at all"
    return len(marks.read_text().splitlines()) if marks.exists() else 0


@pytest.mark.parametrize("kind", ["threads", "vfork"])
def test_verify_loses_no_race(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert reached(tmp_path, kind, "verify", ATTEMPTS, monkeypatch) == 0


@pytest.mark.parametrize("kind", ["threads", "vfork"])
def test_notify_loses_some_so_the_test_bites(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reached(tmp_path, kind, "notify", ATTEMPTS, monkeypatch) > 0
