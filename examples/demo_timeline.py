"""Prints what an agent does and how hooks change it, one line per step, as it happens.

It uses two things that every host has: the log of fired events, and what the agent shows.
"""

import os
from collections.abc import Callable
from textwrap import fill
from time import monotonic
from typing import Any

from hookline.agent.hooks import FiredEvent
from hookline.agent.ports import Shown
from hookline.model.run import Run
from hookline.model.safe_text import one_line

AGENTS = {
    "claude-code": "Claude Code",
    "gemini-cli": "Gemini CLI",
    "codewhale": "CodeWhale",
    "gen-code": "gen-code",
    "native": "Hookline",
    "reasonix": "Reasonix",
}
WISHES = {"Read": "read", "Edit": "change", "Bash": "run"}
_WIDEST = 100
_LONGEST = 2000


class Timeline:
    def __init__(self, project: str) -> None:
        self._project = project
        self._began = monotonic()
        #: Events with background hooks; their runs come in later.
        self._in_background: list[FiredEvent] = []
        self._tells: dict[str, Callable[[FiredEvent], None]] = {
            "SessionStart": self._session_start,
            "UserPromptSubmit": self._prompt,
            "TurnStart": self._turn_start,
            "PreToolUse": self._tool_call,
            "TurnEnd": self._gate,
            "TurnSettled": lambda _: self._recorded("The turn is over; the agent waits for you."),
            "SessionEnd": lambda _: self._recorded("The session ends."),
        }

    def fired(self, fired: FiredEvent) -> None:
        """An event fired, and its hooks have run."""
        tell = self._tells.get(fired.event)
        if tell is not None:
            tell(fired)

    def show(self, shown: Shown) -> None:
        """The output that the agent shows its user."""
        if shown.kind == "answer":
            self._recorded(f"Agent: {shown.text}")
        elif shown.kind == "result" and shown.tool == "Bash" and not shown.is_error:
            self._more(f"It prints: {shown.text}")

    def _session_start(self, fired: FiredEvent) -> None:
        self._recorded("The session begins.")
        for item in fired.outcome.context_items:
            self._hook(fired, item.hook, f"adds to the system prompt: {item.text}")
        for run in fired.runs:
            if run.status == "background":
                self._in_background.append(fired)
                self._more(f"{self._whose(run)} starts a scan in the background.")

    def _prompt(self, fired: FiredEvent) -> None:
        self._recorded(f"You: {fired.payload.prompt}")
        for edit in fired.outcome.edits:
            self._hook(fired, edit.by, f"changes it to: {edit.value}")

    def _turn_start(self, fired: FiredEvent) -> None:
        """Only for a turn that the user did not start: a background hook woke the agent."""
        if not fired.payload.prompt.startswith("<background-hook-result>"):
            return
        self._recorded("A background hook has finished.")
        for run in self._in_background.pop().runs:
            if run.status == "blocked":
                self._more(f"{self._whose(run)} found something: {run.reason}")
                self._more("-> The agent wakes up and continues.")

    def _tool_call(self, fired: FiredEvent) -> None:
        call = fired.payload
        wish = WISHES.get(call.tool_name, call.tool_name)
        self._recorded(f"Agent wants to {wish}: {_main_argument(call.tool_input)}")
        vote = fired.outcome.deciding_vote
        if vote is not None and vote.kind == "block":
            self._hook(fired, vote.by, f"denies it: {vote.reason}")
            happens = "The command does not run" if call.tool_name == "Bash" else "It does not happen"
            self._more(f"-> {happens}, and the model gets the reason.")
        for edit in fired.outcome.edits:
            self._hook(fired, edit.by, f"changes it to: {_main_argument(edit.whole or edit.value)}")
        for run in fired.runs:
            if run.recheck:
                self._more(f"{self._whose(run)} checks the new command and has no objection.")

    def _gate(self, fired: FiredEvent) -> None:
        """May the turn end?"""
        for run in fired.runs:
            if run.status == "blocked":
                self._more(f"{self._whose(run)} says: {run.reason}")
                self._more("-> The turn does not end: the agent continues with this message.")
            else:
                self._more(f"{self._whose(run)} ran the check: the turn may end.")

    def _hook(self, fired: FiredEvent, name: str, does: str) -> None:
        run = next((run for run in fired.runs if run.hook == name), None)
        self._more(f"{self._whose(run) if run is not None else name} {does}")

    def _whose(self, run: Run) -> str:
        return f"{AGENTS.get(run.dialect, run.dialect)}'s hook ({os.path.relpath(run.source, self._project)})"

    def _recorded(self, text: str) -> None:
        _tell(f"{monotonic() - self._began:5.2f} s  ", text)

    def _more(self, text: str) -> None:
        _tell(" " * 11, text)


def _tell(begins: str, text: str) -> None:
    """Removes control characters from what hooks and models say."""
    shown = one_line(text, _LONGEST)
    print(fill(shown, _WIDEST, initial_indent=begins, subsequent_indent=" " * 13), flush=True)


def _main_argument(given: Any) -> str:
    return str(given.get("command") or given.get("file_path") or given)
