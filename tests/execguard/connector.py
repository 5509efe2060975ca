"""Try to reach a forbidden listener by a race: another thread changes what `connect` was called with.

    python connector.py address|descriptor|both ATTEMPTS ALLOWED FORBIDDEN

The two are HOST:PORT. `address`: a thread changes the address in memory. `descriptor`: it puts the TCP socket in the
place of a local one, with the address of the forbidden listener in memory. It prints how often the call succeeded.
"""

import ctypes
import os
import socket
import struct
import sys
import threading

libc = ctypes.CDLL(None, use_errno=True)


def packed(text: str) -> bytes:
    host, _, port = text.rpartition(":")
    return (
        struct.pack("=H", socket.AF_INET) + struct.pack("!H", int(port)) + socket.inet_aton(host) + bytes(8)
    )


def main() -> None:
    kind, attempts = sys.argv[1], int(sys.argv[2])
    allowed, forbidden = packed(sys.argv[3]), packed(sys.argv[4])
    local = struct.pack("=H", socket.AF_UNIX) + b"\0nobody-listens"[: len(allowed) - 2]
    first = allowed if kind == "address" else local
    memory = ctypes.create_string_buffer(first, len(first))
    target = ctypes.addressof(memory)
    slot = os.dup(0)
    held: list[tuple[int, int]] = []

    def flip() -> None:
        while True:
            ctypes.memmove(target, forbidden, len(forbidden))
            if kind == "descriptor" and held:
                os.dup2(held[-1][0], slot)
                os.dup2(held[-1][1], slot)
            ctypes.memmove(target, first, len(first))

    threading.Thread(target=flip, daemon=True).start()
    done = 0
    for _ in range(attempts):
        with (
            socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp,
            socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as unix,
        ):
            held.append((tcp.fileno(), unix.fileno()))
            if kind == "address":
                os.dup2(tcp.fileno(), slot)
            done += libc.connect(slot, memory, len(first)) == 0
            held.pop()
    sys.stdout.write(f"{done}\n")
    sys.stdout.flush()
    os._exit(0)


main()
