"""Find guards of Cursor that stop less than their author may think."""

import re
from collections.abc import Iterator, Sequence

from hookline.dialects.report import about
from hookline.model.diagnostics import Diagnostic
from hookline.model.events import Capability
from hookline.model.hook import Hook

#: An `ask` in the text of a command.
_ASKS = re.compile(r"""["']?permission(?:Decision)?["']?\s*:\s*["']ask["']""")
_PRINTS = re.compile(r"^\s*(?:echo|printf)\s+(?!['\"]?\{)[^>|&]*$")


def findings(hooks: Sequence[Hook]) -> Iterator[Diagnostic]:
    for hook in hooks:
        command, name = str(getattr(hook.spec, "command", "")), hook.policy.event_name
        if not hook.policy.may & Capability.BLOCK:
            continue
        if _ASKS.search(command) and not hook.policy.may & Capability.PERMIT and hook.event.guard:
            message = f"it asks at {name}, and Cursor runs the tool then; only beforeShellExecution can ask"
            yield about(hook, "error", "ask-runs-the-tool", message, "command", fix='"permission": "deny"')
        if hook.kind == "prompt" and hook.on_failure == "block":
            message = "failClosed does not hold for prompt hooks: without a model Cursor skips them"
            yield about(hook, "warning", "prompt-fails-open", message, "failClosed", fix="use a command")
        if (
            hook.event.subject == "tool_name"
            and _PRINTS.match(command.rpartition(";")[2])
            and ">" not in command
        ):
            message = "it prints text that is not JSON, and Cursor denies the call then"
            yield about(
                hook, "warning", "text-denies", message, "command", fix="print to stderr, or print {}"
            )
