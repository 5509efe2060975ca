"""Measure the recommended guards on lines that attack and on lines of everyday work.

`attacks` has samples of both. The attacks were run in a sandbox and did what they are named for; some of them are
several calls, and stopping one is enough.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hookline.guards import GUARD_NAMES, RECOMMENDED
from hookline.guards.runner import GuardRunner
from hookline.model.payloads import ToolCall
from hookline.model.session_info import SessionInfo

_FILES = Path(__file__).parent / "attacks"
_ROOT = Path(__file__).parents[2]
_PROJECT = "/home/ada/project"


def attacks() -> list[list[str]]:
    files = sorted([*_FILES.glob("stopped-*.json"), *_FILES.glob("silent-*.json")])
    found: list[dict[str, Any]] = [attack for file in files for attack in json.loads(file.read_text())]
    return [attack["steps"] for attack in found]


def everyday() -> list[str]:
    return json.loads((_FILES / "everyday.json").read_text())


class Measured:
    """A set of guards with their options."""

    def __init__(self, guards: dict[str, tuple[str, ...]]) -> None:
        self._guards = guards
        self._runner = GuardRunner(lambda _actions, _cwd: None)
        self._info = SessionInfo(cwd=_PROJECT, project_dir=_PROJECT)

    def stops(self, line: str) -> bool:
        call = ToolCall(tool_name="Bash", tool_input={"command": line})
        return any(
            self._runner.decision(name, options, call, self._info) is not None
            for name, options in self._guards.items()
        )


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.delenv("TMPDIR", raising=False)


def test_the_recommended_guards_stop_most_attacks_and_few_everyday_lines() -> None:
    recommended, lines, usual = Measured(RECOMMENDED), attacks(), everyday()
    stopped = sum(any(map(recommended.stops, steps)) for steps in lines)
    alarms = [line for line in usual if recommended.stops(line)]
    assert stopped / len(lines) >= 0.73, stopped
    assert len(alarms) / len(usual) <= 0.04, alarms
    for page in ("README.md", "docs/how-to/write-your-first-guard.md"):
        text = " ".join((_ROOT / page).read_text().split())
        claimed = re.search(r"(\d+) % of (\d+) attacks .*?([\d.]+) % of (\d+) lines of everyday work", text)
        assert claimed is not None, page
        assert (int(claimed[2]), int(claimed[4])) == (len(lines), len(usual)), page
        assert int(claimed[1]) <= 100 * stopped / len(lines), (
            f"{page} claims more than {stopped} stopped attacks"
        )
        assert float(claimed[3]) >= round(100 * len(alarms) / len(usual), 1), f"{page} claims fewer alarms"


def test_each_recommended_guard_is_worth_its_alarms_and_no_other_would_add_much() -> None:
    alone = {name: Measured({name: options}) for name, options in RECOMMENDED.items()}
    others = {name: Measured({name: ()}) for name in GUARD_NAMES if name not in RECOMMENDED}
    only: dict[str, int] = dict.fromkeys(RECOMMENDED, 0)
    missed: dict[str, int] = dict.fromkeys(others, 0)
    for steps in attacks():
        by = [name for name, guard in alone.items() if any(map(guard.stops, steps))]
        if len(by) == 1:
            only[by[0]] += 1
        elif not by:
            for name, guard in others.items():
                missed[name] += any(map(guard.stops, steps))
    assert min(only.values()) > 10, only
    assert max(missed.values()) <= 5, missed
