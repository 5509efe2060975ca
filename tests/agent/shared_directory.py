"""Find a directory that all workers of one test run share."""

import os
from pathlib import Path

import pytest


def shared_place(factory: pytest.TempPathFactory) -> Path:
    """Return the directory above the workers' own base directories."""
    base = factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        base = base.parent
    return base / "scenarios"
