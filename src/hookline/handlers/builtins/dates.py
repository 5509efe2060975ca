"""Today's date, which a model cannot know."""

from collections.abc import Callable
from datetime import date
from typing import Any

from hookline.model.answers import context
from hookline.model.outcome import Outcome
from hookline.model.scene import Scene


class DateTeller:
    def __init__(self, today: Callable[[], date]) -> None:
        self._today = today

    def __call__(self, _args: tuple[str, ...], _payload: Any, _scene: Scene) -> Outcome:
        return context(f"Today's date: {self._today().isoformat()}")
