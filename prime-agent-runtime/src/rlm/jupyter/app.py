"""ipykernel's application without what belongs to a notebook: no files, no heartbeat, no streams of its own."""

import contextlib
import logging
import os
import sys

import zmq
from ipykernel.iostream import IOPubThread
from ipykernel.kernelapp import IPKernelApp
from traitlets import Type
from traitlets.config import Config

# the longest path of a socket is 107 bytes on Linux and 103 on macOS; the folder is given without its socket
FOLDER_BYTES = 80


class KernelApp(IPKernelApp):
    """Binds its sockets in `folder` (None: on the loopback network) and writes nothing anywhere else."""

    # the usual class is that of a program which talks to kernels: it would be loaded with all of its package
    blocking_class = Type(klass=object, default_value=object)

    def parse_command_line(self, argv=None):
        """There is none, and to find that out costs as much as a tenth of a start."""

    def _configure_logging(self):
        """To the stderr of the process, which is not that of cells; a table of handlers would be compiled for it."""
        logger = logging.getLogger(type(self).__name__)
        logger.setLevel(self.log_level)
        if not logger.handlers:
            logger.addHandler(logging.StreamHandler(sys.stderr))

    def init_connection_file(self):
        """No file: it would hold the key."""

    def write_connection_file(self, **_options):
        """See above."""

    # called once the sockets can be reached
    on_bound = None

    def log_connection_info(self):
        """What the kernel object asks for; and the host hears where to connect, which it does while IPython is made."""
        self._ports = {"shell": self.shell_port, "iopub": self.iopub_port, "control": self.control_port}
        self.on_bound(self)

    def init_heartbeat(self):
        """The guardian tells the host when this process ends."""

    def init_poller(self):
        """The guardian watches the owner."""

    def init_pdb(self):
        """A debugger has nobody to talk to."""

    def init_signal(self):
        """Signals are handled by `rlm.interrupts`."""

    def init_iopub(self, context):
        """Unlimited, so that a host that is busy for a while loses nothing; the output itself is bounded before."""
        self.iopub_socket = context.socket(zmq.PUB)
        self.iopub_socket.sndhwm = 0
        self.iopub_socket.linger = 1000
        self.iopub_port = self._bind_socket(self.iopub_socket, self.iopub_port)
        # without the pipe for messages of child processes, which listens on the network
        self.iopub_thread = IOPubThread(self.iopub_socket)
        self.iopub_thread.start()
        self.iopub_socket = self.iopub_thread.background_socket

    def init_io(self):
        """The streams are those of `rlm.streams`; only the hook that the kernel object touches is made."""
        self.displayhook = Hook()


class Hook:
    """Takes what ipykernel sets on its display hook."""

    get_execution_count = None


@contextlib.contextmanager
def private_folder(path):
    """While it lasts IPython looks here for its own files, and makes none in the user's home."""
    before = os.environ.get("IPYTHONDIR")
    os.environ["IPYTHONDIR"] = path
    try:
        yield
    finally:
        del os.environ["IPYTHONDIR"]
        if before is not None:
            os.environ["IPYTHONDIR"] = before


def configure(folder):
    """The settings of an application whose sockets and files lie in `folder`."""
    config = Config()
    config.HistoryManager.enabled = False
    # loaded by the first %store
    config.MagicsManager.lazy_magics = {"store": "IPython.extensions.storemagic"}
    config.InteractiveShell.colors = "NoColor"
    config.IPKernelApp.capture_fd_output = False
    # a message that is not copied needs a thread with descriptors of its own, and a cell may have used up all
    config.Session.copy_threshold = 1 << 40
    # warnings about what was left out on purpose would be taken for the cause of a death
    config.KernelApp.log_level = logging.ERROR
    if len(os.fsencode(folder)) <= FOLDER_BYTES:
        config.KernelApp.transport = "ipc"
        config.KernelApp.ip = os.path.join(folder, "s")
    return config
