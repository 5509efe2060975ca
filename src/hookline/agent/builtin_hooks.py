"""What the agent's own settings add to every conversation, as hooks like any other."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from hookline.engine.sessions import Session
from hookline.handlers.builtin import BuiltinSpec
from hookline.model import events as e
from hookline.model.events import EventSpec
from hookline.model.hook import Hook
from hookline.model.outcome import Outcome


def add_builtin_hooks(
    session: Session, *, date: bool = False, environment: bool = False, files: Sequence[str] = ()
) -> None:
    """The date and prompt files with each request, the environment once per session."""
    for hook in builtin_hooks(session.engine.make_hook, date=date, environment=environment, files=files):
        session.add_hook(hook)


def builtin_hooks(
    make: Callable[..., Hook],
    *,
    date: bool = False,
    environment: bool = False,
    files: Sequence[str] = (),
    begins: EventSpec[Any] = e.SESSION_START,
) -> Iterator[Hook]:
    """The same as hooks; `begins` is where the environment is told."""
    for event, name, args in _wanted(begins, date=date, environment=environment, files=files):
        hook = make(event, _unused, name=name, scope="session")
        yield replace(hook, kind="builtin", spec=BuiltinSpec(name, args))


def _wanted(
    begins: EventSpec[Any], *, date: bool, environment: bool, files: Sequence[str]
) -> Iterator[tuple[EventSpec[Any], str, tuple[str, ...]]]:
    if date:
        yield e.PRE_MODEL_CALL, "add_date", ()
    if environment:
        yield begins, "add_environment_info", ()
    if files:
        yield e.PRE_MODEL_CALL, "add_prompt_files", tuple(files)


def _unused(payload: object) -> Outcome | None:
    """Its place is taken by the builtin at once."""
    del payload
    return None
