"""The console as people see it: every view on a hundred thousand runs, light, dark and on a phone."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.team.console.browser.conftest import MODES, RUNS, Shown, View, opened
from tests.team.console.scene import SESSION, append, console

_AXE = os.environ.get("HOOKLINE_AXE", "")
_SHOTS = os.environ.get("HOOKLINE_SCREENSHOTS", "")
#: By name: the address, or where to find it.
VIEWS = {
    "start": "/",
    "runs": "/runs?status=all",
    "runs-notable": "/runs",
    "runs-filtered": "/runs?q=push&status=blocked&since=all",
    "nothing": "/runs?q=nothing-is-called-so",
    "run": ("/runs?status=failed_open", ".runs a.run"),
    "run-explained": (f"/runs?session={SESSION}", ".runs a.run"),
    "run-with-payload": ("/runs?q=keep-this-payload&since=all", ".runs a.run"),
    "sessions": "/sessions",
    "session": ("/sessions?status=failed_open", ".session"),
    "guards": "/guards",
    "time": "/time",
    "time-of-a-hook": "/time?hook=audit",
    "jobs": "/jobs",
    "approvals": "/approvals",
    "job": ("/jobs", ".job"),
    "backtests": "/backtests",
    "backtest": ("/backtests", ".job"),
    "missing": "/nothing-here",
    "bad-address": "/runs?since=yesterday",
}
_STATUSES = {"missing": 404, "bad-address": 400}


def address_of(view: View, shown: Shown, name: str) -> str:
    where = VIEWS[name]
    if isinstance(where, str):
        return shown.address + where
    view.page.goto(shown.address + where[0])
    return shown.address + view.page.locator(where[1]).first.get_attribute("href")


@pytest.mark.parametrize("mode", MODES)
def test_every_view(browser: Any, shown: Shown, mode: str) -> None:
    barriers: list[str] = []
    with opened(browser, shown, mode) as view:
        for name in VIEWS:
            address = address_of(view, shown, name)
            answer = view.page.goto(address)
            view.settle()
            assert answer.status == _STATUSES.get(name, 200), name
            width = MODES[mode]["viewport"]["width"]
            assert view.page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} is too wide"
            assert view.page.locator(".plot svg.chart").count() == view.page.locator(".plot").count(), name
            timing = answer.headers.get("server-timing", "").partition("dur=")[2]
            paint = view.page.evaluate("performance.getEntriesByType('paint').at(-1)?.startTime ?? 0")
            print(
                f"{mode:6} {name:16} {timing:>6} ms of the server, painted after {paint:4.0f} ms", flush=True
            )
            if _SHOTS:
                view.page.screenshot(
                    path=os.path.join(_SHOTS, f"{name}-{mode}.png"), full_page=name != "sessions"
                )
            barriers += barriers_of(view, name)
        assert barriers == []
        complaints = [each for each in view.complaints if "404" not in each and "400" not in each]
        assert complaints == [], "the browser has nothing to complain of"
        login = Path(shown.running.login_file).as_uri()
        assert [url for url in view.asked if not url.startswith(shown.address) and url != login] == []


def barriers_of(view: View, name: str) -> list[str]:
    """Return what axe-core finds. The debugger injects it: the page's own policy stays active."""
    if not _AXE:
        return []
    view.page.evaluate(Path(_AXE).read_text())
    found = view.page.evaluate("axe.run()")
    assert len(found["passes"]) > 10, "it really looked"
    return [f"{name}: {each['id']}: {each['nodes'][0]['html'][:200]}" for each in found["violations"]]


def test_runs_appear_as_they_happen_in_all_tabs_by_one_stream(browser: Any, shown: Shown) -> None:
    with opened(browser, shown) as view:
        other = View(view.page.context.new_page())
        other.page.goto(f"{shown.address}/runs?status=blocked")
        filtered = View(view.page.context.new_page())
        filtered.page.goto(f"{shown.address}/runs?q=something-else")
        for each in (view, other, filtered):
            each.page.wait_for_selector("#live[data-state=on]")
        # Headless tabs are all visible, so exactly one of them may hold the stream.
        view.page.wait_for_timeout(300)
        streams = [url for each in (view, other, filtered) for url in each.asked if "/live" in url]
        count = int(view.page.locator("[data-count=all]").inner_text().replace(",", ""))
        assert count >= RUNS
        append(
            shown.home,
            hook="brand <b>new</b>",
            input="echo <i>hi</i>",
            status="blocked",
            decision="deny",
            reason="no & never",
        )
        for each in (view, other):
            row = each.page.locator("#newest .run", has_text="brand <b>new</b>").first
            row.wait_for()
            assert "no & never" in row.inner_text()
            assert row.locator("b >> text=new").count() == 0, "it is text"
        assert view.page.locator("[data-count=all]").inner_text() == f"{count + 1:,}"
        assert filtered.page.locator("text=brand").count() == 0
        # Whoever holds the stream goes; the next one takes it, and nothing is missed.
        holder = next(each for each in (view, other, filtered) if any("/live" in url for url in each.asked))
        if holder is not other:
            holder.page.close()
            append(shown.home, hook="after the tab was closed", status="blocked", decision="deny")
            other.page.locator("#newest .run", has_text="after the tab was closed").first.wait_for()
        assert len(streams) == 1


