"""Compare Hookline's results of a recorded case with the client's."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.dialects.codex.driver import Played
from tests.recorded import Case

_SEEN: Mapping[str, Callable[[Played], Any]] = {
    "runs": lambda played: len([run for run in played.runs if run.status not in ("skipped", "background")]),
    "context": lambda played: list(played.texts),
    "blocked": lambda played: (
        played.outcomes[0].blocked and not played.outcomes[0].stop
        if played.outcomes[0].votes and played.outcomes[0].votes[0].means == "continue_turn"
        else played.outcomes[0].blocked
    ),
    "reason": lambda played: (played.outcomes[0].reason or "").split("\n"),
    "input": lambda played: played.outcomes[0].updated_input,
    "stop": lambda played: any(outcome.stop for outcome in played.outcomes),
    "failed": lambda played: len([run for run in played.runs if run.failed_open]),
    "side": lambda played: played.side,
}


def disagreements(case: Case, played: Played) -> list[str]:
    return [
        f"{what}: the client {wanted!r}, Hookline {_SEEN[what](played)!r}"
        for what, wanted in case["expect"].items()
        if _SEEN[what](played) != wanted
    ]
