"""Check the finished site: every link leads somewhere, and nothing is loaded from elsewhere."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The links of a page, what it loads, and the anchors it has."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in ("canonical", "alternate"):
            self.loads.append(given.get("href", ""))
        elif tag in ("script", "img", "iframe", "source", "video") and "src" in given:
            self.loads.append(given["src"])


def broken(site: Path) -> Iterator[str]:
    """Yield a line for each broken link and each thing that another host would be asked for."""
    pages = {file: _read(file) for file in sorted(site.rglob("*.html")) if file.name != "404.html"}
    for file, page in pages.items():
        shown = file.relative_to(site)
        for load in page.loads:
            if urlsplit(load).scheme not in ("", "data"):
                yield f"{shown} loads {load}"
        for link in (*page.links, *page.loads):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not link:
                continue
            there = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            there = there / "index.html" if there.is_dir() else there
            if not there.is_file():
                yield f"{shown} links to {link}, which is not there"
            elif parts.fragment and there in pages and unquote(parts.fragment) not in pages[there].anchors:
                yield f"{shown} links to {link}, and that page has no such heading"


def _read(file: Path) -> _Page:
    page = _Page()
    page.feed(file.read_text(encoding="utf-8"))
    return page
