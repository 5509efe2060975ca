"""Collect the pages of the site: docs/ as it is, the README in front, and every file that a page links to."""

import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

#: Pages at the root of the repository, by their names in the site.
_ROOT_PAGES: Mapping[str, str] = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "docs/index.md": "documentation.md",
}
_LINK = re.compile(r"(!?\[(?:[^\]\[]|\[[^\]]*\])*\]\()([^)\s]+)(\))")
_BLOCK = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)
_LANGUAGES = {".py": "python", ".toml": "toml", ".json": "json", ".yaml": "yaml", ".yml": "yaml", ".sh": "sh"}


class Sources(Struct):
    """The pages and files of the site by their names in it."""

    pages: dict[str, str]
    files: dict[str, Path]


def collect(root: Path) -> Sources:
    """Read everything below docs/, and follow the links to files elsewhere in the repository."""
    found = Sources({}, {})
    todo = [root / name for name in _ROOT_PAGES] + sorted((root / "docs").rglob("*.md"))
    for file in todo:
        name = site_name(root, file)
        if name not in found.pages:
            found.pages[name] = _translated(root, file, name, found)
    for file in sorted((root / "docs").rglob("*")):
        if file.is_file() and file.suffix != ".md":
            found.files[site_name(root, file)] = file
    return found


def site_name(root: Path, file: Path) -> str:
    """Return where a file of the repository is in the site; code is a page of its own."""
    path = file.relative_to(root).as_posix()
    if path in _ROOT_PAGES:
        return _ROOT_PAGES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"source/{path.replace('/.', '/dot-')}.md"  # the site has no hidden directories


def _translated(root: Path, file: Path, name: str, found: Sources) -> str:
    """Return the page with its links as they are in the site. Links in blocks of code stay."""

    def link(match: re.Match[str]) -> str:
        target, mark, anchor = match[2].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return match[0]
        there = Path(os.path.normpath(file.parent / target))
        if not there.exists() or not there.is_relative_to(root):
            message = f"{file.relative_to(root)} links to {target}, which is not there"
            raise FileNotFoundError(message)
        wanted = site_name(root, there)
        if wanted.startswith("source/") and wanted not in found.pages:
            found.pages[wanted] = _source_page(root, there)
        return (
            f"{match[1]}{posixpath.relpath(wanted, posixpath.dirname(name) or '.')}{mark}{anchor}{match[3]}"
        )

    parts = _BLOCK.split(file.read_text(encoding="utf-8"))
    return "".join(part if at % 2 else _LINK.sub(link, part) for at, part in enumerate(parts))


def _source_page(root: Path, file: Path) -> str:
    """Show a file of the repository, or list a directory. Searching does not find it: pages explain things better."""
    title = file.relative_to(root).as_posix()
    head = f"---\nsearch:\n  exclude: true\n---\n\n# {title}\n\n"
    if file.is_dir():
        return head + "".join(f"- `{each.relative_to(root).as_posix()}`\n" for each in sorted(file.iterdir()))
    return f"{head}````{_LANGUAGES.get(file.suffix, 'text')}\n{file.read_text(encoding='utf-8').rstrip()}\n````\n"


def sections(page: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the headings of an index page, each with the pages that it lists, in order."""
    heading, listed = "", list[str]()
    for line in page.splitlines():
        if line.startswith("## "):
            if listed:
                yield heading, listed
            heading, listed = line.removeprefix("## "), []
        for match in _LINK.finditer(line):
            name = match[2].partition("#")[0]
            if name.endswith(".md") and not match[1].startswith("!"):
                listed.append(name)
    if listed:
        yield heading, listed
