"""The resident at work on durable hooks that processes which have ended left behind."""

from collections.abc import Mapping

from hookline.config.engine import Engine
from hookline.config.jobs import adopt_jobs
from hookline.handlers.process.pool import Processes
from hookline.handlers.registry import standard_handlers
from hookline.journal.file import JournalFile, journal_path
from hookline.journal.journal import Journal
from hookline.journal.redaction import Redactor


def left_jobs(processes: Processes, env: Mapping[str, str]) -> Engine:
    """An engine that runs them until it is closed. Hooks get the environment of the resident."""
    journal = Journal(Redactor(env), file=JournalFile(journal_path(env)), caller="hookline resident")
    engine = Engine(handlers=standard_handlers(processes=processes, env=env), journal=journal, env=env)
    adopt_jobs(engine)
    return engine
