"""Run the hooks of Grok Build, as its client 1.0.41 does."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from hookline.dialects.dialect import USUAL_EVENTS, ConfigPath
from hookline.dialects.family.agent import FamilyDialect
from hookline.model.events import EVENTS, EventSpec
from hookline.model.outcome import Outcome, Vote
from hookline.model.wire import Parsed


class Grok(FamilyDialect):
    name = "grok"
    title = "Grok Build"
    directory = ".grok"
    user_file = "hooks/hookline.json"
    project_files = (".grok/hooks/hookline.json",)
    whole_directories = True
    project_variables = ("GROK_WORKSPACE_ROOT", "CLAUDE_PROJECT_DIR")
    own_variables = ("GROK_HOOK_NAME",)
    unsearched = "hooks of config.toml, plugins and Claude Code's settings"
    call_file = (
        ".grok/hooks/hookline.json in a trusted project, or ~/.grok/hooks/hookline.json for all of them"
    )
    call_events = tuple(name for name in USUAL_EVENTS if name != "PermissionRequest")

    def config_paths(self, project: str, env: Mapping[str, str]) -> Sequence[ConfigPath]:
        system = [ConfigPath("/etc/grok/hooks/hookline.json", "managed")] if os.path.isabs(project) else []
        return [*system, *super().config_paths(project, env)]

    def answerable(self, outcome: Outcome, parsed: Parsed) -> Outcome:
        """Turn an ask into a denial in the mode that asks for nothing: Grok runs the tool then."""
        vote = outcome.deciding_vote
        unasked = parsed.info.permission_mode == "bypassPermissions" and parsed.event.guard
        if not unasked or vote is None or vote.kind not in ("ask", "defer"):
            return outcome
        return replace(outcome, votes=(*outcome.votes, Vote("block", vote.reason, vote.rank, vote.by)))


def dialect(
    events: Mapping[str, EventSpec[Any]] = EVENTS,  # noqa: ARG001 its events are its own
    env: Mapping[str, str] | None = None,  # noqa: ARG001 it reads nothing there
) -> Grok:
    return Grok()
