"""The entry point of the command line."""

import sys


def main() -> None:
    # Imported here: what a command does not need must not slow its start.
    from hookline.cli.main import run  # noqa: PLC0415 see above

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
