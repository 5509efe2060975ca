"""Render Markdown for terminals: headings on the left, code without a frame, links with their address."""

import os
from typing import ClassVar

from markdown_it import MarkdownIt
from rich import markdown as rich_markdown
from rich.console import Console, ConsoleOptions, RenderResult
from rich.syntax import Syntax
from rich.text import Text

from hookline.agent.tui.text.paint import code_theme
from hookline.model.safe_text import printable


class _Heading(rich_markdown.Heading):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console, options
        text = self.text.copy()
        text.justify = "left"
        text.stylize("bold cyan" if self.tag in ("h1", "h2") else "bold")
        yield text


class _CodeBlock(rich_markdown.CodeBlock):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console, options
        code = str(self.text).rstrip()
        yield Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, padding=(0, 2))


class _Rule(rich_markdown.HorizontalRule):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console, options
        yield Text("───", "dim")


class Markdown(rich_markdown.Markdown):
    """Untrusted Markdown. A link's name must not hide where it leads."""

    elements: ClassVar[dict[str, type[rich_markdown.MarkdownElement]]] = {
        **rich_markdown.Markdown.elements,
        "heading_open": _Heading,
        "fence": _CodeBlock,
        "code_block": _CodeBlock,
        "hr": _Rule,
    }

    def __init__(self, text: str) -> None:
        clean = printable(text)
        super().__init__(clean, code_theme=code_theme(os.environ), hyperlinks=False)
        # Without HTML: a tag is text, and would disappear.
        parser = MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table")
        self.parsed = parser.parse(clean)
