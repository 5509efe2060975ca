"""Play calls that depend on earlier ones: project, trust, guards that go; and the guards of every agent on all calls.

Each play runs without the daemon, by both relays, and by http if the payload is enough; every time from the same
beginning, in a new session. The answers must be equal.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from tests.dialects.codex.hooks import trust_in_codex
from tests.hook.daemon.daemons import Daemons, command, hook_file
from tests.hook.daemon.same_answers import (
    Difference,
    Http,
    by_http,
    by_relay,
    in_process,
    same_decision,
    takes_http,
)
from tests.hook.relay.programs import KINDS
from tests.reach.asking import install
from tests.reach.calls import CALLERS, FILES, Caller

T = TypeVar("T")

_DENIES: Final = hook_file('type = "builtin"\ncommand = "deny"\nargs = ["no shell here"]')
_ASKS_OFTEN: Final = hook_file(command("touch ran; exit 2")) + hook_file(
    command("touch ran"), event="UserPromptSubmit"
)
_GUARDS: Final = ".hookline/hooks.toml"


class AgentCallStep(Struct, frozen=True):
    """One call; in `payload` the session is filled in."""

    event: str
    payload: Mapping[str, Any]
    env: Mapping[str, str] = {}
    #: The key of the session.
    session: str = "session_id"

    def raw(self, session: str) -> bytes:
        return msgspec.json.encode({**self.payload, self.session: session})


class Play(Struct, frozen=True):
    """Calls of one agent, and what happens between them."""

    name: str
    dialect: str
    steps: Sequence[AgentCallStep | Callable[[], object]]
    #: Makes everything as it is to be at the beginning.
    prepare: Callable[[], object]


def play_differences(daemons: Daemons, play: Play, http: Http | None = None) -> Iterator[Difference]:
    whole = _answers(play, "process", partial(in_process, daemons))
    for kind in KINDS:
        seen = _answers(play, kind, partial(by_relay, daemons, kind))
        yield from (
            Difference(f"{play.name}, call {number}", kind, expected, found)
            for number, (expected, found) in enumerate(zip(whole, seen, strict=True))
            if found != expected
        )
    if http is not None and takes_http(play.dialect):
        # A request has no environment: what a process says without these variables is the same.
        if any(isinstance(step, AgentCallStep) and step.env for step in play.steps):
            whole = _answers(play, "no variables", lambda words, raw, _: in_process(daemons, words, raw))
        asked = _answers(play, "http", lambda words, raw, _: by_http(http, words, raw))
        yield from (
            Difference(f"{play.name}, call {number}", "http", expected, found)
            for number, (expected, found) in enumerate(zip(whole, asked, strict=True))
            if not same_decision(expected, found)
        )


def _answers(
    play: Play, session: str, ask: Callable[[tuple[str, ...], bytes, Mapping[str, str]], T]
) -> list[T]:
    play.prepare()
    answers: list[T] = []
    for step in play.steps:
        if isinstance(step, AgentCallStep):
            words = ("hook", "--dialect", play.dialect, step.event)
            answers.append(ask(words, step.raw(f"{play.name} {session}"), step.env))
        else:
            step()
    return answers


def plays(daemons: Daemons) -> Iterator[Play]:
    yield from place_plays(daemons)
    yield from trust_plays(daemons)
    yield from reach_plays(daemons)


def _claude(event: str, cwd: object, **fields: Any) -> AgentCallStep:
    env: Mapping[str, str] = fields.pop("env", {})
    received = {
        "hook_event_name": event, "cwd": str(cwd), "tool_name": "Bash", "tool_input": {"command": "ls"},
        "prompt": "hello", **fields,
    }  # fmt: skip
    return AgentCallStep(event, received, env)


def _reasonix(event: str, cwd: object) -> AgentCallStep:
    received = {
        "event": event,
        "cwd": str(cwd),
        "toolName": "bash",
        "toolArgs": {"command": "ls"},
        "prompt": "hello",
    }
    return AgentCallStep(event, received, session="sessionId")


def place_plays(daemons: Daemons) -> Iterator[Play]:
    """The guard of the project, and where the agent goes."""
    project = daemons.project
    places = {
        "below it": project / "sub/deeper", "an empty .git": project / "x", "a nested repository": project / "nested",
        "out of it": daemons.home.parent / "elsewhere", "the home": daemons.home,
        "one that is gone": project / "gone",
    }  # fmt: skip

    def prepare() -> None:
        _anew(daemons, _DENIES)
        for place in list(places.values())[:4]:
            place.mkdir(parents=True, exist_ok=True)
        (project / "x/.git").touch()
        daemons.write("nested/.git/HEAD", "ref: refs/heads/main\n")

    for name, there in places.items():
        began = _claude("SessionStart", project, source="startup")
        yield Play(f"place, {name}", "claude-code", (began, _claude("PreToolUse", there)), prepare)
        yield Play(
            f"place from the first call on, {name}", "claude-code", (_claude("PreToolUse", there),), prepare
        )
        for value in (str(project), "relative", "/no/such/place"):
            received = _claude("PreToolUse", there, env={"CLAUDE_PROJECT_DIR": value})
            yield Play(
                f"place by {value}, {name}",
                "codex" if value == "relative" else "gen-code",
                (received,),
                prepare,
            )
        both = _reasonix("UserPromptSubmit", project), _reasonix("PreToolUse", there)
        yield Play(f"place in Reasonix, {name}", "reasonix", both, prepare)


def trust_plays(daemons: Daemons) -> Iterator[Play]:
    """A project that the user does not trust, guards that go, and a guard that is changed."""
    project = daemons.project
    tool, prompt = _claude("PreToolUse", project), _claude("UserPromptSubmit", project)
    settings = daemons.home / ".config/hookline/settings.toml"
    trusted = settings.read_text()

    def untrusted() -> None:
        _anew(daemons, _ASKS_OFTEN)
        settings.write_text("")

    def trusted_hooks() -> None:
        _anew(daemons, _DENIES)
        settings.write_text(trusted)

    def vouch() -> None:
        settings.write_text(trusted)

    yield Play("trust, not given", "claude-code", (tool, tool, prompt, prompt), untrusted)
    yield Play("trust, given in between", "claude-code", (tool, vouch, tool), untrusted)
    yield Play("trust, not given in Reasonix", "reasonix", (_reasonix("PreToolUse", project),) * 2, untrusted)
    for name, text in (
        ("gone", ""),
        ("changed", _DENIES.replace("no shell", "no more shell")),
        ("another", hook_file('type = "builtin"\ncommand = "force-push"')),
        ("broken", "[[hooks"),
    ):
        change = _writes(daemons, text)
        yield Play(f"trust, a guard that is {name}", "claude-code", (tool, change, tool, tool), trusted_hooks)
        yield Play(
            f"trust, a guard that is {name}, in Reasonix", "reasonix",
            (_reasonix("PreToolUse", project), change, _reasonix("PreToolUse", project)), trusted_hooks,
        )  # fmt: skip
    edit = _claude("PreToolUse", project, tool_name="Write", tool_input={"file_path": _GUARDS, "content": ""})
    yield Play("trust, an edit of what guards", "claude-code", (edit,), lambda: _anew(daemons, ""))
    vouch()


def _writes(daemons: Daemons, text: str) -> Callable[[], object]:
    return lambda: daemons.write(_GUARDS, text)


def reach_plays(daemons: Daemons) -> Iterator[Play]:
    """The guards of every dialect, asked about the calls of every agent."""

    def prepare() -> None:
        if not (daemons.project / FILES["codex"]).exists():
            _anew(daemons, "")
            (daemons.home / ".ssh").mkdir(exist_ok=True)
            for dialect in FILES:
                file = install(dialect, daemons.project)
                if dialect == "codex":
                    trust_in_codex(daemons.home, file)

    for caller in CALLERS.values():
        if caller.dialect and caller.payload is not None:
            steps = tuple(_made(daemons, caller))
            yield Play(f"reach, {caller.name}", caller.dialect, steps, prepare)


def _made(daemons: Daemons, caller: Caller) -> Iterator[AgentCallStep]:
    assert caller.payload is not None
    project = str(daemons.project)
    for call in caller.calls:
        raw, env = caller.payload(call.tool, call.at(str(daemons.home), project), project)
        received: dict[str, Any] = msgspec.json.decode(raw) if raw else {}
        session = next((key for key in ("session_id", "sessionId") if key in received), "session_id")
        yield AgentCallStep(caller.event, received, env, session)


def _anew(daemons: Daemons, guards: str) -> None:
    """A project with nothing but these guards."""
    for each in daemons.project.iterdir():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()
    (daemons.project / ".git").mkdir()
    daemons.write(_GUARDS, guards)
