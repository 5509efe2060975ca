"""Find a page by its name or the words of its title, and print it."""

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

import hookline
from hookline.cli.output import ExitStatus, show
from hookline.cli.requests import RequestError
from hookline.cli.text import json_lines, table, terminal_width
from hookline.matching.nearest import nearest

#: The directories of pages for users, in the order of the list.
PARTS = ("how-to", "explanation", "reference", "dialects")


class Page(Struct, frozen=True):
    """A page of the documentation."""

    #: Its path below docs/, without the suffix.
    name: str
    title: str


class PageList(Struct, frozen=True):
    """List of the pages."""

    pages: tuple[Page, ...]

    def as_text(self, width: int) -> str:
        return table([[each.name, each.title] for each in self.pages], width)


def run(args: argparse.Namespace) -> ExitStatus:
    directory = pages_directory()
    pages = tuple(read_pages(directory))
    words: Sequence[str] = args.words
    if words:
        page = find_page(pages, words)
        return show((directory / f"{page.name}.md").read_text(encoding="utf-8").rstrip("\n"))
    every = PageList(pages)
    return show(json_lines(every) if args.json else every.as_text(terminal_width()), as_json=args.json)


def pages_directory() -> Path:
    """Return the pages of the installed package; in a checkout, those of the checkout."""
    package = Path(hookline.__file__).parent
    candidates = (package / "docs", package.parents[1] / "docs")
    for each in candidates:
        if (each / PARTS[0]).is_dir():
            return each
    raise RequestError(
        "this installation has no pages; install Hookline again, or read docs/ in its repository"
    )


def read_pages(directory: Path) -> Iterator[Page]:
    for part in PARTS:
        for file in sorted((directory / part).glob("*.md")):
            with file.open(encoding="utf-8") as lines:
                title = next(lines, "").lstrip("# ").strip()
            yield Page(f"{part}/{file.stem}", title)


def find_page(pages: Sequence[Page], words: Sequence[str]) -> Page:
    """Return the page of this name, else the only page, or the first one, whose name or title has all the words."""
    wanted = "-".join(words).lower().removesuffix(".md")
    for each in pages:
        if wanted in (each.name, each.name.partition("/")[2]):
            return each
    parts = [part for part in re.split(r"[\s/-]+", wanted) if part]
    found = [each for each in pages if all(part in f"{each.name} {each.title}".lower() for part in parts)]
    if found:
        return found[0]
    close = nearest(wanted[:100], [each.name.partition("/")[2] for each in pages])
    hint = f"did you mean {close!r}?" if close else "`hookline docs` lists the pages"
    raise RequestError(f"unknown page {' '.join(words)[:200]!r}; {hint}")
