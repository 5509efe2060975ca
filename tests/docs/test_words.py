"""The page that leads from the words of the design documents to Hookline's: what it names is there."""

import asyncio
import importlib
import re
from pathlib import Path

import hookline
from hookline import Engine, Outcome, Session, events
from hookline.cli.main import COMMANDS

PAGE = Path(__file__).parents[2] / "docs" / "dialects" / "words.md"
#: What the reader of a document looks for first.
WANTED = ("AddSessionFunctionHook", "HookOutcome", "Registry", "MergeHooks", "ExecuteAsync")


def rows() -> list[tuple[str, str]]:
    """The words of a document, and what Hookline has for them."""
    cells = [
        re.split(r"(?<!\\)\|", line)[1:3] for line in PAGE.read_text().splitlines() if line.startswith("| ")
    ]
    return [(there, here) for there, here in cells if there.strip() != "there"]


def is_there(name: str, engine: Engine) -> bool:
    owner, _, attribute = name.partition(".")
    owners = {"session": Session, "outcome": Outcome, "engine": engine}
    if owner in owners:
        return hasattr(owners[owner], attribute) or attribute in getattr(engine.session("s"), "__dict__", {})
    if name.startswith("hookline "):
        return name.split()[1] in COMMANDS
    if name.startswith("hookline."):
        return bool(importlib.import_module(name))
    return hasattr(events if name.isupper() else hookline, name)


def test_every_name_of_the_page_is_there() -> None:
    async def check() -> None:
        async with Engine() as engine:
            for there, here in rows():
                names = re.findall(r"`([^`]+)`", here)
                assert names or "](" in here, there
                for name in names:
                    assert is_there(name, engine), (there, name)

    asyncio.run(check())


def test_the_words_that_are_looked_for_first_are_on_it() -> None:
    words = {word for there, _ in rows() for word in re.findall(r"\w+", there)}
    assert set(WANTED) <= words
    assert len(rows()) >= 30
