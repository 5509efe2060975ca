"""A place that all workers of one test run share."""

import os
from pathlib import Path

import pytest


def shared_place(factory: pytest.TempPathFactory) -> Path:
    """Each worker of a run has a base directory of its own; the one above it is the run's."""
    base = factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        base = base.parent
    return base / "scenarios"
