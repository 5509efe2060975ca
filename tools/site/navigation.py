"""Arrange the pages for readers: the order and the headings are those of the index pages."""

import posixpath
from collections.abc import Mapping
from typing import Any

from tools.site.pages import sections

Navigation = list[Any]


def navigation(pages: Mapping[str, str]) -> Navigation:
    """Return the tree. Every page is in it once, but for code, which only links lead to."""
    used: set[str] = set()

    def part(index: str, *, title: str) -> dict[str, Any]:
        directory = posixpath.dirname(index)
        tree: Navigation = [index]
        used.add(index)
        for heading, names in sections(pages[index]):
            listed = [posixpath.normpath(posixpath.join(directory, name)) for name in names]
            new = [
                name for name in dict.fromkeys(listed) if name in pages and name not in used and "/" in name
            ]
            used.update(new)
            if new:
                tree += [{heading: new}] if heading else new
        return {title: tree}

    tree: Navigation = [
        {"Hookline": "index.md"},
        {"Start": "documentation.md"},
        part("how-to/index.md", title="How to"),
        part("reference/index.md", title="Reference"),
        part("dialects/index.md", title="Agents"),
        part("decisions/index.md", title="Decisions"),
    ]
    used |= {"index.md", "documentation.md"}
    project = [name for name in pages if "/" not in name and name not in used]
    used.update(project)
    rest = sorted(name for name in pages if name not in used and not name.startswith("source/"))
    return [*tree, {"Project": [*project, *rest]}]
