"""Callbacks that may come and go, and whose mistakes stay their own."""

from asyncio import CancelledError
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from hookline.model.safetext import one_line

T = TypeVar("T")


class Subscribers(Generic[T]):
    """Calls each subscriber with each thing told. One that raises is heard of once, and the others go on."""

    def __init__(self, what: str, callbacks: Iterable[Callable[[T], None]] = ()) -> None:
        self._what = what
        #: Read, never set, from outside: empty means there is nobody to tell.
        self.callbacks = tuple(callbacks)
        self._problems: dict[Callable[[T], None], str] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        return tuple(self._problems.values())

    def add(self, callback: Callable[[T], None]) -> Callable[[], None]:
        self.callbacks = (*self.callbacks, callback)

        def unsubscribe() -> None:
            rest = list(self.callbacks)
            if callback in rest:
                rest.remove(callback)
            self.callbacks = tuple(rest)

        return unsubscribe

    def tell(self, thing: T) -> None:
        for callback in self.callbacks:
            try:
                callback(thing)
            except (Exception, CancelledError) as error:  # noqa: BLE001 - a watcher must never change a decision
                self._note(callback, error)

    def _note(self, callback: Callable[[T], None], error: BaseException) -> None:
        if callback not in self._problems:
            name = getattr(callback, "__qualname__", type(callback).__name__)
            text = f"{self._what} subscriber {name} raised {type(error).__name__}: {error}"
            self._problems[callback] = one_line(text, 300)
