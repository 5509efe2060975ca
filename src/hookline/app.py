"""Start the command line."""

import gc
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookline.agent.user_interface import Play
    from hookline.cli.commands.console.answers import ConsoleAnswers, ConsoleOptions


def main() -> None:
    # A command is short-lived; collecting garbage while modules load costs more than it frees.
    gc.set_threshold(100_000, 50, 50)
    _isolate(sys.argv[1:])
    try:
        # Imported here: modules that a command does not need must not slow its start.
        from hookline.cli.main import run  # noqa: PLC0415 see above

        status = run(sys.argv[1:], _screen, _console)
    except KeyboardInterrupt:  # before or after the command; `run` handles one during it
        status = 130  # ExitStatus.INTERRUPTED, which may not be imported yet
    except SystemExit as asked:  # by the parser: --help, or a command line that cannot be read
        if not isinstance(asked.code, int):
            raise
        status = asked.code
    _leave(status)


def _isolate(words: list[str]) -> None:
    """Restart a call of an agent if PYTHONPATH may replace our modules by the project's.

    Modules that Python itself loads from there have run by now: installed entries start it with -I.
    """
    if words[:1] == ["hook"] and "PYTHONPATH" in os.environ and not sys.flags.isolated:
        code = "import sys; sys.path.append(sys.argv.pop(1)); from hookline.app import main; main()"
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        os.execv(sys.executable, [sys.executable, "-I", "-c", code, package, *words])  # noqa: S606 ourselves


def _screen(play: "Play") -> int:
    """Start the screen. It is imported only here: the command line and the screen do not know each other."""
    from hookline.agent.tui.run import run_screen  # noqa: PLC0415 only the agent has a screen

    return run_screen(play)


def _console(options: "ConsoleOptions", answers: "ConsoleAnswers") -> int:
    """Start the console. It is imported only here, for the same reason."""
    from hookline.model.errors import HooklineError  # noqa: PLC0415 only this command needs any of this

    try:
        from hookline.team.console.server import LOOPBACK, ConsoleSettings, serve  # noqa: PLC0415
        from hookline.team.console.source import CopiedJournals, JournalSource, RunSource  # noqa: PLC0415
    except ModuleNotFoundError as problem:
        from hookline.extras import how_to_add  # noqa: PLC0415 as above

        raise HooklineError(f"the console needs {problem.name}: {how_to_add('console')}") from None
    settings = ConsoleSettings(
        directory=options.directory,
        machine=options.machine,
        host=options.host or LOOPBACK,
        port=options.port,
        cert=options.cert,
        key=options.key,
    )
    sources: list[RunSource] = [JournalSource(options.journal, options.machine)]
    if options.team is None:
        return serve(settings, answers, sources)
    sources.append(CopiedJournals("audit", options.team.journals, options.team.notes))
    return serve(settings, answers, sources, [options.team.run])


def _leave(status: int) -> None:
    """Exit at once: everything is closed, and tearing down the interpreter would cost as much as a hook."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass  # closed or full: `output` has reported it
    os._exit(status)


if __name__ == "__main__":
    main()
