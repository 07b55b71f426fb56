"""Lets `asyncio.run(...)` work in a cell although the kernel's own loop is running."""

import asyncio
import contextlib
import functools


class Nesting:
    """`depth` is above 0 while a loop of the user's runs inside the kernel's."""

    def __init__(self, loop):
        self.loop = loop
        self.depth = 0

    def install(self):
        """Wraps the entries by which a program starts a loop."""
        base = asyncio.BaseEventLoop
        asyncio.run = self.wrap(asyncio.run)
        base.run_until_complete = self.wrap_method(base.run_until_complete)
        base.run_forever = self.wrap_method(base.run_forever)
        if hasattr(asyncio, "Runner"):
            asyncio.Runner.run = self.wrap(asyncio.Runner.run)

    def wrap(self, function):
        @functools.wraps(function)
        def nested(*args, **options):
            with self.aside():
                return function(*args, **options)

        return nested

    def wrap_method(self, function):
        @functools.wraps(function)
        def nested(loop, *args):
            if loop is self.loop:
                return function(loop, *args)
            with self.aside():
                return function(loop, *args)

        return nested

    @contextlib.contextmanager
    def aside(self):
        """Hides the kernel's running loop and task from a loop inside it."""
        if asyncio._get_running_loop() is not self.loop:
            yield
            return
        # newer Pythons keep one current task a thread instead of one a loop
        swap = getattr(asyncio.tasks, "_swap_current_task", None)
        task = swap(self.loop, None) if swap else None
        asyncio._set_running_loop(None)
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            asyncio._set_running_loop(self.loop)
            if swap:
                swap(self.loop, task)
