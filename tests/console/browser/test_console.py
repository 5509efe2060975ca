"""The console as people see it: every view on a hundred thousand runs, light, dark and on a phone."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.console.browser.conftest import MODES, RUNS, Shown, View, opened
from tests.console.scene import SESSION, append

_AXE = os.environ.get("HOOKLINE_AXE", "")
_SHOTS = os.environ.get("HOOKLINE_SCREENSHOTS", "")
#: By name: the address, or where to find it.
VIEWS = {
    "runs": "/",
    "runs-filtered": "/?q=push&status=blocked&since=all",
    "nothing": "/?q=nothing-is-called-so",
    "run": ("/?status=unanswered", ".runs .run"),
    "run-explained": (f"/?session={SESSION}", ".runs .run"),
    "run-with-payload": ("/?q=keep-this-payload&since=all", ".runs .run"),
    "sessions": "/sessions",
    "session": ("/sessions?status=unanswered", ".session"),
    "guards": "/guards",
    "time": "/time",
    "time-of-a-hook": "/time?hook=audit",
    "jobs": "/jobs",
    "job": ("/jobs", ".job"),
    "backtests": "/backtests",
    "backtest": ("/backtests", ".job"),
    "missing": "/nothing-here",
    "bad-address": "/?since=yesterday",
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
            assert view.page.locator(".plot canvas").count() == view.page.locator(".plot").count(), name
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
    """What axe-core finds. It is put in by the debugger: the page's own policy stays in force."""
    if not _AXE:
        return []
    view.page.evaluate(Path(_AXE).read_text())
    found = view.page.evaluate("axe.run()")
    assert len(found["passes"]) > 10, "it really looked"
    return [f"{name}: {each['id']}: {each['nodes'][0]['html'][:200]}" for each in found["violations"]]


def test_runs_appear_as_they_happen_in_all_tabs_by_one_stream(browser: Any, shown: Shown) -> None:
    with opened(browser, shown) as view:
        other = View(view.page.context.new_page())
        other.page.goto(f"{shown.address}/?status=blocked")
        filtered = View(view.page.context.new_page())
        filtered.page.goto(f"{shown.address}/?q=something-else")
        for each in (view, other, filtered):
            each.page.wait_for_selector("#live[data-state=on]")
        # Headless tabs are all visible, so exactly one of them may hold the stream.
        view.page.wait_for_timeout(300)
        streams = [url for each in (view, other, filtered) for url in each.asked if "/live" in url]
        count = int(view.page.locator("[data-count=runs]").inner_text().replace(",", ""))
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
        assert view.page.locator("[data-count=runs]").inner_text() == f"{count + 1:,}"
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
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "q"
        page.keyboard.type("push force")
        page.keyboard.press("Enter")
        page.wait_for_url("**/?q=push+force")
        calls = page.locator("#newest .run .call").all_inner_texts()
        assert calls
        assert all("push" in call and "force" in call for call in calls)
        page.select_option("select[name=status]", "blocked")
        page.wait_for_url("**q=push+force&status=blocked")
        assert set(page.locator("#newest .run .badge").all_inner_texts()) == {"blocked"}
        page.locator(".ranges a", has_text="all").click()
        page.wait_for_url("**since=all")
        page.locator(".chip", has_text="status").click()
        page.wait_for_url(re.compile(r"^(?!.*status).*q=push"))
        page.go_back()
        page.go_back()
        assert page.input_value("select[name=status]") == "blocked"
        page.locator("a", has_text="Older runs").or_(page.locator(".stat").first).first.click()


def test_it_is_used_by_the_keyboard(browser: Any, shown: Shown) -> None:
    with opened(browser, shown) as view:
        page = view.page
        page.keyboard.press("j")
        page.keyboard.press("j")
        second = page.locator("#newest .run").nth(1).get_attribute("href")
        assert page.evaluate("document.activeElement.getAttribute('href')") == second
        page.keyboard.press("k")
        page.keyboard.press("Enter")
        page.wait_for_url("**/run/**")
        for key, where in {
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
