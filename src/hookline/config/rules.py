"""Rules in one line, such as `deny Bash(git push --force*)`, and the entries of the native format that they are.

A rule is a builtin that always gives the same answer, at PreToolUse, about the calls that it names; or a guard by
meaning: `ask force-push`.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, cast, get_args

from msgspec import Struct

from hookline.config.load import Loaded, Loader
from hookline.documents.document import read_document
from hookline.handlers.specs import GUARDS
from hookline.matching.nearest import nearest
from hookline.model.errors import HooklineError
from hookline.model.run import Mode

EVENT = "PreToolUse"

Answer = Literal["deny", "ask", "allow"]
_ANSWERS: tuple[Answer, ...] = get_args(Answer)
#: How guards are called, and tools are not.
_NAMES_A_GUARD: Final = re.compile("[a-z]+(-[a-z]+)+")


class RuleError(HooklineError):
    """What is wrong with a rule, and how it is written."""


class Rule(Struct, frozen=True):
    answer: Answer
    #: A rule about tool calls, or the name of a guard by meaning.
    about: str

    def __str__(self) -> str:
        return f"{self.answer} {self.about}"


def parse_rule(text: str) -> Rule:
    """Raises RuleError."""
    word, _, about = text.strip().partition(" ")
    about = about.strip()
    answer: Answer | None = next((each for each in _ANSWERS if each == word), None)
    if answer is None or not about:
        hint = nearest(word, _ANSWERS) if word else None
        meant = f"; did you mean {hint!r}?" if hint and hint != word else ""
        raise RuleError(
            f"{text!r} is no rule: say deny, ask or allow, and what, as in 'deny Bash(rm -rf *)'{meant}"
        )
    if about in GUARDS and answer == "allow":
        raise RuleError(f"{about} is a guard: it denies or asks, and allows nothing")
    if about not in GUARDS and _NAMES_A_GUARD.fullmatch(about):
        # As a rule about a tool of that name it would never be asked, and nobody would notice.
        hint = nearest(about, GUARDS)
        meant = f"did you mean {hint!r}?" if hint else f"there are {', '.join(sorted(GUARDS))}."
        raise RuleError(f"no guard is called {about!r}; {meant} For a tool of that name, say '{about}(*)'")
    return Rule(answer, about)


def rule_entry(name: str, rule: Rule, mode: Mode = "enforce") -> dict[str, Any]:
    """The entry of a rule, as it is written into a file."""
    entry: dict[str, Any] = {"name": name, "type": "builtin"}
    if rule.about in GUARDS:
        entry["command"] = rule.about
        if rule.answer == "ask":
            entry["args"] = ["ask"]
    else:
        entry |= {"command": rule.answer, "if": rule.about}
        if rule.answer != "allow":
            entry["args"] = [f"The rule {name} is about this call: {rule.about}."]
    if mode != "enforce":
        entry["mode"] = mode
    return entry


def rule_of(entry: Mapping[str, Any], matcher: Any = None) -> Rule | None:
    """The rule that an entry is; None for any other hook."""
    if entry.get("type") != "builtin" or "condition" in entry:
        return None
    command: Any = entry.get("command") or entry.get("name")
    args: Any = entry.get("args") or ()
    if command in GUARDS and "if" not in entry and matcher in (None, "", "*"):
        return Rule("ask" if "ask" in args else "deny", str(command))
    answer: Answer | None = next((each for each in _ANSWERS if each == command), None)
    about: Any = entry.get("if")
    if answer is None or not isinstance(about, str) or matcher not in (None, "", "*"):
        return None
    return Rule(answer, about)


def rule_hooks(loader: Loader, rules: Mapping[str, Rule]) -> Loaded:
    """Rules as hooks that no file has. Raises RuleError for one that can never hold."""
    groups = [{"hooks": [rule_entry(name, rule)]} for name, rule in rules.items()]
    text = json.dumps({"hooks": {EVENT: groups}})
    loaded = loader.document(read_document(text, "json", ""))
    problem = next((one for one in loaded.diagnostics if one.severity in ("error", "warning")), None)
    if problem is not None or any(hook.broken for hook in loaded.hooks):
        broken = next((hook.broken for hook in loaded.hooks if hook.broken), None)
        raise RuleError(problem.message if problem is not None else cast("str", broken))
    return loaded
