"""Write docs/reference/guards.md: what each built-in guard catches, its options, and what it cannot catch."""

from collections.abc import Iterator

from hookline.guards import MODULES
from hookline.guards.settings import OPTIONS
from hookline.guards.spec import GuardSpec, policy_of
from tools.markdown import GENERATED, code, page, sentence, table

_INTRO = """\
A built-in guard recognises what a call does, however it is written: `git push -f`, `git -C app push origin +main` and
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

A guard denies a call and says what it saw, what that does, and what to do instead. It is active in an untrusted
project, too, since it can only make things stricter. `hookline fire` shows its decision about a call; `hookline
explain` only shows that it would run."""

_OPTIONS = """\
Options are texts in `args`: `args = ["ask", "allow=.env.test"]`, and in Python
`guard("secrets-read", "ask", "allow=.env.test")`. They are the same for all guards, but `strict`, `with` and `without`
need a guard that has parts, and `self-protection` has no `allow`. Hookline rejects unknown options at load time."""

_DOUBT = """\
If it is uncertain what a line runs, or which sub-command it has, every guard decides as if the line did what the
guard stops, and says what is in doubt. `in_doubt = "ask"` or `"pass"` of the hook changes that, and
`in_doubt=ask` in `args` does so if the format has no such field. A word that only the shell can expand counts
as an operand and not as an option: `git push origin "$BRANCH"` is an ordinary push.

In code of other languages on the line (`python3 -c "…"`) guards search for signs, such as `rmtree` or `DROP TABLE`.
Where such code only names what a guard is about (a file with secrets, a path outside the project beside calls that
write or delete, a connection beside a file that is read), the user is asked; the option `code=deny` makes it a denial.
Guards do not run or parse code, and do not notice what it builds from pieces. They search lines of PowerShell, also
those of `pwsh -c`, in the same way; a file that they name counts in doubt.

Guards judge one call at a time, but an earlier call may have written what this one runs. So they read the files that a
line runs: a script that it names, the targets of a makefile, one script of a package, a hook of git, the module of
`python3 -m`. They read files that were changed within the last hour, as older ones are the project's own, and the
settings of git that decide what a line does, such as an alias or `remote.origin.push`, whenever those were made, in
every file that git would read. Settings that cannot be read count as the worst that they could say. What guards find
there they ask about; `code=deny` makes it a denial. `delete-recursive` does not read them: scripts of projects delete
what they built. A script longer than 8 KB is searched like code of other languages. What a script
loads by a name that it puts together, and what a program does, only
[the exec guard](../explanation/exec-guard.md) sees.

Hookline reads tools that nobody declared, such as those of MCP servers, by the names of their arguments: `command`,
`cmd` and `args` hold a command, `code` holds code, `path`, `file` and the like name a file that is read and, unless the
tool's name says that it only reads, written. What a guard sees there counts in doubt. [Declare the tool](tools.md) if
it does something else.

No guard sees what a script does if the line only names it, and none is a sandbox: an agent that may run any program can
do anything. Guards stop what models do by mistake or because a prompt misled them."""


def guards_page() -> str:
    policies = [policy_of(name) for name in MODULES]
    return page(
        "# Built-in guards",
        GENERATED,
        _INTRO,
        table(
            ("Guard", "Stops"),
            [(f"[`{each.name}`](#{each.name})", sentence(each.title)) for each in policies],
        ),
        "## Options",
        _OPTIONS,
        table(("Option", "Means"), [(code(option), text) for option, text in OPTIONS.items()]),
        "## Doubt, and what no guard can see",
        _DOUBT,
        *(_guard(policy) for policy in policies),
    )


def _guard(policy: GuardSpec) -> str:
    return page(
        f"## {policy.name}",
        f"{sentence(policy.title)} It suggests instead: “{policy.instead}”",
        table(("Catches", "because it"), list(_caught(policy))) if _rows(policy) else "",
        table(("Files that are secret", "Example"), list(_secrets(policy))) if policy.secrets else "",
        f"The lines below are judged with {_list(policy.example)}." if policy.example else "",
        "Also: " + _list(policy.catches) + "." if policy.catches else "",
        "Left alone: " + _list(policy.leaves) + "." if policy.leaves else "",
        table(("Part", "What it is", "By default"), list(_parts(policy)))
        if policy.parts or policy.more
        else "",
        _allowed(policy),
        "Cannot catch:\n\n" + "\n".join(f"- {each}" for each in policy.cannot),
    ).rstrip()


def _rows(policy: GuardSpec) -> bool:
    return bool(policy.rows or policy.flows)


def _caught(policy: GuardSpec) -> Iterator[tuple[str, str]]:
    for row in (*policy.rows, *(row for flow in policy.flows for row in flow.into)):
        part = f" (part {code(row.part)})" if row.part else ""
        yield _code(row.example), row.does + part


def _secrets(policy: GuardSpec) -> Iterator[tuple[str, str]]:
    for row in policy.secrets:
        part = f" (part {code(row.part)})" if row.part else ""
        yield row.what + part, code(row.example)


def _parts(policy: GuardSpec) -> Iterator[tuple[str, str, str]]:
    yield from ((code(name), words, "on") for name, words in policy.parts.items())
    yield from ((code(name), words, "off") for name, words in policy.more.items())


def _allowed(policy: GuardSpec) -> str:
    example = {
        "delete-recursive": "allow=rm -rf node_modules",
        "force-push": "allow=git push --force-with-lease fork *",
        "secrets-read": "allow=.env.test",
        "write-outside-project": "allow=~/notes",
        "forbid-path": 'path=~/.ssh", "path=~/.aws", "allow=~/.ssh/known_hosts',
        "forbid-host": "host=example.com",
        "forbid-command": "command=kubectl",
        "privilege": "allow=sudo apt-get install *",
    }.get(policy.name)
    return f'For example: `args = ["{example}"]`.' if example else ""


def _list(lines: tuple[str, ...]) -> str:
    return ", ".join(map(_code, lines))


def _code(line: str) -> str:
    """A line may have backquotes itself."""
    return f"`` {line} ``" if "`" in line else f"`{line}`"
