"""The guardian: a small process beside the kernel that ends whatever the kernel leaves behind.

It is the kernel's parent. It sees the host go (end of file on its report pipe), sees the kernel go (exit of its
child), and works also while the kernel's interpreter is stuck in C code. Nothing here needs the kernel's help.
"""

import json
import os
import select
import signal
import sys
import time

from rlm.processes import find_children, find_leftovers, read_command, send_signal, take_mark

WIRE_FD = 3
REPORT_FD = 4
# how long a kernel may take to end by itself once its owner is gone
OWNER_GRACE_S = 2.0
TERM_GRACE_S = 2.0
KILL_GRACE_S = 3.0
KILL_ROUNDS = 50
PR_SET_CHILD_SUBREAPER = 36


def start(run_kernel):
    """Forks: the child becomes the kernel (`run_kernel(life_fd)`); this process watches it and never returns."""
    mark = take_mark()
    for fd in (WIRE_FD, REPORT_FD):
        os.set_inheritable(fd, False)
    life_read, life_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os.close(life_read)
        os.close(REPORT_FD)
        run_kernel(life_write)
        return
    os.close(life_write)
    os.close(WIRE_FD)
    Guardian(pid, mark, life_read).watch()


class Guardian:
    """Watches one kernel and reaps after it."""

    def __init__(self, kernel, mark, life):
        self.kernel = kernel
        self.mark = mark
        self.life = life
        self.groups = {kernel}
        self.folders = set()
        # forked copies of the kernel that write a snapshot: nobody's jobs
        self.copies = set()
        self.pending = b""
        self.status = None
        self.has_children = True

    def watch(self):
        """Waits for the end of the kernel or of its owner, reaps, and ends this process with the kernel's status."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        adopt_orphans()
        sources = [REPORT_FD, self.life, wake_read]
        deadline = None
        while not self.has_ended():
            timeout = None if deadline is None else deadline - time.monotonic()
            if timeout is not None and timeout <= 0:
                send_signal(self.kernel, signal.SIGKILL)
                deadline, timeout = None, None
            ready, _, _ = select.select(sources, [], [], timeout)
            if self.life in ready and not self.read_notes():
                sources.remove(self.life)
            if wake_read in ready:
                os.read(wake_read, 512)
            if REPORT_FD in ready and not os.read(REPORT_FD, 512):
                sources.remove(REPORT_FD)
                deadline = time.monotonic() + OWNER_GRACE_S
        while self.life in sources and self.read_notes():
            pass
        self.report({"exit": self.exit_code(), "signal": self.exit_signal()})
        self.reap()
        remove_folders(self.folders)
        os._exit(0)

    def has_ended(self):
        """True once the kernel process is gone; collects its status, and adopted children that ended."""
        while self.has_children:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.has_children = False
                break
            if pid == self.kernel:
                self.status = status
            if not pid:
                break
        return self.status is not None

    def exit_code(self):
        return os.WEXITSTATUS(self.status) if os.WIFEXITED(self.status) else None

    def exit_signal(self):
        return signal.Signals(os.WTERMSIG(self.status)).name if os.WIFSIGNALED(self.status) else None

    def read_notes(self):
        """Takes in what the kernel noted about groups and folders; False at the end of the pipe."""
        ready, _, _ = select.select([self.life], [], [], 0)
        if not ready:
            return False
        data = os.read(self.life, 65536)
        lines = (self.pending + data).split(b"\n")
        self.pending = lines.pop()
        for line in lines:
            kind, rest = line[:1], line[1:]
            if kind == b"+":
                self.groups.add(int(rest))
            elif kind == b"-":
                self.groups.discard(int(rest))
            elif kind == b"c":
                self.copies.add(int(rest))
            elif kind == b"e":
                self.copies.discard(int(rest))
            elif kind == b"/":
                self.folders.add(os.fsdecode(b"/" + rest))
        return bool(data)

    def report(self, message):
        """Tells the host, if there still is one."""
        try:
            os.write(REPORT_FD, json.dumps(message).encode() + b"\n")
        except OSError:
            # the owner is gone: there is nobody to tell
            return

    def is_copy(self, pid):
        """True for a copy of the kernel that writes a snapshot."""
        try:
            return os.getsid(pid) in self.copies
        except ProcessLookupError:
            return True

    def leftovers(self):
        found = find_leftovers(self.mark, self.groups | self.copies, os.getpid())
        if not found:
            # one that forked on and ended during that look was in neither shape seen; what it left is a child of this process
            self.has_ended()
            commands = {pid: read_command(pid) for pid in find_children(os.getpid())}
            found = {pid: command for pid, command in commands.items() if command}
        return found

    def reap(self):
        """Ends every process that the kernel started: TERM, then KILL, with bounded waits."""
        for group in self.copies:
            # all at once: a copy whose worker ends alone goes on without it
            send_signal(-group, signal.SIGKILL)
        jobs = self.leftovers()
        if not jobs:
            return
        known = [{"pid": pid, "command": jobs[pid]} for pid in sorted(jobs) if not self.is_copy(pid)]
        if known:
            self.report({"jobs": known})
        self.end_all(jobs, signal.SIGTERM, TERM_GRACE_S)
        self.end_all(self.leftovers(), signal.SIGKILL, KILL_GRACE_S)

    def end_all(self, jobs, number, grace):
        """Signals until nothing is left or the time is up."""
        deadline = time.monotonic() + grace
        told = set()
        while jobs and time.monotonic() < deadline:
            for pid in jobs:
                # a process that ignores TERM gets it once, one that forks on gets each KILL
                if number == signal.SIGKILL or pid not in told:
                    send_signal(pid, number)
                    told.add(pid)
            if number == signal.SIGKILL:
                kill_children()
            time.sleep(0.02)
            # adopted ones that have ended
            self.has_ended()
            jobs = self.leftovers()


def kill_children():
    """Kills adopted processes for as long as it takes: one that forks on and ends is faster than a look at all processes."""
    for _ in range(KILL_ROUNDS):
        for pid in find_children(os.getpid()):
            send_signal(pid, signal.SIGKILL)
        time.sleep(0.001)


def adopt_orphans():
    """From now on what a process of the kernel's leaves behind becomes a child of this process, whatever it did to hide."""
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def remove_folders(folders):
    """Removes the kernel's temporary folders."""
    if not folders:
        return
    # imported late: most kernels leave no folder, and the guardian should stay small
    import shutil

    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
