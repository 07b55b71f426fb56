"""Keeps what libraries open away from the low descriptors that programs close and write to by number."""

import os

from rlm.descriptors import move_high


class Fillers:
    """Occupies all low descriptors until `close()`, so that what is opened meanwhile gets a high one."""

    def __init__(self):
        self.fds = []
        bound = move_high(os.open(os.devnull, os.O_RDONLY))
        while True:
            fd = os.open(os.devnull, os.O_RDONLY)
            self.fds.append(fd)
            if fd > bound:
                break
        self.fds.append(bound)

    def close(self):
        """Gives them back."""
        for fd in self.fds:
            os.close(fd)
        self.fds = []
