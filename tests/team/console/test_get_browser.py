"""Test what `make test-console` does on a machine without a browser."""

import os
from pathlib import Path

import pytest

from tools.browser import installed_browser


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the only directory in which programs are found, except for a shell."""
    (tmp_path / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return tmp_path


def _apt(programs: Path, script: str) -> None:
    (programs / "apt-get").write_text(f"#!/bin/sh\n{script}\n")
    (programs / "apt-get").chmod(0o755)


def test_without_apt_it_says_what_to_install(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert installed_browser() is None
    assert "there is no Chromium and no apt-get: install one of chromium, " in capsys.readouterr().out


def test_without_rights_it_says_the_command(
    programs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _apt(programs, "touch called")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert installed_browser() is None
    assert "only root can install it: apt-get install chromium " in capsys.readouterr().out
    assert not Path("called").exists()


def test_what_apt_says_is_shown_when_it_fails(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _apt(programs, 'echo "E: Unable to locate package chromium" >&2; exit 100')
    assert installed_browser() is None
    shown = capsys.readouterr().out
    assert "apt-get update failed: E: " in shown
    assert "could not be installed: E: Unable to locate package chromium" in shown


def test_what_apt_has_installed_is_used(programs: Path) -> None:
    browser = programs / "chromium"
    _apt(programs, f'case "$*" in *install*chromium*) : > {browser}; /bin/chmod 755 {browser};; esac')
    assert installed_browser() == str(browser)
