"""Which processes a kernel left behind, read from the system's process table."""

import os
import sys

COMMAND_CHARS = 200


def send_signal(pid, number):
    """Signals one process; one that is already gone is what was wanted."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def find_leftovers(mark, groups, own_pid):
    """Live processes that carry the kernel's mark in their environment or belong to its groups, as {pid: command}."""
    table = read_proc(mark, groups) if sys.platform == "linux" else read_ps(groups)
    table.pop(own_pid, None)
    return table


def read_proc(mark, groups):
    """The Linux way: the mark also finds a process that left its group and session."""
    needle = b"\0PRIME_AGENT_KERNEL_ID=" + mark.encode() + b"\0"
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            # after the last bracket: state, parent, group, session
            fields = read_bytes(name, "stat").rpartition(b")")[2].split()
            state, group, session = fields[0], int(fields[2]), int(fields[3])
            if state in (b"Z", b"X"):
                continue
            # a group of ours leads its own session; the number alone could have been given to somebody else
            ours = group in groups and session == group
            if ours or needle in b"\0" + read_bytes(name, "environ") + b"\0":
                found[int(name)] = describe(read_bytes(name, "cmdline"))
        except (OSError, ValueError, IndexError):
            # it ended meanwhile, or belongs to somebody else
            continue
    return found


def read_bytes(pid, name):
    with open("/proc/%s/%s" % (pid, name), "rb") as file:
        return file.read()


def describe(command_line):
    words = command_line.rstrip(b"\0").replace(b"\0", b" ").replace(b"\n", b" ")
    return words.decode("utf-8", "replace")[:COMMAND_CHARS]


def read_ps(groups):
    """The portable way: by process group."""
    import subprocess

    listing = subprocess.run(
        ["ps", "-axo", "pid=,pgid=,stat=,command="], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    found = {}
    for line in listing.stdout.decode("utf-8", "replace").splitlines():
        fields = line.split(None, 3)
        if len(fields) == 4 and int(fields[1]) in groups and not fields[2].startswith("Z"):
            found[int(fields[0])] = fields[3][:COMMAND_CHARS]
    return found
