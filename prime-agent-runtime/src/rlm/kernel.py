"""The kernel process: one namespace, one event loop, cells one after another."""

import atexit
import builtins
import contextvars
import faulthandler
import gc
import os
import queue
import site
import sys
import threading
import types

from rlm import host, ipython, magics
from rlm.capture import Capture
from rlm.cells import Compiler, run_parts
from rlm.descriptors import move_high
from rlm.display import Displays, make_bundle
from rlm.environment import neutralise
from rlm.guardian import WIRE_FD
from rlm.interrupts import Interrupts
from rlm.namespace import Names, inject
from rlm.output import Output
from rlm.processes import own_mark
from rlm.streams import Streams
from rlm.wire import PROTOCOL, Wire

LIMIT_BYTES = 64 << 10
SPILL_BYTES = 64 << 20
# faults in a row that the main loop survives
MAX_FAULTS = 20


def run(life, argv):
    """Serves until the host hangs up or says `shutdown`."""
    options = dict(word[2:].split("=", 1) for word in argv[1:] if word.startswith("--") and "=" in word)
    kernel = Kernel(life, int(options.get("limit", LIMIT_BYTES)), int(options.get("spill", SPILL_BYTES)))
    try:
        kernel.serve()
    except BaseException:
        kernel.crash()
    kernel.release()


