"""Walk through Hookline as a user does, and compare what it says with what is there."""

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from hookline.config.install.plan import installed_entries
from hookline.config.install.self_calls import entry_call
from hookline.dialects.installer import Entry, InstallScope, Site
from hookline.dialects.registry import dialect_named
from tests.agents import AGENTS
from tests.cli.run_cli import Ran, Workspace, clean_env, run_cli

FORCE = "git push --force"
MISSING = "Hookline is not installed. Remove this entry from"


class Journey:
    """One user, with a home and a project."""

    def __init__(self, where: Workspace) -> None:
        self.where = where

    def run(self, *words: str, status: int = 0) -> Ran:
        ran = run_cli(list(words), self.where.project, self.where.home)
        assert ran.status == status, (words, ran)
        return ran

    def entries(self, agent: str, scope: InstallScope = "user") -> list[Entry]:
        """The entries of Hookline that the agent's files have now, read by the agent's own reader."""
        dialect = dialect_named(agent)
        assert dialect is not None
        env = {"HOME": str(self.where.home)}
        return installed_entries(dialect, Site(scope, str(self.where.project), env))

    def entry(self, agent: str, event: str, scope: InstallScope = "user") -> str:
        """The line that the agent runs at one of its events."""
        found: dict[str, str] = {}
        for each in self.entries(agent, scope):
            call = entry_call(each.command)
            assert call is not None
            found[call.arguments[-1]] = each.command
        return found[event]

    def ask(self, line: str, payload: Mapping[str, Any] | None, env: Mapping[str, str] | None = None) -> Ran:
        """Run an entry as its agent does."""
        ran = subprocess.run(
            ["/bin/sh", "-c", line], cwd=self.where.project, env=clean_env(self.where.home, env),
            input=json.dumps(payload) if payload is not None else "", capture_output=True, text=True, check=False,
            timeout=60,
        )  # fmt: skip
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    def push(self, agent: str, scope: InstallScope = "user", **fields: Any) -> bool:
        """Let an agent force a push, by its entry; return False if Hookline refuses that."""
        own = AGENTS[agent]
        payload = {**own.call(own.gate, own.shell, {"command": FORCE}, str(self.where.project)), **fields}
        said = self.ask(self.entry(agent, own.gate, scope), payload)
        refused = "force-push" in said.stdout + said.stderr
        assert refused or (said.status, said.stdout, said.stderr) in ((0, "", ""), (0, "{}\n", ""))
        return not refused

    def status(self, agent: str) -> dict[str, Any]:
        """Return what doctor says of an agent."""
        ran = run_cli(["doctor", "--json"], self.where.project, self.where.home)
        found = [each for each in json.loads(ran.stdout)["agents"] if each["agent"] == agent]
        return cast("dict[str, Any]", found[0]) if found else {}

    def runs(self) -> list[dict[str, Any]]:
        """The journal, the oldest run first."""
        return json.loads(self.run("log", "--limit", "0", "--json").stdout)["runs"]

    def check_install(self, said: str) -> None:
        """Compare each line `AGENT: FILE: 9 entries added` with the file."""
        lines = re.findall(r"^.+?: (\S+): (\d+) entr(?:y|ies) (?:added|updated)", said, re.MULTILINE)
        assert lines
        for name, number in lines:
            text = Path(name.replace("~", str(self.where.home), 1)).read_text()
            assert len(re.findall(r"hookline(?:-relay)? hook --dialect", text)) == int(number)

    def snapshot(self) -> dict[str, bytes]:
        """Every file of the user but Hookline's own."""
        found = [path for path in self.where.home.rglob("*") if path.is_file()]
        names = {str(path.relative_to(self.where.home)): path.read_bytes() for path in found}
        return {
            name: text for name, text in names.items() if not name.startswith((".local", ".config/hookline"))
        }
