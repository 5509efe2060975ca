"""Describe failures in code that is not part of Hookline."""

from collections.abc import Callable
from typing import Final

from hookline.model.policy import Cause
from hookline.model.raw import Failed
from hookline.model.wire import HookInvocation

_LONGEST: Final = 500


def described(error: BaseException, hide: Callable[[str], str] = str) -> str:
    """Return `ValueError: no such user`, on one line, not too long, even when the error's own text raises or
    is huge.

    `hide` removes secrets, before anything is cut off.
    """
    name, text = type(error).__name__, text_of(error)
    return f"{name}: {shortened(hide(text))}" if text else name


def text_of(error: BaseException) -> str:
    """Return the error's own text, even when that raises."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an error whose text cannot be had is still that error
        return "its message cannot be read"


def shortened(text: str, longest: int = _LONGEST) -> str:
    """Return one line of printable text; a mark shows where text was cut off."""
    flat = " ".join("".join(char if char.isprintable() else " " for char in text[: longest * 4]).split())
    return flat if len(flat) <= longest else f"{flat[: longest - 1]}…"


def raised_at(error: BaseException) -> str:
    """Return `file.py:12`, where the error was raised; empty when it never was."""
    trace = error.__traceback__
    if trace is None:
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"


def broken_by(error: BaseException, cause: Cause, before: str = "", after: str = "") -> Failed:
    """Make a failure of an exception. Only the journal gets its text, which may hold secrets."""
    name = type(error).__name__
    return Failed(
        cause,
        f"{before}{name}" if before else f"it raised {name}",
        logged=f"{before}{described(error)}{after}",
        raised=error,
    )


def crashed(error: BaseException) -> Failed:
    """Return the failure of code that ran in this process and raised."""
    return broken_by(error, "crashed", after=f" ({raised_at(error)})")


def not_encoded(error: BaseException) -> Failed:
    return broken_by(error, "not_started", "the payload cannot be encoded: ")


def encoded_payload(call: HookInvocation) -> bytes | Failed:
    """Return the document the hook gets, or why its payload cannot be encoded."""
    try:
        return call.hook.wire.encode(call).document
    except Exception as error:  # noqa: BLE001 - a host's own payload can fail in any way when it is encoded
        return not_encoded(error)
