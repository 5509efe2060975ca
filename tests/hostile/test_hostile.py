"""A few of the hostile repositories, opened by a few commands; `make soak` opens all of them by all."""

import asyncio
import pathlib
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from hookline import Engine, Outcome, __version__
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.hook.daemon.server import DaemonStatus
from hookline.hook.daemon.start import ask
from tests.every import every
from tests.hostile import traces
from tests.hostile.control import trusted_run
from tests.hostile.opened import Wrong, opened
from tests.hostile.openings import sample
from tests.hostile.repositories import REPOSITORIES
from tests.hostile.site import WORDS, Site

needs_strace = pytest.mark.skipif(traces.problem() is not None, reason=str(traces.problem()))


@needs_strace
@pytest.mark.parametrize("name", ["native_toml", "environment", "python_modules", "queue"])
def test_nothing_of_a_hostile_repository_runs(name: str, tmp_path: pathlib.Path) -> None:
    with Site(tmp_path / "site") as site:
        REPOSITORIES[name](site)

        def wrong(number: int) -> tuple[Wrong, ...]:
            return opened(site, ways[number], tmp_path / "traces" / str(number)).wrong

        ways = list(sample(site))
        with ThreadPoolExecutor(2) as pool:
            seen = dict(zip((way.name for way in ways), pool.map(wrong, range(len(ways))), strict=True))
        assert seen == dict.fromkeys(seen, ())
        assert (site.marked(), site.connections) == ([], 0)
        received = ask(str(site.relay.directory), "status", version=__version__)
        assert msgspec.json.decode(received.stdout, type=DaemonStatus).calls == sum(
            way.daemon for way in ways
        )


@needs_strace
def test_the_harness_sees_what_hooks_of_a_trusted_repository_do(tmp_path: pathlib.Path) -> None:
    site, seen = trusted_run(tmp_path)
    assert {wrong.kind for wrong in seen.wrong} >= {"exec", "connect", "write"}
    assert "own-SessionStart" in site.marked()
    assert site.connections == 1


def test_what_an_untrusted_hook_says_is_one_line_for_the_user(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Site(tmp_path / "site") as site:
        monkeypatch.setenv("HOME", str(site.home))
        REPOSITORIES["forged_names"](site)

        async def dispatched() -> Outcome:
            engine = Engine()
            engine.load(str(site.root))
            try:
                call = ToolCall(tool_name="Bash", tool_input={"command": "ls"})
                return await engine.session("one").dispatch(PRE_TOOL_USE, call)
            finally:
                await engine.close()

        outcome = asyncio.run(dispatched())
    assert WORDS not in (outcome.reason or WORDS)
    (said,) = [message.text for message in outcome.messages if WORDS in message.text]
    assert said.splitlines() == [said]
    assert said.isprintable()


@every(
    ("line", "expected"),
    [
        ('execve("/bin/sh", ["sh", "-c", "touch /x y"], 0x7f /* 3 vars */) = 0', ("exec", "/bin/sh")),
        ('execve("/no", ["no"], 0x7f /* 3 vars */) = -1 ENOENT (No such file or directory)', ("exec", "/no")),
        (
            'connect(3<socket:[1]>, {sa_family=AF_INET, sin_port=htons(80)}, 16) = -1 EINPROGRESS (Now in progress)',
            ("connect", "sa_family=AF_INET, sin_port=htons(80)"),
        ),
        ('openat(AT_FDCWD</a>, "b c", O_WRONLY|O_CREAT|O_CLOEXEC, 0666) = 3</real/b c>', ("write", "/real/b c")),
        (r'openat(AT_FDCWD</a>, "\303\244", O_RDWR) = 3</a/\303\244>', ("write", "/a/ä")),
        ('mkdirat(AT_FDCWD</nowhere>, "d", 0777) = 0', ("write", "/nowhere/d")),
        ('rename("/nowhere/a", "/nowhere/b") = 0', ("write", "/nowhere/a")),
        ('openat(AT_FDCWD</a>, "O_WRONLY", O_RDONLY) = 3</a/O_WRONLY>', None),
        ('openat(AT_FDCWD</a>, "b", O_WRONLY|O_CREAT, 0666) = -1 EACCES (Permission denied)', None),
        ('sendto(3<socket:[1]>, "x", 1, 0, NULL, 0) = 1', None),
        ("+++ exited with 0 +++", None),
    ],
)  # fmt: skip
def test_what_a_line_of_a_trace_says(line: str, expected: tuple[str, str] | None) -> None:
    found = next(iter(traces.actions_of(line)), None)
    assert (None if found is None else (found.what, found.about)) == expected
