"""Let a question wait in the queue where the agent has no user to ask: `approvals` of the user's settings.

The agent's own dialog stays first: this is only for agents that run without a user.
"""

import time
from collections.abc import Mapping

from msgspec.structs import replace

from hookline.dialects.files import APPROVALS, user_setting
from hookline.disk import DISK
from hookline.engine.host.approvals import LONGEST, ApprovalAnswer, ApprovalQueue, QueuedCall
from hookline.engine.host.pending import PendingCall
from hookline.journal.file import account_name
from hookline.model.outcome import Outcome, Vote
from hookline.model.payloads import ToolCall
from hookline.model.session_info import SessionInfo


def seconds_to_wait(env: Mapping[str, str]) -> float:
    """Return how long a question may wait in the queue; 0 if the settings do not say so."""
    for _document, value in user_setting(APPROVALS, env, DISK):
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return min(float(value), LONGEST)
    return 0.0


async def approved(
    outcome: Outcome,
    vote: Vote,
    call: ToolCall,
    info: SessionInfo,
    agent: str,
    env: Mapping[str, str],
    seconds: float,
) -> tuple[Outcome, ApprovalAnswer]:
    """Wait for an answer, and return the outcome with it instead of the question. Raises OSError."""
    given = call.tool_input
    pending = PendingCall(
        tool_name=call.tool_name, tool_input=given, given=given, reason=vote.reason, hook=vote.by,
        tool_use_id=call.tool_use_id, session_id=info.session_id,
    )  # fmt: skip
    queued = QueuedCall(
        pending=pending,
        agent=agent,
        project=info.project_dir or info.cwd,
        user=account_name(),
        until=time.time() + seconds,
    )
    answer = await ApprovalQueue(env).ask(queued)
    said = f": {answer.message}" if answer.message else ""
    if answer.allow:
        # Other hooks may have denied meanwhile: only questions are answered by it.
        rest = tuple(each for each in outcome.votes if each.kind not in ("ask", "defer"))
        return replace(
            outcome, votes=(*rest, Vote("allow", f"approved by {answer.by}{said}", by=vote.by))
        ), answer
    denied = f"denied by {answer.by}" if answer.by else "denied"
    why = f"{vote.reason or 'this needs a permission'} ({denied}{said})"
    return replace(outcome, votes=(*outcome.votes, Vote("block", why, vote.rank, vote.by))), answer
