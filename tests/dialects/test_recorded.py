"""Every recorded case of a real client that an engine can decide is played, and agrees or is listed with the reason."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from hookline.dialects.registry import standard_dialects
from tests.dialects import recorded_family as family
from tests.dialects.claude_code import agreement as claude_code
from tests.dialects.claude_code.driver import play_case as play_claude_code
from tests.dialects.codex import agreement as codex
from tests.dialects.codex.driver import play_case as play_codex
from tests.dialects.gemini_cli import cases as gemini_cli
from tests.recorded import Case, listed, recorded_cases

HERE = Path(__file__).parent
#: Small dialects, with the number of their cases.
FAMILY = {"cursor": 107, "copilot_cli": 39, "grok": 26, "qwen_code": 77, "kimi_code": 30}


class Client(Struct, frozen=True):
    """The recordings of a client, and how they are played."""

    play: Callable[[Case, Path], Any]
    disagreements: Callable[[Case, Any], list[str]]
    cases: dict[str, Case]
    needs_agent: dict[str, str]
    different: dict[str, str]

    def found(self, name: str, directory: Path) -> list[str]:
        return self.disagreements(self.cases[name], self.play(self.cases[name], directory))


def recordings(
    name: str, play: Callable[[Case, Path], Any], disagreements: Callable[[Case, Any], list[str]]
) -> Client:
    directory = HERE / name
    needs_agent, different = directory / "needs_agent.toml", directory / "different.toml"
    return Client(
        play,
        disagreements,
        recorded_cases(directory),
        listed(needs_agent, "why"),
        listed(different, "reason"),
    )


CLIENTS = {
    "claude_code": recordings("claude_code", play_claude_code, claude_code.disagreements),
    "codex": recordings("codex", play_codex, codex.disagreements),
    "gemini_cli": recordings("gemini_cli", gemini_cli.play_case, gemini_cli.disagreements),
    **{
        listed.package: recordings(listed.package, family.player(name), family.disagreements)
        for name, listed in standard_dialects().items()
        if listed.package in FAMILY
    },
}
DIFFERENT = [(client, name) for client in CLIENTS for name in CLIENTS[client].different]
AGREEING = [
    (client, name)
    for client in CLIENTS
    for name in CLIENTS[client].cases
    if name not in CLIENTS[client].needs_agent and name not in CLIENTS[client].different
]


@pytest.mark.parametrize(("client", "name"), AGREEING)
def test_a_recorded_case_agrees(client: str, name: str, tmp_path: Path) -> None:
    assert CLIENTS[client].found(name, tmp_path) == []


@pytest.mark.parametrize(("client", "name"), DIFFERENT)
def test_a_case_listed_as_different_is(client: str, name: str, tmp_path: Path) -> None:
    assert CLIENTS[client].found(name, tmp_path) != []


@pytest.mark.parametrize(
    ("client", "recorded", "most"),
    [
        ("claude_code", 251, 0.05),
        ("codex", 100, 0.05),
        ("gemini_cli", 62, 0.05),
        *((client, count, 0.05) for client, count in FAMILY.items()),
    ],
)
def test_enough_is_played_little_is_different_and_each_case_is_listed_once(
    client: str, recorded: int, most: float
) -> None:
    cases, needs_agent, different = (
        set(each) for each in (CLIENTS[client].cases, CLIENTS[client].needs_agent, CLIENTS[client].different)
    )
    assert len(cases) == recorded
    assert needs_agent | different <= cases
    assert needs_agent.isdisjoint(different)
    assert len(cases - needs_agent) >= 0.95 * len(cases)
    assert len(different) <= most * len(cases - needs_agent)
