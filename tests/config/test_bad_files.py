"""Test bad configuration files: a diagnostic names the file, never a traceback or silence."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hookline import load
from hookline.documents.document import format_of
from tests.agents import AGENTS

SUFFIXES = {name: agent.file.rpartition(".")[2] for name, agent in AGENTS.items()}

ALIAS_BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{after}: &{after} [{','.join(['*' + before] * 9)}]\n"
    for before, after in zip("abcdefg", "bcdefgh", strict=True)
)
TWICE = {
    "json": '{"hooks": {}, "hooks": {}}',
    "toml": "[hooks]\na = 1\na = 2\n",
    "yaml": "agents:\n  root: {}\n  root: {}\n",
}


def _write(data: bytes) -> Callable[[Path], object]:
    return lambda file: file.write_bytes(data)


BAD: dict[str, Callable[[Path], object]] = {
    "garbage": _write(b"\x7fELF{[<::\n\t- ]"),
    "not text": _write(b'{"hooks": "caf\xe9"}'),
    "zero bytes": _write(b"hooks\0"),
    "torn": _write(b'{"hooks": {"Stop": [{"command": "x'),
    "too big": _write(b" " * 10_000_001),
    "deep": _write(b"[" * 5000),
    "a directory": lambda file: file.mkdir(),
    "a dangling link": lambda file: file.symlink_to("nowhere"),
    "missing": lambda _file: None,
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("dialect", SUFFIXES)
def test_a_file_that_cannot_be_read_is_told(dialect: str, kind: str, tmp_path: Path) -> None:
    file = tmp_path / f"hooks.{SUFFIXES[dialect]}"
    BAD[kind](file)
    loaded = load(tmp_path, dialects=[dialect], files=[str(file)]).loaded
    assert loaded.errors, kind
    assert all(str(one).startswith(str(file)) for one in loaded.errors)
    if dialect == "native":  # its guards are unknown, so everything it may have guarded stays closed
        assert {hook.event.name for hook in loaded.hooks} == {
            "PreToolUse",
            "PermissionRequest",
            "UserPromptSubmit",
            "ExecStart",
        }
        assert all(hook.broken and str(file) in hook.broken for hook in loaded.hooks)
    else:
        assert loaded.hooks == ()


@pytest.mark.parametrize("dialect", SUFFIXES)
def test_a_key_that_stands_twice_is_told(dialect: str, tmp_path: Path) -> None:
    file = tmp_path / f"hooks.{SUFFIXES[dialect]}"
    format_ = format_of(str(file))
    assert format_ is not None
    file.write_text(TWICE[format_])
    assert load(tmp_path, dialects=[dialect], files=[str(file)]).diagnostics


def test_an_alias_bomb_is_refused_in_no_time(tmp_path: Path) -> None:
    file = tmp_path / "agent.yaml"
    file.write_text(ALIAS_BOMB)
    assert load(tmp_path, dialects=["docker-agent"], files=[str(file)]).loaded.errors


@pytest.mark.parametrize("dialect", SUFFIXES)
def test_a_byte_order_mark_changes_nothing(dialect: str, tmp_path: Path) -> None:
    file = tmp_path / f"hooks.{SUFFIXES[dialect]}"
    empty = {"json": '{"hooks": {}}', "toml": "[hooks]\n", "yaml": "agents: {}\n"}[SUFFIXES[dialect]]
    file.write_text("\ufeff" + empty)
    marked = load(tmp_path, dialects=[dialect], files=[str(file)]).diagnostics
    file.write_text(empty)
    assert [one.code for one in marked] == [
        one.code for one in load(tmp_path, dialects=[dialect], files=[str(file)]).diagnostics
    ]
