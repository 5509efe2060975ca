"""docs/reference/guards.md: what each guard by meaning catches, its options, and what it cannot catch."""

from collections.abc import Iterator

from hookline.guards import GUARD_NAMES
from hookline.guards.policy import Policy, policy_of
from tools.markdown import GENERATED, code, page, sentence, table

_INTRO = """\
A guard by meaning knows what a call does, however it is written: `git push -f`, `git -C app push origin +main` and
`sh -c 'cd app; git push --forc'` are all force pushes. Each guard is a builtin, and needs no program:

```toml
[[hooks.PreToolUse]]

[[hooks.PreToolUse.hooks]]
type = "builtin"
command = "force-push"
```

In Docker Agent's format the entry is `{type: builtin, command: force-push}` below `pre_tool_use`, and in Python it is
`engine.add(PRE_TOOL_USE, guard("force-push"))` with `guard` from `hookline.guards`. Without a matcher it sees shell
lines and the files of other tools, whatever the agent calls them. Guards belong at PreToolUse and PermissionRequest.

A guard denies a call and says what it saw, what that does, and what to do instead. It counts from a project that is not
trusted, too, since it can only make things stricter. `hookline fire` shows what it says to a call; `hookline explain`
only says that it would be asked."""

_OPTIONS = """\
Options are texts in `args`: `args = ["ask", "allow=.env.test"]`, and in Python
`guard("secrets-read", "ask", "allow=.env.test")`. They are the same for all guards, but `strict`, `with` and `without`
need a guard that has parts, and `self-protection` has no `allow`. A wrong one is an error when the hook is loaded."""

_ALLOW = """\
Leave something alone; may be repeated. For guards over commands it is a pattern of a whole command as in `Bash(…)`
rules, for guards over files a file, a folder or a pattern of paths."""

_DOUBT = """\
Where it cannot be told what a line runs, or which sub-command it has, every guard answers as if the line did what the
guard is about, and says what could not be told. `in_doubt = "ask"` or `"pass"` of the hook changes that, and
`in_doubt=ask` in `args` does where the format has no such field. A word of which only the shell knows the value counts
as an operand and not as an option: `git push origin "$BRANCH"` is a push like any other.

Code of other languages on the line (`python3 -c "…"`) is searched for signs, such as `rmtree` or `DROP TABLE`. Code
that puts these together from pieces is not noticed. Lines of PowerShell, also those of `pwsh -c`, are
searched in the same way, and not read; a file that they name counts in doubt.

No guard sees what a script does that the line only names, and none is a sandbox: an agent that may run any program can
do anything. Guards stop what models do by mistake or are talked into."""


def guards_page() -> str:
    policies = [policy_of(name) for name in GUARD_NAMES]
    return page(
        "# Guards by meaning",
        GENERATED,
        _INTRO,
        table(
            ("Guard", "Stops"),
            [(f"[`{each.name}`](#{each.name})", sentence(each.title)) for each in policies],
        ),
        "## Options",
        _OPTIONS,
        table(("Option", "Means"), list(_options())),
        "## Doubt, and what no guard can see",
        _DOUBT,
        *(_guard(policy) for policy in policies),
    )


def _options() -> Iterator[tuple[str, str]]:
    yield code("ask"), "Ask the user instead of denying; `deny` is the default."
    yield code("strict"), "All parts of the guard, also those that are off by default."
    yield code("with=PART"), "Switch a part on that is off by default; may be repeated."
    yield code("without=PART"), "Switch a part off; may be repeated."
    yield code("allow=PATTERN"), _ALLOW
    yield code("in_doubt=ask"), "What the guard does in doubt: `match`, `ask` or `pass`."


def _guard(policy: Policy) -> str:
    return page(
        f"## {policy.name}",
        f"{sentence(policy.title)} It suggests instead: “{policy.instead}”",
        table(("Catches", "because it"), list(_caught(policy))) if _rows(policy) else "",
        table(("Files that are secret", "Example"), list(_secrets(policy))) if policy.secrets else "",
        "Also: " + _list(policy.catches) + "." if policy.catches else "",
        "Left alone: " + _list(policy.leaves) + "." if policy.leaves else "",
        table(("Part", "What it is", "By default"), list(_parts(policy)))
        if policy.parts or policy.more
        else "",
        _allowed(policy),
        "Cannot catch:\n\n" + "\n".join(f"- {each}" for each in policy.cannot),
    ).rstrip()


def _rows(policy: Policy) -> bool:
    return bool(policy.rows or policy.flows)


def _caught(policy: Policy) -> Iterator[tuple[str, str]]:
    for row in (*policy.rows, *(row for flow in policy.flows for row in flow.into)):
        part = f" (part {code(row.part)})" if row.part else ""
        yield _code(row.example), row.does + part


def _secrets(policy: Policy) -> Iterator[tuple[str, str]]:
    for row in policy.secrets:
        part = f" (part {code(row.part)})" if row.part else ""
        yield row.what + part, code(row.example)


def _parts(policy: Policy) -> Iterator[tuple[str, str, str]]:
    yield from ((code(name), words, "on") for name, words in policy.parts.items())
    yield from ((code(name), words, "off") for name, words in policy.more.items())


def _allowed(policy: Policy) -> str:
    example = {
        "delete-recursive": "allow=rm -rf node_modules",
        "force-push": "allow=git push --force-with-lease fork *",
        "secrets-read": "allow=.env.test",
        "write-outside-project": "allow=~/notes",
        "privilege": "allow=sudo apt-get install *",
    }.get(policy.name)
    return f'For example: `args = ["{example}"]`.' if example else ""


def _list(lines: tuple[str, ...]) -> str:
    return ", ".join(map(_code, lines))


def _code(line: str) -> str:
    """A line may have backquotes itself."""
    return f"`` {line} ``" if "`" in line else f"`{line}`"
