"""The fork server: has everything loaded that a kernel needs, and forks one whenever its owner asks.

One thread and no open files but the line to its owner, so that what it forks shares nothing with it but memory.
"""

import fcntl
import gc
import json
import os
import select
import signal
import socket
import sys

from rlm.guardian import REPORT_FD, WIRE_FD, start
from rlm.session import enter

CONTROL_FD = 3
STDERR_FD = 2
SPARE_FD = 10


def serve(folder, run_kernel):
    """Serves until the owner hangs up, then ends this process; `folder`, in which the owner listens, goes with it."""
    os.set_inheritable(CONTROL_FD, False)
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    gc.freeze()
    pending = b""
    while True:
        ready, _, _ = select.select([CONTROL_FD, wake_read], [], [])
        if wake_read in ready:
            os.read(wake_read, 512)
            collect()
        if CONTROL_FD in ready:
            data = os.read(CONTROL_FD, 1 << 18)
            if not data:
                break
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                fork(json.loads(line), (wake_read, wake_write), run_kernel)
    remove(folder)
    os._exit(0)


def collect():
    """Says which guardians have ended; until then nobody else gets their number."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        tell({"op": "ended", "pid": pid})


def fork(request, wake, run_kernel):
    """Forks the guardian of a new kernel and says its number, or why there is none."""
    try:
        pid = os.fork()
    except OSError as error:
        tell({"op": "refused", "id": request["id"], "why": error.strerror})
        return
    if pid == 0:
        try:
            let_go(wake)
            become_guardian(request, run_kernel)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(70)
    tell({"op": "forked", "id": request["id"], "pid": pid})


def let_go(wake):
    """What belongs to the server does not belong to what it has forked."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for fd in (CONTROL_FD, *wake):
        os.close(fd)


def become_guardian(request, run_kernel):
    """Makes this forked process what a new one of its own would be, then starts a kernel; does not return."""
    os.setsid()
    # first stderr, so that a later fault is told
    for fd, key in zip((STDERR_FD, WIRE_FD, REPORT_FD), request["keys"]):
        line = connect(request["path"], key)
        os.dup2(line, fd)
        os.close(line)
    sys.argv[1:] = request["args"]
    enter(request["env"], request["cwd"])
    start(run_kernel)


def connect(path, key):
    """A connection to the owner, which knows by the key what it is for."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line.connect(path)
    line.sendall(key.encode())
    # out of the way of the descriptors that a guardian begins with
    high = fcntl.fcntl(line.fileno(), fcntl.F_DUPFD_CLOEXEC, SPARE_FD)
    line.close()
    return high


def tell(message):
    """Tells the owner, if there still is one."""
    try:
        os.write(CONTROL_FD, json.dumps(message).encode() + b"\n")
    except OSError:
        # the owner is gone: the next look at the line says so
        return


def remove(folder):
    """Removes the folder when its owner could not."""
    try:
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
    except OSError:
        # the owner has done it
        return
