"""The record of one run: the facts of its raw result beside what counted of it."""

from time import perf_counter, time
from typing import Any

from hookline.engine.judging import Judged
from hookline.engine.lanes import Armed
from hookline.engine.moment import Moment
from hookline.model.raw import Broke, Exited, RawResult, Replied, Returned
from hookline.model.run import Run
from hookline.model.wire import Call


def record(
    moment: Moment,
    armed: Armed,
    call: Call,
    raw: RawResult | None,
    judged: Judged,
    started: float,
    *,
    recheck: bool = False,
) -> None:
    """Tell the journal. `started` is a reading of perf_counter; time spent waiting for a slot is told apart."""
    hook, scene = armed.hook, moment.session.scene
    facts = _raw_facts(raw)
    if judged.status != "ok" or judged.outcome.votes or judged.dropped:
        facts |= _verdict(judged)
    moment.session.engine.journal.record(
        Run(
            hook=hook.name,
            source=armed.source,
            dialect=hook.dialect,
            type=hook.kind,
            status=judged.status,
            mode=hook.mode,
            recheck=recheck,
            duration_ms=(perf_counter() - started) * 1e3 - facts.get("queue_ms", 0.0),
            event=hook.event.name,
            spelled=hook.policy.spelled,
            session=scene.session_id,
            agent=scene.agent_id,
            run_id=call.run_id,
            at=time(),
            **facts,
        )
    )


def _verdict(judged: Judged) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "dropped": judged.dropped,
        "passed_without_answer": judged.passed_without_answer,
    }
    vote = judged.outcome.deciding_vote
    if vote is not None:
        facts["decision"], facts["reason"] = (
            "deny" if vote.kind == "block" else vote.kind,
            vote.reason or None,
        )
    if judged.failure is not None:
        facts["detail"] = judged.failure.detail
        facts["cause"] = None if judged.status == "untrusted" else judged.failure.cause
    return facts


def _raw_facts(raw: RawResult | None) -> dict[str, Any]:
    if raw is None or type(raw) is Returned:  # by far the most common
        return {}
    if isinstance(raw, Exited):
        return _process_facts(raw) | {"exit_code": raw.code}
    if isinstance(raw, Broke):
        return _process_facts(raw) | {"exit_code": raw.exit_code, "signal": raw.signal}
    if isinstance(raw, Replied):
        return {"stdout": raw.body.decode("utf-8", "replace"), "truncated": raw.truncated}
    return {}


def _process_facts(raw: Exited | Broke) -> dict[str, Any]:
    return {
        "queue_ms": raw.queue_ms,
        "stdout": raw.stdout.decode("utf-8", "replace"),
        "stderr": raw.stderr.decode("utf-8", "replace"),
        "truncated": raw.truncated,
    }
