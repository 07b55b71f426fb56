"""Makes a forked copy of the kernel harmless."""

import gc
import math
import os
import signal
import sys

# descriptors that are kept free for the work itself
SPARE = 16
# how long the copy may take beside the time for the variables
END_S = 10


def quieten(seconds, answers):
    """Makes the copy of the kernel harmless: no output, no signal handlers of the user's, no finalisers, no open file.

    What user code writes to a file of the kernel's would come twice, and a port would stay taken that a cell gives up.
    """
    import faulthandler
    import resource

    gc.disable()
    faulthandler.disable()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # whatever happens it ends
    signal.alarm(math.ceil(seconds) + END_S)
    null = os.open(os.devnull, os.O_RDWR)
    # also those between: what closes a file by its number after a fork must not find one of this module's
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    top = max(map(int, os.listdir("/dev/fd"))) + SPARE
    for fd in range(top if most < 0 else min(top, most - SPARE)):
        if fd not in (null, answers):
            os.dup2(null, fd)
    sys.stdout = sys.stderr = open(null, "w")
