"""Find where Hookline and the recorded client disagree about a case."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.dialects.claude_code.driver import Played, without_times
from tests.recorded import Case


def disagreements(case: Case, played: Played) -> list[str]:
    """One sentence each; none when they agree."""
    found = [
        f"{what}: the client {wanted!r}, Hookline {_SHOWN[what](played)!r}"
        for what, wanted in case["expect"].items()
        if not _agrees(what, wanted, _SHOWN[what](played))
    ]
    if case["event"] == "PostToolUse" and played.outcomes[0].updated_output is not None:
        found.append("the output of the tool was changed")
    return found


def _agrees(what: str, wanted: Any, got: Any) -> bool:
    compare = _COMPARED.get(what)
    return compare(wanted, got) if compare is not None else wanted == got


# -- what Hookline made of a case, by the names that `expect` has --------------------------------------------


def _blocked(played: Played) -> bool | str:
    first = played.outcomes[0]
    if first.permission == "defer":
        return "deferred"
    return first.blocked or first.permission == "ask"  # no user can be asked


def _reason(played: Played) -> str:
    reasons = [outcome.reason for outcome in played.outcomes if outcome.reason]
    wakes = [late.text for late in played.late if late.kind == "wake"]
    return next(iter((*reasons, *wakes)), "").strip()


def _context(played: Played) -> str:
    texts = [text for outcome in played.outcomes for text in outcome.context]
    texts += [late.text for late in played.late if late.kind == "context"]
    texts += [text for outcome in played.outcomes if (text := outcome.initial_user_message)]
    return "\n".join(dict.fromkeys(texts))


def _inputs(played: Played) -> list[str]:
    """The rewritten commands of the recordings are `echo RAN-UPD >> effect.txt` and `echo RAN-UPD2 …`."""
    changed = (outcome.updated_input for outcome in played.outcomes)
    return ["as it was" if one is None else one["command"].partition("RAN-")[2].split()[0] for one in changed]


_SHOWN: Mapping[str, Callable[[Played], Any]] = {
    "blocked": _blocked,
    "reason": _reason,
    "reason_begins": _reason,
    "reason_has": _reason,
    "context": _context,
    "context_begins": _context,
    "inputs": _inputs,
    "answer": lambda played: [outcome.answer for outcome in played.outcomes],
    "stop": lambda played: any(outcome.stop for outcome in played.outcomes),
    "runs": lambda played: played.ran,
    "runs_at_least": lambda played: played.ran,
    "log": lambda played: without_times(played.log),
    "told": lambda played: [message.text for outcome in played.outcomes for message in outcome.messages],
    "no_answer": lambda played: any(run.failed_open for run in played.runs),
    "http": lambda played: played.http,
    "mcp": lambda played: played.mcp,
    "prompts": lambda played: len(played.prompts),
    "prompt_begins": lambda played: played.prompts[0],
}


# -- how they are compared, where it is not by being equal ----------------------------------------------------


def _same_requests(wanted: list[dict[str, Any]], got: list[dict[str, Any]]) -> bool:
    """Compare requests, and ignore headers that only Hookline sends."""
    return all(
        (one["method"], one["path"], one["body"]) == (other["method"], other["path"], other["body"])
        and one["headers"].items() <= other["headers"].items()
        for one, other in zip(wanted, got, strict=False)
    )


_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    # Each of the texts is the whole reason or one line of it.
    "reason": lambda wanted, got: all(one == got or one in got.split("\n") for one in wanted),
    "reason_begins": lambda wanted, got: all(got.startswith(one) for one in wanted),
    "reason_has": lambda wanted, got: all(one in got for one in wanted),
    "context_begins": lambda wanted, got: got.startswith(wanted),
    "inputs": lambda wanted, got: wanted[: len(got)] == got[: len(wanted)],
    "answer": lambda wanted, got: wanted in got,
    "runs_at_least": lambda wanted, got: got >= wanted,
    "told": lambda wanted, got: set(wanted) <= set(got),
    "http": _same_requests,
    "prompt_begins": lambda wanted, got: got.startswith(wanted),
}
