"""Uninstalling leaves no process behind."""

from pathlib import Path

import pytest

from hookline.cli.main import run
from hookline.hook.daemon import directory
from tests.hook.daemon.daemons import Daemons
from tests.waiting import wait_until


def test_the_daemon_of_this_home_ends_with_the_last_agent_that_called_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, others = Daemons(tmp_path / "mine"), Daemons(tmp_path / "others")
    monkeypatch.setenv("HOME", str(mine.home))
    monkeypatch.delenv("HOOKLINE_DAEMON", raising=False)
    monkeypatch.chdir(mine.project)
    try:
        for daemons in (others, mine):
            process = daemons.start()
            monkeypatch.setattr(directory, "default_directory", lambda path=str(daemons.directory): path)
            capsys.readouterr()
            assert run(["install", "claude-code", "codex", "--yes"]) == 0
            warned = f"the running daemon serves {others.home}" in capsys.readouterr().err
            assert warned == (daemons is others)
            assert run(["uninstall", "claude-code", "--yes"]) == 0
            assert process.poll() is None
            capsys.readouterr()
            assert run(["uninstall", "--yes"]) == 0
            said = "the daemon ends" in capsys.readouterr().out
            assert said == (daemons is mine)
            if said:
                wait_until(lambda ended=process: ended.poll() is not None)
            assert (process.poll() is None) == (daemons is others)
    finally:
        mine.stop()
        others.stop()
