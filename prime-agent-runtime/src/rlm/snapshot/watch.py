"""Waits for a child process that runs code of the user's: it may stop itself, block its alarm or say nothing for ever."""

import os
import select
import time

# between two looks at a child that says nothing, and at one that has closed its pipe and should be gone
LOOK_MS = 50
LAST_LOOK_MS = 1

STOPPED = "stopped"
SILENT = "silent"


def collect(read, pid, silence, kill):
    """What a child wrote to a pipe, its wait status and what was wrong with it (STOPPED, SILENT or None).

    `kill()` ends a child that was stopped, or that said nothing for `silence` seconds. What counts is the child's own end: a
    process that it forked may keep the pipe. The status is None when somebody else waited for it.
    """
    pieces = []
    fault = None
    deadline = time.monotonic() + silence
    os.set_blocking(read, False)
    poll = select.poll()
    poll.register(read, select.POLLIN)
    patience = LOOK_MS
    with open(read, "rb", buffering=0) as pipe:
        while True:
            poll.poll(patience)
            ended, status = look(pid)
            is_stopped = status is not None and os.WIFSTOPPED(status)
            while patience == LOOK_MS and (piece := pipe.read(1 << 16)) is not None:
                if not piece:
                    # nobody can write any more
                    poll.unregister(read)
                    patience = LAST_LOOK_MS
                    break
                pieces.append(piece)
                deadline = time.monotonic() + silence
            if ended and not is_stopped:
                return b"".join(pieces), status, fault
            if is_stopped or time.monotonic() > deadline:
                fault = fault or (STOPPED if is_stopped else SILENT)
                kill()


def look(pid):
    """Whether a child has ended or was stopped: its number, or 0, and its status."""
    try:
        return os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
    except ChildProcessError:
        # a cell waited for any child and got this one
        return pid, None
