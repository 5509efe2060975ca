"""Mentioned files under the user's rules: what the model may not read, a prompt does not bring to it."""

from collections.abc import Callable

from hookline.permissions.deciding import CallFacts, decide
from hookline.permissions.state import Permissions


def denied_reads(permissions: Permissions, cwd: str) -> Callable[[str], str | None]:
    """Why a file may not be read, by deny rules alone: who names a file need not be asked about it."""

    def objection(path: str) -> str | None:
        decision = decide(CallFacts("Read", {"file_path": path}, "read", cwd), permissions)
        return decision.reason if decision.step == "deny_rule" else None

    return objection
