"""Plug into pytest: the fixtures, the marker, and the explanation of a failure.

Every run of pytest imports this module, so it imports nothing else: the engine comes with the first test that uses a
fixture.
"""

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hookline.testing.hooks import AsyncHooks, Hooks, Kit

_KIT: "pytest.StashKey[Kit]" = pytest.StashKey()
_MARKER = (
    "hookline(approve=None, caller=None, all_hooks_ran=False): approve is the user's answer if a hook asks "
    "(None: no user), caller the agent whose tools are called, and with all_hooks_ran the test fails if a hook "
    "did not run."
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture
def hooks(request: pytest.FixtureRequest) -> "Iterator[Hooks]":
    """Provide hooks under test: load them, fire events at them, see the result of each."""
    from hookline.testing.hooks import Hooks  # noqa: PLC0415 see the module

    with Hooks(**_options(request), root=request.config.rootpath) as kit:
        request.node.stash[_KIT] = kit
        yield kit


@pytest.fixture
def async_hooks(request: pytest.FixtureRequest) -> "Iterator[AsyncHooks]":
    """Provide hooks under test for async tests, on the loop of the test."""
    from hookline.testing.hooks import AsyncHooks  # noqa: PLC0415 see the module

    kit = AsyncHooks(**_options(request), root=request.config.rootpath)
    request.node.stash[_KIT] = kit
    yield kit
    kit.close()


def _options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return the options of the nearest marker."""
    marker = request.node.get_closest_marker("hookline")
    if marker is None:
        return {}
    unknown = sorted(marker.kwargs.keys() - {"approve", "caller", "all_hooks_ran"})
    if marker.args or unknown:
        raise pytest.UsageError(f"@pytest.mark.{_MARKER} It does not take {unknown or marker.args}.")
    return {name: value for name, value in marker.kwargs.items() if name != "all_hooks_ran"}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail the test itself, not its teardown, if something expected did not happen."""
    done = yield
    kit = item.stash.get(_KIT, None)
    if kit is not None:
        marker = item.get_closest_marker("hookline")
        try:
            kit.verify()
            if marker is not None and marker.kwargs.get("all_hooks_ran"):
                kit.assert_all_hooks_ran()
        except AssertionError as problem:
            pytest.fail(str(problem), pytrace=False)
    return done


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    kit = item.stash.get(_KIT, None)
    if kit is not None and report.when == "call" and report.failed:
        report.sections.append(("what the hooks did", kit.explain()))
    return report
