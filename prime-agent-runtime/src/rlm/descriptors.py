"""Descriptors that programs in cells neither inherit nor close by accident."""

import fcntl
import os
import resource

# above what programs use, close and count on by number
PRIVATE_FD = 400


def move_high(fd):
    """The same open file under a high number, not inherited by programs; `fd` is closed."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = PRIVATE_FD if most < 0 else max(3, min(PRIVATE_FD, most - 32))
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, lowest)
    os.close(fd)
    return moved
