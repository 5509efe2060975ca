"""The little Markdown that the reference pages are made of."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

GENERATED = "<!-- Written by `make generate` from the tables in the code. Change those, not this page. -->"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def words(several: Iterable[str]) -> str:
    return ", ".join(code(each) for each in several)


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def json_block(document: Any) -> str:
    return f"```json\n{json_pretty(document)}\n```"


def json_pretty(document: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def page(*blocks: str) -> str:
    """Blocks with an empty line between them; a block that is empty is left out."""
    return "\n\n".join(block for block in blocks if block) + "\n"
