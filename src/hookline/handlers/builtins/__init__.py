"""The builtins every engine has."""

from collections.abc import Callable
from datetime import date

from hookline.handlers.builtin import Builtin
from hookline.handlers.standard_builtins import (
    DateTeller,
    PromptFiles,
    add_context,
    add_environment_info,
    allow_it,
    ask_about_it,
    deny_it,
)


def standard_builtins(
    *, today: Callable[[], date] = date.today, home: str | None = None
) -> dict[str, Builtin]:
    """By the names configurations use. `home` is where the search for prompt files ends on its way up."""
    return {
        "add_date": DateTeller(today),
        "add_environment_info": add_environment_info,
        "add_prompt_files": PromptFiles(home),
        "deny": deny_it,
        "ask": ask_about_it,
        "allow": allow_it,
        "context": add_context,
    }
