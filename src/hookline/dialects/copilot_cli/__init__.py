"""Run the hooks of GitHub Copilot CLI, as its client 1.0.102 does."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from hookline.dialects.family.agent import FamilyDialect
from hookline.model.diagnostics import Diagnostic, Path
from hookline.model.events import EVENTS, Capability, EventSpec
from hookline.model.hook import Hook
from hookline.model.outcome import Outcome, Vote

if TYPE_CHECKING:
    from hookline.dialects.copilot_cli.installer import CopilotInstaller
    from hookline.dialects.entries import HookCall


class CopilotCli(FamilyDialect):
    name = "copilot-cli"
    title = "Copilot CLI"
    directory = ".copilot"
    user_file = "hooks/hookline.json"
    home_variable = "COPILOT_HOME"
    project_files = (".github/hooks/hookline.json",)
    whole_directories = True
    entry_fields = {"command": "bash", "timeout": "timeoutSec"}  # noqa: RUF012 a fact, never changed
    names_event = False
    project_variables = ("COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR")
    own_variables = ("COPILOT_HOOK_DIR",)
    unsearched = "hooks in Claude Code's settings"
    call_file = (
        ".github/hooks/hookline.json in a trusted project, or ~/.copilot/hooks/hookline.json for all of them"
    )
    call_events = (
        "sessionStart", "userPromptSubmitted", "preToolUse", "permissionRequest", "postToolUse", "agentStop",
        "subagentStop", "sessionEnd",
    )  # fmt: skip

    def recognises(self, value: Any) -> bool:
        """Return True for entries with a line for `bash`."""
        hooks: Any = cast("Mapping[str, Any]", value).get("hooks") if isinstance(value, Mapping) else None
        listed = cast("Mapping[str, Any]", hooks).values() if isinstance(hooks, Mapping) else ()
        entries = [each for some in listed if isinstance(some, list) for each in cast("list[Any]", some)]
        return any(isinstance(each, Mapping) and ("bash" in each or "timeoutSec" in each) for each in entries)

    def field_path(self, entry: Path, field: str) -> Path:
        """Return the path; an entry itself has its matcher."""
        return (*entry, self.entry_fields.get(field, field))

    @property
    def installer(self) -> "CopilotInstaller":
        from hookline.dialects.copilot_cli.installer import CopilotInstaller  # noqa: PLC0415 only to install

        return CopilotInstaller(self, self.user_path)

    def call_entries(self, calls: "Sequence[HookCall]") -> str:
        """Write flat entries. Copilot denies where one fails, and shows only reasons that an answer gives."""
        from hookline.dialects.entries import as_json  # noqa: PLC0415 only to install

        entries = {
            call.event: [{"type": "command", "bash": self._line(call), "timeoutSec": call.seconds}]
            for call in calls
        }
        return as_json({"version": 1, "hooks": entries})

    def _line(self, call: "HookCall") -> str:
        from hookline.dialects.entries import BROKEN, answered_in_shell  # noqa: PLC0415 only to install

        if not call.guards:
            return call.command
        return answered_in_shell(
            call.command, self.wire.answer(call.event, Outcome(votes=(Vote("block", BROKEN),)))
        )

    def check(self, hooks: Sequence[Hook]) -> Iterator[Diagnostic]:
        """Report reasons that the model never gets."""
        from hookline.dialects.report import about  # noqa: PLC0415 only for doctor

        for hook in hooks:
            guards = hook.policy.may & Capability.BLOCK and hook.event.guard
            if guards and "exit 2" in str(getattr(hook.spec, "command", "")):
                message = "Copilot CLI denies on exit 2 and does not show the text to the model"
                fix = 'print {"permissionDecision": "deny", "permissionDecisionReason": "why"}'
                yield about(hook, "info", "unseen-reason", message, "bash", fix=fix)


def dialect(
    events: Mapping[str, EventSpec[Any]] = EVENTS,  # noqa: ARG001 its events are its own
    env: Mapping[str, str] | None = None,  # noqa: ARG001 it reads nothing there
) -> CopilotCli:
    return CopilotCli()
