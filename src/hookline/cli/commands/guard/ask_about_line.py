"""Ask the guards here about one shell line, without the syntax of events: `hookline guard test LINE`."""

from collections.abc import Sequence

from hookline.cli.agents_asking import AskingAgent, agents_asking
from hookline.cli.commands.guard.files import guard_of, own_hooks
from hookline.cli.commands.guard.report import LineDocument
from hookline.cli.engines import command_engine
from hookline.config.engine import Engine
from hookline.dialects.registry import OWN_FORMAT
from hookline.engine.session import Session
from hookline.guards import GUARD_NAMES, guard
from hookline.model.events import PRE_TOOL_USE
from hookline.model.hook import Hook
from hookline.model.outcome import Outcome
from hookline.model.payloads import ToolCall
from hookline.model.run import Run, RunMode
from hookline.trust.project import project_root
from hookline.trust.trust import TrustOptions

_ORIGIN = "guard test"
_STOPS = ("deny", "ask", "defer")


async def ask_about(line: str, cwd: str) -> LineDocument:
    """Run the hooks of Hookline's own files on a call that runs the line; nothing else runs."""
    runs: list[Run] = []
    engine = command_engine(cwd=cwd, origin=_ORIGIN)
    try:
        hooks = own_hooks(engine, cwd)
        engine.journal.subscribe(runs.append)
        outcome = await _answer(engine, cwd, line)
        agents = _agents(engine, cwd, line, outcome)
        said = engine.journal.without_secrets(outcome)
    finally:
        await engine.close()
    vote = said.deciding_vote
    decided = next((run for run in runs if vote is not None and run.hook == vote.by), None)
    stops = said.permission in _STOPS or said.blocked
    return LineDocument(
        line=line,
        decision=said.permission or ("deny" if said.blocked else None),
        guard=vote.by if vote is not None else "",
        source=decided.source if decided is not None else "",
        # That of the record: the one for the model says how a person can pause the guard, too.
        reason=(decided.reason if decided is not None else None) or said.reason or "",
        asked=len({run.hook for run in runs if run.status not in ("untrusted", "skipped")}),
        would_have=() if stops else _would_have(runs, "shadow"),
        paused=() if stops else _would_have(runs, "paused"),
        not_asked=() if stops else _not_asked(engine, cwd, line),
        suggested=() if stops else await _suggested(line, cwd, hooks),
        agents=agents,
    )


def _agents(engine: Engine, cwd: str, line: str, outcome: Outcome) -> tuple[AskingAgent, ...]:
    """Return the agents here, and whether they would ask the guard that decided."""
    vote = outcome.deciding_vote
    decisions = _session(engine, cwd).explain(PRE_TOOL_USE, _call(line)) if vote is not None else ()
    deciding = [one for one in decisions if vote is not None and one.prepared.hook.name == vote.by]
    return agents_asking(PRE_TOOL_USE, deciding, cwd, str)


def _would_have(runs: Sequence[Run], mode: RunMode) -> tuple[str, ...]:
    return tuple(dict.fromkeys(run.hook for run in runs if run.mode == mode and run.decision in _STOPS))


def _not_asked(own: Engine, cwd: str, line: str) -> tuple[str, ...]:
    """Return the hooks in files of agents that are about the line, and the titles of the agents."""
    engine = Engine(env=own.env)
    loader = engine.loader
    engine.use(loader.directory(cwd, trust=engine.trust_in(cwd, TrustOptions())))
    found = [
        one.prepared.hook for one in _session(engine, cwd).explain(PRE_TOOL_USE, _call(line)) if one.selected
    ]
    return tuple(
        f"{hook.name} of {loader.dialect(hook.dialect).title}"
        for hook in found
        if hook.dialect != OWN_FORMAT and not hook.calls_hookline
    )


async def _suggested(line: str, cwd: str, hooks: Sequence[Hook]) -> tuple[str, ...]:
    """Return the built-in guards that are not here and would stop the line."""
    here = {guard_of(hook) for hook in hooks}
    found: list[str] = []
    for name in GUARD_NAMES:
        if name in here:
            continue
        async with Engine() as engine:
            engine.add(PRE_TOOL_USE, guard(name))
            outcome = await _answer(engine, cwd, line)
            if outcome.blocked or outcome.permission in _STOPS:
                found.append(name)
    return tuple(found)


async def _answer(engine: Engine, cwd: str, line: str) -> Outcome:
    return await _session(engine, cwd).dispatch(PRE_TOOL_USE, _call(line))


def _session(engine: Engine, cwd: str) -> Session:
    return engine.session(_ORIGIN, cwd=cwd, project_dir=project_root(cwd))


def _call(line: str) -> ToolCall:
    return ToolCall(tool_name="Bash", tool_input={"command": line})
