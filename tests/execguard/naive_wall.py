"""A network wall as one would first write it: it judges an address, and lets the call continue.

    python naive_wall.py FORBIDDEN_HOST COMMAND...

It shows that the races of `connector.py` are real.
"""

import os
import socket
import struct
import sys
import threading
import time

from hookline.execguard import kernel
from hookline.execguard.filter import guard_filter


def main() -> None:
    forbidden, command = sys.argv[1], sys.argv[2:]
    machine = kernel.machine()
    assert machine is not None
    ready = threading.Event()
    listeners: list[int] = []

    def start() -> None:
        listeners.append(kernel.install(guard_filter(machine, network=True)))
        ready.set()
        # Not by fork alone: the filter is that of this thread.
        if (pid := os.fork()) == 0:
            os.execvp(command[0], command)
        _pid, status = os.waitpid(pid, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)

    threading.Thread(target=start, daemon=True).start()
    ready.wait()
    while True:
        found = kernel.receive(listeners[0])
        if found is None:
            continue
        if found.number != machine.sockets.connect:
            kernel.let_continue(listeners[0], found.id)
            continue
        with open(f"/proc/{found.tid}/mem", "rb", buffering=0) as memory:
            raw = os.pread(memory.fileno(), 16, found.arguments[1])
        time.sleep(0.0003)  # as long as a judgement takes on a quiet machine
        is_inet = struct.unpack("=H", raw[:2])[0] == socket.AF_INET
        if is_inet and socket.inet_ntoa(raw[4:8]) == forbidden:
            kernel.answer(listeners[0], found.id, error=1)
        else:
            kernel.let_continue(listeners[0], found.id)


main()
