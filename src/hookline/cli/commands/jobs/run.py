"""Show the queue of durable hooks, change it, or run its jobs."""

import argparse
import os
import time
from collections.abc import Coroutine
from typing import Any

from hookline.cli.commands.jobs.report import JobsDocument, job_document, job_text
from hookline.cli.engines import command_engine
from hookline.cli.output import ExitStatus, note, show
from hookline.cli.requests import RequestError
from hookline.cli.text import count_of, json_lines, terminal_width
from hookline.cli.times import parse_since
from hookline.jobs.file import DurableFile, user_queue
from hookline.jobs.port import DurableError, JobInfo
from hookline.journal.journal import Journal
from hookline.journal.redaction import Redactor


def run(args: argparse.Namespace) -> "int | Coroutine[Any, Any, int]":
    queue = user_queue(os.environ)
    if args.action == "run":
        return _work(args, queue)
    try:
        if args.action == "list":
            return _list(args, queue)
        if (
            args.action in ("retry", "drop")
            and not args.words
            and (args.all or args.hook is not None or args.since is not None)
        ):
            return _many(args, queue)
        return _one(args, queue, _found(queue, args.words))
    except DurableError as problem:
        return _unusable(problem)
    finally:
        queue.close()


def _unusable(problem: DurableError) -> ExitStatus:
    note(f"hookline jobs: {problem}")
    return ExitStatus.PROBLEM


def _list(args: argparse.Namespace, queue: DurableFile) -> int:
    if args.words:
        raise RequestError(f"hookline jobs list takes no {args.words[0][:100]!r}; did you mean show?")
    jobs = tuple(job_document(job) for job in queue.jobs(settled=args.all))
    document = JobsDocument(queue=queue.path, jobs=jobs)
    status = show(document.as_json() if args.json else document.as_text(terminal_width()), as_json=args.json)
    return ExitStatus.PROBLEM if document.dead else status


def _many(args: argparse.Namespace, queue: DurableFile) -> int:
    """Retry or drop the dead letters that the options choose."""
    since = parse_since(args.since, time.time()) if args.since is not None else 0.0
    documents = [job_document(job) for job in queue.jobs() if job.state == "dead"]
    chosen = [each for each in documents if each.sent >= since and args.hook in (None, each.hook)]
    change = queue.requeue if args.action == "retry" else queue.drop
    done = tuple(each for each in chosen if change(each.id))
    if args.json:
        return show(JobsDocument(queue=queue.path, jobs=done).as_json(), as_json=True)
    said = "wait again" if args.action == "retry" else "are forgotten"
    left = len(documents) - len(done)
    return show(f"{count_of(len(done), 'dead letter')} {said}, {left} left")


def _found(queue: DurableFile, words: list[str]) -> JobInfo:
    if len(words) != 1:
        raise RequestError("say which job: hookline jobs lists them")
    found = queue.find(words[0])
    if len(found) != 1:
        what = f"{len(found)} jobs have an id that begins" if found else "no job has an id that begins"
        raise RequestError(f"{what} with {words[0][:100]!r}; hookline jobs lists them")
    return found[0]


def _one(args: argparse.Namespace, queue: DurableFile, job: JobInfo) -> int:
    if args.action == "show":
        document = Journal(Redactor(os.environ)).without_secrets(job_document(job, payload=True))
        return show(json_lines(document) if args.json else job_text(document), as_json=args.json)
    done = queue.requeue(job.id) if args.action == "retry" else queue.drop(job.id)
    if not done:
        note(f"hookline jobs: {job.id[:8]} is {job.state}, so there is nothing to {args.action}")
        return ExitStatus.PROBLEM
    after = queue.find(job.id)
    if args.json:
        return show(json_lines(job_document(after[0])), as_json=True)
    said = (
        "it waits again; the next Hookline process runs it, or `hookline jobs run` does"
        if args.action == "retry"
        else "forgotten"
    )
    return show(f"{job.id[:8]}: {said}")


async def _work(args: argparse.Namespace, queue: DurableFile) -> int:
    """Run waiting jobs. The journal has each run; dead letters remain."""
    before = {job.id for job in queue.jobs()} if queue.exists else set[str]()
    engine = command_engine(caller="hookline jobs")
    try:
        await engine.jobs.run_all()
        after = {job.id: job for job in queue.jobs()}
    except DurableError as problem:
        return _unusable(problem)
    finally:
        await engine.close()
        queue.close()
    left = tuple(job_document(job) for job in after.values())
    if args.json:
        return show(JobsDocument(queue=queue.path, jobs=left).as_json(), as_json=True)
    states = [job.state for job in after.values()]
    ran, dead = len(before - after.keys()), states.count("dead")
    left = len(states) - dead
    show(f"{count_of(ran, 'job')} run to the end, {left} left to others, {count_of(dead, 'dead letter')}")
    return ExitStatus.PROBLEM if dead else ExitStatus.OK
