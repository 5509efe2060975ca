"""The public Python names and their signatures. Others have written code against them."""

import inspect
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, cast, is_typeddict

import hookline
import hookline.actions
import hookline.events
import hookline.guards
import hookline.host
import hookline.testing
import hookline.testing.conformance
from tests.frozen.approved import check_approved


def test_the_names_of_hookline_and_their_signatures() -> None:
    check_approved("hookline.txt", _described(hookline))


def test_the_attributes_of_what_the_public_functions_return(tmp_path: Path) -> None:
    engine = hookline.Engine()
    blocking = hookline.Blocking(hookline.Engine())
    returned = {
        "Engine()": engine,
        "Engine().session()": engine.session(),
        "Blocking(engine).session()": blocking.session(),
        "load()": hookline.load(tmp_path),
    }
    lines = (line for name, value in returned.items() for line in _instance(name, value))
    check_approved("returned.txt", "\n".join(lines) + "\n")
    blocking.close()


def test_the_names_of_hookline_events_and_their_fields() -> None:
    check_approved("hookline.events.txt", _described(hookline.events))


def test_the_names_of_hookline_tools_and_their_signatures() -> None:
    values = {name: getattr(hookline.actions, name) for name in sorted(hookline.actions.__all__)}
    # What these functions return is for Hookline alone.
    lines = (
        line for name, value in values.items() if not isinstance(value, type) for line in _name(name, value)
    )
    check_approved("hookline.actions.txt", "\n".join(lines) + "\n")
    assert all(value.__doc__ for value in values.values())
    assert dir(hookline.actions) == sorted(hookline.actions.__all__)


def test_the_names_of_hookline_guards() -> None:
    check_approved("hookline.guards.txt", _described(hookline.guards))


def test_the_names_of_hookline_host() -> None:
    check_approved("hookline.host.txt", _described(hookline.host))


def test_the_names_of_hookline_testing() -> None:
    check_approved("hookline.testing.txt", _described(hookline.testing))
    assert dir(hookline.testing) == hookline.testing.__all__
    for name, value in vars(hookline.testing.AsyncHooks).items():
        # The text of the sync form is not repeated.
        assert name.startswith("_") or value.__doc__, name
    for example in (hookline.testing.Hooks, hookline.testing.Result, hookline.testing.HttpResponses):
        for name, value in inspect.getmembers(example, inspect.isfunction):
            assert name.startswith("_") or value.__doc__, name


def test_the_names_of_hookline_testing_conformance() -> None:
    check_approved("hookline.testing.conformance.txt", _described(hookline.testing.conformance))


def _described(module: Any) -> str:
    lines = (line for name in sorted(module.__all__) for line in _name(name, getattr(module, name)))
    return "\n".join(lines) + "\n"


def _name(name: str, value: Any) -> Iterator[str]:
    if is_typeddict(value):
        yield f"class {name}(TypedDict)"
        yield from (f"    {field}" for field in value.__annotations__)
    elif isinstance(value, type):
        # Bases matter for errors only: callers catch them.
        bases = ", ".join(base.__name__ for base in value.__bases__ if issubclass(base, BaseException))
        yield f"class {name}({bases})" if bases else f"class {name}"
        yield from (f"    {line}" for line in _members(cast("type[Any]", value)))
    elif inspect.isroutine(value):
        yield f"{_async(value)}def {name}{_signature(value)}"
    else:
        yield f"{name}: {type(value).__name__}"


def _instance(name: str, value: Any) -> Iterator[str]:
    yield name
    if type(value).__name__ not in hookline.__all__:
        yield from (
            f"    {line}"
            for line in _members(cast("type[Any]", type(value)))
            if not line.startswith("__init__")
        )
    attributes = (*getattr(value, "__dict__", ()), *getattr(value, "__struct_fields__", ()))
    yield from (f"    .{each}" for each in sorted(attributes) if not each.startswith("_"))


def _members(value: type[Any]) -> Iterator[str]:
    if not issubclass(value, BaseException | Enum):
        yield f"__init__{_signature(value)}"
    for name, member in inspect.getmembers_static(value):
        if name.startswith("_") or member is getattr(object, name, None) or _inherited(value, name):
            continue
        if isinstance(member, property):
            yield f"{name}: property{_signature(member.fget)}" if member.fget else f"{name}: property"
        elif type(member) in (classmethod, staticmethod):
            yield f"{type(member).__name__} {name}{_signature(member.__func__)}"
        elif inspect.isroutine(member):
            yield f"{_async(member)}def {name}{_signature(member)}"
        elif not inspect.ismemberdescriptor(member):
            yield f"{name}: {type(member).__name__}"


def _inherited(value: type[Any], name: str) -> bool:
    """Leave out names from a builtin base class: they are not this project's promise."""
    return any(base.__module__ == "builtins" and name in vars(base) for base in value.__mro__)


def _async(value: Any) -> str:
    return "async " if inspect.iscoroutinefunction(value) else ""


def _signature(value: Any) -> str:
    try:
        text = str(inspect.signature(value))
    except ValueError:
        return "(...)"
    text = re.sub(r"<function [^>]*?(?:<lambda>[^>]*)?>", "<function>", text)
    # Which module defines a type is not part of the promise.
    return re.sub(r"\b(?:\w+\.)+(?=[A-Za-z_])", "", text)
