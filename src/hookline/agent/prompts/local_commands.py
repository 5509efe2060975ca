"""Define the slash commands that the agent carries out itself."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

#: A name, then its arguments. `/etc/hosts` is a path; a space before the slash makes it plain text.
_SLASH = re.compile(r"/([A-Za-z][\w.:-]*)(?=\s|$)")


#: Before a shell command; also its name among the commands.
SHELL = "!"


class Slash(Struct, frozen=True):
    """A typed command: its name, and the rest of the text."""

    name: str
    arguments: str


class LocalCommand(Struct, frozen=True):
    """A command for the agent itself: nothing of it reaches a model."""

    name: str
    argument: str = ""


class LocalRow(Struct, frozen=True):
    argument: Literal["none", "optional", "required"]
    #: The argument's name in help and messages.
    placeholder: str
    summary: str


#: In the order /help lists them.
LOCAL_COMMANDS: Mapping[str, LocalRow] = MappingProxyType(
    {
        "help": LocalRow("none", "", "list the commands"),
        "clear": LocalRow("none", "", "begin a new conversation"),
        "compact": LocalRow("optional", "INSTRUCTIONS", "replace the conversation so far by a summary"),
        "retry": LocalRow("none", "", "continue the last turn, if it failed or was stopped"),
        "undo": LocalRow(
            "optional",
            "code|conversation|both",
            "undo the last prompt: the files it changed, its conversation, or both",
        ),
        "resume": LocalRow(
            "optional", "ID", "continue an earlier session; last is the newest, alone it lists them"
        ),
        "model": LocalRow("optional", "NAME", "use another model; alone it says which one is used"),
        "effort": LocalRow(
            "optional", "LEVEL", "let the model think more or less; alone it says how much it does"
        ),
        "mode": LocalRow("optional", "NAME", "change the permission mode; alone it lists them"),
        "add-dir": LocalRow("required", "DIR", "let the tools work in another directory too"),
        "worktree": LocalRow("required", "NAME", "work in a git worktree of that name"),
        "hooks": LocalRow(
            "optional",
            "events [EVENT]",
            "show the active hooks; or the events they can be at, in their own words",
        ),
        "trust": LocalRow("none", "", "see what of this project you have not trusted, and decide"),
        "tasks": LocalRow(
            "optional", "[kill] ID", "list background tasks, show the output of one, or end it"
        ),
        "mcp": LocalRow("none", "", "show the MCP servers and their state"),
        "diff": LocalRow("none", "", "show what Edit and Write have changed in this run"),
        "copy": LocalRow("none", "", "put the last answer into the clipboard"),
        "cost": LocalRow("none", "", "show the session's usage"),
        "context": LocalRow("none", "", "show how full the model's context window is, and of what"),
        "logout": LocalRow("none", "", "end the session and forget the account"),
        "exit": LocalRow("none", "", "end the session"),
    }
)


def slash_of(text: str) -> Slash | None:
    """Return the command in a text, or None when it is plain text."""
    found = _SLASH.match(text)
    return Slash(found[1], text[found.end() :].strip()) if found else None


def local_command(text: str) -> LocalCommand | str | None:
    """Return the local command in a text, or the error in it; None when it is something else.

    `!` before a shell command is one, too.
    """
    if text.startswith("!") and text.strip("! \n"):
        return LocalCommand(SHELL, text[1:].strip())
    slash = slash_of(text)
    row = LOCAL_COMMANDS.get(slash.name) if slash is not None else None
    if slash is None or row is None:
        return None
    if row.argument == "required" and not slash.arguments:
        return f"/{slash.name} needs an argument: /{slash.name} {row.placeholder}"
    if row.argument == "none" and slash.arguments:
        return f"/{slash.name} takes no argument; it was not run"
    return LocalCommand(slash.name, slash.arguments)


def usage(name: str) -> str:
    row = LOCAL_COMMANDS[name]
    shown = f"[{row.placeholder}]" if row.argument == "optional" else row.placeholder
    return f"/{name} {shown}".rstrip()
