"""The report of a backtest in a real browser: it is drawn, light and dark, and no request leaves the file.

A part of `make test-console`.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hookline.history.html_report import page

FACTS: dict[str, Any] = json.loads((Path(__file__).parent / "backtest.json").read_text())


def opened(browser: Any, file: Path, scheme: str) -> tuple[Any, list[str], list[str]]:
    """The page, the addresses that it asked for, and what the browser complained of."""
    view = browser.new_page(color_scheme=scheme, viewport={"width": 1100, "height": 900})
    asked: list[str] = []
    said: list[str] = []

    def requested(request: Any) -> None:
        asked.append(request.url)

    def complained(message: Any) -> None:
        said.append(message.text)

    view.on("request", requested)
    view.on("console", complained)
    view.goto(file.as_uri())
    return view, asked, said


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_is_drawn_and_asks_for_nothing(browser: Any, tmp_path: Path, scheme: str) -> None:
    file = tmp_path / "report.html"
    file.write_text(page(FACTS, FACTS["last"]))
    view, asked, said = opened(browser, file, scheme)
    assert asked == [file.as_uri()]
    assert said == []
    assert view.title() == "Hookline backtest"
    bars = view.locator("svg rect")
    assert bars.count() >= len(FACTS["days"])
    assert all(bars.nth(at).bounding_box()["height"] > 0 for at in range(bars.count()))
    assert (
        view.locator(".card")
        .first.inner_text()
        .startswith(f"{FACTS['effects']['block']['recorded_events']:,}")
    )
    assert view.evaluate("document.documentElement.scrollWidth") <= 1100
    colours = view.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    )
    assert (colours[0] == "rgb(255, 255, 255)") == (scheme == "light")
    assert colours[0] != colours[1]
    if directory := os.environ.get("HOOKLINE_SCREENSHOTS"):
        view.screenshot(path=os.path.join(directory, f"report-{scheme}.png"), full_page=True)


def test_text_of_a_transcript_runs_nothing(browser: Any, tmp_path: Path) -> None:
    hostile = json.loads(
        json.dumps(FACTS).replace("git push", "<img src=x onerror=alert(1)><script>alert(2)</script>")
    )
    file = tmp_path / "report.html"
    file.write_text(page(hostile, 0.0))
    view, asked, _ = opened(browser, file, "light")
    assert asked == [file.as_uri()]
    assert view.locator("img, script").count() == 0


def test_a_narrow_window_does_not_scroll_sideways(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(page(FACTS, 0.0))
    view, _, _ = opened(browser, file, "light")
    view.set_viewport_size({"width": 420, "height": 800})
    assert view.evaluate("document.documentElement.scrollWidth") <= 420