def test_the_filter_lives_in_the_address(browser: Any, shown: Shown) -> None:
    with opened(browser, shown) as view:
        page = view.page
        page.goto(f"{shown.address}/runs")
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "q"
        page.keyboard.type("push force")
        page.keyboard.press("Enter")
        page.wait_for_url("**/runs?q=push+force")
        rows = page.locator("#newest > li").all_text_contents()
        assert rows
        assert all("push" in row and "force" in row for row in rows)
        page.select_option("select[name=status]", "blocked")
        page.wait_for_url("**q=push+force&status=blocked")
        assert set(page.locator("#newest > li > a .badge, #newest summary .badge").all_inner_texts()) == {
            "blocked"
        }
        page.locator(".ranges a", has_text="all").click()
        page.wait_for_url("**since=all")
        page.locator(".chip", has_text="status").click()
        page.wait_for_url(re.compile(r"^(?!.*status).*q=push"))
        page.go_back()
        page.go_back()
        assert page.input_value("select[name=status]") == "blocked"
        page.locator("a", has_text="Older calls").or_(page.locator(".stat").first).first.click()


def test_it_is_used_by_the_keyboard(browser: Any, shown: Shown) -> None:
    with opened(browser, shown) as view:
        page = view.page
        page.keyboard.press("j")
        page.keyboard.press("j")
        second = page.locator("#newest > li").nth(1).get_attribute("data-call")
        assert page.evaluate("document.activeElement.closest('li').dataset.call") == second
        page.locator("#newest summary").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("#newest details[open] .folded a.run")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url("**/run/**")
        for key, where in {
            "r": "runs",
            "s": "sessions",
            "g": "guards",
            "t": "time",
            "j": "jobs",
            "b": "backtests",
        }.items():
            page.keyboard.press("g")
            page.keyboard.press(key)
            page.wait_for_url(f"**/{where}")
        page.keyboard.press("?")
        assert page.locator("#keys").is_visible()
        page.keyboard.press("Escape")
        assert not page.locator("#keys").is_visible()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"


def test_a_chart_zooms_to_the_time_that_is_dragged_over(browser: Any, shown: Shown) -> None:
    with opened(browser, shown) as view:
        page = view.page
        box = page.locator(".chart").first.bounding_box()
        page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60)
        assert page.locator(".plot .when").first.inner_text()
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 60, steps=4)
        page.mouse.up()
        page.wait_for_url("**from=**")
        assert page.input_value("input[name=from]") < page.input_value("input[name=to]")
        fewer = int(page.locator("[data-count=all]").inner_text().replace(",", ""))
        assert 0 < fewer < RUNS
        assert page.locator(".chart rect.fill-runs").count() > 2


def test_every_page_works_without_scripts(browser: Any, shown: Shown) -> None:
    with opened(browser, shown) as view:
        cookies = view.page.context.cookies()
    context = browser.new_context(java_script_enabled=False)
    try:
        context.add_cookies(cookies)
        page = context.new_page()
        for path in ("/", "/runs?status=all", "/time"):
            assert page.goto(shown.address + path).status == 200
        assert page.locator(".chart .line").count() == 2
        page.goto(f"{shown.address}/runs?status=all")
        bars = page.locator(".chart rect.fill-runs")
        assert "runs" in bars.last.locator("title").text_content()
        page.locator("#newest summary").first.click()
        assert page.locator("#newest details[open] .folded a.run").first.is_visible()
    finally:
        context.close()


def test_the_first_day_is_a_beginning_and_its_first_run_is_drawn(browser: Any, tmp_path: Path) -> None:
    """Nothing is green before something was judged; the newest bar is there from the first run on."""
    with console(tmp_path) as running:
        context = browser.new_context(color_scheme="light", viewport={"width": 1280, "height": 900})
        try:
            view = View(context.new_page())
            view.page.goto(Path(running.login_file).as_uri())
            view.page.wait_for_selector(".standing-begin")
            assert "No hook has run yet" in view.page.inner_text("main")
            for path in ("/runs", "/guards", "/sessions", "/time", "/jobs", "/backtests"):
                view.page.goto(running.address + path)
                view.settle()
                assert view.page.locator(".good").count() == 0, path
                assert barriers_of(view, f"empty {path}") == []
            append(tmp_path, hook="first guard", status="blocked", decision="deny", reason="not yet")
            view.page.goto(f"{running.address}/runs?since=24h")
            view.page.locator("#newest .run", has_text="first guard").first.wait_for()
            view.page.reload()
            bars = view.page.locator(".chart rect.fill-runs")
            assert bars.count() == 1
            area, bar = view.page.locator(".chart").first.bounding_box(), bars.bounding_box()
            assert bar["x"] > area["x"] + 0.9 * area["width"]
            assert bar["x"] + bar["width"] <= area["x"] + area["width"]
            if _SHOTS:
                view.page.goto(running.address)
                view.page.screenshot(path=os.path.join(_SHOTS, "first-day-light.png"), full_page=True)
        finally:
            context.close()


def test_a_browser_without_the_login_sees_nothing(browser: Any, shown: Shown) -> None:
    context = browser.new_context()
    try:
        page = context.new_page()
        assert page.goto(shown.address).status == 401
        assert "hookline console" in page.inner_text("main")
        assert page.goto(f"{shown.address}/login?token=wrong").status == 403
        assert context.cookies() == []
    finally:
        context.close()
