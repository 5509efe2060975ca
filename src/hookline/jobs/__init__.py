"""Durable hooks: a queue of jobs that outlives its processes, the runner that works on it, and the results' way back.

`port` has the records and what a queue must do, `file` is the queue in a SQLite file of the user, `runner` accepts and
runs jobs for an engine. `outbox` and `remote` are the files by which the fleet moves jobs between machines.
"""

import os
from collections.abc import Mapping

from hookline.journal.file import state_dir


def jobs_path(env: Mapping[str, str]) -> str:
    """Return where the queue of this user is."""
    return os.path.join(state_dir(env), "jobs.sqlite")
