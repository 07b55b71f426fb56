"""The event loop that cells with `await` live in; loaded when the first such cell comes."""

import asyncio
import signal

from rlm.nested import Nesting


class Loop:
    """One loop for the life of the kernel: background tasks go on between cells."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self.nesting = Nesting(self.loop)
        self.nesting.install()
        self.task = None
        # why the running cell was cancelled from here
        self.cause = None

    def run(self, inbox):
        """Serves `inbox` (callables) until `stop`. An exception of a signal handler reaches the cell that waits."""
        self.wake(inbox)
        while True:
            try:
                self.loop.run_forever()
                return
            except SystemExit:
                # a background task ended itself; the loop and the cell go on
                continue
            except BaseException as error:
                # an interrupt in a background task, or a signal handler of the user's that raised
                if self.task is None:
                    raise
                self.cancel(error)

    def wake(self, inbox):
        """Looks into the inbox soon; from any thread."""
        self.call(lambda: serve(inbox))

    def wake_on_signals(self):
        """A signal that another thread receives also wakes the loop while it sleeps; to be called in the main thread."""
        signal.set_wakeup_fd(self.loop._csock.fileno(), warn_on_full_buffer=False)

    def call(self, action):
        """Runs `action` in the loop soon; from any thread."""
        self.loop.call_soon_threadsafe(action)

    def stop(self):
        self.call(self.loop.stop)

    def start(self, work, context, done):
        """Runs the coroutine of a cell as a task; `done(answer or None, error or None)` ends it."""
        self.cause = None
        self.task = context.run(self.loop.create_task, work)
        self.task.add_done_callback(lambda task: self.finish(task, done))

    def finish(self, task, done):
        self.task = None
        if task.cancelled():
            done(None, KeyboardInterrupt())
        elif task.exception() is not None:
            done(None, task.exception())
        else:
            done(task.result(), None)

    def has_current(self):
        """True while a task, or a loop of the user's inside it, is running code right now."""
        return self.nesting.depth > 0 or asyncio.current_task(self.loop) is not None

    def cancel(self, cause):
        """Cancels the cell where it awaits."""
        if self.task is not None:
            self.cause = cause
            self.task.cancel()

    def cause_of(self, error):
        """What stopped a cell: the cause given to `cancel()` when `error` is only its trace."""
        if self.cause is None or not isinstance(error, asyncio.CancelledError):
            return error
        return self.cause.with_traceback(error.__traceback__)


def serve(inbox):
    """Calls what waits in the inbox."""
    while not inbox.empty():
        inbox.get_nowait()()

