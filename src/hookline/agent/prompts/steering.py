"""Tell prompts that steer the current turn from those that wait for its end."""

from collections import deque


class Steering(str):
    """A prompt for the turn that runs: the model gets it after the next batch of tool calls."""

    __slots__ = ()


def next_steering(queue: deque[str]) -> str | None:
    """Remove the first steering prompt from the queue and return it. The user may change the queue meanwhile."""
    try:
        found = next((text for text in tuple(queue) if isinstance(text, Steering)), None)
        if found is not None:
            queue.remove(found)
    except (RuntimeError, ValueError):  # it changed while it was read, or was taken back
        return None
    return found
