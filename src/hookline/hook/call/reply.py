"""Write the agent's part of an answer: exit code and output, with the problems that change no answer."""

from collections.abc import Sequence

from msgspec.structs import replace

from hookline.model.outcome import Outcome
from hookline.model.safe_text import printable
from hookline.model.wire import HookReply

_HOLDING_BACK = ("deny", "ask", "defer")


def with_lines(answer: HookReply, problems: Sequence[str]) -> HookReply:
    """Add problems that change no answer to stderr, unless the agent reads stderr as the reason for a block."""
    if answer.code != 0 or not problems:
        return answer
    lines = "\n".join(printable(f"hookline: {problem}") for problem in problems)
    return replace(answer, stderr=f"{answer.stderr}\n{lines}".strip())


def without_stdout(answer: HookReply, outcome: Outcome) -> str:
    """Return the text for a blocking exit if stdout cannot be written and holds the agent back; else nothing."""
    if not (outcome.permission in _HOLDING_BACK or outcome.edits or outcome.stop):
        return ""
    return answer.stderr or outcome.reason or outcome.stop_reason or "its answer cannot be written to stdout"
