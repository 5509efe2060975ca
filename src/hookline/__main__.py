"""Run the `hookline` command with `python -m hookline`."""

from hookline.app import main

if __name__ == "__main__":
    main()
