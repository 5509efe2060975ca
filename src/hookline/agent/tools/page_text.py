"""HTML as text a model can read: headings, lists, links and code keep their shape, the rest is prose."""

import re
from collections.abc import Mapping
from html.parser import HTMLParser
from urllib.parse import urljoin

from hookline.agent.tools.off_loop import Patience

_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object", "head"})
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "ul", "ol", "dl", "table",
     "blockquote", "figure", "form", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "address", "details"}
)  # fmt: skip
_LINES = frozenset({"br", "tr", "dt", "dd", "hr", "summary", "option"})
_BEGINS: Mapping[str, str] = {"li": "\n- ", "td": " | ", "th": " | ", "dd": "\n  ", "code": "`", "q": '"'}
_ENDS: Mapping[str, str] = {"code": "`", "q": '"'}
_CHUNK = 16_384
#: What the parser cannot make sense of it keeps; past this it is given up on.
_LONGEST_TAG = 200_000
_LONGEST_ADDRESS = 500
_BLANKS = re.compile(r"[ \t\r\f\v\xa0]+")
_MANY_LINES = re.compile(r"\n[ ]*(\n[ ]*)+")


def page_text(html: str, address: str, patience: Patience) -> str:
    """The page's title and what a reader would see of it."""
    page = _Page(address)
    for begin in range(0, len(html), _CHUNK):
        if patience.over or len(page.rawdata) > _LONGEST_TAG:
            break
        page.feed(html[begin : begin + _CHUNK])
    return page.finished()


class _Page(HTMLParser):
    def __init__(self, address: str) -> None:
        super().__init__(convert_charrefs=True)
        self._address = address
        self._parts: list[str] = []
        self._silent: list[str] = []
        self._links: list[str | None] = []
        self._title: list[str] | None = None
        self._in_title = False
        self._pre = 0

    def finished(self) -> str:
        text = "".join(self._parts)
        text = _MANY_LINES.sub("\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip()
        title = " ".join("".join(self._title or []).split())
        return f"{title}\n\n{text}" if title and not text.startswith(f"# {title}") else text

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._in_title = self._title is None
            self._title = self._title or []
            return
        if tag in _SILENT:
            self._silent.append(tag)
        if self._silent:
            # A head that nobody closed ends where the body begins.
            if tag == "body":
                self._silent.clear()
            return
        self._begin(tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in self._silent:
            del self._silent[self._silent.index(tag) :]
        elif not self._silent:
            self._end(tag)

    def handle_data(self, data: str) -> None:
        if self._in_title and self._title is not None:
            self._title.append(data)
        elif not self._silent:
            self._parts.append(data if self._pre else _BLANKS.sub(" ", data.replace("\n", " ")))

    def _begin(self, tag: str, attributes: Mapping[str, str | None]) -> None:
        if tag in _BLOCKS:
            self._parts.append("\n\n")
        elif tag in _LINES:
            self._parts.append("\n")
        if tag == "pre":
            self._pre += 1
            self._parts.append("```\n")
        elif len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self._parts.append("#" * int(tag[1]) + " ")
        elif tag == "a":
            self._links.append(self._target(attributes.get("href")))
            self._parts.append("[" if self._links[-1] else "")
        elif tag == "img" and attributes.get("alt"):
            self._parts.append(f"[image: {attributes['alt']}]")
        elif not (tag == "code" and self._pre):
            self._parts.append(_BEGINS.get(tag, ""))

    def _end(self, tag: str) -> None:
        if tag == "a" and self._links:
            target = self._links.pop()
            self._parts.append(f"]({target})" if target else "")
        elif tag == "pre" and self._pre:
            self._pre -= 1
            self._parts.append("\n```")
        elif not (tag == "code" and self._pre):
            self._parts.append(_ENDS.get(tag, ""))
        if tag in _BLOCKS:
            self._parts.append("\n\n")

    def _target(self, href: str | None) -> str | None:
        if not href or href.startswith("#") or len(href) > _LONGEST_ADDRESS:
            return None
        try:
            target = urljoin(self._address, href.strip())
        except ValueError:
            return None
        return target if target.startswith(("http://", "https://")) else None
