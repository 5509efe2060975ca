"""A real browser, and the console on a hundred thousand runs."""

import os
import shutil
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.team.console.sample import write_sample
from tests.team.console.scene import Running, console, furnish, journal_of

RUNS = 100_000
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_OPTIONS = (
    "--no-sandbox", "--headless", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run",
)  # fmt: skip
MODES: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 900}},
    "phone": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}, "is_mobile": True},
}


def chromium() -> str | None:
    found = (path for name in _NAMES if (path := shutil.which(name)))
    return os.environ.get("HOOKLINE_BROWSER") or next(found, None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = chromium()
    if path is None:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=path, args=list(_OPTIONS))
        yield found
        found.close()


class Shown:
    """The console, with all that is in it."""

    def __init__(self, home: Path, running: Running) -> None:
        self.home = home
        self.running = running
        self.address = running.address


@pytest.fixture(scope="session")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    home = tmp_path_factory.mktemp("home")
    write_sample(journal_of(home), RUNS, time.time())
    furnish(home)
    with console(home) as running:
        yield Shown(home, running)


class View:
    """A tab, what it asked for, and what the browser complained of."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.asked: list[str] = []
        self.complaints: list[str] = []
        page.on("request", self._requested)
        page.on("console", self._complained)
        page.on("pageerror", self._broke)

    def _requested(self, request: Any) -> None:
        self.asked.append(request.url)

    def _complained(self, message: Any) -> None:
        self.complaints.append(message.text)

    def _broke(self, error: Any) -> None:
        self.complaints.append(str(error))

    def settle(self) -> None:
        """Until everything that comes later is there."""
        self.page.wait_for_selector("main")
        self.page.wait_for_selector("[data-state=running]", state="detached", timeout=60_000)


@contextmanager
def opened(browser: Any, shown: Shown, mode: str = "light") -> Generator[View]:
    """A browser that was started with the login file, as `hookline console` starts it."""
    context = browser.new_context(**MODES[mode])
    try:
        view = View(context.new_page())
        view.page.goto(Path(shown.running.login_file).as_uri())
        view.page.wait_for_url(f"{shown.address}/")
        view.page.wait_for_selector(".standing")
        view.page.wait_for_selector("#live[data-state=on]")
        view.asked.clear()
        view.page.goto(f"{shown.address}/runs?status=all")
        # The first to come may see it being read.
        view.page.wait_for_selector("#newest .run")
        view.page.wait_for_selector("body:not([data-again-soon])")
        yield view
    finally:
        context.close()
