"""What an agent would make of an answer, asked of its wire: nothing is run for it."""

from typing import Any

import msgspec

from hookline.model.hook import Hook
from hookline.model.outcome import Outcome
from hookline.model.raw import Exited, RawResult
from hookline.model.scene import Scene
from hookline.model.wire import Call, Decoded

_SCENE = Scene(session_id="s-1", cwd="/", project_dir="/")


def understood(hook: Hook, raw: RawResult) -> Decoded | None:
    """What the hook's wire reads from it, within what may be done there; None when it cannot be asked."""
    from hookline.dialects.native.schema_examples import example_payload  # noqa: PLC0415 only few hooks are asked about

    try:
        payload: Any = example_payload(hook.event)
        call = Call(hook=hook, event=hook.event, payload=payload, scene=_SCENE, timeout=hook.timeout)
        decoded = hook.wire.decode(call, raw)
    except Exception:  # noqa: BLE001 - a wire that cannot read it says nothing, and in doubt neither do we
        return None
    outcome, _dropped = decoded.outcome.clipped(hook.policy.may & hook.event.may)
    return msgspec.structs.replace(decoded, outcome=outcome)


def heard(hook: Hook, text: str) -> bool:
    """Whether plain text on stdout reaches anybody, however the command ends; true in doubt."""
    for code in (0, 1, 2):
        decoded = understood(hook, Exited(code, stdout=text.encode()))
        if decoded is None or text.strip() in _said(decoded.outcome):
            return True
        if decoded.outcome.answers or decoded.outcome.env_items or decoded.outcome.seeds:
            return True
    return False


def decides(hook: Hook, answer: object) -> bool:
    """Whether a JSON answer decides or stops anything; true in doubt."""
    decoded = understood(hook, Exited(0, stdout=msgspec.json.encode(answer)))
    return decoded is None or bool(decoded.outcome.votes or decoded.outcome.halts)


def _said(outcome: Outcome) -> str:
    parts = [vote.reason or "" for vote in outcome.votes]
    parts += [item.text for item in outcome.context_items]
    parts += [message.text for message in outcome.messages]
    return "\n".join(parts)
