"""Links to the console: in the journal and in denials while one runs, and nowhere else."""

import http.cookiejar
import json
import re
import urllib.request
from pathlib import Path

from tests.cli.run_cli import run_cli
from tests.team.console.scene import Running, console

LINE = ["fire", "PreToolUse", "Bash", "command=git push -uf", "--json"]


def opened(running: Running, address: str) -> str:
    """The page behind a link, for a user who has logged in."""
    cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    browser = urllib.request.build_opener(cookies)
    browser.open(running.link, timeout=30).close()
    with browser.open(address, timeout=30) as page:
        return page.read().decode()


def reason(home: Path) -> str:
    return json.loads(run_cli(LINE, home, home).stdout)["outcome"]["reason"]


def test_the_journal_and_denials_link_to_a_console_that_runs(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    run_cli(["guard", "add", "force-push", "--user"], home, home)
    assert "http" not in reason(home)
    assert "console" not in run_cli(["log"], home, home).stderr
    with console(home) as running:
        said = re.search(r"to see it: (\S+)\)", reason(home))
        assert said is not None
        assert said[1].startswith(f"{running.address}/runs?")
        linked = re.search(
            r"in the console: (\S+)", run_cli(["log", "--hook", "force-push"], home, home).stderr
        )
        assert linked is not None
        page = opened(running, linked[1])
        assert "git push -uf" in page
        assert "console" not in run_cli(["log", "--json"], home, home).stderr
    assert "http" not in reason(home), "it has ended"


def test_the_login_file_of_a_console_that_was_killed_makes_no_link(tmp_path: Path) -> None:
    run_cli(["guard", "add", "force-push", "--user"], tmp_path, tmp_path)
    directory = tmp_path / ".local/state/hookline/console"
    directory.mkdir(parents=True)
    (directory / "login-9.html").write_text('<meta content="0; url=http://127.0.0.1:9/login?token=x">')
    assert "http" not in reason(tmp_path)
