"""The entry point of the command line."""

import gc
import os
import sys


def main() -> None:
    # A command lives for moments and leaves few cycles; looking for them while modules load costs more than they do.
    gc.set_threshold(100_000, 50, 50)
    try:
        # Imported here: what a command does not need must not slow its start.
        from hookline.cli.main import run  # noqa: PLC0415 see above

        status = run(sys.argv[1:])
    except KeyboardInterrupt:  # before or after the command itself, which says a word of its own
        status = 130
    _leave(status)


def _leave(status: int) -> None:
    """Everything is closed by now; taking every module apart first would cost as much as a hook."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass  # closed, full, or nobody there: what had to be said of it was said
    os._exit(status)


if __name__ == "__main__":
    main()
