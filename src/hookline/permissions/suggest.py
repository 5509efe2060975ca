"""Suggest rules and settings that would avoid asking again, to PermissionRequest hooks and to the user."""

import posixpath
from collections.abc import Sequence
from typing import Any

from hookline.actions.kinds import rule_argument
from hookline.matching.file_rules import from_root
from hookline.matching.value_rules import host_of
from hookline.model.payloads import JsonObject
from hookline.permissions.facts import CallFacts
from hookline.permissions.paths import inside, paths_of
from hookline.shell import ShellCommand, ShellReader

#: Programs whose next words say what they do: `git commit` is not `git push`.
_SUBCOMMANDS = frozenset(
    (
        "git", "gh", "npm", "pnpm", "yarn", "bun", "cargo", "go", "docker", "podman", "kubectl", "helm", "pip",
        "pip3", "uv", "poetry", "hatch", "pdm", "apt", "brew", "systemctl", "terraform", "dotnet", "make",
        "just", "rustup", "deno", "bundle", "rails", "mvn", "gradle",
    )
)  # fmt: skip
#: After these the name of a script follows.
_NAMES_SCRIPT = frozenset(("run", "exec", "x", "compose"))
#: One such command says nothing about the next: only exactly the same one is offered.
_EXACT = frozenset(
    (
        "rm", "rmdir", "mv", "dd", "chmod", "chown", "chgrp", "ln", "curl", "wget", "ssh", "scp", "rsync", "nc",
        "kill", "pkill", "killall", "shutdown", "reboot", "mkfs", "mount", "umount", "sudo", "doas", "su",
        "sh", "bash", "dash", "zsh", "ksh", "fish", "eval", "exec", "source", ".", "env", "xargs", "find",
        "python", "python3", "perl", "ruby", "node", "php", "lua", "awk", "sed", "tee", "truncate", "crontab",
    )
)  # fmt: skip
#: Characters that are special in a rule.
_MAGIC = frozenset("*?[]{}!()\\\n")


def rule_texts(facts: CallFacts, shell: ShellReader) -> tuple[str, ...]:
    """Return the narrowest useful rules that allow this call; none when no rule could, or none should."""
    if facts.category == "run":
        return _shell_rules(facts, shell)
    if facts.category == "web":
        host = host_of(facts.tool_input)
        return (f"{facts.tool_name}(domain:{host})",) if host else ()
    if facts.category == "mcp":
        return (facts.tool_name,) if _plain(facts.tool_name) and facts.tool_name.count("__") > 1 else ()
    if facts.category in {"read", "write"}:
        return _file_rules(facts)
    return ()


def suggestions(
    facts: CallFacts, directories: Sequence[str] = (), shell: ShellReader | None = None
) -> tuple[JsonObject, ...]:
    """Return the permission_suggestions of a call's PermissionRequest. A hook may hand any of them back."""
    if facts.category in {"read", "write"}:
        return tuple(_file_suggestions(facts, directories or (facts.cwd,)))
    texts = rule_texts(facts, shell if shell is not None else ShellReader())
    if not texts:
        return ()
    rules = [_rule_object(text) for text in texts]
    return ({"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"},)


def _rule_object(text: str) -> dict[str, Any]:
    tool, bracket, inner = text.partition("(")
    return {"toolName": tool, "ruleContent": inner[:-1]} if bracket else {"toolName": tool}


def _file_suggestions(facts: CallFacts, directories: Sequence[str]) -> list[JsonObject]:
    paths = paths_of(facts) or ()
    searches = rule_argument(facts.tool_name) == "search"
    outside = [path for path in paths if not inside(path, facts.cwd, directories)]
    around = [from_root(path if searches else posixpath.dirname(path) or ".", facts.cwd) for path in outside]
    wanted = [directory for directory in dict.fromkeys(around) if directory and directory != "/"]
    offered: list[JsonObject] = []
    if wanted:
        offered.append({"type": "addDirectories", "directories": wanted, "destination": "session"})
    if facts.category == "write":
        offered.append({"type": "setMode", "mode": "acceptEdits", "destination": "session"})
    return offered


def _shell_rules(facts: CallFacts, shell: ShellReader) -> tuple[str, ...]:
    command = facts.tool_input.get("command")
    is_shell = rule_argument(facts.tool_name) == "shell"
    if not is_shell or not isinstance(command, str) or not command.strip():
        return ()
    reading = shell.read(command)
    if not reading.literal:
        return ()
    pins = {each.outer: each.pin for each in reading.commands if each.outer}
    alone = [each for each in reading.commands if not each.outer and each.needs_permission]
    texts = [_shell_rule(facts.tool_name, each, pins.get(each.words, ())) for each in alone]
    return tuple(dict.fromkeys(texts)) if all(texts) else ()


def _shell_rule(tool: str, command: ShellCommand, pin: tuple[str, ...]) -> str:
    """Make a rule; empty when the command holds something that a rule would read as a wildcard."""
    words, program = command.words, command.base_name
    if program in _EXACT or command.escapes:
        kept, ending = words, ""
    elif pin:
        kept, ending = pin, ":*"
    elif program in _SUBCOMMANDS:
        kept, ending = words[: 3 if words[1:2] and words[1] in _NAMES_SCRIPT else 2], ":*"
        if any(word.startswith("-") for word in kept):
            kept, ending = words, ""
    else:
        kept, ending = words[:1], ":*"
    text = " ".join(kept)
    # A rule has no quotes: an empty word, or one with blanks, would be split differently.
    if not _plain(text) or text != " ".join(text.split()) or text.endswith(":") or not all(kept):
        return ""
    return f"{tool}({text}{ending})"


def _file_rules(facts: CallFacts) -> tuple[str, ...]:
    paths = paths_of(facts)
    if not paths or len(paths) != 1:
        return ()
    whole = from_root(paths[0], facts.cwd)
    return (f"{facts.tool_name}(/{whole})",) if whole is not None and _plain(whole) else ()


def _plain(text: str) -> bool:
    return _MAGIC.isdisjoint(text) and text.isprintable()
