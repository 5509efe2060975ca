"""The relay `hookline-relay`: passes a call of an agent to the resident, and gives back its answer.

`relay.c` is the compiled client, `client.py` the same in Python, which `start.sh` starts; `build.py` makes the program
that is installed. No module here imports another part of Hookline: the start is what an agent waits for.
"""
