"""Which processes a kernel left behind, read from the system's process table."""

import os
import sys

# names the kernel whose process this is, after the kernels around it
MARK = "PRIME_AGENT_KERNEL_ID"
# also in the environment of every child: a process with this and without the mark was let go on purpose
CHILD = "PRIME_AGENT_KERNEL_CHILD"
COMMAND_CHARS = 200
DEAD = (b"Z", b"X")


_own = None


def take_mark():
    """Makes this process the guardian of a new kernel: the mark of all that it starts."""
    global _own
    _own = "%d-%s" % (os.getpid(), os.urandom(8).hex())
    # a kernel inside a cell of another one: both guardians know what it starts
    os.environ[MARK] = ":".join(filter(None, (os.environ.get(MARK), _own)))
    os.environ[CHILD] = "1"
    return _own


def own_mark():
    """The mark of this kernel, whatever cells did to the variable; a name of its own outside of a kernel."""
    return _own or "%d-%s" % (os.getpid(), os.urandom(8).hex())


def send_signal(pid, number):
    """Signals one process; one that is already gone is what was wanted."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def find_leftovers(mark, groups, own_pid):
    """Live processes that descend from this one, carry the kernel's mark or belong to its groups, as {pid: command}."""
    table = read_proc(mark, groups, own_pid) if sys.platform == "linux" else read_ps(groups)
    table.pop(own_pid, None)
    return table


def is_group_alive(group):
    """False when nothing of a process group is left but dead processes that nobody collected."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    if sys.platform != "linux":
        return True
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                state, member_of, _, _ = read_stat(name)
            except (OSError, ValueError, IndexError):
                # it ended meanwhile
                continue
            if member_of == group and state not in DEAD:
                return True
    return False


def read_stat(pid):
    """State, process group, session and parent of a process (Linux)."""
    # after the last bracket: state, parent, group, session
    fields = read_bytes(pid, "stat").rpartition(b")")[2].split()
    return fields[0], int(fields[2]), int(fields[3]), int(fields[1])


def read_proc(mark, groups, root):
    """The Linux way: the mark also finds a process that left its group and session, its parents one without the mark."""
    parents, found, let_go = {}, set(), set()
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            state, group, session, parent = read_stat(name)
            if state in DEAD:
                continue
            pid = int(name)
            parents[pid] = parent
            variables = read_variables(name)
            # a group of ours leads its own session; the number alone could have been given to somebody else
            if (group in groups and session == group) or mark in variables.get(MARK, "").split(":"):
                found.add(pid)
            elif CHILD in variables and MARK not in variables:
                let_go.add(pid)
        except (OSError, ValueError, IndexError):
            # it ended meanwhile, or belongs to somebody else
            continue
    found.update(pid for pid in parents if descends(pid, root, parents, let_go))
    return {pid: command for pid in found if (command := read_command(pid)) is not None}


def find_children(parent):
    """Children of a process that were not let go, found without a look at all processes; none where the system cannot tell."""
    try:
        pids = read_bytes(parent, "task/%d/children" % parent).split()
    except OSError:
        return []
    found = []
    for pid in map(int, pids):
        try:
            variables = read_variables(pid)
        except OSError:
            # it ended meanwhile
            continue
        if MARK in variables or CHILD not in variables:
            found.append(pid)
    return found


def read_variables(pid):
    """The two variables above as a process got them when it was started."""
    pairs = (variable.partition("=") for variable in read_bytes(pid, "environ").decode("latin-1").split("\0"))
    return {name: value for name, _, value in pairs if name in (MARK, CHILD)}


def descends(pid, root, parents, let_go):
    """True when a process is below `root` in the tree, and nothing on the way was let go."""
    seen = set()
    while pid in parents and pid not in seen and pid not in let_go:
        seen.add(pid)
        pid = parents[pid]
        if pid == root:
            return True
    return False


def read_command(pid):
    """How a process was started, or None when it is gone."""
    try:
        return describe(read_bytes(pid, "cmdline"))
    except OSError:
        return None


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
