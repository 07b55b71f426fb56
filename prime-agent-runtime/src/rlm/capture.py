"""Descriptors 1 and 2 of the kernel process, read back, so that C code and child processes are heard too."""

import fcntl
import os
import select
import sys
import threading
import time
from fcntl import ioctl
from termios import FIONREAD

from rlm.descriptors import move_high

READ_BYTES = 1 << 16
# the answer of FIONREAD for an empty pipe
NOTHING = bytes(4)
# what a background job may write: this much at each tick, and this much in all before its output is thrown away
JOB_TICK_S = 0.1
JOB_TOTAL_BYTES = 1 << 20
JOB_SILENCED = b"\n[a background job wrote more than 1 MB: what else it writes is thrown away]\n"
# Linux only; a larger pipe means fewer switches between writer and reader
F_SETPIPE_SZ = getattr(fcntl, "F_SETPIPE_SZ", None)


def make_pipe(size=1 << 20):
    """A pipe whose reading end does not wait."""
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    if F_SETPIPE_SZ is not None:
        try:
            fcntl.fcntl(read_end, F_SETPIPE_SZ, size)
        except OSError:
            # the user's share of pipe memory is used up: the default size does
            return read_end, write_end
    return read_end, write_end


def read_some(fd, count=READ_BYTES):
    """Bytes, b"" at the end, None when there is nothing now."""
    try:
        return os.read(fd, count)
    except BlockingIOError:
        return None


class Capture:
    """Redirects descriptors 1 and 2 into `output` and sends its live pieces when they are due."""

    def __init__(self, output):
        self.output = output
        self.sources = {}
        # where the low descriptors lead, for cells after one that closed or replaced them
        self.originals = {0: move_high(os.open(os.devnull, os.O_RDONLY))}
        for fd, name in ((1, "stdout"), (2, "stderr")):
            read_end, write_end = make_pipe(1 << 16)
            os.dup2(write_end, fd, inheritable=True)
            self.originals[fd] = move_high(write_end)
            self.sources[move_high(read_end)] = name
        self.files = {fd: os.fstat(original) for fd, original in self.originals.items()}
        self.out, self.err = self.sources
        self.jobs = {}
        self.next_jobs = 0.0
        self.wake_read, self.wake_write = map(move_high, make_pipe(1 << 12))
        os.set_blocking(self.wake_write, False)
        self.ready = select.poll()
        for fd in (*self.sources, self.wake_read):
            self.ready.register(fd, select.POLLIN)
        output.repair_low = self.repair_low
        output.has_low = self.has_low
        output.count_low = self.count_low
        output.read_low = self.read_low
        output.wake = self.wake

    def start(self, on_fault):
        """Starts reading; `on_fault` is called while an exception is handled that should never happen."""

        def body():
            try:
                self.run()
            except BaseException:
                # unread output would block every command
                on_fault()

        threading.Thread(target=body, name="rlm-output", daemon=True).start()

    def wake(self):
        try:
            os.write(self.wake_write, b"x")
        except BlockingIOError:
            # the pipe is full: it will wake anyway
            return

    def adopt(self, fd, name):
        """Goes on reading the pipe of a command that ended while something in the background still holds it."""
        with self.output.lock:
            self.jobs[fd] = [name, 0]
        self.wake()

    def repair_low(self):
        """Puts descriptors 0 to 2 back where a cell closed or replaced them."""
        for fd, original in self.originals.items():
            try:
                is_same = os.path.samestat(os.fstat(fd), self.files[fd])
            except OSError:
                is_same = False
            if not is_same:
                os.dup2(original, fd, inheritable=True)

    def has_low(self):
        # asked at each write and from any thread, so without the lock
        return ioctl(self.out, FIONREAD, NOTHING) != NOTHING or ioctl(self.err, FIONREAD, NOTHING) != NOTHING

    def count_low(self):
        """How many bytes descriptors 1 and 2 hold now, as {descriptor: bytes}."""
        return {fd: int.from_bytes(ioctl(fd, FIONREAD, NOTHING), sys.byteorder) for fd in self.sources}

    def read_low(self, counts):
        """Takes in as many bytes as were counted; what came since then may have to wait for what was queued since then."""
        for fd, count in counts.items():
            while count > 0:
                data = read_some(fd, min(count, READ_BYTES))
                if not data:
                    break
                count -= len(data)
                self.output.add(self.sources[fd], data)

    def run(self):
        while True:
            now = time.monotonic()
            waits = [at - now for at in (self.output.due, self.next_jobs if self.jobs else None) if at is not None]
            ready = [fd for fd, _ in self.ready.poll(max(0.0, min(waits)) * 1000 if waits else None)]
            if self.output.cell is None and any(fd in self.sources for fd in ready):
                # nobody waits for this: a background flood gets only so much of the processor
                time.sleep(JOB_TICK_S)
            if self.wake_read in ready:
                read_some(self.wake_read)
            self.output.exclusively(self.tick)

    def tick(self):
        """Takes in what is there and sends what is due."""
        self.output.catch_up()
        now = time.monotonic()
        if self.jobs and now >= self.next_jobs:
            self.read_jobs()
            self.next_jobs = now + JOB_TICK_S
        if self.output.due is not None and now >= self.output.due:
            self.output.send_live()
            if self.output.queue and self.output.due is None:
                # written while the rest was being sent
                self.output.due = now

    def read_jobs(self):
        for fd, job in list(self.jobs.items()):
            data = read_some(fd)
            if data == b"":
                del self.jobs[fd]
                os.close(fd)
            elif data and job[1] < JOB_TOTAL_BYTES:
                job[1] += len(data)
                self.output.add(job[0], data)
                if job[1] >= JOB_TOTAL_BYTES:
                    self.output.add(job[0], JOB_SILENCED)
