"""Short forms a Python hook may return: `return deny("not here")`."""

from typing import Any

from hookline.model.outcome import ContextItem, Edit, Outcome, Vote


def deny(reason: str) -> Outcome:
    """Stop the action."""
    return Outcome(votes=(Vote("block", reason),))


def ask(reason: str = "") -> Outcome:
    """Let the user decide."""
    return Outcome(votes=(Vote("ask", reason),))


def allow(reason: str = "") -> Outcome:
    """Let the action go ahead without asking; never beats another hook's deny."""
    return Outcome(votes=(Vote("allow", reason),))


def context(text: str) -> Outcome:
    """Add text for the model."""
    return Outcome(context_items=(ContextItem(text),))


def rewrite(value: Any = None, /, **changes: Any) -> Outcome:
    """Replace what the event is about: a whole value, or some keys of it as keyword arguments."""
    if value is None:
        return Outcome(edits=(Edit(changes, patch=True),))
    if changes:
        raise TypeError("rewrite() takes a whole value or keyword arguments, not both")
    return Outcome(edits=(Edit(value),))
