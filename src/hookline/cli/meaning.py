"""What an outcome means for the agent, in a sentence: for whoever sees one for the first time."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hookline.model.events import EventSpec, May
from hookline.model.outcome import Outcome

#: By what a block means at the moment: what a block would do, and what happens without one.
_DECIDED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "deny_call": (
            "the call would not run, and the model would be told the reason",
            "the call would go ahead, as far as hooks go",
        ),
        "reject_prompt": (
            "the prompt would be rejected, and the model would never see it",
            "the prompt would go to the model",
        ),
        "end_turn": ("the turn would end here", "the turn would go on"),
        "retry_call": (
            "the request would not be sent as it is, but made anew with the reason in it",
            "the request would be sent",
        ),
        "beside_output": (
            "what happened stays, and the model would be told the reason beside the result",
            "the model would see the result",
        ),
        "continue_turn": (
            "it would not end: the agent would go on with the reason",
            "it would end here",
        ),
        "cancel": ("what was about to happen would not happen", "it would happen"),
    }
)
_OTHERWISE = ("the agent would not go on with this", "the agent would go on")
_PERMISSIONS: Mapping[str, str] = MappingProxyType(
    {
        "ask": "the user would be asked; where nobody can be, that is a no",
        "allow": "the call would run without asking the user",
        "defer": "the decision would be left open for somebody outside the agent",
    }
)


def meaning(event: EventSpec[Any], outcome: Outcome, block_means: str) -> str:
    """`block_means` is what a block would do at the event, for when nobody blocked."""
    vote = outcome.deciding_vote
    if vote is not None and vote.kind == "block":
        decided = _DECIDED.get(vote.means or block_means, _OTHERWISE)[0]
    elif vote is not None and not outcome.stop:
        decided = _PERMISSIONS[vote.kind]
    elif outcome.stop:
        decided = "the whole run would stop"
    elif not event.may & May.BLOCK:
        decided = "the agent would go on; hooks cannot stop anything at this event"
    else:
        decided = _DECIDED.get(block_means, _OTHERWISE)[1]
    changed = outcome.edits and not outcome.blocked
    return f"{decided}, with what the hooks rewrote" if changed else decided
