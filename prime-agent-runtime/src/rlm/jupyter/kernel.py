"""The kernel process on ipykernel: its sockets and IPython serve cells in the main thread. `rlm.jupyter.load` loads it."""

import atexit
import builtins
import faulthandler
import gc
import os
import sys
from queue import SimpleQueue
from threading import RLock

import ipykernel._version

from rlm import host, magics
from rlm.capture import Capture
from rlm.descriptors import move_high
from rlm.display import Displays
from rlm.environment import neutralise
from rlm.guardian import WIRE_FD
from rlm.interrupts import Interrupts
from rlm.jupyter.app import KernelApp, configure, private_folder
from rlm.jupyter.cells import Cells
from rlm.jupyter.fillers import Fillers
from rlm.jupyter.serve import ServingKernel
from rlm.jupyter.shell import adopt_commands
from rlm.jupyter.wire import JupyterWire, describe_connection
from rlm.loop import Loop
from rlm.namespace import Names, inject
from rlm.output import Output, name_folder
from rlm.processes import own_mark
from rlm.shell import Shell
from rlm.snapshot.copy import Snapshots
from rlm.streams import Streams
from rlm.wire import PROTOCOL, Wire, encode

LIMIT_BYTES = 64 << 10
SPILL_BYTES = 64 << 20
# faults in a row that the main loop survives
MAX_FAULTS = 20


def run(life, argv):
    """Serves until the host hangs up or says `shutdown_request`."""
    options = dict(word[2:].split("=", 1) for word in argv[1:] if word.startswith("--") and "=" in word)
    kernel = Kernel(life, int(options.get("limit", LIMIT_BYTES)), int(options.get("spill", SPILL_BYTES)))
    try:
        kernel.serve()
    except BaseException:
        kernel.crash()
    kernel.release()


class Kernel:
    """Puts the process together and ends it."""

    def __init__(self, life, limit, spill):
        self.life = move_high(life)
        # the real stderr, before it is captured
        self.complaints = move_high(os.dup(2))
        self.limits = (limit, spill)
        self.closing = False
        self.cells = None

    def note(self, kind, group):
        """Tells the guardian about a process group that begins (`+`) or is gone (`-`)."""
        os.write(self.life, kind + b"%d\n" % group)

    def note_folder(self, path):
        os.write(self.life, os.fsencode(path) + b"\n")

    def make_folder(self):
        """A private folder for the sockets, and for output that is too long; the guardian removes it."""
        folder = name_folder()
        os.mkdir(folder, 0o700)
        os.mkdir(os.path.join(folder, "ipython"), 0o700)
        self.note_folder(folder)
        return folder

    def serve(self):
        """Sets the process up and runs the loop for good."""
        faulthandler.enable(self.complaints, all_threads=False)
        neutralise(os.environ)
        # what ipykernel logs belongs to no cell
        sys.stderr = open(self.complaints, "w", buffering=1, closefd=False)
        wire_fd = move_high(WIRE_FD)
        fillers = Fillers()
        self.loop = Loop()
        folder = self.make_folder()
        app = self.make_app(folder, wire_fd)
        atexit.unregister(app.close)
        self.attach(app, folder, fillers)
        self.line = Wire(wire_fd, self.hang_up, self.hang_up)
        os.register_at_fork(after_in_child=self.cut_off)
        app.kernel.start()
        self.line.start()
        self.line.send(self.hello())
        # while the host connects: the first cell would wait for it
        app.shell.transform_cell("x")
        # what is there now stays: the collector need not look at it
        gc.freeze()
        gc.enable()
        self.run_loop()

    def make_app(self, folder, wire_fd):
        def tell(app):
            os.write(wire_fd, encode({"op": "bound", "connection": describe_connection(app)}) + b"\n")

        with private_folder(os.path.join(folder, "ipython")):
            app = KernelApp.instance(config=configure(folder), kernel_class=ServingKernel, default_extensions=[])
            app.on_bound = tell
            app.initialize([])
        return app

    def attach(self, app, folder, fillers):
        """Connects ipykernel with output, interrupts and requests."""
        interrupts = Interrupts(self.raise_or_cancel)
        wire = JupyterWire(app.session, app.iopub_thread, interrupts)
        self.output = Output(wire, RLock(), interrupts, *self.limits, self.note_folder)
        self.output.folder = folder
        capture = Capture(self.output)
        streams = Streams(self.output)
        displays = Displays(wire, lambda text: sys.stdout.write(text))
        bridge = host.Bridge(wire)
        host.connect(bridge)
        shell = app.shell
        shim = magics.Shim(
            shell.user_ns, lambda: Shell(self.output, capture, interrupts, self.note), self.output, displays
        )
        adopt_commands(shell, shim, displays)
        inject(shell.user_ns)
        streams.install()
        builtins.display = displays.show
        sys.argv = [""]
        self.namespace = shell.user_ns
        names = Names(self.namespace)
        snapshots = Snapshots(names, wire.send, self.note)
        self.cells = Cells(shell, self.loop, wire, self.output, streams, displays, interrupts, names, snapshots)
        self.interrupts = interrupts
        app.kernel.attach(self.cells, bridge, self.hang_up, self.crash, fillers)
        self.loop.wake_on_signals()
        wire.start(self.crash)
        capture.start(self.crash)

    def hello(self):
        return {
            "op": "hello",
            "protocol": PROTOCOL,
            "backend": "ipykernel",
            "ipykernel": ipykernel._version.__version__,
            "pid": os.getpid(),
            "mark": own_mark(),
            "python": sys.executable,
            "version": "%d.%d.%d" % sys.version_info[:3],
        }

    def run_loop(self):
        inbox = SimpleQueue()
        faults = 0
        while not self.closing:
            try:
                self.loop.run(inbox)
            except BaseException as error:
                faults += 1
                if faults > MAX_FAULTS:
                    raise
                self.absorb(error)

    def absorb(self, error):
        """An exception that reached the main loop: a signal handler of the user's raised outside of its cell."""
        from rlm import trace

        sys.stderr.write("\n".join(trace.format_lines(error)) + "\n")

    def raise_or_cancel(self):
        """Stops the running cell: at once in its own code, by cancelling it where it awaits."""
        if self.loop.has_current():
            raise KeyboardInterrupt
        self.loop.call(lambda: self.loop.cancel(KeyboardInterrupt()))

    def hang_up(self, _reason=None):
        """Ends in the ordinary way, so that open files are written; the guardian waits only so long for it."""
        self.closing = True
        self.loop.stop()
        if self.cells.cell is not None:
            self.interrupts.request()

    def cut_off(self):
        """In a child that a cell forked: no line to the host, no word to the guardian."""
        self.output.forked = True
        for fd in (self.line.fd, self.life):
            os.close(fd)

    def crash(self):
        """Ends at once after a fault of this program; the host shows what it can read of it."""
        try:
            import traceback

            text = traceback.format_exc()
        except Exception:
            # not even an import is possible
            text = repr(sys.exc_info()[1])
        os.write(self.complaints, text.encode())
        os._exit(70)

    def release(self):
        """Lets go of the user's objects, so that open files are written; called once the loop has ended."""
        atexit._run_exitfuncs()
        self.namespace.clear()
        gc.collect()
        # the sockets' threads would be waited for
        os._exit(0)
