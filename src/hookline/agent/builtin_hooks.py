"""What the agent's own settings add to every conversation, as hooks like any other."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from hookline.engine.sessions import Session
from hookline.handlers.builtin import BuiltinSpec
from hookline.model import events as e
from hookline.model.events import EventSpec
from hookline.model.outcome import Outcome


def add_builtin_hooks(
    session: Session, *, date: bool = False, environment: bool = False, files: Sequence[str] = ()
) -> None:
    """The date and prompt files with each request, the environment once per session."""
    for event, name, args in _wanted(date=date, environment=environment, files=files):
        hook = session.engine.make_hook(event, _unused, name=name, scope="session")
        session.add_hook(replace(hook, kind="builtin", spec=BuiltinSpec(name, args)))


def _wanted(
    *, date: bool, environment: bool, files: Sequence[str]
) -> Iterator[tuple[EventSpec[Any], str, tuple[str, ...]]]:
    if date:
        yield e.PRE_MODEL_CALL, "add_date", ()
    if environment:
        yield e.SESSION_START, "add_environment_info", ()
    if files:
        yield e.PRE_MODEL_CALL, "add_prompt_files", tuple(files)


def _unused(payload: object) -> Outcome | None:
    """Its place is taken by the builtin at once."""
    del payload
    return None
