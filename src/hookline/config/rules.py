"""Read rules of one line, such as `ask Bash(kubectl *)`, and make entries of the native format of them.

A rule is a builtin that always gives the same answer, at PreToolUse, about the calls that it names; or a
built-in guard: `ask force-push`.
"""

import json
import re
from collections.abc import Mapping, Sequence
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
#: Names of guards look like this, names of tools do not.
_NAMES_A_GUARD: Final = re.compile("[a-z]+(-[a-z]+)+")


class RuleError(HooklineError):
    """An error in a rule, with the right form."""


class ConfiguredRule(Struct, frozen=True):
    answer: Answer
    #: A rule about tool calls, or the name of a built-in guard.
    about: str
    #: Further options of the guard.
    options: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.answer, self.about, *self.options))


def parse_rule(text: str) -> ConfiguredRule:
    """Parse a rule. Raises RuleError."""
    word, _, about = text.strip().partition(" ")
    about = about.strip()
    answer: Answer | None = next((each for each in _ANSWERS if each == word), None)
    if answer is None or not about:
        hint = nearest(word, _ANSWERS) if word else None
        meant = f"; did you mean {hint!r}?" if hint and hint != word else ""
        raise RuleError(
            f"{text!r} is not a rule: write deny, ask or allow, and a tool pattern, as in 'ask Bash(kubectl *)'{meant}"
        )
    if about in GUARDS and answer == "allow":
        raise RuleError(f"{about} is a guard: it denies or asks; it cannot allow")
    if about not in GUARDS and _NAMES_A_GUARD.fullmatch(about):
        # As a rule about a tool of that name it would never match, without any sign.
        hint = nearest(about, GUARDS)
        meant = f"did you mean {hint!r}?" if hint else f"there are {', '.join(sorted(GUARDS))}."
        raise RuleError(f"no guard is called {about!r}; {meant} For a tool of that name, write '{about}(*)'")
    return ConfiguredRule(answer, about)


def builtin_rule(name: str, args: Sequence[str]) -> ConfiguredRule:
    """Return the rule that a built-in guard with these options is."""
    options = tuple(arg for arg in args if arg not in ("deny", "ask"))
    return ConfiguredRule("ask" if "ask" in args else "deny", name, options)


def rule_entry(name: str, rule: ConfiguredRule, mode: Mode = "enforce") -> dict[str, Any]:
    """Return the entry of a rule, as it is written into a file."""
    entry: dict[str, Any] = {"name": name, "type": "builtin"}
    if rule.about in GUARDS:
        entry["command"] = rule.about
        if args := [*(["ask"] if rule.answer == "ask" else []), *rule.options]:
            entry["args"] = args
    else:
        entry |= {"command": rule.answer, "if": rule.about}
        if rule.answer != "allow":
            entry["args"] = [f"The rule {name} is about this call: {rule.about}."]
    if mode != "enforce":
        entry["mode"] = mode
    return entry


def rule_of(entry: Mapping[str, Any], matcher: Any = None) -> ConfiguredRule | None:
    """Return the rule that an entry is; None for any other hook."""
    if entry.get("type") != "builtin" or "condition" in entry:
        return None
    command: Any = entry.get("command") or entry.get("name")
    args: Any = entry.get("args") or ()
    if command in GUARDS and "if" not in entry and matcher in (None, "", "*"):
        return builtin_rule(str(command), [str(arg) for arg in args])
    answer: Answer | None = next((each for each in _ANSWERS if each == command), None)
    about: Any = entry.get("if")
    if answer is None or not isinstance(about, str) or matcher not in (None, "", "*"):
        return None
    return ConfiguredRule(answer, about)


def rule_hooks(loader: Loader, rules: Mapping[str, ConfiguredRule]) -> Loaded:
    """Make hooks of rules that no file has. Raises RuleError for one that can never hold."""
    groups = [{"hooks": [rule_entry(name, rule)]} for name, rule in rules.items()]
    text = json.dumps({"hooks": {EVENT: groups}})
    loaded = loader.document(read_document(text, "json", ""))
    problem = next((one for one in loaded.diagnostics if one.severity in ("error", "warning")), None)
    if problem is not None or any(hook.broken for hook in loaded.hooks):
        broken = next((hook.broken for hook in loaded.hooks if hook.broken), None)
        raise RuleError(problem.message if problem is not None else cast("str", broken))
    return loaded
