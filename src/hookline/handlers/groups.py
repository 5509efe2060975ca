"""Signals to a whole process group."""

import os
import signal


def signal_group(leader: int, number: signal.Signals) -> None:
    """Only while the leader is not reaped: until then its number cannot belong to a stranger."""
    try:
        os.killpg(leader, number)
    except OSError:
        pass  # all gone, or handed to another user: then there is nothing we could do
