"""The entry point of the command line."""

import gc
import sys


def main() -> None:
    # A command lives for moments and leaves few cycles; looking for them while modules load costs more than they do.
    gc.set_threshold(100_000, 50, 50)
    # Imported here: what a command does not need must not slow its start.
    from hookline.cli.main import run  # noqa: PLC0415 see above

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
