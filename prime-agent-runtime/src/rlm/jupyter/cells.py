"""Runs cells through IPython, one after another."""

import asyncio
import contextvars
import os
import re
import sys

from rlm import trace

MISPLACED = re.compile(r"\n\s*(%%\w+)")


class Cells:
    """The running cell and what its reply holds."""

    def __init__(self, shell, loop, wire, output, streams, displays, interrupts, names, snapshots):
        self.shell = shell
        self.loop = loop
        self.wire = wire
        self.output = output
        self.streams = streams
        self.displays = displays
        self.interrupts = interrupts
        self.names = names
        self.snapshots = snapshots
        self.context = contextvars.copy_context()
        self.cell = None
        self.void = None
        self.packages = tuple(os.path.dirname(sys.modules[name].__file__) + os.sep for name in ("IPython", "ipykernel"))
        shell.compile.get_code_name = lambda _raw, _transformed, number: "<cell %d>" % number

    async def run(self, code, cell, parent):
        """Runs one cell; returns the fields of its end. It raises only what ends the process."""
        self.cell = cell
        self.wire.parent = parent
        self.output.begin(cell)
        self.displays.begin(cell)
        self.interrupts.install()
        self.streams.repair()
        ended = asyncio.get_running_loop().create_future()
        self.loop.start(self.run_cell(code.replace("\r\n", "\n")), self.context, lambda *end: ended.set_result(end))
        answer, error = await ended
        self.interrupts.end()
        if error is not None:
            answer = self.failure(error)
        replaced = self.streams.repair()
        if replaced:
            self.output.write("stderr", replaced.encode())
        stdout, stderr, dropped = self.output.take()
        self.cell = None
        return {"cell": cell, "stdout": stdout, "stderr": stderr, "dropped": dropped, **answer, **self.names.news()}

    async def run_cell(self, code):
        """The task of a cell."""
        try:
            if self.void == self.cell:
                raise KeyboardInterrupt
            self.interrupts.begin()
            return await self.run_code(code)
        except BaseException as error:
            # an interrupt also ends the making of a message that never ends
            return self.failure(self.loop.cause_of(error))
        finally:
            self.interrupts.end()
            if self.output.forked:
                # a forked child ran past the end of the cell
                os._exit(0)
            # a task works on a copy of the context that it was started in
            self.context = contextvars.copy_context()

    async def run_code(self, code):
        shell = self.shell
        try:
            transformed, problem = shell.transform_cell(code), None
        except Exception:
            # a syntax error of the cell, reported by IPython
            transformed, problem = code, sys.exc_info()
        result = await shell.run_cell_async(
            code, store_history=True, transformed_cell=transformed, preprocessing_exc_tuple=problem
        )
        shell.events.trigger("post_execute")
        shell.events.trigger("post_run_cell", result)
        pages = shell.take_pages()
        if pages:
            sys.stdout.write(pages)
        bundle = shell.take_value()
        error = result.error_before_exec or result.error_in_exec
        if isinstance(error, SyntaxError) and MISPLACED.search(code):
            raise SyntaxError("%s must be the first line of the cell" % MISPLACED.search(code)[1])
        if error is not None:
            raise error
        if not bundle:
            return {"status": "ok"}
        if len(bundle) > 1:
            self.displays.send(bundle)
        return {"status": "ok", "result": bundle["text/plain"]} if "text/plain" in bundle else {"status": "ok"}

    def failure(self, error):
        """The fields of a cell that ended with an exception."""
        link = error.__traceback__
        while link is not None and self.is_machinery(link.tb_frame.f_code.co_filename):
            link = link.tb_next
        status = "interrupted" if isinstance(error, KeyboardInterrupt) else "error"
        return {"status": status, "error": trace.describe(error.with_traceback(link))}

    def is_machinery(self, filename):
        return filename.startswith((trace.HERE + os.sep, *self.packages))

    def serve_snapshot(self, message):
        """Has the main thread answer a `save` or `restore` of the host; from any thread."""
        self.loop.call(lambda: (self.snapshots.serve if self.cell is None else self.snapshots.refuse)(message))

    def interrupt(self, cell):
        """Asks the running cell to stop; from any thread."""
        if cell == self.cell:
            self.interrupts.request()
            # a loop that sleeps does not see a signal that no process has sent
            self.loop.call(lambda: None)
        else:
            # it was sent while the cell was still on its way to the main thread
            self.void = cell
