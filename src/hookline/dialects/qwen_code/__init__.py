"""Run the hooks of Qwen Code, as its client 0.24.4 does."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hookline.dialects.dialect import USUAL_EVENTS
from hookline.dialects.family.agent import FamilyDialect
from hookline.model.diagnostics import Diagnostic, Path
from hookline.model.events import EVENTS, Capability, EventSpec
from hookline.model.hook import Hook


class QwenCode(FamilyDialect):
    name = "qwen-code"
    title = "Qwen Code"
    directory = ".qwen"
    project_files = (".qwen/settings.json",)
    json_comments = True
    project_variables = ("QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR")
    loosening = "switches all hooks off"
    call_file = ".qwen/settings.json in a project, or ~/.qwen/settings.json for all of them"
    call_events = USUAL_EVENTS

    def loosens(self, file: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        del file
        return {"disableAllHooks": True} if settings.get("disableAllHooks") is True else {}

    def switched_off_by(self, settings: Mapping[str, Any]) -> Path:
        return ("disableAllHooks",) if self.loosens("", settings) else ()

    def check(self, hooks: Sequence[Hook]) -> Iterator[Diagnostic]:
        """Report lines that exit with 2 silently: Qwen Code runs the tool then."""
        from hookline.dialects.report import about  # noqa: PLC0415 only for doctor

        for hook in hooks:
            line = str(getattr(hook.spec, "command", ""))
            silent = re.search(r"\bexit 2\b", line) and not re.search(r">&2|stderr", line)
            if silent and hook.policy.may & Capability.BLOCK:
                message = "it exits with 2 and writes nothing to stderr: Qwen Code continues then"
                yield about(hook, "error", "silent-block", message, "command", fix="echo why >&2; exit 2")


def dialect(
    events: Mapping[str, EventSpec[Any]] = EVENTS,  # noqa: ARG001 its events are its own
    env: Mapping[str, str] | None = None,  # noqa: ARG001 it reads nothing there
) -> QwenCode:
    return QwenCode()
