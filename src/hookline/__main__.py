"""`python -m hookline` is the `hookline` command."""

from hookline.app import main

if __name__ == "__main__":
    main()
