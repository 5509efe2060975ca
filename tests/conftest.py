"""The same examples in every run: a property that fails once fails for everybody.

HYPOTHESIS_EXPLORE=1 looks for new ones.
"""

import gc
import importlib
import os
import pkgutil
import signal
import sys
import threading
from collections.abc import Generator
from typing import cast

import pytest
from hypothesis import settings

from tests.homes import hide_own_home

# No deadline: on a busy machine the time of one example says nothing about the code.
settings.register_profile("steady", derandomize=True, database=None, deadline=None)
settings.register_profile("explore", max_examples=1000, deadline=None)
settings.load_profile("explore" if os.environ.get("HYPOTHESIS_EXPLORE") else "steady")

hide_own_home()

# Scripts of tests find this interpreter as `python3`, not a shim of a version manager: that is a shell script, which
# takes three times as long. Its directory has no `hookline`.
_INTERPRETERS = os.path.dirname(os.path.realpath(sys.executable))
if _INTERPRETERS not in os.environ.get("PATH", "").split(os.pathsep):
    os.environ["PATH"] = f"{_INTERPRETERS}{os.pathsep}{os.environ.get('PATH', os.defpath)}"

# Calls that tests make by the relay leave no daemon behind.
os.environ["HOOKLINE_DAEMON"] = "off"

# A shell starts background jobs with SIGINT ignored, and processes that tests start would inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Loaded and collected objects stay: searching them for garbage, again and again, would take a tenth of the time.
gc.disable()


def pytest_collection_finish() -> None:
    # Whichever test runs first loads a module; in an `unmeasured` test, its lines would count as never run.
    coverage = sys.modules.get("coverage")  # it is loaded where it measures, and not installed for adapters
    if coverage is not None and (measuring := coverage.Coverage.current()):
        for name in cast("list[str]", measuring.get_option("run:source")):
            for module in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
                importlib.import_module(module.name)
    gc.freeze()
    # As in a command: what tests leave is small, and hardly any of it is garbage in cycles.
    gc.set_threshold(100_000, 50, 50)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Do not measure coverage in `unmeasured` tests: `no_cover` of pytest-cov does nothing in a worker of xdist."""
    if not item.get_closest_marker("unmeasured"):
        return (yield)
    measured, in_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)  # pyright: ignore[reportArgumentType]
    try:
        return (yield)
    finally:
        sys.settrace(measured)
        threading.settrace(in_threads)  # pyright: ignore[reportArgumentType]
