"""Pages of memory: a forked process shares them with the zygote, and the first access to each one costs a fault.

A job touches some two hundred, which is half of what it costs, so a process that waits takes them all ahead: its own
copy of what can be written (about ten megabytes), and the entries for the rest.
"""

import ctypes

_POPULATE_READ, _POPULATE_WRITE = 22, 23
#: Bigger mappings are no part of an interpreter: tables of locales, what a preloaded module has mapped.
_LARGEST = 8 << 20


def take_all(libc):
    """Have every page of this process ready. Linux before 5.14 does not know how to: then each costs its fault."""
    with open("/proc/self/maps", "rb", 0) as file:
        lines = file.read().splitlines()
    for line in lines:
        addresses, rights = line.split(None, 2)[:2]
        start, end = (int(each, 16) for each in addresses.split(b"-"))
        # Shared mappings are others' memory as well; what cannot be read has no pages.
        if end - start <= _LARGEST and rights[:1] == b"r" and rights[3:] == b"p":
            advice = _POPULATE_WRITE if rights[1:2] == b"w" else _POPULATE_READ
            libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), advice)
