"""What the words and files given to `hookline agent` ask for."""

import argparse
import os
from collections.abc import Sequence

from msgspec import Struct

from hookline.agent.definition_hooks import definition_hooks
from hookline.agent.definitions import AgentDefinition, Definitions, read_definitions
from hookline.agent.making import Wanted
from hookline.cli.fire_settings import RequestError
from hookline.cli.output import tell
from hookline.cli.sources import chosen_dialect, with_flag_hooks
from hookline.config.embedding import Engine
from hookline.model.diagnostics import Diagnostic
from hookline.model.hook import Hook
from hookline.model.safetext import printable


class Defined(Struct, frozen=True):
    """An agent definition, and which of its agents runs."""

    definitions: Definitions
    root: AgentDefinition


def defined_agent(args: argparse.Namespace) -> Defined | None:
    if args.definition is None:
        return None
    definitions = read_definitions(args.definition)
    tell_all(definitions.notices)
    return Defined(definitions, definitions.root(args.agent))


def wanted_agent(args: argparse.Namespace, cwd: str, model: str, defined: Defined | None) -> Wanted:
    if args.fork and args.resume is None:
        raise RequestError("--fork goes with --resume: say which session is to be gone on with")
    root = defined.root if defined is not None else AgentDefinition()
    return Wanted(
        cwd=cwd,
        model=model,
        system=root.instruction or None,
        tools=root.tools,
        types=defined.definitions.types(root) if defined is not None else (),
        trust=args.trust,
        mode=args.mode,
        allow=tuple(args.allow or ()),
        ask=tuple(args.ask or ()),
        deny=tuple(args.deny or ()),
        directories=tuple(os.path.join(cwd, each) for each in args.add_dir or ()),
        max_iterations=args.max_iterations or root.max_iterations,
        max_tool_calls=args.max_tool_calls,
        compact_at=args.compact_at,
        resume=args.resume,
        fork=args.fork,
    )


def load_hooks(
    engine: Engine, args: argparse.Namespace, cwd: str, defined: Defined | None
) -> tuple[Hook, ...]:
    """Put everything in force; returns the hooks that stand in no file a live reload would look for."""
    chosen = chosen_dialect(engine, args.dialect, args.config)
    loaded = engine.load(cwd, args.config, None if args.dialect is None else [args.dialect])
    tell_all(loaded.diagnostics)
    own = _of_definition(engine, defined)
    # A definition that stands where its agent looks for one was read as hooks already, for another main agent.
    files = {hook.where.file for hook in own}
    hooks = [*(hook for hook in loaded.hooks if hook.where.file not in files), *own]
    in_force = with_flag_hooks(engine, hooks, args.hook or (), chosen)
    engine.swap(in_force)
    in_files = {id(hook) for hook in loaded.hooks}
    return tuple(hook for hook in in_force if id(hook) not in in_files)


def _of_definition(engine: Engine, defined: Defined | None) -> Sequence[Hook]:
    if defined is None:
        return ()
    hooks, said = definition_hooks(engine, defined.definitions, defined.root.name)
    tell_all(said)
    return hooks


def tell_all(diagnostics: Sequence[Diagnostic]) -> None:
    for diagnostic in diagnostics:
        tell(printable(str(diagnostic)))