class Kernel:
    """Receives cells from the wire and runs them in the main thread."""

    def __init__(self, life, limit, spill):
        self.life = move_high(life)
        # the real stderr, before it is captured
        self.complaints = move_high(os.dup(2))
        self.wire = Wire(move_high(WIRE_FD), self.receive, self.hang_up)
        # what to do next in the main thread
        self.inbox = queue.SimpleQueue()
        # made when the first cell needs one
        self.loop = None
        self.interrupts = Interrupts(self.raise_or_cancel)
        self.output = Output(self.wire, threading.RLock(), self.interrupts, limit, spill, self.note_folder)
        self.bridge = host.Bridge(self.wire)
        self.compiler = Compiler()
        self.context = contextvars.copy_context()
        self.cell = None
        self.count = 0
        self.closing = False
        self.void = None
        # made when the host first asks for one
        self.snapshots = None

    def note(self, kind, group):
        """Tells the guardian about a process group that begins (`+`) or is gone (`-`)."""
        os.write(self.life, kind + b"%d\n" % group)

    def note_folder(self, path):
        os.write(self.life, os.fsencode(path) + b"\n")

    def serve(self):
        """Sets the process up and runs the loop for good."""
        faulthandler.enable(self.complaints, all_threads=False)
        capture = Capture(self.output)
        self.streams = Streams(self.output)
        self.displays = Displays(self.wire, lambda text: sys.stdout.write(text))
        self.set_up_module(capture)
        self.streams.install()
        neutralise(os.environ)
        os.register_at_fork(after_in_child=self.cut_off)
        host.connect(self.bridge)
        capture.start(self.crash)
        self.wire.start()
        self.wire.send(
            {
                "op": "hello",
                "protocol": PROTOCOL,
                "pid": os.getpid(),
                "mark": own_mark(),
                "python": sys.executable,
                "version": "%d.%d.%d" % sys.version_info[:3],
            }
        )
        faults = 0
        while not self.closing:
            try:
                if self.loop is None:
                    self.inbox.get()()
                else:
                    self.loop.run(self.inbox)
                faults = 0
            except BaseException as error:
                faults += 1
                if faults > MAX_FAULTS:
                    raise
                self.absorb(error)

    def absorb(self, error):
        """An exception that reached the main loop: a signal handler of the user's raised outside of its cell."""
        if self.cell is not None:
            self.finish_cell(None, error)
        else:
            sys.stderr.write("\n".join(failure(error)["error"]["traceback"]) + "\n")

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

    def set_up_module(self, capture):
        """The module `__main__` that cells live in."""
        module = types.ModuleType("__main__")
        module.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = module
        self.namespace = module.__dict__

        def make_shell():
            # imported late: it costs a third of the start
            from rlm.shell import Shell

            return Shell(self.output, capture, self.interrupts, self.note)

        shim = magics.Shim(self.namespace, make_shell, self.output, self.displays)
        self.shim = shim
        builtins.get_ipython = lambda: shim
        builtins.display = self.displays.show
        sys.argv = [""]
        # the working folder after the standard library, so that a file named json.py breaks nothing
        first = next((i for i, path in enumerate(sys.path) if path in site.getsitepackages()), len(sys.path))
        sys.path.insert(first, "")
        inject(self.namespace)
        self.names = Names(self.namespace)

    def cut_off(self):
        """In a child that a cell forked: no line to the host, no word to the guardian."""
        self.output.forked = True
        for fd in (self.wire.fd, self.life):
            os.close(fd)

    def hang_up(self, _error=None):
        """Ends in the ordinary way, so that open files are written; the guardian waits only so long for it."""
        self.closing = True
        self.submit(self.stop)
        if self.cell is not None:
            self.interrupts.request()

    def submit(self, action):
        """Has the main thread do something, after what it is doing now."""
        self.inbox.put(action)
        if self.loop is not None:
            self.loop.wake(self.inbox)

    def stop(self):
        if self.loop is not None:
            self.loop.stop()

    def receive(self, message):
        """One message of the host, in the reading thread."""
        op = message["op"]
        if op == "execute":
            code = message["code"].replace("\r\n", "\n")
            cell = message["cell"]
            self.submit(lambda: self.start_cell(cell, code))
        elif op == "interrupt":
            if message["cell"] == self.cell:
                self.interrupts.request()
            else:
                # it was sent while the cell was still on its way to the main thread
                self.void = message["cell"]
        elif op == "reply":
            self.bridge.deliver(message["id"], message["ok"], message.get("value"))
        elif op in ("save", "restore"):
            self.submit(lambda: self.serve_snapshot(message))
        elif op == "shutdown":
            self.hang_up()

    def start_cell(self, cell, code):
        """Runs in the main thread."""
        if self.loop is None and needs_loop(code):
            from rlm.loop import Loop

            self.loop = Loop()
            self.loop.wake_on_signals()
            self.inbox.put(lambda: self.start_cell(cell, code))
            return
        self.cell = cell
        self.count += 1
        self.output.begin(cell)
        self.displays.begin(cell)
        self.interrupts.install()
        self.streams.repair()
        work = self.run_cell(code)
        if self.loop is not None:
            self.loop.start(work, self.context, self.finish_cell)
        else:
            self.run_at_once(work)

    def run_at_once(self, work):
        """Runs a cell that awaits nothing to its end."""
        try:
            self.context.run(work.send, None)
        except StopIteration as end:
            self.finish_cell(end.value, None)
        except BaseException as error:
            self.finish_cell(None, error)

    async def run_cell(self, code):
        """Runs one cell; returns what `done` tells about it."""
        try:
            if self.void == self.cell:
                raise KeyboardInterrupt
            self.interrupts.begin()
            return await self.run_code(code)
        except BaseException as error:
            # an interrupt also ends the making of a message that never ends
            return failure(error if self.loop is None else self.loop.cause_of(error))
        finally:
            self.interrupts.end()
            if self.loop is not None:
                # a task works on a copy of the context that it was started in
                self.context = contextvars.copy_context()

    async def run_code(self, code):
        if "IPython" in code and ipython.is_installed():
            # code that imports its display functions expects its shell to be there
            ipython.load(self.shim)
        magic = magics.split_cell_magic(code)
        if magic:
            value = self.shim.run_cell_magic(*magic)
            has_value = value is not None
        else:
            parts = self.compiler.compile(code, "<cell %d>" % self.count)
            has_value, value = await run_parts(parts, self.namespace)
        if not has_value or value is None:
            return {"status": "ok"}
        self.namespace["_"] = value
        bundle = make_bundle(value)
        if len(bundle) > 1:
            self.displays.send(bundle)
        return {"status": "ok", "result": bundle["text/plain"]}

    def finish_cell(self, answer, error):
        """Sends the end of a cell, however it ended."""
        self.interrupts.end()
        if self.output.forked:
            # a forked child ran past the end of the cell
            os._exit(0)
        if error is not None:
            answer = failure(error)
        replaced = self.streams.repair()
        if replaced:
            self.output.write("stderr", replaced.encode())
        stdout, stderr, dropped = self.output.take()
        done = {"op": "done", "cell": self.cell, "stdout": stdout, "stderr": stderr, "dropped": dropped}
        self.wire.send({**done, **answer, **self.names.news()})
        self.cell = None

    def serve_snapshot(self, message):
        """Runs in the main thread."""
        if self.snapshots is None:
            from rlm.snapshot.copy import Snapshots

            self.snapshots = Snapshots(self.names, self.wire.send, self.note)
        if self.cell is None:
            self.snapshots.serve(message)
        else:
            self.snapshots.refuse(message)

    def raise_or_cancel(self):
        """Stops the running cell: at once in its own code, by cancelling it where it awaits."""
        if self.loop is None or self.loop.has_current():
            raise KeyboardInterrupt
        self.loop.call(lambda: self.loop.cancel(KeyboardInterrupt()))


def needs_loop(code):
    """False when a cell surely awaits nothing and nothing that it uses wants a running loop."""
    return "await" in code or "async" in code or "asyncio" in sys.modules


def failure(error):
    """The `done` fields of a cell that ended with an exception."""
    status = "interrupted" if isinstance(error, KeyboardInterrupt) else "error"
    try:
        # imported late: most cells end well
        from rlm import trace
    except Exception as problem:
        # a cell has taken what an import needs: descriptors, memory, modules
        name, value = type(error).__name__, "its message could not be made: %r" % problem
        return {"status": status, "error": {"name": name, "value": value, "traceback": [name + ": " + value]}}
    return {"status": status, "error": trace.describe(error)}
