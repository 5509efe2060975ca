"""Which recorded cases the agent plays: all that show more than how one hook is found, run and read."""

from collections.abc import Iterable

#: The engine's own: handlers, processes, matchers, files. They are played there.
_OF_THE_ENGINE = (
    "http-", "prompt-", "agent-", "mcptool-", "onfailure-http", "proc-", "matchers-", "if-", "dedup-", "merge-",
    "many-", "parallel-", "cfg-", "two-", "pre-timeout", "onfailure-timeout", "ups-timeout",
)  # fmt: skip
#: Those that take long, or whose words are too long to be known again, and that show nothing new in an agent.
_NOTHING_NEW = frozenset({"sessionend-slow-timeout10", "async-by-stdout-first-line", "ups-huge-context-1mb"})
_ALL_THE_SAME = frozenset(
    {"cfg-malformed-entry-other-settings", "cfg-setting-sources-user", "proc-cwd-after-cd"}
)


def chosen(names: Iterable[str]) -> list[str]:
    return [
        name
        for name in names
        if name in _ALL_THE_SAME or not (name.startswith(_OF_THE_ENGINE) or name in _NOTHING_NEW)
    ]
