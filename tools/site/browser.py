"""Look at the site in Chromium: front page, search, the table of events, phone width, and accessibility.

Run by `make site`'s `--browser` with the variables of `tools.browser`.
"""

import functools
import os
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

_OPTIONS = (
    "--no-sandbox", "--headless", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run",
)  # fmt: skip
#: Pages of each kind: prose, a long table, generated reference, code.
_PAGES = ("index.html", "documentation.html", "how-to/write-your-first-guard.html", "reference/agent-events.html",
          "reference/events.html")  # fmt: skip
_SIZES: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 900}},
    "phone": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}, "is_mobile": True},
}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the name of the base class
        """Print nothing."""


@contextmanager
def served(site: Path) -> Generator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def look(site: Path, shots: Path) -> list[str]:
    """Return what is wrong."""
    playwright: Any = import_module("playwright.sync_api")
    wrong: list[str] = []
    shots.mkdir(parents=True, exist_ok=True)
    with served(site) as address, playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=os.environ["HOOKLINE_BROWSER"], args=list(_OPTIONS))
        for size, options in _SIZES.items():
            context = browser.new_context(**options)
            page = context.new_page()
            asked: list[str] = []
            page.on("request", _noting(asked, lambda request: request.url))
            page.on("pageerror", _noting(wrong, str))
            for name in _PAGES:
                page.goto(f"{address}/{name}")
                page.wait_for_load_state("networkidle")
                page.screenshot(path=str(shots / f"{size}-{name.replace('/', '-')}.png"))
                wrong += [f"{size} {name}: {each}" for each in _inaccessible(page)]
                if page.evaluate("document.documentElement.scrollWidth > window.innerWidth + 1"):
                    wrong.append(f"{size} {name}: wider than the screen")
            if size == "light":
                wrong += _search(page, address, shots)
                wrong += _filter(page, address)
            wrong += [
                f"{size}: asked {url}" for url in asked if not url.startswith((address, "data:", "blob:"))
            ]
            context.close()
        browser.close()
    return wrong


def _noting(lines: list[str], text: Callable[[Any], str]) -> Callable[[Any], None]:
    return lambda event: lines.append(text(event))


def _inaccessible(page: Any) -> list[str]:
    script = os.environ.get("HOOKLINE_AXE")
    if not script:
        return []
    page.evaluate(Path(script).read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    return [f"{each['id']}: {each['nodes'][0]['html'][:160]}" for each in found]


def _search(page: Any, address: str, shots: Path) -> list[str]:
    """Type into the search as a reader does, and follow the first result."""
    page.goto(f"{address}/index.html")
    page.wait_for_load_state("networkidle")
    page.keyboard.press("/")
    page.keyboard.type("force push")
    try:
        first = page.wait_for_selector("[href*='.html']:has(mark)", timeout=20_000)
    except Exception as problem:  # noqa: BLE001 - of Playwright
        page.screenshot(path=str(shots / "search.png"))
        return [f"search finds nothing: {str(problem).splitlines()[0]}"]
    page.screenshot(path=str(shots / "search.png"))
    return [] if first is not None else ["search finds nothing"]


def _filter(page: Any, address: str) -> list[str]:
    page.goto(f"{address}/reference/agent-events.html")
    box = page.wait_for_selector(".table-filter")
    before = page.locator("tbody tr:visible").count()
    box.type("codex PreToolUse")
    after = page.locator("tbody tr:visible").count()
    return [] if 0 < after < before else [f"the filter shows {after} of {before} rows"]


if __name__ == "__main__":
    problems = look(Path(sys.argv[1]), Path(sys.argv[2]))
    for line in problems:
        print(f"site in a browser: {line}")
    print(
        f"site in a browser: {len(_PAGES)} pages in {len(_SIZES)} forms, {len(problems)} problems; {sys.argv[2]}"
    )
    sys.exit(bool(problems))
