"""Pass a call of an agent to the daemon, and return its answer: the relay `hookline-relay`.

`relay.c` is the compiled client, `client.py` the same in Python, which `start.sh` starts; `build.py` makes
the program that is installed. No module here imports another part of Hookline: the start is what an agent
waits for.
"""
