"""Jobs as text and as JSON."""

import time
from typing import Any

import msgspec
from msgspec import Struct

from hookline.cli.text import count_of, json_lines, table, with_tilde
from hookline.jobs.owner import pid_of
from hookline.jobs.port import FLEET, JobInfo
from hookline.jobs.stored import StoredCall, readable_call
from hookline.model.safe_text import one_line, printable

_SHORT = 8
_LONGEST = 200


class JobDocument(Struct, frozen=True, kw_only=True):
    """One job."""

    id: str
    #: queued, running, settled or dead.
    state: str
    hook: str
    source: str
    event: str
    session: str
    project: str
    attempts: int
    #: Seconds since the epoch.
    accepted: float
    over: float | None
    #: The process that has it.
    pid: str | None
    #: Seconds until it may be begun again.
    wait: float
    #: What went wrong last.
    why: str
    lane: str
    #: What the hook is told, for `show`.
    payload: dict[str, Any] | None = None


class JobsDocument(Struct, frozen=True, kw_only=True):
    """What is in the queue."""

    queue: str
    jobs: tuple[JobDocument, ...]

    @property
    def dead(self) -> int:
        return sum(job.state == "dead" for job in self.jobs)

    def as_json(self) -> str:
        return json_lines(msgspec.to_builtins(self))

    def as_text(self, width: int) -> str:
        if not self.jobs:
            return f"no jobs wait, and there are no dead letters ({with_tilde(self.queue)})"
        rows = [("id", "state", "hook", "event", "tried", "accepted", "")]
        rows += [
            (
                job.id[:_SHORT], job.state, one_line(job.hook, _LONGEST), job.event, str(job.attempts),
                _ago(job.accepted), _remark(job),
            )
            for job in self.jobs
        ]  # fmt: skip
        states = [job.state for job in self.jobs]
        counts = ", ".join(
            f"{states.count(each)} {each}"
            for each in ("queued", "running", "settled", "dead")
            if each in states
        )
        lines = [table(rows, width), f"{count_of(len(self.jobs), 'job')}: {counts}"]
        if self.dead:
            lines.append("hookline jobs show ID says more; retry ID tries one again, drop ID forgets it")
        return "\n".join(lines)


def job_document(job: JobInfo, *, payload: bool = False) -> JobDocument:
    stored = readable_call(job.body)
    return JobDocument(
        id=job.id,
        state=job.state,
        hook=stored.name if stored else "",
        source=stored.source if stored else "",
        event=stored.event if stored else "",
        session=job.session,
        project=(stored.scene.project_dir or stored.scene.cwd) if stored else "",
        attempts=job.attempts,
        accepted=job.sent,
        over=job.settled,
        pid=pid_of(job.owner) if job.owner else None,
        wait=round(job.wait, 3),
        why=job.why,
        lane=job.queue,
        payload=_payload(stored) if payload and stored else None,
    )


def _payload(stored: StoredCall) -> dict[str, Any] | None:
    try:
        found = msgspec.json.decode(stored.payload)
    except msgspec.MsgspecError:
        return None
    return found if isinstance(found, dict) else {"payload": found}  # pyright: ignore[reportUnknownVariableType] of Any


def job_text(job: JobDocument) -> str:
    facts = [
        ("id", job.id), ("state", job.state), ("hook", job.hook), ("configured", job.source), ("event", job.event),
        ("session", job.session), ("project", job.project), ("tried", str(job.attempts)),
        ("accepted", _time(job.accepted)), ("over", _time(job.over) if job.over else ""),
        ("process", job.pid or ""), ("what went wrong", job.why),
        ("next try", f"in {job.wait:.0f} s" if job.wait else ""),
        ("waits for", "the program that made its hook" if job.lane.startswith("code:") and not job.over else ""),
        ("payload", json_lines(job.payload) if job.payload is not None else ""),
    ]  # fmt: skip
    return "\n".join(f"{name:16} {printable(value)}" for name, value in facts if value)


def _remark(job: JobDocument) -> str:
    if job.why:
        return one_line(job.why, _LONGEST)
    if job.state == "queued" and job.lane == FLEET:
        return "sent to the fleet" if job.attempts else "waits for `hookline fleet worker`"
    if job.state == "queued" and job.lane.startswith("code:") and job.pid is None:
        return "waits for its program"
    return f"process {job.pid}" if job.pid is not None else ""


def _time(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def _ago(at: float) -> str:
    seconds = max(0.0, time.time() - at)
    for unit, size in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size:.0f}{unit} ago"
    return f"{seconds:.0f}s ago"
