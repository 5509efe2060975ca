"""Fixed answers: with a matcher or a condition they make a whole guard."""

from typing import Any

from hookline.model.answers import allow, ask, context, deny
from hookline.model.outcome import Outcome
from hookline.model.scene import Scene


def deny_it(args: tuple[str, ...], _payload: Any, _scene: Scene) -> Outcome:
    return deny(" ".join(args) or "denied by a hook")


def ask_about_it(args: tuple[str, ...], _payload: Any, _scene: Scene) -> Outcome:
    return ask(" ".join(args))


def allow_it(args: tuple[str, ...], _payload: Any, _scene: Scene) -> Outcome:
    return allow(" ".join(args))


def add_context(args: tuple[str, ...], _payload: Any, _scene: Scene) -> Outcome | None:
    text = " ".join(args)
    return context(text) if text else None
