"""Turns SIGINT into a KeyboardInterrupt of the running cell, and into nothing when no cell runs."""

import _thread
import signal
import threading
import time

# the signal and the host's message about the same interrupt arrive within this time
SAME_S = 0.2


class Interrupts:
    """`raise_or_cancel` decides how the running cell is stopped; it runs in the main thread."""

    def __init__(self, raise_or_cancel):
        self.raise_or_cancel = raise_or_cancel
        self.main = threading.get_ident()
        self.active = False
        self.held = 0
        self.pending = False
        self.last = 0.0
        self.install()

    def install(self):
        """Puts the handler in place, also after a cell put another one there."""
        signal.signal(signal.SIGINT, self.handle)

    def begin(self):
        """From here on an interrupt hits the cell."""
        self.last = 0.0
        self.pending = False
        self.active = True

    def end(self):
        """From here on an interrupt is void."""
        self.active = False

    def request(self):
        """Interrupts from another thread, also where the main thread has SIGINT ignored for a while (`os.system`)."""
        _thread.interrupt_main(signal.SIGINT)

    def handle(self, _signum, _frame):
        if not self.active:
            return
        now = time.monotonic()
        if now - self.last < SAME_S:
            return
        self.last = now
        if self.held:
            self.pending = True
        else:
            self.raise_or_cancel()

    def __enter__(self):
        """A section that an interrupt may not tear; it is raised at the end of the section."""
        if threading.get_ident() == self.main:
            self.held += 1

    def __exit__(self, *_):
        if threading.get_ident() == self.main:
            self.held -= 1
            if self.pending and not self.held:
                self.pending = False
                if self.active:
                    self.raise_or_cancel()
