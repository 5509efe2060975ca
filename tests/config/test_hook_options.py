"""Hold everything that reads the words of `hookline hook` to the one table of its options."""

import argparse

import pytest

from hookline.cli.commands.hook.run import arguments_of
from hookline.cli.main import build_parser, parsed
from hookline.config.commands import is_as_installed, read_hook_words
from tests.every import every
from tests.hook.relay.options import spellings

_CALL = ("--dialect", "native")


_LINES = [
    *((*words, *(() if name == "--dialect" else _CALL), "PreToolUse") for name, words in spellings()),
    (*_CALL,), ("PreToolUse", *_CALL), (*_CALL, "PreToolUse", "Stop"), (*_CALL, "a", "--strict", "b"),
    ("--dial", "native"), ("--dial=native",), ("--ho", "own"), ("--s", "x"), ("--dialect",), ("--home", "--strict"),
    ("--home=--strict",), ("--home", ""), ("--home=",), ("--hooks", "both"), ("--hooks=both",), ("--nothing",),
    ("-s",), (*_CALL, "-"), ("--home", "-"), (*_CALL, "--config", "a", "--config=b"),
    (*_CALL, "--home", "/a", "--home", "/b"), (*_CALL, "--strict", "--strict"), (),
]  # fmt: skip


@every("words", _LINES)
def test_words_mean_what_the_command_line_takes_them_for(words: tuple[str, ...]) -> None:
    found = read_hook_words(words)
    try:
        args: argparse.Namespace | None = parsed(build_parser("hook"), ["hook", *words])
    except SystemExit:
        args = None
    assert (args is None) is isinstance(found, str)
    assert args is None or found == arguments_of(args)


@pytest.mark.parametrize(
    ("words", "installed"),
    [
        ((*_CALL, "--home", "/h", "--hooks", "own", "--scope=project", "PreToolUse"), True),
        ((*_CALL, "--strict", "PreToolUse"), False),
        ((*_CALL, "--config", "/f", "PreToolUse"), False),
        ((*_CALL, "--from", "codex"), False),
        ((*_CALL, "PreToolUse", "Stop"), False),
    ],
)
def test_entries_of_an_installation_have_some_options_only(words: tuple[str, ...], installed: bool) -> None:
    found = read_hook_words(words)
    assert not isinstance(found, str)
    assert is_as_installed(found) is installed
