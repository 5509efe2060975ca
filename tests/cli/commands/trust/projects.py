"""Projects with hooks to be trusted, and what `hookline trust` says of them."""

import json
from pathlib import Path
from typing import Any

from tests.cli.in_process import InProcess

HOOKS = """\
[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
name = "guard"
command = "sh guard.sh"
[[hooks.PreToolUse.hooks]]
type = "http"
url = "https://hooks.example/in"
headers = { Authorization = "Bearer $TOKEN" }
allowedEnvVars = ["TOKEN"]
"""

ONE = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\nname = "end"\ncommand = {}\n'

ASKS = ("fire", "PreToolUse", "Bash", "command=ls", "--json")


def document(here: InProcess) -> dict[str, Any]:
    return json.loads(here.call("trust", "--json").stdout)


def states(here: InProcess) -> dict[str, str]:
    return {item["label"]: item["state"] for item in document(here)["items"]}


def trust_all(here: InProcess) -> None:
    assert here.call("trust", "--yes", document(here)["hashes"]).status == 0


def store(here: InProcess) -> Path:
    return here.workspace.home / ".local/state/hookline/trust"


def entry_of(command: str) -> str:
    return ONE.format(json.dumps(command))
