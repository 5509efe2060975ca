"""Files with instructions for the model, found from the working directory upward."""

import os
from typing import Any, Final

from hookline.handlers.builtins.files import read_start, upward
from hookline.model.outcome import ContextItem, Message, Outcome
from hookline.model.scene import Scene

_MOST: Final = 64 * 1024


class PromptFiles:
    """For each name the nearest file on the way up. What is missing or unreadable is said, never skipped."""

    def __init__(self, home: str | None = None, most: int = _MOST) -> None:
        self._home = home
        self._most = most

    def __call__(self, args: tuple[str, ...], _payload: Any, scene: Scene) -> Outcome:
        cwd = scene.cwd or os.getcwd()
        items: list[ContextItem] = []
        messages: list[Message] = []
        for name in dict.fromkeys(args):
            path = self._nearest(name, cwd)
            if path is None:
                messages.append(Message(f"add_prompt_files: {name} was not found from {cwd} upward"))
                continue
            try:
                items.append(ContextItem(f"Contents of {path}:\n\n{self._text(path)}"))
            except OSError as error:
                messages.append(
                    Message(f"add_prompt_files: {path} cannot be read: {error.strerror or error}")
                )
        if not args:
            messages.append(Message("add_prompt_files: no file is named in args"))
        return Outcome(context_items=tuple(items), messages=tuple(messages))

    def _nearest(self, name: str, cwd: str) -> str | None:
        if "\0" in name or not name:
            return None
        if os.path.isabs(name):
            return name if os.path.lexists(name) else None
        home = self._home if self._home is not None else os.path.expanduser("~")
        candidates = (os.path.join(directory, name) for directory in upward(cwd, home))
        return next((path for path in candidates if os.path.lexists(path)), None)

    def _text(self, path: str) -> str:
        content = read_start(path, self._most + 1)
        text = content[: self._most].decode("utf-8", "replace")
        return f"{text}\n[cut after {self._most} bytes]" if len(content) > self._most else text
