"""Offer the prompts of earlier sessions for Up and Ctrl-R. The agent writes the file: blocked prompts are not in it."""

import os
from collections.abc import Iterable

from prompt_toolkit.history import History, InMemoryHistory, ThreadedHistory

from hookline.agent.prompts.history import InputHistory
from hookline.journal.file import state_dir


class PromptHistory(History):
    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file

    def load_history_strings(self) -> Iterable[str]:
        """Return the prompts, newest first."""
        return reversed(InputHistory(self._file).texts)

    def store_string(self, string: str) -> None:
        """Do nothing: the agent stores what it accepts."""


def prompt_history() -> History:
    return ThreadedHistory(PromptHistory(os.path.join(state_dir(os.environ), "input_history.jsonl")))


def forget(history: History, text: str) -> None:
    """Remove a prompt that was not accepted from the history: it is in the input again."""
    target = history.history if isinstance(history, ThreadedHistory) else history
    for one in (history, target):
        strings = one._loaded_strings  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] no public API for it
        if text in strings:
            strings.remove(text)  # the newest: they are first
    if isinstance(target, InMemoryHistory):
        stored = target._storage  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] as above
        if text in stored:
            del stored[len(stored) - 1 - stored[::-1].index(text)]
