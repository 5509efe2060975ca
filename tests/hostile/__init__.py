"""Repositories that try to run something, and a harness that opens them by every command and looks from outside.

`repositories.py` makes them, `openings.py` lists the commands, `traces.py` reads what strace saw, and `opened.py`
judges it. A few run in `make test`; `make soak` runs all of them (part s3).
"""
