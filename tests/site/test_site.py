"""The pages of the documentation site, as far as they can be checked without building it."""

from pathlib import Path

import pytest

from tools.site.links import broken
from tools.site.navigation import navigation
from tools.site.pages import collect, sections

ROOT = Path(__file__).parents[2]


def names(tree: list[object]) -> list[str]:
    found: list[str] = []
    for each in tree:
        if isinstance(each, str):
            found.append(each)
        elif isinstance(each, dict):
            for value in each.values():  # pyright: ignore[reportUnknownVariableType]
                found += names(value if isinstance(value, list) else [value])  # pyright: ignore[reportUnknownArgumentType]
    return found


def test_every_page_is_in_the_navigation_once_and_every_link_has_a_target() -> None:
    sources = collect(ROOT)  # raises for a link to a file that is not there
    listed = names(navigation(sources.pages))
    assert sorted(listed) == sorted(name for name in sources.pages if not name.startswith("source/"))
    assert "source/src/hookline/agent/turn/loop.py.md" in sources.pages
    assert "(how-to/install.md#hookline-relay)" in sources.pages["index.md"]
    assert "(../index.md#install)" in sources.pages["how-to/let-agents-write-hooks.md"]


def test_a_link_to_nothing_is_an_error(tmp_path: Path) -> None:
    for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/index.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("# x\n\n```\n[code](nowhere.md)\n```\n")
    assert "[code](nowhere.md)" in collect(tmp_path).pages["index.md"]
    (tmp_path / "docs" / "a.md").write_text("[`x`](gone.md)")
    with pytest.raises(FileNotFoundError, match=r"docs/a\.md links to gone\.md"):
        collect(tmp_path)


def test_sections_of_an_index_page() -> None:
    page = "# T\n\n- [a](a.md)\n\n## Two\n\n- [b](b.md#x), ![p](p.png)\n- [c](c.md)\n"
    assert list(sections(page)) == [("", ["a.md"]), ("Two", ["b.md", "c.md"])]


def test_broken_links_of_a_built_site(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html#there">1</a><a href="b.html#gone">2</a><a href="c.html">3</a>'
        '<img src="https://example.com/x.png"><a href="https://example.com/">4</a>'
    )
    (tmp_path / "b.html").write_text('<h2 id="there"></h2>')
    assert list(broken(tmp_path)) == [
        "a.html loads https://example.com/x.png",
        "a.html links to b.html#gone, and that page has no such heading",
        "a.html links to c.html, which is not there",
    ]
