"""Test that the public names are exactly the listed ones, and load nothing heavy."""

import importlib
import inspect
import re
import subprocess
import sys

import hookline
import hookline.events
from hookline.engine.host.bridge import BlockingSession
from hookline.model import events, payloads
from tools.api_page import MODULES, public_names


def test_every_public_name_is_there_and_documented() -> None:
    assert sorted(hookline.__all__) == hookline.__all__
    for name in hookline.__all__:
        assert getattr(hookline, name).__doc__, name
    assert dir(hookline) == hookline.__all__


def test_every_name_of_the_api_page_has_a_docstring_with_an_example() -> None:
    for module in map(importlib.import_module, MODULES):
        for name, value in public_names(module):
            if inspect.isclass(value) or inspect.isfunction(value):
                shown = inspect.cleandoc(value.__doc__ or "")
                assert re.search(r"^ {4}\S", shown, re.MULTILINE), f"{module.__name__}.{name}"


def test_every_method_of_the_api_page_has_a_docstring() -> None:
    kinds = {value for module in MODULES for _, value in public_names(importlib.import_module(module))}
    bases = {base for kind in (*kinds, BlockingSession) if inspect.isclass(kind) for base in kind.__mro__}
    for base in bases:
        if base.__module__.partition(".")[0] == "hookline":
            for name, member in vars(base).items():
                if not name.startswith("_") and (isinstance(member, property) or inspect.isfunction(member)):
                    assert inspect.getdoc(member), f"{base.__name__}.{name}"


def test_the_command_and_the_module_say_the_version_of_the_package() -> None:
    for words in (["-m", "hookline"], ["-m", "hookline.app"]):
        said = subprocess.run(
            [sys.executable, *words, "--version"], check=True, capture_output=True, text=True
        )
        assert said.stdout == f"hookline {hookline.__version__}\n"


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(hookline, "Enigne")


def test_the_events_module_has_every_row_and_every_payload() -> None:
    rows = {name for name, value in vars(events).items() if isinstance(value, events.EventSpec)}
    shapes = {
        name
        for name, value in vars(payloads).items()
        if isinstance(value, type) and issubclass(value, payloads.Payload)
    }
    records = {"AnyMessage", "Assistant", "BatchedCall", "HostMessage", "ToolUse", "Totals", "Usage", "User"}
    others = records | {"Capability", "EVENTS", "EventSpec", "event_table"}
    assert rows | shapes | others == set(hookline.events.__all__)


def test_an_engine_loads_no_package_that_no_hook_needs_yet() -> None:
    code = "import sys; from hookline import Engine; Engine(); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    heavy = {
        "httpx2",
        "httpcore2",
        "yaml",
        "rich",
        "pydantic",
        "textual",
        "re2",
        "hookline.shell.walk.lines",
        "anyio",
        "mcp",
    }
    assert heavy & set(loaded) == set()
