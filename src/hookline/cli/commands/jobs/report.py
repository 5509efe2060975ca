"""Format jobs as text and as JSON."""

import time
from typing import Any

import msgspec
from msgspec import Struct

from hookline.cli.text import count_of, headed_table, json_lines, with_tilde
from hookline.jobs.owner import pid_of
from hookline.jobs.port import FLEET, JobInfo, JobSummary
from hookline.jobs.stored import StoredCall, readable_call
from hookline.model.safe_text import one_line, printable

_SHORT = 8
_LONGEST = 200


class JobDocument(JobSummary, frozen=True, kw_only=True):
    """One job: its state in the queue, and the hook that it runs."""

    hook: str
    source: str
    event: str
    project: str
    #: The process that has it.
    pid: str | None
    #: The payload of the hook, for `show`.
    payload: dict[str, Any] | None = None


class JobsDocument(Struct, frozen=True, kw_only=True):
    """Content of the queue."""

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
                _ago(job.sent), _remark(job),
            )
            for job in self.jobs
        ]  # fmt: skip
        states = [job.state for job in self.jobs]
        counts = ", ".join(
            f"{states.count(each)} {each}"
            for each in ("queued", "running", "settled", "dead")
            if each in states
        )
        lines = [headed_table(rows, width), f"{count_of(len(self.jobs), 'job')}: {counts}"]
        if self.dead:
            lines.append("hookline jobs show ID says more; retry ID tries one again, drop ID forgets it")
        return "\n".join(lines)


def job_document(job: JobInfo, *, payload: bool = False) -> JobDocument:
    stored = readable_call(job.body)
    return JobDocument(
        **{name: getattr(job, name) for name in JobSummary.__struct_fields__},
        hook=stored.name if stored else "",
        source=stored.source if stored else "",
        event=stored.event if stored else "",
        project=(stored.info.project_dir or stored.info.cwd) if stored else "",
        pid=pid_of(job.owner) if job.owner else None,
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
        ("accepted", _time(job.sent)), ("over", _time(job.settled) if job.settled else ""),
        ("process", job.pid or ""), ("what went wrong", job.why),
        ("next try", f"in {job.wait:.0f} s" if job.wait else ""),
        ("waits for", "the program that made its hook" if job.queue.startswith("code:") and not job.settled else ""),
        ("payload", json_lines(job.payload) if job.payload is not None else ""),
    ]  # fmt: skip
    return "\n".join(f"{name:16} {printable(value)}" for name, value in facts if value)


def _remark(job: JobDocument) -> str:
    if job.why:
        return one_line(job.why, _LONGEST)
    if job.state == "queued" and job.queue == FLEET:
        return "sent to the fleet" if job.attempts else "waits for `hookline fleet worker`"
    if job.state == "queued" and job.queue.startswith("code:") and job.pid is None:
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
