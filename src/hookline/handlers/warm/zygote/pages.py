"""Load pages of memory: a forked process shares them with the zygote, and the first access to each one costs
a fault.

A job touches some two hundred, which is half of what it costs, so a process that waits takes them all ahead:
its own copy of what can be written (about ten megabytes), and the entries for the rest.
"""

import ctypes

_POPULATE_READ, _POPULATE_WRITE = 22, 23
#: Bigger mappings are not part of an interpreter: stacks of threads, tables of locales, memory that a module
#: has reserved.
_LARGEST = 8 << 20
#: Limit of all together: a waiting process must not take much that may never be used.
_MOST = 64 << 20


def take_all(libc):
    """Have the pages of this process ready.

    Where that cannot be done, each costs its fault: Linux before 5.14 does not know how to, and it refuses
    pages of the kernel and those behind the end of a file. Nothing is mapped or signalled by it, and limits
    of address space hold.
    """
    try:
        with open("/proc/self/maps", "rb", 0) as file:
            lines = file.read().splitlines()
    except OSError:
        return
    left = _MOST
    for line in lines:
        addresses, rights = line.split(None, 2)[:2]
        start, end = (int(each, 16) for each in addresses.split(b"-"))
        size = end - start
        # Shared mappings are others' memory as well; unreadable ones have no pages.
        if size < _LARGEST and size <= left and rights[:1] == b"r" and rights[3:] == b"p":
            left -= size
            advice = _POPULATE_WRITE if rights[1:2] == b"w" else _POPULATE_READ
            libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), advice)
